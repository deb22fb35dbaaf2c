//! Substitution and its errors; which prompt when; what is missing (`#[cfg(test)]`).

mod texts;

use super::*;
use crate::id::Key;
use crate::task::Task;
use proptest::prelude::*;

fn task() -> Task {
    Task {
        id: "k3x9".into(),
        key: Some(Key::numbered(7)),
        project: "shop".into(),
        summary: "Add a login form".into(),
        branch: "orange/TASK-007-add-a-login-form".into(),
        status: Status::Working,
        review_round: 1,
        ..Task::default()
    }
}

fn values() -> Values {
    Values {
        base_branch: "origin/main".into(),
        target_branch: "main".into(),
        task_file: "TASK.md".into(),
        message: "Use the other colour.".into(),
        missing: "What is missing: all.".into(),
        phase: "implement".into(),
        iteration: "2".into(),
        max_iterations: "5".into(),
        context: "## Context\n\nOn a phone.".into(),
        spec: "The specification: ...".into(),
        earlier: "Earlier: ...".into(),
        asked: "Asked: ...".into(),
        retry: "What failed: ...".into(),
        ui: "Test the pages.".into(),
        criteria: "all_tests_pass".into(),
        answer: "Answer as JSON.".into(),
        files: "src/login.html".into(),
        output: "Its summary: ...".into(),
        diff: "+ a form".into(),
        ..Values::of(&task(), 2)
    }
}

fn rendered(text: &str, values: &Values) -> String {
    Template::parse(PromptName::Worker, text)
        .unwrap()
        .render(values)
}

#[test]
fn every_variable_is_filled_in() {
    for variable in Variable::ALL {
        let text = format!("a {{{}}} b", variable.as_str());
        let value = values().get(*variable).to_owned();
        assert!(!value.is_empty(), "{variable:?}");
        assert_eq!(rendered(&text, &values()), format!("a {value} b"));
    }
}

#[test]
fn doubled_braces_are_literal() {
    for (text, expected) in [
        ("{{key}}", "{key}"),
        ("{{{key}}}", "{TASK-007}"),
        ("{key}}}", "TASK-007}"),
        ("fn x() {{}}", "fn x() {}"),
        ("{{{{", "{{"),
    ] {
        assert_eq!(rendered(text, &values()), expected, "{text}");
    }
}

#[test]
fn errors_name_prompt_line_and_variables() {
    let error = |text: &str| {
        let error = Template::parse(PromptName::StuckFix, text).unwrap_err();
        (error.line, error.to_string())
    };
    assert_eq!(
        error("first\nsecond {key}\nthird {ke}"),
        (
            3,
            "prompt stuck-fix, line 3: unknown variable {ke}; known variables: {summary}, {project}, {branch}, \
             {review_round}, {status}, {id}, {key}, {base_branch}, {target_branch}, {max_rounds}, {message}, \
             {missing}, {task_file}, {phase}, {iteration}, {max_iterations}, {context}, {spec}, {earlier}, {asked}, {retry}, {ui}, {criteria}, {answer}, {files}, {output}, {diff}, {next_status_on_fail}"
                .into()
        )
    );
    for (text, line, problem) in [
        ("{key", 1, "a { without its } on the same line"),
        ("x\n{ {key}", 2, "a { without its } on the same line"),
        ("{key\n}", 1, "a { without its } on the same line"),
        ("x\r\ny }", 2, "a } without its {"),
        ("{key}}", 1, "a } without its {"),
        ("{}", 1, "unknown variable {}"),
        ("{ key }", 1, "unknown variable { key }"),
        ("{Key}", 1, "unknown variable {Key}"),
    ] {
        let (found, message) = error(text);
        assert_eq!(found, line, "{text:?}");
        assert!(message.contains(problem), "{text:?}: {message}");
        assert!(message.contains("{next_status_on_fail}"), "{message}");
    }
    assert!(error(&format!("{{{}}}", "ü".repeat(5000))).1.len() < 500);
}

#[test]
fn values_are_never_expanded_again() {
    let hostile = "{key} {{x}} \"'`$(id)`\\ $HOME\n\n{message}\r\n\u{202e}{";
    let values = Values {
        summary: hostile.into(),
        ..values()
    };
    assert_eq!(rendered("<{summary}>", &values), format!("<{hostile}>"));
    assert_eq!(rendered("{summary}", &values), hostile);
}

#[test]
fn a_line_of_an_empty_variable_disappears() {
    let values = Values {
        message: String::new(),
        missing: String::new(),
        ..values()
    };
    for (text, expected) in [
        ("a\n{message}\nb", "a\nb"),
        ("a\n\n{message}\n\nb", "a\n\nb"),
        ("a:\n\n{message}\n", "a:"),
        ("a\n  {message}\t\r\nb", "a\nb"),
        ("{message}", ""),
        ("a {message}", "a "),
        ("a\n{message}{missing}\nb", "a\n\nb"),
        ("a\n\n{message}\n{missing}\nb", "a\nb"),
    ] {
        assert_eq!(rendered(text, &values), expected, "{text:?}");
    }
    // One that is there keeps its line, even if it is blank.
    let blank = Values {
        message: " ".into(),
        ..values
    };
    assert_eq!(rendered("a\n{message}\nb", &blank), "a\n \nb");
}

#[test]
fn values_come_from_the_task() {
    let values = values();
    assert_eq!(values.key, "TASK-007");
    assert_eq!(values.next_status_on_fail, "working");
    let last = Task {
        review_round: 2,
        key: None,
        ..task()
    };
    let values = Values::of(&last, 2);
    assert_eq!(values.next_status_on_fail, "stuck");
    assert_eq!(values.key, "k3x9");
}

#[test]
fn a_hook_gets_the_prompt_for_its_status() {
    assert_eq!(
        PromptName::for_hook(Prompt::Worker, Status::Planning),
        Some(PromptName::Worker)
    );
    assert_eq!(
        PromptName::for_hook(Prompt::Respawn, Status::AgentReview),
        Some(PromptName::RespawnAgentReview)
    );
    assert_eq!(PromptName::for_hook(Prompt::Respawn, Status::Done), None);
    for status in Status::ALL {
        let respawn = PromptName::for_hook(Prompt::Respawn, *status);
        let named = format!("respawn-{status}").parse().ok();
        assert_eq!(respawn, named, "{status}");
    }
    assert_eq!(
        PromptName::for_notice(Status::Reviewing, false),
        Some(PromptName::ChangesRequested)
    );
    let after_review = |by_check| PromptName::for_notice(Status::AgentReview, by_check);
    assert_eq!(after_review(false), Some(PromptName::ReviewFailed));
    assert_eq!(after_review(true), Some(PromptName::CheckFailed));
}

/// Every row that notifies the worker has something to say.
#[test]
fn every_notice_of_the_table_has_a_prompt() {
    use crate::workflow::{Hook, RowOrigin, interactive::INTERACTIVE};
    for row in INTERACTIVE.transitions {
        if !row
            .hooks
            .iter()
            .any(|entry| entry.hook == Hook::NotifyWorker)
        {
            continue;
        }
        let RowOrigin::Statuses(statuses) = row.from else {
            panic!("{row:?}");
        };
        for from in statuses {
            assert!(PromptName::for_notice(*from, false).is_some(), "{from}");
        }
    }
}

#[test]
fn a_person_is_not_told_to_run_what_the_agent_owes() {
    let told = |status, body: &str| {
        let task = Task { status, ..task() };
        missing(&task, body, 2).unwrap().for_person()
    };
    assert_eq!(
        told(Status::Working, "## Handoff\n\nDONE: all\n"),
        "the \"## Handoff\" section is written, but it has not run `orange task complete`"
    );
    assert_eq!(
        told(Status::Planning, ""),
        "no \"## Plan\" section in TASK.md"
    );
}

#[test]
fn what_is_missing_names_artifact_and_command() {
    let told = |status, round, body: &str| {
        let task = Task {
            status,
            review_round: round,
            ..task()
        };
        let missing = missing(&task, body, 2);
        missing
            .map(|missing| missing.for_agent())
            .unwrap_or_default()
    };
    assert_eq!(
        told(Status::Planning, 0, ""),
        "What is missing: no \"## Plan\" section in TASK.md.\n\
         What to do: add one with at least an APPROACH: or TOUCHING: line.\n\
         Then run `orange task update --status working`."
    );
    assert_eq!(
        told(Status::Working, 0, "## Handoff\n\nDONE: all\n"),
        "The \"## Handoff\" section is written; now run `orange task complete`."
    );
    assert!(told(Status::Working, 0, "").ends_with("Then run `orange task complete`."));
    let fail = "## Review\n\nVerdict: FAIL\n";
    assert!(told(Status::AgentReview, 1, fail).ends_with("`orange task update --status working`."));
    assert!(told(Status::AgentReview, 2, fail).ends_with("`orange task update --status stuck`."));
    let pass = "## Review\n\nVerdict: PASS\n";
    assert!(
        told(Status::AgentReview, 2, pass).ends_with("`orange task update --status reviewing`.")
    );
    let none = told(Status::AgentReview, 1, "");
    assert!(
        none.contains("reviewing` for PASS") && none.contains("working` for FAIL"),
        "{none}"
    );
    assert_eq!(told(Status::Reviewing, 1, ""), "");
}

proptest! {
    /// A value stands in the result exactly as it is, wherever it goes and whatever it looks like.
    #[test]
    fn values_are_inserted_literally(
        before in "[a-z \n]{0,8}",
        value in "([{}$`\"'\\\\\n\r ]|\\{key\\}|\\{message\\}|\\{\\{|\\PC){1,20}",
        after in "[a-z \n]{0,8}x",
    ) {
        let values = Values { summary: value.clone(), ..values() };
        let text = format!("{before}{{summary}}{after}");
        prop_assert_eq!(rendered(&text, &values), format!("{before}{value}{after}"));
    }

    /// Any text is a template or an error with a line that is there; what is in it is never lost.
    #[test]
    fn any_text_is_a_template_or_an_error(text in "([{}a\n]|\\{key\\}|\\{\\{|\\}\\}|\\PC){0,30}") {
        match Template::parse(PromptName::Nudge, &text) {
            Ok(template) => {
                let plain = text.trim_start_matches('\u{feff}').trim_end();
                let braces = template.render(&values()).matches(['{', '}']).count();
                let vars = template.variables().count();
                prop_assert_eq!(plain.matches(['{', '}']).count(), 2 * braces + 2 * vars);
            }
            Err(error) => prop_assert!(error.line >= 1 && error.line <= text.lines().count()),
        }
    }
}

#[test]
fn a_repository_may_have_a_prompt_in_several_places() {
    let worker = PromptName::Worker.paths("tools/prompts", None);
    assert_eq!(
        worker,
        ["tools/prompts/worker.md", ".orange/prompts/worker.md"]
    );
    assert_eq!(
        PromptName::Worker.paths(FOLDER, None),
        [".orange/prompts/worker.md"]
    );
    let spec = PromptName::PhaseSpec.paths(FOLDER, Some("prompts/spec.md"));
    assert_eq!(
        spec,
        [".orange/prompts/phase-spec.md", ".orange/prompts/spec.md"]
    );
    let own = PromptName::PhaseImplement.paths(".orc/prompts", Some("../../etc/build.md"));
    assert_eq!(
        own[..2],
        [".orc/prompts/phase-build.md", ".orc/prompts/build.md"]
    );
    assert_eq!(own.len(), 8);
    let odd = PromptName::PhaseTest.paths(FOLDER, Some("prompts/...md"));
    assert_eq!(
        odd,
        [".orange/prompts/phase-test.md", ".orange/prompts/test.md"]
    );
}

//! Scripts: what is read, which list a run gets; and the document about them (`#[cfg(test)]`).

mod refusals;

use super::*;
use rustix::process::Signal;
use std::num::NonZeroU32;
use std::time::Duration;

fn steps(source: &str) -> Vec<ScriptStep> {
    let indented: String = source.lines().map(|line| format!("  {line}\n")).collect();
    let script = Script::read(&format!("worker:\n{indented}")).unwrap();
    script.select(&run(Role::Worker, 1, 1)).unwrap().steps
}

fn run(role: Role, round: u32, attempt: u32) -> WhichRun {
    WhichRun {
        role,
        round,
        attempt,
        judges: false,
        phase: None,
        iteration: 1,
    }
}

fn text(source: &str) -> ScriptText {
    ScriptText::parse(source).unwrap()
}

#[test]
fn a_step_has_a_name_a_value_and_options() {
    let found = steps(
        "- say: hello {key}\n- pause: 5ms\n- section: Notes\n  text: |\n    a\n    b\n  how: rename\n- end turn\n- run: exit 3\n  expect: 3",
    );
    let actions: Vec<&ScriptAction> = found.iter().map(|step| &step.action).collect();
    assert_eq!(
        actions,
        [
            &ScriptAction::Say(Only {
                value: text("hello {key}")
            }),
            &ScriptAction::Pause(Only {
                value: Time(Duration::from_millis(5))
            }),
            &ScriptAction::Section {
                value: text("Notes"),
                text: text("a\nb\n"),
                how: Some(How::Rename),
            },
            &ScriptAction::EndTurn {},
            &ScriptAction::Run(ScriptCommand {
                value: ShellLine("exit 3".into()),
                expect: Some(ExitCode(3)),
                ignore: None,
            }),
        ]
    );
    let lines: Vec<usize> = found.iter().map(|step| step.line).collect();
    assert_eq!(lines, [2, 3, 4, 9, 10]);
}

#[test]
fn steps_stand_inside_steps() {
    let found = steps(
        "- repeat: 2\n  steps:\n    - if: {message: [a, b]}\n      then:\n        - stop\n- hang:\n  ignore: [TERM, SIGHUP]",
    );
    let ScriptAction::Repeat { value, steps } = &found[0].action else {
        panic!("{found:?}");
    };
    assert_eq!(value, &Times(NonZeroU32::new(2)));
    let steps = &steps.0;
    let ScriptAction::If {
        value,
        then,
        otherwise,
    } = &steps[0].action
    else {
        panic!("{steps:?}");
    };
    let texts = MessageTexts(vec![text("a"), text("b")]);
    assert_eq!(value.0, WaitCondition::Message(texts));
    assert_eq!((then[0].name.as_str(), then[0].line), ("stop", 6));
    assert!(otherwise.is_empty());
    let ignore = Some(Ignored(vec![Signal::TERM, Signal::HUP]));
    assert_eq!(found[1].action, ScriptAction::Hang { ignore });
}

#[test]
fn a_review_has_a_verdict_and_may_have_a_text() {
    let found = steps("- review: FAIL\n  text: \"no {round}\"\n- review: PASS");
    let wanted = [
        (ScriptVerdict::Fail, Some(text("no {round}"))),
        (ScriptVerdict::Pass, None),
    ];
    for (step, (value, text)) in found.iter().zip(wanted) {
        let how = None;
        assert_eq!(step.action, ScriptAction::Review { value, text, how });
    }
}

#[test]
fn a_number_or_a_truth_value_is_a_text_where_a_text_is_wanted() {
    let found = steps("- say: 5\n- git: [log, -5, true]");
    let value = text("5");
    assert_eq!(found[0].action, ScriptAction::Say(Only { value }));
    let ScriptAction::Git(command) = &found[1].action else {
        panic!("{found:?}");
    };
    assert_eq!(command.value, ["log", "-5", "true"].map(text));
}

#[test]
fn shell_commands_keep_their_braces() {
    let found = steps("- run: echo ${HOME} {a,b}");
    let ScriptAction::Run(command) = &found[0].action else {
        panic!("{found:?}");
    };
    assert_eq!(command.value.0, "echo ${HOME} {a,b}");
}

#[test]
fn the_list_that_says_most_about_a_run_is_taken() {
    let source = "worker: [say: any]\nworker attempt 2: [say: second]\nreviewer: [say: r]\nreviewer round 2: [say: r2]\nreviewer attempt 2: [say: a2]\nreviewer round 2 attempt 2: [say: r2a2]\n";
    let chosen = |role, round, attempt| {
        let list = Script::read(source)
            .unwrap()
            .select(&run(role, round, attempt));
        list.map(|list| list.key)
    };
    let key = |text: &str| Some(text.to_owned());
    assert_eq!(chosen(Role::Worker, 1, 1), key("worker"));
    assert_eq!(chosen(Role::Worker, 3, 2), key("worker attempt 2"));
    assert_eq!(chosen(Role::Worker, 1, 3), key("worker"));
    assert_eq!(chosen(Role::Reviewer, 1, 1), key("reviewer"));
    assert_eq!(chosen(Role::Reviewer, 2, 1), key("reviewer round 2"));
    assert_eq!(chosen(Role::Reviewer, 1, 2), key("reviewer attempt 2"));
    assert_eq!(
        chosen(Role::Reviewer, 2, 2),
        key("reviewer round 2 attempt 2")
    );
    assert_eq!(chosen(Role::Executor, 1, 1), None);
    let tie = "reviewer attempt 1: [say: a]\nreviewer round 1: [say: r]\n";
    let list = Script::read(tie)
        .unwrap()
        .select(&run(Role::Reviewer, 1, 1));
    assert_eq!(list.unwrap().key, "reviewer round 1");
}

#[test]
fn a_list_may_be_for_a_phase_and_an_iteration() {
    let source = "executor: []\nexecutor attempt 2: []\nexecutor test: []\nexecutor test iteration 2: []\nexecutor test attempt 3: []\nexecutor iteration 9 round 1 attempt 1: []\nexecutor classify: []\njudge: []\njudge test: []\n";
    let chosen = |phase: &str, iteration, attempt| {
        let run = WhichRun {
            phase: Some(phase.to_owned()),
            iteration,
            ..run(Role::Executor, 1, attempt)
        };
        Script::read(source).unwrap().select(&run).unwrap().key
    };
    for (phase, iteration, attempt, key) in [
        ("implement", 1, 1, "executor"),
        ("implement", 1, 2, "executor attempt 2"),
        ("implement", 9, 1, "executor iteration 9 round 1 attempt 1"),
        ("test", 1, 1, "executor test"),
        ("test", 9, 1, "executor test"),
        ("test", 1, 3, "executor test attempt 3"),
        ("test", 2, 3, "executor test iteration 2"),
        ("classify", 1, 1, "executor classify"),
    ] {
        assert_eq!(chosen(phase, iteration, attempt), key);
    }
    for (phase, key) in [("test", "judge test"), ("implement", "judge")] {
        let run = WhichRun {
            judges: true,
            phase: Some(phase.to_owned()),
            ..run(Role::Executor, 1, 1)
        };
        let list = Script::read(source).unwrap().select(&run);
        assert_eq!(list.unwrap().key, key);
        let turns_only = Script::read("executor: []\nexecutor test: []\n").unwrap();
        assert_eq!(turns_only.select(&run), None);
    }
    let list = Script::read("executor test: []\n").unwrap();
    assert_eq!(list.select(&run(Role::Executor, 1, 1)), None);
}

#[test]
fn the_built_in_script_has_a_worker_and_a_reviewer() {
    for role in [Role::Worker, Role::Reviewer, Role::Executor] {
        let script = Script::read(BUILT_IN).unwrap();
        assert!(!script.select(&run(role, 1, 1)).unwrap().steps.is_empty());
    }
}

fn hint_of(error: &orange_sys::Error) -> String {
    let hint = error.hint.clone().unwrap_or_default();
    hint.words().unwrap_or_default()
}

/// What a refusal of these steps says would be right: the words in backticks after "expected".
fn expected_words(steps: &str) -> Vec<String> {
    let indented: String = steps.lines().map(|line| format!("  {line}\n")).collect();
    let error = Script::read(&format!("worker:\n{indented}")).unwrap_err();
    let hint = hint_of(&error);
    let expected = hint.split_once("expected ");
    let words = expected.map_or("", |(_, words)| words).split('`');
    words.skip(1).step_by(2).map(str::to_owned).collect()
}

fn document() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/contributing/sim.md"
    );
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_example_of_the_document_can_be_played() {
    let text = document();
    let examples: Vec<&str> = text
        .split("```yaml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(examples.len() > 10, "{}", examples.len());
    for example in examples {
        // Some examples are steps without the list they stand in.
        let source = if example.starts_with("- ") {
            let indented = example.lines().map(|line| format!("  {line}\n"));
            format!("worker:\n{}", indented.collect::<String>())
        } else {
            example.to_owned()
        };
        let read = Script::read(&source);
        assert!(read.is_ok(), "{}\n{example}", read.unwrap_err());
    }
}

#[test]
fn every_step_option_and_variable_is_in_the_document() {
    let text = document();
    let examples: String = text.split("```yaml\n").skip(1).collect();
    for word in expected_words("- no such step") {
        assert!(text.contains(&format!("| `{word}`")), "no row for `{word}`");
        let shown = [format!("- {word}:"), format!("- {word}\n")];
        assert!(
            shown.iter().any(|shown| examples.contains(shown)),
            "no example of `{word}`"
        );
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| `{word}`")));
        for option in expected_words(&format!("- {word}:\n  no such option: x")) {
            if option == "value" {
                continue;
            }
            assert!(
                row.unwrap().contains(&format!("`{option}`")),
                "`{option}` of `{word}`"
            );
        }
    }
    for name in super::super::text::TextVariable::WORDS {
        assert!(text.contains(&format!("`{{{name}}}`")), "{name}");
    }
}

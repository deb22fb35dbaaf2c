//! The gates: which artifact is missing, what is wrong with it, and what lets a task pass.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_engine::Code;

/// A task in a status, without any artifact that its way needed.
fn at(home: &TestHome, status: &str) -> TestTask {
    home.pool_size(20);
    let task = home.create_with("", |new| {
        new.branch = None;
        new.summary = "Pass the gate".to_owned();
    });
    home.bring_to(&task, status);
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), &text[..front]).unwrap();
    task
}

/// Replaces the body and tries; a refusal must name the gate and leave the status alone.
#[track_caller]
fn refused(home: &TestHome, task: &TestTask, body: &str, to: &str, says: &str) {
    let before = home.show(task)["status"].clone();
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), format!("{}{body}", &text[..front])).unwrap();
    let outcome = home.move_to(task, to).fails(Code::GateUnmet);
    assert!(
        outcome.error().message.contains(says),
        "{body:?}: {outcome:?}"
    );
    assert!(outcome.error().hint.is_some());
    assert_eq!(home.show(task)["status"], before);
    // The body is exactly what was written.
    assert!(
        task.text().ends_with(&format!("---\n{body}")),
        "{}",
        task.text()
    );
}

#[track_caller]
fn passes(home: &TestHome, task: &TestTask, body: &str, to: &str) {
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), format!("{}{body}", &text[..front])).unwrap();
    home.move_to(task, to).ok();
    assert_eq!(home.show(task)["status"], to);
}

#[test]
fn what_is_no_plan() {
    let home = TestHome::new();
    let task = at(&home, "planning");
    let missing = "no \"## Plan\" section";
    let empty = "neither an APPROACH: nor a TOUCHING: line";
    for (body, says) in [
        ("", missing),
        ("\n### Plan\n\nAPPROACH: x\n", missing),
        ("\n# Plan\n\nAPPROACH: x\n", missing),
        ("\n## Plans\n\nAPPROACH: x\n", missing),
        ("\n```\n## Plan\n\nAPPROACH: x\n```\n", missing),
        ("\n~~~md\n## Plan\n\nAPPROACH: x\n", missing),
        ("\n<!--\n## Plan\n\nAPPROACH: x\n-->\n", missing),
        ("\n    ## Plan\n\nAPPROACH: x\n", missing),
        ("\n## Plan\n", empty),
        ("\n## Plan\n\nAPPROACH:   \n", empty),
        ("\n## Plan\n\napproach: lower case\n", empty),
        ("\n## Plan\n\nMy APPROACH: in prose\n", empty),
        ("\n## Plan\n\nRISKS: only risks\n", empty),
        ("\n## Plan\n\n```\nAPPROACH: in a fence\n```\n", empty),
        // The last of a name wins, and it is empty.
        ("\n## Plan\n\nAPPROACH: x\n\n## Plan\n\nlater\n", empty),
        (
            "\n## Plan\n\nlater\n\n## Notes\n\nAPPROACH: elsewhere\n",
            empty,
        ),
    ] {
        refused(&home, &task, body, "working", says);
    }
}

#[test]
fn what_is_a_plan() {
    let home = TestHome::new();
    for body in [
        "\n## Plan\n\nAPPROACH: x\n",
        "\n## Plan\nTOUCHING: src\n",
        "\r\n## Plan\r\n\r\nAPPROACH: x\r\n",
        "\n## Plan\n\nAPPROACH:\n- first\n- second\n",
        "\n## Plan\n\nRISKS: none\nTOUCHING: all\n",
        "\n## Plan\n\nlater\n\n## Plan\n\nAPPROACH: now\n",
        "\n## Plan\n\nAPPROACH: no newline at the end",
    ] {
        let task = at(&home, "planning");
        passes(&home, &task, body, "working");
        assert!(task.text().ends_with(body), "{}", task.text());
    }
}

#[test]
fn what_is_no_handoff_and_what_is() {
    let home = TestHome::new();
    let task = at(&home, "working");
    for body in [
        "\n## Handoff\n\nDONE:\nREMAINING:\n",
        "\n## Handoff\n\nI am done: everything\n",
        "\n## Handoff\n\nAPPROACH: of another section\n",
    ] {
        refused(
            &home,
            &task,
            body,
            "agent-review",
            "no DONE:, REMAINING:, DECISIONS: or UNCERTAIN:",
        );
    }
    refused(
        &home,
        &task,
        "\n```\n## Handoff\nDONE: x\n```\n",
        "agent-review",
        "no \"## Handoff\"",
    );
    refused(
        &home,
        &task,
        "\n## Handoff (round 1)\n\nDONE: x\n",
        "agent-review",
        "no \"## Handoff\"",
    );
    passes(
        &home,
        &task,
        "\n## Handoff\n\nUNCERTAIN: whether it works\n",
        "agent-review",
    );
}

#[test]
fn what_is_no_verdict_and_what_is() {
    let home = TestHome::new();
    let task = at(&home, "agent-review");
    for body in [
        "\n## Review\n\nIt does PASS.\n",
        "\n## Review\n\nVerdict: PASS with remarks\n",
        "\n## Review\n\nGood work.\n\nVerdict: PASS\n",
        "\n## Review\n\n- Verdict: PASS\n",
        "\n## Review\n\n`Verdict: PASS`\n",
        "\n## Review\n\nVerdict: MAYBE\n",
        "\n## Review\n\n```\nVerdict: PASS\n```\n",
    ] {
        refused(&home, &task, body, "reviewing", "instead of a verdict line");
    }
    refused(
        &home,
        &task,
        "\n```\n## Review\n\nVerdict: PASS\n```\n",
        "reviewing",
        "no \"## Review\"",
    );
    refused(
        &home,
        &task,
        "\n## Review (round 1)\n\nVerdict: PASS\n",
        "reviewing",
        "no \"## Review\"",
    );
    refused(
        &home,
        &task,
        "\n## Review\n\nVerdict: FAIL\n",
        "reviewing",
        "needs \"Verdict: PASS\"",
    );
    refused(
        &home,
        &task,
        "\n## Review\n\nVerdict: PASS\n",
        "working",
        "needs \"Verdict: FAIL\"",
    );
    passes(
        &home,
        &task,
        "\n## Review\n\n**verdict: Pass**\n\nFine.\n",
        "reviewing",
    );
}

//! The gates: which artifact is missing, what is wrong with it, and what lets a task pass.

use crate::env::{TestEnvironment, TestTask};
use insta::assert_snapshot;

/// A task in a status, without any artifact that its way needed.
fn at(env: &TestEnvironment, status: &str) -> TestTask {
    env.orange(["project", "update", "shop", "--pool-size", "20"]);
    let task = env.create(["Pass the gate"]);
    env.bring_to(&task, status);
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), &text[..front]).unwrap();
    task
}

/// Replaces the body and tries; a refusal must name the gate and leave the status alone.
#[track_caller]
fn refused(env: &TestEnvironment, task: &TestTask, body: &str, to: &str, says: &str) {
    let before = env.show(task)["status"].clone();
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), format!("{}{body}", &text[..front])).unwrap();
    let error = env
        .orange(["task", "update", &task.id, "--status", to, "--json"])
        .refuses(3, "gate_unmet");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{body:?}: {message}");
    assert!(!error["hint"].as_str().unwrap().is_empty());
    assert_eq!(env.show(task)["status"], before);
    // The body is exactly what was written.
    assert!(
        task.text().ends_with(&format!("---\n{body}")),
        "{}",
        task.text()
    );
}

#[track_caller]
fn passes(env: &TestEnvironment, task: &TestTask, body: &str, to: &str) {
    let text = task.text();
    let front = text.find("\n---\n").unwrap() + 5;
    std::fs::write(task.file(), format!("{}{body}", &text[..front])).unwrap();
    env.move_to(task, to).ok();
    assert_eq!(env.show(task)["status"], to);
}

#[test]
fn the_words_of_each_refusal() {
    let env = TestEnvironment::new();
    let task = at(&env, "planning");
    assert_snapshot!(env.move_to(&task, "working"), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to working: no "## Plan" section in TASK.md
    hint: add one with at least an APPROACH: or TOUCHING: line, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Plan\n\nAPPROACH:\n");
    assert_snapshot!(env.move_to(&task, "working"), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to working: the "## Plan" section has neither an APPROACH: nor a TOUCHING: line with text after the colon
    hint: start a line with APPROACH: or TOUCHING: and text, outside code fences and comments and not underlined with dashes, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Plan\n\nAPPROACH: at last\n");
    env.move_to(&task, "working").ok();
    assert_snapshot!(env.orange(["task", "complete", &task.id]), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to agent-review: no "## Handoff" section in TASK.md
    hint: add one with at least a DONE: or REMAINING: line, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Handoff\n\nAll is well.\n");
    assert_snapshot!(env.orange(["task", "complete", &task.id]), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to agent-review: the "## Handoff" section has no DONE:, REMAINING:, DECISIONS: or UNCERTAIN: line with text after the colon
    hint: start a line with DONE:, REMAINING:, DECISIONS: or UNCERTAIN: and text, outside code fences and comments and not underlined with dashes, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Handoff\n\nDONE: now really\n");
    env.orange(["task", "complete", &task.id]).ok();
    assert_snapshot!(env.move_to(&task, "reviewing"), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to reviewing: no "## Review" section in TASK.md
    hint: add one whose first line is "Verdict: PASS" or "Verdict: FAIL", in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Review\n\nThis should PASS, I think.\n");
    assert_snapshot!(env.move_to(&task, "reviewing"), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to reviewing: the "## Review" section starts with "This should PASS, I think." instead of a verdict line
    hint: make the first line "Verdict: PASS" or "Verdict: FAIL" with nothing else on it, and a blank line below, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Review\n\nVerdict: FAIL\n");
    assert_snapshot!(env.move_to(&task, "reviewing"), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to reviewing: the "## Review" section says "Verdict: FAIL" and this step needs "Verdict: PASS"
    hint: take the step for a FAIL verdict, or have the review changed, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
    task.append("## Review\n");
    assert_snapshot!(env.move_to(&task, "working"), @r###"
    ------- stderr -------
    error: cannot move TASK-001 to working: the "## Review" section is empty and has no verdict line
    hint: make the first line "Verdict: PASS" or "Verdict: FAIL" with nothing else on it, and a blank line below, in [HOME]/tasks/shop/[ID]/TASK.md
    [exit status: 3]
    "###);
}

#[test]
fn what_is_no_plan() {
    let env = TestEnvironment::new();
    let task = at(&env, "planning");
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
        refused(&env, &task, body, "working", says);
    }
}

#[test]
fn what_is_a_plan() {
    let env = TestEnvironment::new();
    for body in [
        "\n## Plan\n\nAPPROACH: x\n",
        "\n## Plan\nTOUCHING: src\n",
        "\r\n## Plan\r\n\r\nAPPROACH: x\r\n",
        "\n## Plan\n\nAPPROACH:\n- first\n- second\n",
        "\n## Plan\n\nRISKS: none\nTOUCHING: all\n",
        "\n## Plan\n\nlater\n\n## Plan\n\nAPPROACH: now\n",
        "\n## Plan\n\nAPPROACH: no newline at the end",
    ] {
        let task = at(&env, "planning");
        passes(&env, &task, body, "working");
        assert!(task.text().ends_with(body), "{}", task.text());
    }
}

#[test]
fn what_is_no_handoff_and_what_is() {
    let env = TestEnvironment::new();
    let task = at(&env, "working");
    for body in [
        "\n## Handoff\n\nDONE:\nREMAINING:\n",
        "\n## Handoff\n\nI am done: everything\n",
        "\n## Handoff\n\nAPPROACH: of another section\n",
    ] {
        refused(
            &env,
            &task,
            body,
            "agent-review",
            "no DONE:, REMAINING:, DECISIONS: or UNCERTAIN:",
        );
    }
    refused(
        &env,
        &task,
        "\n```\n## Handoff\nDONE: x\n```\n",
        "agent-review",
        "no \"## Handoff\"",
    );
    refused(
        &env,
        &task,
        "\n## Handoff (round 1)\n\nDONE: x\n",
        "agent-review",
        "no \"## Handoff\"",
    );
    passes(
        &env,
        &task,
        "\n## Handoff\n\nUNCERTAIN: whether it works\n",
        "agent-review",
    );
}

#[test]
fn what_is_no_verdict_and_what_is() {
    let env = TestEnvironment::new();
    let task = at(&env, "agent-review");
    for body in [
        "\n## Review\n\nIt does PASS.\n",
        "\n## Review\n\nVerdict: PASS with remarks\n",
        "\n## Review\n\nGood work.\n\nVerdict: PASS\n",
        "\n## Review\n\n- Verdict: PASS\n",
        "\n## Review\n\n`Verdict: PASS`\n",
        "\n## Review\n\nVerdict: MAYBE\n",
        "\n## Review\n\n```\nVerdict: PASS\n```\n",
    ] {
        refused(&env, &task, body, "reviewing", "instead of a verdict line");
    }
    refused(
        &env,
        &task,
        "\n```\n## Review\n\nVerdict: PASS\n```\n",
        "reviewing",
        "no \"## Review\"",
    );
    refused(
        &env,
        &task,
        "\n## Review (round 1)\n\nVerdict: PASS\n",
        "reviewing",
        "no \"## Review\"",
    );
    refused(
        &env,
        &task,
        "\n## Review\n\nVerdict: FAIL\n",
        "reviewing",
        "needs \"Verdict: PASS\"",
    );
    refused(
        &env,
        &task,
        "\n## Review\n\nVerdict: PASS\n",
        "working",
        "needs \"Verdict: FAIL\"",
    );
    passes(
        &env,
        &task,
        "\n## Review\n\n**verdict: Pass**\n\nFine.\n",
        "reviewing",
    );
}

#[test]
fn the_last_round_leads_to_stuck_and_the_ones_before_do_not() {
    let env = TestEnvironment::new();
    let task = at(&env, "agent-review");
    task.append("## Review\n\nVerdict: FAIL\n");
    assert_snapshot!(env.move_to(&task, "stuck"), @"
    ------- stderr -------
    error: cannot move TASK-001 to stuck: it is in review round 1 of 2; a failed review sends it back to working
    hint: `orange task update TASK-001 --status working`
    [exit status: 3]
    ");
    env.move_to(&task, "working").ok();
    task.append("## Handoff\n\nDONE: again\n");
    env.orange(["task", "complete", &task.id]).ok();
    task.append("## Review\n\nVerdict: FAIL\n");
    assert_snapshot!(env.move_to(&task, "working"), @"
    ------- stderr -------
    error: cannot move TASK-001 to working: review round 2 of 2 was the last; it can only go to reviewing or stuck
    hint: `orange task update TASK-001 --status stuck`
    [exit status: 3]
    ");
    env.move_to(&task, "stuck").ok();
    assert_snapshot!(env.orange(["task", "why", &task.id]), @"TASK-001 is stuck: it did not pass review after round 2; next: orange task update TASK-001 --status working");
    // The number of rounds is a setting.
    std::fs::write(env.home().join("config.yaml"), "review:\n  max_rounds: 1\n").unwrap();
    let second = at(&env, "agent-review");
    second.append("## Review\n\nVerdict: FAIL\n");
    env.move_to(&second, "working").fails_with(3);
    env.move_to(&second, "stuck").ok();
}

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
fn the_last_round_leads_to_stuck_and_the_ones_before_do_not() {
    let env = TestEnvironment::new();
    let task = at(&env, "agent-review");
    task.append("## Review\n\nVerdict: FAIL\n");
    assert_snapshot!(env.move_to(&task, "stuck"), @"
    ------- stderr -------
    error: cannot move TASK-001 to stuck: it is in review round 1 of 2; a failed review sends it back to working
    hint: `orange update TASK-001 --status working`
    [exit status: 3]
    ");
    env.move_to(&task, "working").ok();
    task.append("## Handoff\n\nDONE: again\n");
    env.orange(["task", "complete", &task.id]).ok();
    task.append("## Review\n\nVerdict: FAIL\n");
    assert_snapshot!(env.move_to(&task, "working"), @"
    ------- stderr -------
    error: cannot move TASK-001 to working: review round 2 of 2 was the last; it can only go to reviewing or stuck
    hint: `orange update TASK-001 --status stuck`
    [exit status: 3]
    ");
    env.move_to(&task, "stuck").ok();
    assert_snapshot!(env.orange(["task", "why", &task.id]), @"
    TASK-001 is stuck
    it did not pass review after round 2
    next: orange answer TASK-001 TEXT
    ");
    // The number of rounds is a setting.
    std::fs::write(env.home().join("config.yaml"), "review:\n  max_rounds: 1\n").unwrap();
    let second = at(&env, "agent-review");
    second.append("## Review\n\nVerdict: FAIL\n");
    env.move_to(&second, "working").fails_with(3);
    env.move_to(&second, "stuck").ok();
}

//! The flows of the interactive workflow from end to end, with scripted agents in real windows.

use crate::agents::Agents;

#[test]
fn worker_plans_works_and_hands_over_and_a_reviewer_passes_it() {
    let env = Agents::new();
    let task = env.create(["Add a login form"]);
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
    assert_eq!(env.count(&task, "agent.stopped"), 1);
    assert_eq!(
        env.windows(),
        [format!("shop/{}:worker", task.branch)],
        "the reviewer's window is closed, the worker's stays"
    );
    let log = env.git(
        &env.shop(),
        &["log", "--oneline", &format!("main..{}", task.branch)],
    );
    assert_eq!(log.lines().count(), 1, "{log}");
    assert_eq!(
        env.hooks(&task, "agent-review", "reviewing"),
        ["kill_reviewer completed"]
    );
}

#[test]
fn a_failed_review_is_told_to_the_worker_who_fixes_it_and_passes_the_second() {
    let env = Agents::new();
    let task = env.start(
        "Fix it",
        "reviewer round 1:\n  - review: FAIL\n    text: There is no test.\n  - status: working\n",
    );
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
    env.until_told(&task, "failed in round 1 of 2");
    let text = task.text();
    for heading in ["## Review (round 1)", "## Handoff (round 1)"] {
        assert_eq!(text.matches(heading).count(), 1, "{heading}\n{text}");
    }
    assert_eq!(env.field(&task, "review_round"), "2");
    assert_eq!(
        env.hooks(&task, "agent-review", "working"),
        ["kill_reviewer completed", "notify_worker completed"]
    );
    assert_eq!(env.count(&task, "message.delivered"), 1);
    assert_eq!(env.windows(), [format!("shop/{}:worker", task.branch)]);
}

const FAILS: &str = "\
reviewer round 1:
  - review: FAIL
  - status: working
reviewer round 2:
  - review: FAIL
  - status: stuck
";

#[test]
fn a_review_that_fails_at_the_last_round_sticks_and_the_live_worker_is_told() {
    let env = Agents::new();
    let task = env.start("Never good", FAILS);
    env.until_status(&task, "stuck");
    env.until_told(&task, "is stuck now (review round 2 of 2)");
    assert_eq!(
        env.hooks(&task, "agent-review", "stuck"),
        ["kill_reviewer completed", "ensure_fixer completed"]
    );
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
}

#[test]
fn a_stuck_task_whose_worker_is_gone_gets_a_fixer_that_a_person_talks_to() {
    let env = Agents::configured("review:\n  max_rounds: 1\n");
    let task = env.start(
        "Gone worker",
        "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - handoff: 'DONE: x'
  - complete
  - exit
worker attempt 2:
  - say: What shall I do?
  - end turn
  - status: reviewing
reviewer round 1:
  - wait for:
      command: '! pgrep -f -- \"--run $(basename ROOT/home/orange/runs/*-w)\"'
    timeout: 20s
  - review: FAIL
  - status: stuck
",
    );
    env.until_status(&task, "stuck");
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "stuck-fix"]);
    env.until_idle(&task, "worker");
    env.say(&["task", "send", &task.id, "go on"])
        .ok()
        .says("delivered");
    env.until_status(&task, "reviewing");
    assert_eq!(env.count(&task, "agent.crashed"), 0);
}

#[test]
fn an_empty_task_is_clarified_by_a_message_and_goes_on_in_one_session() {
    let env = Agents::new();
    let harness = env.script(
        "clarify",
        "\
worker:
  - questions: What is to be done?
  - end turn
  - run: orange task update --summary \"$SIM_MESSAGE\"
  - plan: 'APPROACH: {message}'
  - status: working
  - handoff: 'DONE: {message}'
  - complete
",
    );
    let task = env.create(["vague", "--harness", &harness]);
    env.until_status(&task, "clarification");
    assert_eq!(env.prompts(&task), ["clarify"]);
    env.until_idle(&task, "worker");
    assert_eq!(env.attention(&task), "", "a question owes nothing");
    env.say(&["task", "send", &task.id, "Paint it blue"])
        .ok()
        .says("delivered");
    env.until_status(&task, "reviewing");
    assert_eq!(env.field(&task, "summary"), "Paint it blue");
    assert_eq!(env.prompts(&task), ["clarify", "reviewer"]);
    assert_eq!(env.count(&task, "agent.nudged"), 0);
}

#[test]
fn a_worker_asks_in_the_middle_and_a_person_answers_by_the_status() {
    let env = Agents::new();
    let task = env.start(
        "Ask me",
        "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - questions: Blue or red?
  - status: clarification
  - end turn
  - plan: 'APPROACH: blue'
  - status: working
  - handoff: 'DONE: blue'
  - complete
",
    );
    env.until_status(&task, "clarification");
    env.until_idle(&task, "worker");
    assert_eq!(env.hooks(&task, "working", "clarification"), [""; 0]);
    env.move_to(&task, "planning").ok();
    env.until_told(&task, "A person has answered");
    env.until_status(&task, "reviewing");
    assert_eq!(
        env.hooks(&task, "clarification", "planning"),
        ["notify_worker completed"]
    );
    assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
}

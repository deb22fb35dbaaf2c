//! Agents that stop without what they owe, and the command that tells a person.

use crate::agents::Agents;

const COMMAND: &str =
    "notify:\n  command: printf '%s\\n' \"$ORANGE_NOTIFY_MESSAGE\" >> \"$ORANGE_HOME/told\"\n";

fn told(env: &Agents) -> Vec<String> {
    let text = std::fs::read_to_string(env.home().join("told")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn until_told(env: &Agents, wanted: &[&str]) {
    env.until(&format!("{wanted:?}"), || told(env).len() >= wanted.len());
    env.look();
    let mut told = told(env);
    assert_eq!(told.len(), wanted.len(), "{told:?}");
    // Each is told by a process of its own, in no order.
    for words in wanted {
        let at = told.iter().position(|told| told.contains(words));
        told.remove(at.unwrap_or_else(|| panic!("{words} is not in {told:?}")));
    }
}

#[test]
fn a_turn_without_the_artifact_is_nudged_once_and_then_a_person_is_asked() {
    let env = Agents::configured(COMMAND);
    let task = env.start(
        "Dawdle on",
        "\
worker:
  - say: Shall I go on?
  - end turn
  - say: |
      Hm.
      I would rather not.
  - end turn
  - plan: 'APPROACH: x'
  - status: working
  - hang
",
    );
    env.until_attention(&task, "its worker has stopped");
    env.look();
    let attention = env.attention(&task);
    assert!(attention.contains("Plan"), "{attention}");
    assert!(
        attention.ends_with("its last output: I would rather not."),
        "{attention}"
    );
    assert_eq!(env.count(&task, "agent.nudged"), 1);
    let nudge = env.until_told(&task, "still in planning");
    assert!(nudge.contains("## Plan"), "{nudge}");
    assert!(
        nudge.contains("orange task update --status working"),
        "{nudge}"
    );
    until_told(&env, &["its worker has stopped"]);
    env.say(&["task", "send", &task.id, "do go on"]).ok();
    env.until_status(&task, "working");
    assert_eq!(env.attention(&task), "");
    assert_eq!(env.count(&task, "attention.raised"), 1);
}

#[test]
fn a_nudge_names_the_command_that_is_missing() {
    let env = Agents::new();
    let task = env.start(
        "Forget it",
        "\
worker:
  - plan: 'APPROACH: x'
  - end turn
  - status: working
  - handoff: 'DONE: x'
  - end turn
  - complete
reviewer:
  - review: PASS
  - end turn
  - status: reviewing
",
    );
    env.until_status(&task, "reviewing");
    env.until_told(
        &task,
        "The \"## Plan\" section is written; now run `orange task update --status working`",
    );
    env.until_told(
        &task,
        "The \"## Handoff\" section is written; now run `orange task complete`",
    );
    assert_eq!(env.count(&task, "agent.nudged"), 3, "one in each status");
    assert_eq!(env.count(&task, "attention.raised"), 0);
}

#[test]
fn a_person_is_told_of_a_question_and_of_a_passed_review_once() {
    let env = Agents::configured(COMMAND);
    let asks = env.start("Ask me", "worker:\n  - status: clarification\n");
    until_told(&env, &["TASK-001 asks a question"]);
    env.resolve(&asks);
    env.create(["Pass it"]);
    until_told(&env, &["asks a question", "TASK-002 passed its review"]);
}

#[test]
fn a_person_is_told_of_a_crash_and_of_a_stuck_task_once() {
    let env = Agents::configured(COMMAND);
    let task = env.start(
        "Crash it",
        "worker:\n  - crash\nworker attempt 3:\n  - say: x\n",
    );
    until_told(&env, &["its worker crashed"]);
    env.say(&["task", "respawn", &task.id]).ok();
    until_told(
        &env,
        &["its worker crashed", "its worker crashed", "is stuck"],
    );
}

#[test]
fn a_person_is_told_of_a_failed_hook_once() {
    let env = Agents::configured(&format!("{COMMAND}harness:\n  mine: no-such-program\n"));
    let task = env.create(["use-mine", "Use mine", "--review-harness", "mine"]);
    env.until_status(&task, "agent-review");
    until_told(
        &env,
        &["could not start the reviewer: harness mine is not installed"],
    );
}

#[test]
fn a_person_is_told_of_a_lost_message_once() {
    let env = Agents::configured(COMMAND);
    let task = env.start("Deaf ears", "worker:\n  - hang\n");
    env.until_status(&task, "planning");
    env.until("it has its prompt", || {
        !env.taken(&task, "worker").is_empty()
    });
    let sent = env.call(["task", "send", &task.id, "hello"]).spawn();
    env.until_event(&task, "message");
    env.kill(env.run_agent(&task, "worker"), "-9");
    sent.wait_with_output().unwrap();
    env.look();
    until_told(&env, &["message not delivered", "its worker crashed"]);
}

#[test]
fn a_slow_notification_outlives_the_agent_that_caused_it() {
    let env = Agents::configured(
        "notify:\n  command: sleep 1; printf '%s\\n' \"$ORANGE_NOTIFY_MESSAGE\" >> \"$ORANGE_HOME/told\"\n",
    );
    let task = env.start(
        "Ask and go",
        "worker:\n  - status: clarification\n  - exit\n",
    );
    env.until_event(&task, "agent.exited");
    until_told(&env, &["asks a question"]);
    let stuck = env.start(
        "Cancel it",
        "worker:\n  - status: clarification\n  - hang\n",
    );
    env.until_status(&stuck, "clarification");
    env.say(&["task", "cancel", &stuck.id, "--yes"]).ok();
    until_told(&env, &["asks a question", "asks a question"]);
}

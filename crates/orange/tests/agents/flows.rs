//! A task's way with real agents: planned, worked on, reviewed by the other agent, mended, and what a person says.

use crate::env::TestTask;
use crate::model::{say, shell};
use crate::shown::shown;
use crate::world::{World, commit, fix, handoff, other, plan, review, worker};

/// Role and harness of every run, in order.
fn runs(task: &TestTask) -> Vec<(String, String)> {
    let history = task.history();
    let spawned = history
        .iter()
        .filter(|event| event["type"] == "agent.spawned");
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    spawned
        .map(|event| (word(&event["role"]), word(&event["harness"])))
        .collect()
}

#[track_caller]
fn assert_went_well(env: &World, task: &TestTask) {
    assert_eq!(env.attention(task), "", "{}", env.dump());
    for trouble in ["agent.crashed", "message.failed", "hook.failed"] {
        assert_eq!(env.count(task, trouble), 0, "{trouble}\n{}", env.dump());
    }
}

fn planned_worked_on_reviewed_and_mended(harness: &str) {
    let env = World::new();
    env.model
        .when("You are the worker of task", worker("hello"));
    env.model.when("Review round: 1;", review("FAIL"));
    env.model.when("The review of task", fix("hello again"));
    env.model.when("Review round: 2;", review("PASS"));
    let task = env.task(harness, other(harness), "Greet the user — «ünï» 漢字");
    let prompt = env.prompt(&task, "worker");
    env.until_status(&task, "reviewing");

    assert_eq!(env.model.heard(&prompt), 1);
    let told = env.until_told(&task, "The review of task");
    assert_eq!(env.model.heard(&told), 1);
    let worked = ("worker".to_owned(), harness.to_owned());
    let reviewed = ("reviewer".to_owned(), other(harness).to_owned());
    assert_eq!(runs(&task), [worked, reviewed.clone(), reviewed]);
    let log = env.git(&env.slot_of(&task), &["log", "--format=%s", "main..HEAD"]);
    assert_eq!(log, "hello again\nhello");
    assert_went_well(&env, &task);
    assert_eq!(env.count(&task, "agent.nudged"), 0, "{}", env.dump());
    env.assert_settings_untouched();
    shown(harness, "plan-to-review");
    shown(other(harness), "review-by-other");
    shown(harness, "no-dialogs");
}

#[test]
fn claude_works_and_pi_reviews() {
    planned_worked_on_reviewed_and_mended("claude");
}

#[test]
fn pi_works_and_claude_reviews() {
    planned_worked_on_reviewed_and_mended("pi");
}

fn a_person_asks_for_changes(harness: &str) {
    let env = World::new();
    env.model
        .when("You are the worker of task", worker("hello"));
    env.model.when("asks for changes", fix("hello, friend"));
    let task = env.task(harness, "none", "Greet the user");
    env.until_status(&task, "agent-review");
    env.until_idle(&task, "worker");
    env.bring_on(&task, "reviewing");
    env.say(&[
        "task",
        "request-changes",
        &task.id,
        "be kinder: «please» 漢字",
    ])
    .ok();
    let told = env.until_told(&task, "asks for changes");
    assert!(told.contains("be kinder: «please» 漢字"), "{told}");
    env.until_status(&task, "agent-review");
    env.until_idle(&task, "worker");
    assert_eq!(env.model.heard(&told), 1);
    let log = env.git(&env.slot_of(&task), &["log", "--format=%s", "main..HEAD"]);
    assert_eq!(log, "hello, friend\nhello");
    assert_went_well(&env, &task);
    shown(harness, "changes-requested");
}

#[test]
fn claude_makes_requested_changes() {
    a_person_asks_for_changes("claude");
}

#[test]
fn pi_makes_requested_changes() {
    a_person_asks_for_changes("pi");
}

fn a_question_is_answered(harness: &str) {
    let env = World::new();
    let ask = "printf '\\n## Questions\\n\\nWhich colour?\\n' >> TASK.md && orange task update --status clarification";
    env.model.when(
        "You are the worker of task",
        [shell(ask), say("Which colour?")],
    );
    env.model.when("the blue one", worker("blue"));
    let task = env.task(harness, "none", "Paint it");
    env.until_status(&task, "clarification");
    env.until_idle(&task, "worker");
    assert_eq!(env.count(&task, "agent.nudged"), 0);
    env.say(&["task", "send", &task.id, "the blue one, please"])
        .ok()
        .says("delivered");
    env.until_status(&task, "agent-review");
    assert_eq!(env.model.heard("the blue one, please"), 1);
    assert_went_well(&env, &task);
    shown(harness, "question-answered");
}

#[test]
fn claude_goes_on_with_an_answer() {
    a_question_is_answered("claude");
}

#[test]
fn pi_goes_on_with_an_answer() {
    a_question_is_answered("pi");
}

/// Once it helps; the second time a person is called.
fn a_turn_without_the_handoff_is_nudged(harness: &str) {
    let env = World::new();
    env.model.when(
        "You are the worker of task",
        [plan(), commit("hello"), say("I am done, I think.")],
    );
    env.model.when(
        "Your turn ended, but task",
        [handoff(), say("Handed over.")],
    );
    let task = env.task(harness, "none", "Greet the user");
    env.until_status(&task, "agent-review");
    let told = env.until_told(&task, "Your turn ended, but task");
    assert_eq!(env.model.heard(&told), 1);
    assert_eq!(env.count(&task, "agent.nudged"), 1);
    assert_went_well(&env, &task);

    env.model.when(
        "Your turn ended, but task",
        [say("There is nothing to do.")],
    );
    let task = env.create(["idle", "Do nothing", "--harness", harness]);
    env.until_attention(&task, "There is nothing to do.");
    assert_eq!(env.status(&task), "working");
    assert_eq!(env.count(&task, "agent.nudged"), 1);
    shown(harness, "nudged");
}

#[test]
fn claude_is_nudged_once() {
    a_turn_without_the_handoff_is_nudged("claude");
}

#[test]
fn pi_is_nudged_once() {
    a_turn_without_the_handoff_is_nudged("pi");
}

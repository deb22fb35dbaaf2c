//! Every row of the table that has hooks, by what they leave: windows, messages, slots.

use crate::agents::Agents;
use crate::env::TestTask;

/// A branch with work on it, as a colleague leaves one.
fn colleague(env: &Agents) {
    let shop = env.shop();
    env.git(&shop, &["switch", "-q", "-c", "theirs"]);
    env.commit(&shop, "theirs.txt", "theirs");
    env.git(&shop, &["switch", "-q", "main"]);
}

fn creation(env: &Agents, task: &TestTask) -> Vec<String> {
    let history = task.history();
    env.hooks_of(&history, &history[0])
}

#[test]
fn a_task_created_as_agent_review_has_a_worker_that_waits_and_a_reviewer() {
    let env = Agents::new();
    colleague(&env);
    let harness = env.script(
        "fails",
        "reviewer round 1:\n  - review: FAIL\n  - status: working\n",
    );
    let task = env.create([
        "theirs",
        "Look at it",
        "--status",
        "agent-review",
        "--harness",
        &harness,
        "--review-harness",
        &harness,
    ]);
    env.until_status(&task, "reviewing");
    assert_eq!(
        creation(&env, &task),
        [
            "acquire_workspace completed",
            "spawn_agent(worker-wait) completed",
            "spawn_reviewer completed",
            "verify completed"
        ]
    );
    assert_eq!(env.prompts(&task), ["worker-wait", "reviewer", "reviewer"]);
    env.until_told(&task, "failed in round 1 of 2");
    assert_eq!(env.field(&task, "review_round"), "2");
}

#[test]
fn a_task_created_as_reviewing_gets_a_workspace_and_a_worker_when_changes_are_asked_for() {
    let env = Agents::new();
    colleague(&env);
    let task = env.create(["theirs", "Look at it", "--status", "reviewing"]);
    assert_eq!(creation(&env, &task), [""; 0]);
    assert!(env.windows().is_empty());
    env.say(&["task", "request-changes", &task.id, "make it\nblue"])
        .ok();
    assert_ne!(env.field(&task, "workspace"), "null");
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["respawn-working", "reviewer"]);
    assert!(env.taken(&task, "worker")[0].contains("make it\nblue"));
    assert!(
        task.text()
            .contains("## Changes requested\n\nmake it\nblue")
    );
    assert_eq!(env.field(&task, "review_round"), "1");
}

#[test]
fn changes_are_told_to_the_live_worker_and_rounds_count_anew() {
    let env = Agents::new();
    let task = env.create(["Change it"]);
    env.until_status(&task, "reviewing");
    env.say(&["task", "request-changes", &task.id, "bigger buttons"])
        .ok();
    let told = env.until_told(&task, "asks for changes");
    assert!(told.ends_with("bigger buttons"), "{told}");
    // The prompt is the engine's, whoever's command carried out the hook.
    assert_eq!(task.last("message")["by"], "engine");
    env.until_count(&task, "agent.spawned", 3);
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
    assert_eq!(env.field(&task, "review_round"), "1");
    assert_eq!(
        env.hooks(&task, "reviewing", "working"),
        ["notify_worker completed"]
    );
    assert_eq!(task.text().matches("## Handoff (round 1)").count(), 1);
}

#[test]
fn a_clarified_task_goes_straight_to_work_when_a_person_says_so() {
    let env = Agents::new();
    let script = "\
worker:
  - plan: 'APPROACH: x'
  - questions: Is that right?
  - status: clarification
  - end turn
  - handoff: 'DONE: x'
  - complete
";
    let task = env.start("Straight on", script);
    env.until_status(&task, "clarification");
    env.until_idle(&task, "worker");
    env.move_to(&task, "working").ok();
    env.until_told(&task, "is working now");
    env.until_status(&task, "reviewing");
    assert_eq!(
        env.hooks(&task, "clarification", "working"),
        ["notify_worker completed"]
    );
}

#[test]
fn an_agent_that_leaves_clarification_itself_is_not_told() {
    let env = Agents::new();
    let script = "worker:\n  - status: clarification\n  - status: planning\n  - hang\n";
    let task = env.start("By itself", script);
    env.until_count(&task, "status.changed", 3);
    assert_eq!(env.hooks(&task, "clarification", "planning"), [""; 0]);
    assert_eq!(env.count(&task, "message"), 0);
}

#[test]
fn a_stuck_worker_is_told_and_a_person_sends_it_on() {
    let env = Agents::new();
    let script = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - stuck
  - end turn
  - say: I know why.
  - end turn
  - handoff: 'DONE: x'
  - complete
";
    let task = env.start("Get stuck", script);
    env.until_status(&task, "stuck");
    env.until_told(&task, "is stuck now");
    assert_eq!(
        env.hooks(&task, "working", "stuck"),
        ["ensure_fixer completed"]
    );
    env.until("it has answered", || {
        env.signals(&task, "worker").last().unwrap().1 == "I know why."
    });
    env.move_to(&task, "working").ok();
    env.until_told(&task, "A person has answered");
    env.until_status(&task, "reviewing");
    assert_eq!(
        env.hooks(&task, "stuck", "working"),
        ["notify_worker completed"]
    );
}

const ENDING: [&str; 4] = [
    "kill_session completed",
    "release_workspace completed",
    "delete_remote_branch completed",
    "spawn_next completed",
];

#[test]
fn a_merged_task_ends_its_session_frees_its_slot_and_the_next_one_starts() {
    let env = Agents::new();
    env.say(&["project", "update", "shop", "--pool-size", "1"])
        .ok();
    let task = env.create(["The first one"]);
    env.until_status(&task, "reviewing");
    let next = env.create(["The next one"]);
    env.git(&env.shop(), &["merge", "-q", "--no-edit", &task.branch]);
    env.move_to(&task, "done").ok();
    assert_eq!(env.hooks(&task, "reviewing", "done"), ENDING);
    env.until_status(&next, "reviewing");
    assert_eq!(env.windows(), [format!("shop/{}:worker", next.branch)]);
}

#[test]
fn a_task_is_ended_by_force_in_the_middle_of_its_work() {
    let env = Agents::new();
    let script = "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - hang\n";
    let task = env.start("End it", script);
    env.until_status(&task, "working");
    env.resolve(&task);
    assert_eq!(env.hooks(&task, "working", "done"), ENDING);
    assert!(env.windows().is_empty());
    assert_eq!(env.count(&task, "agent.stopped"), 1);
}

#[test]
fn a_person_takes_a_hung_reviewers_row() {
    let env = Agents::new();
    let task = env.start("Hung", "reviewer round 1:\n  - review: FAIL\n  - hang\n");
    env.until_status(&task, "agent-review");
    env.until("the verdict is there", || {
        task.text().contains("Verdict: FAIL")
    });
    env.move_to(&task, "working").ok();
    env.until_told(&task, "failed in round 1");
    assert_eq!(env.count(&task, "agent.stopped"), 1);
    env.until_status(&task, "reviewing");
}

#[test]
fn a_hook_that_fails_is_shown_and_tried_again() {
    let env = Agents::configured("harness:\n  mine: ROOT/mine\n");
    let task = env.create(["use-mine", "Use mine", "--review-harness", "mine"]);
    env.until_status(&task, "agent-review");
    assert_eq!(
        env.hooks(&task, "working", "agent-review"),
        ["spawn_reviewer failed", "verify completed"],
        "the status stands"
    );
    let attention = env.attention(&task);
    assert!(
        attention.contains("could not start the reviewer"),
        "{attention}"
    );
    assert!(attention.contains("mine is not installed"), "{attention}");
    env.write("mine", "#!/bin/sh\nexec cat\n");
    let mut chmod = env.foreign("chmod");
    chmod.arg("+x").arg(env.root().join("mine"));
    assert!(chmod.status().unwrap().success());
    env.say(&["task", "retry-hooks", &task.id]).ok();
    assert_eq!(env.attention(&task), "");
    assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
    assert_eq!(env.count(&task, "hook.failed"), 1);
}

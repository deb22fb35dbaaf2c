//! Agents that were killed without a word, and what starts them again.

use crate::agents::Agents;
use crate::env::TestTask;

/// Kills the process beside an agent as a machine would, and has the monitor look.
fn kill(env: &Agents, task: &TestTask, role: &str) {
    env.kill(env.run_agent(task, role), "-9");
    env.look();
}

/// Waits until exactly one scripted agent lives.
#[track_caller]
fn until_one_agent(env: &Agents) {
    env.until("one agent lives", || {
        let all = env.processes().into_iter();
        all.filter(|(_, line)| line.contains(" sim ")).count() == 1
    });
}

#[test]
fn a_worker_killed_in_planning_counts_once_and_is_respawned_there() {
    let env = Agents::new();
    let task = env.start(
        "Plan it",
        "worker:\n  - hang\nworker attempt 2:\n  - hang\n",
    );
    env.until_status(&task, "planning");
    kill(&env, &task, "worker");
    env.look();
    env.look();
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    assert_eq!(env.field(&task, "crash_count"), "1");
    assert!(env.attention(&task).contains("worker crashed: killed"));
    assert_eq!(env.status(&task), "planning");
    env.say(&["task", "respawn", &task.id]).ok();
    assert_eq!(env.prompts(&task), ["worker", "respawn-planning"]);
    assert_eq!(env.attention(&task), "");
    until_one_agent(&env);
    env.say(&["task", "respawn", &task.id, "--json"])
        .refuses(3, "conflict");
}

/// An agent beside its branch would commit where nobody looks.
#[test]
fn no_agent_is_started_in_a_slot_without_its_branch() {
    let env = Agents::new();
    let task = env.start("Plan it", "worker:\n  - hang\n");
    env.until_status(&task, "planning");
    kill(&env, &task, "worker");
    env.look();
    let slot = env.slot_of(&task);
    let branch = env.branch_at(&slot);
    std::fs::remove_dir_all(&slot).unwrap();
    env.say(&["task", "respawn", &task.id])
        .fails_with(3)
        .says("its workspace shop--1 is gone");
    let shop = env.shop();
    env.git(&shop, &["worktree", "prune"]);
    env.git(&shop, &["switch", "-q", &branch]);
    env.say(&["doctor", "--repair"]).fails_with(1);
    env.say(&["task", "respawn", &task.id]).fails_with(3);
    // As a failed repair used to leave it.
    let path = slot.to_str().unwrap();
    env.git(&shop, &["worktree", "add", "-q", "--detach", path]);
    env.say(&["task", "respawn", &task.id])
        .fails_with(3)
        .says("is already used by worktree");
    env.say(&["doctor"])
        .fails_with(1)
        .says("is not checked out");
    env.git(&shop, &["switch", "-q", "main"]);
    // The worker that is gone is a person's to decide about.
    env.say(&["doctor", "--repair"])
        .fails_with(1)
        .says(&format!("{branch} is checked out"))
        .says("its worker crashed");
    assert_eq!(env.branch_at(&slot), branch);
    env.say(&["task", "respawn", &task.id]).ok();
    env.say(&["doctor"]).ok();
}

#[test]
fn a_worker_killed_in_working_goes_on_with_what_is_there() {
    let env = Agents::new();
    let task = env.start(
        "Work on",
        "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: half.txt
    text: half
  - hang
worker attempt 2:
  - run: test \"$(cat half.txt)\" = half
  - commit: all
  - handoff: 'DONE: x'
  - complete
",
    );
    env.until_status(&task, "working");
    let slot = env.slot_of(&task);
    env.until("half is done", || slot.join("half.txt").exists());
    kill(&env, &task, "worker");
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    env.say(&["task", "respawn", &task.id, "--message", "go on"])
        .ok();
    env.until_status(&task, "reviewing");
    assert_eq!(
        env.prompts(&task),
        ["worker", "respawn-working", "reviewer"]
    );
    assert!(env.taken(&task, "worker")[0].contains("go on"));
    assert_eq!(
        env.field(&task, "crash_count"),
        "0",
        "a transition resets it"
    );
    assert!(slot.join("half.txt").exists(), "in the same slot");
}

#[test]
fn a_worker_killed_where_a_person_is_waited_for_is_no_crash() {
    let env = Agents::new();
    let asks = env.start("Ask", "worker:\n  - status: clarification\n");
    let passes = env.create(["Pass it"]);
    for (task, status, prompt) in [
        (&asks, "clarification", "respawn-clarification"),
        (&passes, "reviewing", "respawn-reviewing"),
    ] {
        env.until_status(task, status);
        kill(&env, task, "worker");
        env.look();
        assert_eq!(env.count(task, "agent.crashed"), 0, "{status}");
        assert_eq!(env.status(task), status);
        env.say(&["task", "respawn", &task.id]).ok();
        assert_eq!(env.prompts(task).last().unwrap(), prompt);
    }
}

#[test]
fn a_killed_reviewer_is_started_again_for_the_same_round_and_then_it_is_stuck() {
    let env = Agents::new();
    let task = env.start(
        "Hang",
        "reviewer:\n  - hang\nreviewer attempt 2:\n  - hang\n",
    );
    env.until_status(&task, "agent-review");
    kill(&env, &task, "reviewer");
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
    assert_eq!(env.field(&task, "review_round"), "1");
    assert_eq!(env.field(&task, "crash_count"), "1");
    assert_eq!(env.attention(&task), "", "nobody has to act");
    let review = format!("shop/{}:review-1", task.branch);
    assert_eq!(
        env.windows()
            .iter()
            .filter(|window| **window == review)
            .count(),
        1
    );
    kill(&env, &task, "reviewer");
    env.until_status(&task, "stuck");
    assert_eq!(env.count(&task, "agent.crashed"), 2);
    env.until_told(&task, "is stuck now");
    let moved = task.last("auto.advanced");
    assert_eq!(moved["reason"], "its agent crashed 2 times");
    assert!(!env.windows().contains(&review), "{:?}", env.windows());
}

#[test]
fn a_worker_that_is_respawned_again_and_again_has_one_window() {
    let env = Agents::new();
    let task = env.start(
        "Ask often",
        "worker:\n  - status: clarification\n  - exit\n",
    );
    for attempt in 1..4 {
        env.until_count(&task, "agent.exited", attempt);
        env.say(&["task", "respawn", &task.id]).ok();
        env.until_count(&task, "agent.spawned", attempt + 1);
        let windows = env.windows();
        assert_eq!(
            windows,
            [format!("shop/{}:worker", task.branch)],
            "{attempt}"
        );
    }
}

#[test]
fn a_killed_server_is_noticed_and_a_respawn_makes_a_new_one() {
    let env = Agents::new();
    let task = env.start(
        "Hold on",
        "worker:\n  - hang\nworker attempt 2:\n  - hang\n",
    );
    env.until_status(&task, "planning");
    env.tmux(&["kill-server"]);
    env.until_event(&task, "agent.crashed");
    let crash = task.last("agent.crashed");
    assert!(
        crash["reason"]
            .as_str()
            .unwrap()
            .contains("its window was closed"),
        "{crash}"
    );
    env.look();
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    env.say(&["task", "respawn", &task.id]).ok();
    assert_eq!(env.windows(), [format!("shop/{}:worker", task.branch)]);
}

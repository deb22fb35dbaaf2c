//! What an agent's end means for its task, by where the task is and what the agent left.

use crate::agents::Agents;
use serde_json::Value;

/// Looks several times: what happened counts once.
fn look_often(env: &Agents) {
    for _ in 0..3 {
        env.look();
    }
}

#[test]
fn a_worker_that_exits_in_planning_without_a_plan_has_crashed_and_twice_is_stuck() {
    let env = Agents::new();
    let task = env.start(
        "No plan",
        "worker:\n  - say: bye\n  - exit: 3\nworker attempt 3:\n  - say: What went wrong?\n",
    );
    env.until_count(&task, "agent.crashed", 1);
    look_often(&env);
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    let crash = task.last("agent.crashed");
    let reason = crash["reason"].as_str().unwrap();
    assert!(reason.starts_with("exit code 3; "), "{reason}");
    assert!(reason.contains("Plan"), "{reason}");
    assert_eq!(env.status(&task), "planning");
    let attention = env.attention(&task);
    assert!(
        attention.contains("its worker crashed: exit code 3"),
        "{attention}"
    );
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_status(&task, "stuck");
    look_often(&env);
    assert_eq!(env.count(&task, "agent.crashed"), 2);
    assert_eq!(
        task.last("auto.advanced")["reason"],
        "its agent crashed 2 times"
    );
    assert_eq!(
        env.hooks(&task, "planning", "stuck"),
        ["ensure_fixer completed"]
    );
    assert_eq!(
        env.prompts(&task),
        ["worker", "respawn-planning", "stuck-fix"]
    );
    assert_eq!(env.field(&task, "crash_count"), "0");
}

#[test]
fn a_plan_that_was_written_counts_although_its_writer_is_gone() {
    let env = Agents::new();
    let task = env.start(
        "Plan only",
        "worker:\n  - plan: 'APPROACH: x'\n  - exit\nworker attempt 2:\n  - crash\n",
    );
    env.until_status(&task, "working");
    look_often(&env);
    assert_eq!(env.count(&task, "agent.crashed"), 1, "it left no handoff");
    assert_eq!(env.field(&task, "crash_count"), "1");
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_status(&task, "stuck");
    assert_eq!(env.count(&task, "agent.crashed"), 2);
}

#[test]
fn plan_and_handoff_at_once_go_all_the_way_to_review() {
    let env = Agents::new();
    let task = env.start(
        "Both at once",
        "worker:\n  - plan: 'APPROACH: x'\n  - handoff: 'DONE: x'\n  - exit\n",
    );
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    // Started by a command, advanced twice by what it left behind, reviewed.
    let history = task.history();
    let moves = history.iter().filter(|event| event["to"].is_string());
    let told = |event: &Value| {
        let word = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        format!("{} {} → {}", word("type"), word("from"), word("to"))
    };
    assert_eq!(
        moves.map(told).collect::<Vec<_>>(),
        [
            "status.changed pending → planning",
            "auto.advanced planning → working",
            "auto.advanced working → agent-review",
            "status.changed agent-review → reviewing",
        ]
    );
    let advanced = task.last("auto.advanced");
    assert_eq!(advanced["reason"], "its worker ended: exit code 0");
    let beside = |kind: &str, beside: &str| {
        let (note, moved) = (task.last(kind), task.last(beside));
        assert_eq!(note["transition"], moved["transition"], "{kind}");
        assert_eq!(note["round"], 1, "{kind}");
        assert!(note["revision"].is_null(), "{kind}");
    };
    beside("review.started", "auto.advanced");
    beside("review.passed", "status.changed");
    // People read it once.
    let shown = env.say(&["task", "show", &task.id, "--history"]).ok();
    let history = shown.stdout.split("\nhistory\n").nth(1).unwrap();
    assert_eq!(history.matches("review passed").count(), 1, "{shown}");
    assert!(!history.contains("review round"), "{shown}");
    assert_eq!(
        env.hooks(&task, "working", "agent-review"),
        ["spawn_reviewer completed", "verify completed"]
    );
    let moves = task.history();
    let to_review = moves
        .iter()
        .find(|event| event["to"] == "agent-review")
        .unwrap();
    assert!(
        to_review["head"].is_string(),
        "evidence is bound to a commit: {to_review}"
    );
}

#[test]
fn a_handoff_in_working_leads_to_review_and_none_is_a_crash() {
    let env = Agents::new();
    let script = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - exit
worker attempt 2:
  - handoff: 'DONE: x'
  - crash: KILL
";
    let task = env.start("Handoff", script);
    env.until_event(&task, "agent.crashed");
    look_often(&env);
    assert_eq!(env.status(&task), "working");
    assert_eq!(env.field(&task, "crash_count"), "1");
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_status(&task, "reviewing");
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    let reason = task
        .history()
        .iter()
        .find(|event| event["to"] == "agent-review")
        .unwrap()["reason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(reason, "its worker ended: ended by signal 9");
}

#[test]
fn a_worker_that_exits_while_it_is_reviewed_is_no_crash() {
    let env = Agents::new();
    let task = env.start(
        "Leave early",
        "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - handoff: 'DONE: x'
  - complete
  - exit
reviewer:
  - wait for:
      file: ROOT/go
  - review: PASS
  - status: reviewing
",
    );
    env.until_event(&task, "agent.exited");
    look_often(&env);
    assert_eq!(env.status(&task), "agent-review");
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    assert_eq!(env.count(&task, "agent.exited"), 1);
    env.allow("go");
    env.until_status(&task, "reviewing");
}

#[test]
fn a_reviewer_that_only_writes_its_verdict_has_decided() {
    let env = Agents::configured("review:\n  max_rounds: 1\n");
    for (summary, verdict, status) in [
        ("It passes", "PASS", "reviewing"),
        ("It fails", "FAIL", "stuck"),
    ] {
        let script = format!("reviewer:\n  - review: {verdict}\n  - exit: 1\n");
        let task = env.start(summary, &script);
        env.until_status(&task, status);
        look_often(&env);
        assert_eq!(env.count(&task, "agent.crashed"), 0);
        assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
        assert_eq!(
            task.last("auto.advanced")["reason"],
            "its reviewer ended: exit code 1"
        );
        let reviewed = task.last(&format!("review.{verdict}ed").to_lowercase());
        assert_eq!(reviewed["run"], task.last("agent.spawned")["run"]);
        assert_eq!(
            env.windows()
                .iter()
                .filter(|name| name.contains("review-"))
                .count(),
            0
        );
    }
}

#[test]
fn a_failing_verdict_without_a_command_is_told_to_the_worker() {
    let env = Agents::new();
    let task = env.start(
        "Fail silently",
        "reviewer round 1:\n  - review: FAIL\n  - exit: 1\n",
    );
    env.until_status(&task, "reviewing");
    env.until_told(&task, "failed in round 1");
    assert_eq!(env.field(&task, "review_round"), "2");
}

#[test]
fn a_reviewer_without_a_verdict_is_started_again_by_itself_and_twice_is_stuck() {
    let env = Agents::new();
    let task = env.start("No verdict", "reviewer:\n  - exit\n");
    env.until_status(&task, "stuck");
    look_often(&env);
    assert_eq!(env.count(&task, "agent.crashed"), 2);
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
    assert_eq!(env.field(&task, "review_round"), "1", "the same round");
    assert_eq!(
        env.hooks(&task, "agent-review", "stuck"),
        ["kill_reviewer completed", "ensure_fixer completed"]
    );
    env.until_told(&task, "is stuck now");
}

#[test]
fn a_second_reviewer_that_decides_undoes_the_crash() {
    let env = Agents::new();
    let task = env.start("Second one", "reviewer round 1 attempt 1:\n  - crash\n");
    env.until_status(&task, "reviewing");
    assert_eq!(env.count(&task, "agent.crashed"), 1);
    assert_eq!(env.field(&task, "crash_count"), "0");
    assert_eq!(env.attention(&task), "");
}

#[test]
fn crashes_are_counted_by_status() {
    let env = Agents::new();
    let task = env.start(
        "Count them",
        "\
worker:
  - crash
worker attempt 2:
  - plan: 'APPROACH: x'
  - status: working
  - crash
worker attempt 3:
  - crash
",
    );
    env.until_count(&task, "agent.crashed", 1);
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_count(&task, "agent.crashed", 2);
    assert_eq!(env.status(&task), "working", "one crash in each");
    assert_eq!(env.field(&task, "crash_count"), "1");
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_status(&task, "stuck");
    assert_eq!(
        env.hooks(&task, "working", "stuck"),
        ["ensure_fixer completed"]
    );
}

#[test]
fn what_an_agent_left_behind_ends_with_it_and_the_window_becomes_a_shell() {
    let env = Agents::new();
    for name in ["child", "daemon"] {
        env.write(&format!("scripts/{name}"), "");
    }
    let task = env.start(
        "Leave things",
        "\
worker:
  - child: exec tail -f ROOT/scripts/child
  - daemon: exec tail -f ROOT/scripts/daemon
  - plan: 'APPROACH: x'
  - wait for:
      file: ROOT/go
  - exit
",
    );
    for name in ["child", "daemon"] {
        let line = format!("tail -f {}/scripts/{name}", env.root().display());
        env.until(name, || env.is_running(&line));
    }
    env.allow("go");
    env.until_event(&task, "agent.crashed");
    let words = format!("{}/scripts/", env.root().display());
    env.until("all is gone", || {
        !env.is_running(&format!("tail -f {words}"))
    });
    env.until_shell();
    let windows = env.windows();
    assert_eq!(windows.len(), 1, "{windows:?}");
    let target = format!("={}", windows[0].replace(":worker", ":"));
    env.tmux(&[
        "send-keys",
        "-t",
        &target,
        "env | grep -c ORANGE_RUN_ID > left; mv left there",
        "Enter",
    ]);
    let there = env.slot_of(&task).join("there");
    env.until("the shell answers", || there.exists());
    assert_eq!(std::fs::read_to_string(there).unwrap().trim(), "0");
}

//! Agents that do what they should not: to their task, their worktree, their terminal and other processes.

use crate::agent_kills::agents_alive;
use crate::agents::Agents;
use crate::env::TestTask;
use std::fs;

/// Lines of a script that say that it has come so far, and wait to be told to go on.
const PAUSE: &str = "  - write: ready\n    text: x\n  - wait for: {file: go}\n";

fn ready(env: &Agents, task: &TestTask) {
    let file = env.slot_of(task).join("ready");
    env.until("it has come so far", || file.exists());
}

fn cancel(env: &Agents, task: &TestTask) {
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.status(task), "cancelled");
    assert_eq!(env.count(task, "hook.failed"), 0);
    assert_eq!(env.windows(), Vec::<String>::new());
    assert_eq!(agents_alive(env), Vec::<u32>::new());
    let shown = env.say(&["task", "show", &task.id, "--json"]).ok().json();
    assert!(shown["task"]["workspace"].is_null(), "{shown}");
}

#[test]
fn a_status_written_into_the_frontmatter_is_put_back() {
    let env = Agents::new();
    let script = format!("worker:\n  - frontmatter: {{status: done}}\n{PAUSE}");
    let task = env.start("Cheat a little", &script);
    env.until("it is put back", || {
        env.say(&["task", "list"]).ok();
        env.show(&task)["status"] == "planning" && env.status(&task) == "planning"
    });
    cancel(&env, &task);
}

#[test]
fn done_and_other_tasks_are_refused() {
    let env = Agents::new();
    let other = env.create(["Another one", "--harness", "none"]);
    let script = format!(
        "worker:\n  - run: orange task update --status done\n    expect: 3\n  - run: orange task update {} --summary mine\n    expect: 3\n  - run: orange task cancel {} --yes\n    expect: 3\n{PAUSE}",
        other.id, other.id
    );
    let log = env.root().join("sim.log");
    let task = env.start("Reach out", &script);
    ready(&env, &task);
    assert_eq!(env.status(&task), "planning");
    assert_eq!(env.status(&other), "planning");
    let seen = env.say(&["task", "peek", &task.id, "--lines", "100"]).ok();
    assert!(!seen.stdout.contains("failed"), "{seen} {}", log.display());
    cancel(&env, &task);
}

#[test]
fn a_link_that_became_a_file_still_hands_over() {
    let env = Agents::new();
    let script = "worker:\n  - plan: \"APPROACH: x\"\n    how: rename\n  - status: working\n  - handoff: \"DONE: x\"\n    how: rename\n  - complete\nreviewer:\n  - wait for: {file: never}\n";
    let task = env.start("Rename over it", script);
    env.until_status(&task, "agent-review");
    assert!(env.slot_of(&task).join("TASK.md").is_symlink());
    cancel(&env, &task);
}

#[test]
fn a_file_in_place_of_the_link_counts_when_the_agent_ends() {
    let env = Agents::new();
    let script = "worker:\n  - plan: \"APPROACH: x\"\n    how: rename\n  - handoff: \"DONE: x\"\n    how: rename\n  - exit: 1\nreviewer:\n  - wait for: {file: never}\n";
    let task = env.start("Rename and go", script);
    env.until_status(&task, "agent-review");
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    cancel(&env, &task);
}

#[test]
fn commits_on_another_branch_are_kept() {
    let env = Agents::new();
    let script = format!(
        "worker:\n  - run: git switch -qc elsewhere\n  - write: a.txt\n    text: a\n  - commit: astray\n{PAUSE}"
    );
    let task = env.start("Go astray", &script);
    ready(&env, &task);
    env.say(&["task", "why", &task.id]).ok();
    env.say(&["task", "peek", &task.id]).ok();
    cancel(&env, &task);
    let log = env.git(&env.shop(), &["log", "--format=%s", "elsewhere"]);
    assert!(log.contains("astray"), "{log}");
}

#[test]
fn a_branch_that_was_renamed_takes_the_task_along() {
    let env = Agents::new();
    let script = format!(
        "worker:\n  - run: git branch -m better-name\n{PAUSE}  - plan: \"APPROACH: x\"\n  - status: working\n  - wait for: {{file: never}}\n"
    );
    let task = env.start("Be renamed", &script);
    ready(&env, &task);
    fs::write(env.slot_of(&task).join("go"), "").unwrap();
    env.until_status(&task, "working");
    assert_eq!(env.show(&task)["branch"], "better-name");
    env.say(&["task", "peek", &task.id]).ok().says("orange sim");
    env.say(&["task", "attach", &task.id, "--json"]).ok();
    env.say(&["task", "send", &task.id, "hello"]).ok();
    env.kill(agents_alive(&env)[0], "-9");
    env.until_event(&task, "agent.crashed");
    env.say(&["task", "respawn", &task.id]).ok();
    assert_eq!(env.windows().len(), 1, "{:?}", env.windows());
    cancel(&env, &task);
    env.git(&env.shop(), &["rev-parse", "--verify", "better-name"]);
}

/// A rebase that stops half way, on the task's own branch.
const REBASE: &str = r#"
  - run: |
      echo mine > conflict && git add conflict && git commit -qm mine
      git branch side HEAD~1 && git switch -q side
      echo theirs > conflict && git add conflict && git commit -qm theirs
      git switch -q "$SIM_BRANCH"
      git rebase side
    expect: 1
"#;

#[test]
fn a_rebase_half_done_is_cancelled_with_its_commits_kept() {
    let env = Agents::new();
    let task = env.start("Rebase it", &format!("worker:{REBASE}{PAUSE}"));
    ready(&env, &task);
    let slot = env.slot_of(&task);
    cancel(&env, &task);
    let log = env.git(&env.shop(), &["log", "--format=%s", &task.branch]);
    assert!(log.contains("mine"), "{log}");
    let next = env.start("The next one", &format!("worker:\n{PAUSE}"));
    ready(&env, &next);
    assert_eq!(env.slot_of(&next), slot, "the slot is as good as new");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "?? ready");
}

#[test]
fn a_rebase_half_done_does_not_stop_a_handover() {
    let env = Agents::new();
    let rest = "  - plan: \"APPROACH: x\"\n  - status: working\n  - handoff: \"DONE: x\"\n  - complete\nreviewer:\n  - wait for: {file: never}\n";
    let task = env.start("Rebase and go", &format!("worker:{REBASE}{rest}"));
    env.until_status(&task, "agent-review");
    cancel(&env, &task);
}

#[test]
fn a_worktree_that_its_agent_deleted() {
    for line in ["find . -mindepth 1 -delete", "rm -rf \"$PWD\""] {
        let env = Agents::new();
        let script = format!(
            "worker:\n  - write: a.txt\n    text: a\n  - commit: kept\n  - run: {line}\n    ignore: true\n  - exit: 1\n"
        );
        let task = env.start("Delete it all", &script);
        env.until_event(&task, "agent.crashed");
        env.say(&["task", "why", &task.id]).ok();
        env.say(&["watch", "--once"]).ok();
        env.say(&["task", "cancel", &task.id, "--yes"]);
        assert_eq!(env.status(&task), "cancelled", "{line}");
        let log = env.git(&env.shop(), &["log", "--format=%s", &task.branch]);
        assert!(log.contains("kept"), "{log}");
        let next = env.start("The next one", &format!("worker:\n{PAUSE}"));
        ready(&env, &next);
    }
}

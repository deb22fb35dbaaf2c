//! Tasks that are given up, and callers in the window that a hook closes.

use crate::agents::Agents;
use std::fs;

const LINGERS: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: half.txt
    text: half a thought
  - child: exec tail -f ROOT/scripts/child
  - daemon: exec tail -f ROOT/scripts/daemon
  - daemon: exec tail -f ROOT/scripts/stranger
    clear_env: true
  - write: ready
    text: x
  - hang:
    ignore: [TERM, HUP]
";

#[test]
fn cancelling_ends_the_session_frees_the_slot_saves_the_work_and_leaves_no_process() {
    let env = Agents::new();
    for name in ["child", "daemon", "stranger"] {
        env.write(&format!("scripts/{name}"), "");
    }
    let task = env.start("Give up", LINGERS);
    env.until_status(&task, "working");
    let slot = env.slot_of(&task);
    env.until("it lingers", || slot.join("ready").exists());
    let line = |name: &str| format!("tail -f {}/scripts/{name}", env.root().display());
    for name in ["child", "daemon", "stranger"] {
        env.until(name, || env.is_running(&line(name)));
    }
    env.say(&["task", "cancel", &task.id, "--yes"])
        .ok()
        .says("rescue");
    assert_eq!(
        env.hooks(&task, "working", "cancelled"),
        [
            "kill_reviewer completed",
            "kill_session completed",
            "release_workspace completed"
        ]
    );
    for name in ["child", "daemon", "stranger"] {
        assert!(!env.is_running(&line(name)), "{name} is left");
    }
    assert!(env.windows().is_empty(), "{:?}", env.windows());
    assert!(env.runs().is_empty(), "{:?}", env.runs());
    assert!(!slot.join("half.txt").exists());
    let saved = task.last("hook.completed")["rescue"]
        .as_str()
        .unwrap()
        .to_owned();
    let text = env.git(&env.shop(), &["show", &format!("{saved}:half.txt")]);
    assert_eq!(text, "half a thought");
    let screens = fs::read_dir(task.folder.join("screens")).unwrap();
    assert_eq!(screens.count(), 1, "its last screen is kept");
    let next = env.create(["The next one"]);
    env.until_status(&next, "reviewing");
    assert_eq!(env.slot_of(&next), slot, "the slot is free again");
}

#[test]
fn a_project_that_is_removed_without_its_repository_leaves_no_agent_and_keeps_the_work() {
    let env = Agents::new();
    for name in ["child", "daemon", "stranger"] {
        env.write(&format!("scripts/{name}"), "");
    }
    let task = env.start("Left behind", LINGERS);
    env.until_status(&task, "working");
    let slot = env.slot_of(&task);
    env.until("it lingers", || slot.join("ready").exists());
    fs::rename(env.shop(), env.root().join("elsewhere")).unwrap();
    env.say(&["project", "remove", "shop"]).fails_with(3);
    assert!(!env.runs().is_empty());
    env.say(&["project", "remove", "shop", "--force"])
        .ok()
        .says("shop--1 cannot be saved without its repository; it is kept as ");
    for name in ["child", "daemon", "stranger"] {
        let line = format!("tail -f {}/scripts/{name}", env.root().display());
        assert!(!env.is_running(&line), "{name} is left");
    }
    assert!(env.windows().is_empty(), "{:?}", env.windows());
    assert!(env.runs().is_empty(), "{:?}", env.runs());
    assert_eq!(env.count(&task, "agent.stopped"), 1);
    assert!(!slot.exists());
    let kept = fs::read_dir(task.folder.join("rescued")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let text = fs::read_to_string(kept[0].join("half.txt")).unwrap();
    assert_eq!(text, "half a thought");
    assert!(!task.text().contains("workspace: shop--1"));
    let pool = fs::read_to_string(env.home().join("workspaces/.pool.json")).unwrap();
    assert!(!pool.contains("shop--1"), "{pool}");
}

#[test]
fn cancelling_in_the_middle_of_a_review_ends_both_agents() {
    let env = Agents::new();
    let task = env.start("Stop both", "reviewer:\n  - hang\n");
    env.until_status(&task, "agent-review");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.count(&task, "agent.stopped"), 2);
    assert!(env.windows().is_empty());
    env.say(&["task", "respawn", &task.id, "--json"])
        .refuses(3, "condition_unmet");
}

#[test]
fn a_worker_may_not_cancel_its_task() {
    let env = Agents::new();
    let task = env.start(
        "Not me",
        "\
worker:
  - run: orange task cancel \"$ORANGE_TASK_ID\" --yes; echo $? > ROOT/code
  - status: cancelled
    expect: 3
  - hang
",
    );
    env.until("it has tried", || env.root().join("code").exists());
    assert_ne!(
        fs::read_to_string(env.root().join("code")).unwrap().trim(),
        "0"
    );
    assert_eq!(env.status(&task), "planning");
}

/// Opens a second window in a task's session and types there what a person would.
fn type_in_its_session(env: &Agents, branch: &str, line: &str) {
    let session = format!("=shop/{branch}:");
    let made = env.tmux(&["new-window", "-d", "-t", &session, "-n", "mine", "/bin/sh"]);
    assert!(made.status.success(), "{made:?}");
    let window = format!("=shop/{branch}:mine");
    env.tmux(&["send-keys", "-t", &window, "-l", line]);
    env.tmux(&["send-keys", "-t", &window, "Enter"]);
}

#[test]
fn a_person_cancels_from_inside_the_session_that_is_closed() {
    let env = Agents::new();
    let task = env.start(
        "From inside",
        "worker:\n  - write: half.txt\n    text: x\n  - hang\n",
    );
    env.until_status(&task, "planning");
    let slot = env.slot_of(&task);
    env.until("half is done", || slot.join("half.txt").exists());
    let home = env.home();
    let orange = crate::run::program().display();
    let line = format!(
        "cd /; ORANGE_HOME={} {orange} task cancel {} --yes",
        home.display(),
        task.id
    );
    type_in_its_session(&env, &task.branch, &line);
    env.until_status(&task, "cancelled");
    assert_eq!(
        env.hooks(&task, "planning", "cancelled"),
        [
            "kill_reviewer completed",
            "kill_session completed",
            "release_workspace completed"
        ]
    );
    assert!(env.windows().is_empty());
    assert!(!slot.join("half.txt").exists());
    assert!(task.last("hook.completed")["rescue"].is_string());
}

#[test]
fn a_person_ends_a_task_from_inside_its_session_and_the_next_one_starts() {
    let env = Agents::new();
    env.say(&["project", "update", "shop", "--pool-size", "1"])
        .ok();
    let task = env.create(["The first one"]);
    env.until_status(&task, "reviewing");
    let next = env.create(["The next one"]);
    assert_eq!(env.status(&next), "pending");
    let line = format!(
        "cd /; ORANGE_HOME={} {} task resolve {} --message done --yes",
        env.home().display(),
        crate::run::program().display(),
        task.id
    );
    type_in_its_session(&env, &task.branch, &line);
    env.until_status(&next, "reviewing");
    assert_eq!(
        env.hooks(&task, "reviewing", "done"),
        [
            "kill_session completed",
            "release_workspace completed",
            "delete_remote_branch completed",
            "spawn_next completed"
        ]
    );
}

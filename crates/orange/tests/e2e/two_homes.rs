//! More than one home on a machine: a copy of a home (a backup), a home that was moved, and two homes with one repository.

use crate::agents::Agents;
use crate::env::{TestEnvironment, TestTask};
use crate::run::Run;
use std::fs;
use std::path::{Path, PathBuf};

/// Works until it is told to stop.
const LINGERS: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: half.txt
    text: half a thought
  - hang
";

/// Copies the home as `cp -a` does.
fn copy(env: &TestEnvironment, name: &str) -> PathBuf {
    let backup = env.root().join(name);
    copy_folder(env, &env.home(), &backup);
    backup
}

fn copy_folder(env: &TestEnvironment, from: &Path, to: &Path) {
    let mut command = env.foreign("cp");
    let copied = command.arg("-a").args([from, to]).output().unwrap();
    assert!(copied.status.success(), "{copied:?}");
}

fn orange_in(env: &TestEnvironment, home: &Path, words: &[&str]) -> Run {
    let call = env.call(words.iter().copied());
    call.var("ORANGE_HOME", home.to_str().unwrap()).run()
}

/// A task whose worker is at work in the original.
fn lingering() -> (Agents, TestTask) {
    let env = Agents::new();
    let task = env.start("Night mode", LINGERS);
    env.until_status(&task, "working");
    let slot = env.slot_of(&task);
    env.until("it lingers", || slot.join("half.txt").exists());
    (env, task)
}

/// The number of the process in the task's window.
fn pane(env: &Agents) -> String {
    let said = env.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{pane_pid}"]);
    String::from_utf8(said.stdout).unwrap()
}

/// Whether the original's agent, window, branch and workspace are as they were.
fn is_untouched(env: &Agents, task: &TestTask, events: &[String], panes: &str) {
    assert_eq!(task.events(), events, "{}", env.dump());
    assert_eq!(pane(env), panes, "{}", env.dump());
    let slot = env.slot_of(task);
    assert_eq!(env.git(&slot, &["branch", "--show-current"]), task.branch);
    assert!(slot.join("half.txt").exists());
    assert_eq!(env.list(["--status", "working"])[0]["session"], "alive");
}

/// The original does not know yet that it was renamed, so nothing but its agents tells the two apart.
#[test]
fn a_copy_does_not_take_over_from_a_renamed_original_whose_agents_run() {
    let (env, task) = lingering();
    let backup = copy(&env, "backup");
    // Without what would lead to the original.
    fs::remove_dir_all(backup.join("runs")).unwrap();
    let panes = pane(&env);
    let moved = env.root().join("moved");
    fs::rename(env.home(), &moved).unwrap();
    orange_in(&env, &backup, &["task", "cancel", &task.key, "--yes"])
        .fails_with(3)
        .says("whose agents still run");
    assert_eq!(pane(&env), panes);
    orange_in(
        &env,
        &moved,
        &["task", "update", &task.key, "--priority", "high"],
    )
    .ok();
    let listed = orange_in(&env, &moved, &["ls", "--json"]).ok().json();
    assert_eq!(listed["tasks"][0]["session"], "alive", "{listed}");
    fs::rename(&moved, env.home()).unwrap();
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn a_copy_of_the_home_is_shown_and_changes_nothing() {
    let (env, task) = lingering();
    let backup = copy(&env, "backup");
    let (events, panes) = (task.events(), pane(&env));
    let key = task.key.as_str();
    let copied = backup.join("tasks/shop").join(&task.id);
    let journal = fs::read(copied.join("history.jsonl")).unwrap();
    for words in [
        &["ls"][..],
        &["task", "show", key],
        &["task", "why", key],
        &["task", "diff", key],
        &["workspace", "list"],
        &["project", "list"],
        &["config", "show"],
    ] {
        orange_in(&env, &backup, words).ok().says("is a copy of");
    }
    orange_in(&env, &backup, &["doctor"]).says("is a copy of");
    for words in [
        &["task", "cancel", key, "--yes"][..],
        &["task", "merge", key, "--force"],
        &["task", "respawn", key],
        &["task", "send", key, "hello"],
        &["task", "update", key, "--priority", "high"],
        &["task", "update", key, "--status", "stuck"],
        &["task", "delete", key, "--yes"],
        &["task", "retry-hooks", key],
        &["task", "exec", key, "--", "true"],
        &["task", "create", "Another one"],
        &["doctor", "--repair"],
        &["gc"],
        &["workspace", "gc", "--all"],
        &["workspace", "init"],
        &["project", "remove", "shop"],
        &["config", "set", "merge.strategy", "merge"],
        &["watch", "--once"],
        &["errand", "queue"],
    ] {
        let said = orange_in(&env, &backup, words);
        assert_ne!(said.code, 0, "{words:?}: {said}");
        said.says("is a copy of").says(env.home().to_str().unwrap());
    }
    is_untouched(&env, &task, &events, &panes);
    assert_eq!(fs::read(copied.join("history.jsonl")).unwrap(), journal);
    // The original is none the wiser, and goes on.
    env.orange(["doctor"]).ok();
    env.orange(["task", "cancel", key, "--yes"]).ok();
    assert!(env.windows().is_empty(), "{:?}", env.windows());
}

#[test]
fn a_copy_from_before_the_path_was_recorded_is_known_by_its_runs_and_workspaces() {
    let (env, task) = lingering();
    let _ = fs::remove_file(env.home().join(".home.json"));
    let (events, panes) = (task.events(), pane(&env));
    for (name, without) in [("one", "runs"), ("two", "workspaces")] {
        let backup = copy(&env, name);
        fs::remove_dir_all(backup.join(without)).unwrap();
        orange_in(&env, &backup, &["task", "cancel", &task.id, "--yes"])
            .fails_with(3)
            .says("is a copy of");
        is_untouched(&env, &task, &events, &panes);
    }
}

#[test]
fn a_backup_without_workspaces_ends_nothing_of_the_original() {
    let (env, task) = lingering();
    let (events, panes) = (task.events(), pane(&env));
    let backup = copy(&env, "backup");
    // All that would tell that it is a copy.
    let _ = fs::remove_file(backup.join(".home.json"));
    fs::remove_dir_all(backup.join("workspaces")).unwrap();
    for run in fs::read_dir(backup.join("runs")).unwrap() {
        fs::remove_file(run.unwrap().path().join("run.json")).unwrap();
    }
    // Here its agent is gone, and its processes are looked for.
    orange_in(
        &env,
        &backup,
        &["task", "update", &task.id, "--priority", "high"],
    )
    .ok();
    is_untouched(&env, &task, &events, &panes);
    orange_in(&env, &backup, &["doctor", "--repair"]);
    is_untouched(&env, &task, &events, &panes);
    orange_in(&env, &backup, &["task", "cancel", &task.id, "--yes"]).ok();
    is_untouched(&env, &task, &events, &panes);
    orange_in(&env, &backup, &["watch", "--once"]).ok();
    is_untouched(&env, &task, &events, &panes);
}

#[test]
fn a_home_that_was_moved_keeps_its_agents_and_workspaces() {
    let (mut env, task) = lingering();
    let moved = env.root().join("moved home");
    fs::rename(env.home(), &moved).unwrap();
    orange_in(
        &env,
        &moved,
        &["task", "update", &task.id, "--priority", "high"],
    )
    .ok()
    .says("the home was at");
    // Said once.
    orange_in(&env, &moved, &["ls"])
        .ok()
        .silent_about("the home was at");
    let listed = env.git(&env.shop(), &["worktree", "list"]);
    let slot = moved.join("workspaces/shop--1");
    assert!(listed.contains(slot.to_str().unwrap()), "{listed}");
    orange_in(&env, &moved, &["task", "cancel", &task.id, "--yes"]).ok();
    assert!(env.windows().is_empty(), "{:?}", env.windows());
    assert!(env.processes().is_empty(), "{:?}", env.processes());
    let again = orange_in(&env, &moved, &["doctor"]);
    assert_eq!(again.code, 0, "{again}");
    env.set("ORANGE_HOME", &moved);
    env.orange(["task", "create", "The next one", "--harness", "none"])
        .ok();
    assert_eq!(
        env.git(&slot, &["branch", "--show-current"]),
        "orange/TASK-002-the-next-one"
    );
}

#[test]
fn a_copy_takes_over_when_the_original_is_gone() {
    let env = TestEnvironment::new();
    let task = env.create(["Night mode"]);
    env.orange(["task", "spawn", &task.id]).ok();
    let backup = copy(&env, "backup");
    orange_in(&env, &backup, &["task", "cancel", &task.id, "--yes"]).fails_with(3);
    fs::remove_dir_all(env.home()).unwrap();
    orange_in(&env, &backup, &["task", "cancel", &task.id, "--yes"]).ok();
    let slot = backup.join("workspaces/shop--1");
    assert_eq!(env.git(&slot, &["branch", "--show-current"]), "");
}

#[test]
fn a_copied_workspace_is_refused() {
    let env = TestEnvironment::new();
    let first = env.create(["Night mode"]);
    env.orange(["task", "spawn", &first.id]).ok();
    let slot = env.slot_of(&first);
    fs::write(slot.join("half.txt"), "half a thought\n").unwrap();
    let second = env.home().join("workspaces/shop--2");
    copy_folder(&env, &slot, &second);
    let other = env.create(["Day mode"]);
    env.orange(["task", "spawn", &other.id])
        .says("leads to another checkout")
        .says(slot.to_str().unwrap());
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("shop--2: has a .git that leads to another checkout");
    env.orange(["workspace", "gc", "--all"]).says("shop--2");
    assert_eq!(env.git(&slot, &["branch", "--show-current"]), first.branch);
    assert!(slot.join("half.txt").exists() && second.join("half.txt").exists());
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "?? half.txt");
}

#[test]
fn two_homes_with_one_repository_leave_each_others_branches_alone() {
    let (env, task) = lingering();
    let (events, panes) = (task.events(), pane(&env));
    let other = env.root().join("other home");
    let shop = env.shop();
    orange_in(&env, &other, &["project", "add", shop.to_str().unwrap()]).ok();
    let words = [
        "task",
        "create",
        "nightmode",
        "Night mode",
        "--harness",
        "none",
    ];
    let said = orange_in(&env, &other, &words);
    // Its branch is checked out in a workspace of the first home.
    said.says("nightmode").says("checked out");
    orange_in(&env, &other, &["task", "cancel", "TASK-001", "--yes"]);
    orange_in(&env, &other, &["workspace", "gc", "--all"]).ok();
    orange_in(&env, &other, &["doctor", "--repair"]);
    orange_in(&env, &other, &["watch", "--once"]).ok();
    is_untouched(&env, &task, &events, &panes);
}

#[test]
fn doctor_says_at_once_that_the_home_was_moved() {
    let env = TestEnvironment::new();
    let task = env.create(["Night mode"]);
    env.orange(["task", "spawn", &task.id]).ok();
    let moved = env.root().join("moved");
    fs::rename(env.home(), &moved).unwrap();
    let old = format!("was moved: it was at {}", env.home().display());
    for _ in 0..2 {
        orange_in(&env, &moved, &["doctor"])
            .fails_with(1)
            .says(&old)
            .says("--repair: records the new path");
    }
    orange_in(&env, &moved, &["doctor", "--repair"]).ok();
    let listed = env.git(&env.shop(), &["worktree", "list"]);
    let slot = moved.join("workspaces/shop--1");
    assert!(listed.contains(slot.to_str().unwrap()), "{listed}");
    orange_in(&env, &moved, &["doctor"])
        .ok()
        .silent_about("was moved");
}

#[test]
fn doctor_in_a_copy_advises_what_works_there() {
    let env = TestEnvironment::new();
    let task = env.create(["Night mode"]);
    env.orange(["task", "spawn", &task.id]).ok();
    let backup = copy(&env, "back up");
    fs::write(backup.join(".projects.json.orange-4000000"), "").unwrap();
    let original = env.home().display().to_string();
    let said = orange_in(&env, &backup, &["doctor"])
        .fails_with(1)
        .says("was left by a process that was killed")
        .silent_about("--repair: ")
        .silent_about("does what it can");
    said.says("nothing is repaired in a copy")
        .says(&format!("`ORANGE_HOME='{original}' orange doctor`"))
        .says("rename or remove the original first");
    let report = orange_in(&env, &backup, &["doctor", "--json"]).json();
    assert_eq!(report["doctor"]["copy_of"], original, "{report}");
    // Both ways work.
    env.orange(["doctor"]).ok();
    fs::rename(env.home(), env.root().join("away")).unwrap();
    orange_in(&env, &backup, &["doctor", "--repair"]).ok();
    orange_in(&env, &backup, &["doctor"]).ok();
}

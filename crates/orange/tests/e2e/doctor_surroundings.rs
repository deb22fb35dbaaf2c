//! `orange doctor` where programs are missing or hang, where the home is not what it should be, and where something was left
//! behind in it or in a repository.

use crate::agents::Agents;
use crate::env::TestEnvironment;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn script(env: &TestEnvironment, name: &str, text: &str) {
    let path = env.write(name, format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_git_and_tmux_the_rest_is_still_looked_at() {
    let mut env = TestEnvironment::new();
    let task = env.create(["A task"]);
    fs::write(task.file(), "prose").unwrap();
    let path = env.write("empty/nothing", "");
    env.set("PATH", path.parent().unwrap().as_os_str());
    env.orange(["doctor"])
        .fails_with(1)
        .says("machine    ✗ git: cannot start git")
        .says("by hand: install git 2.39")
        .says("✗ tmux: cannot start tmux")
        .says("  gh is not installed")
        .silent_about("! gh")
        .says("tasks      ✗ shop:TASK-001")
        .says("3 problems found");
}

#[test]
fn a_git_that_hangs_is_not_waited_for() {
    let mut env = TestEnvironment::new();
    env.create(["A task"]);
    script(&env, "hangs/git", "exec sleep 1000");
    let usual = env.variable("PATH");
    let mut path = env.root().join("hangs").into_os_string();
    path.push(":");
    path.push(usual);
    env.set("PATH", path);
    env.call(["doctor"])
        .at(env.root())
        .run()
        .fails_with(1)
        .says("✗ git: git version: it took too long")
        .says("1 task of 1 project")
        .says("1 problem found");
}

#[test]
fn a_home_that_is_no_folder_or_not_there() {
    let mut env = TestEnvironment::empty();
    env.orange(["doctor"])
        .ok()
        .says("is not there yet; your first task makes it");
    let file = env.write("file", "not a folder");
    env.set("ORANGE_HOME", file.as_os_str());
    env.orange(["doctor"]).fails_with(1).says("is a file");
}

#[test]
fn what_others_could_write_is_taken_from_them() {
    let env = TestEnvironment::new();
    let config = env.write("home/orange/config.yaml", "rescue:\n  keep_days: 30\n");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
    let tasks = env.home().join("tasks");
    fs::set_permissions(&tasks, fs::Permissions::from_mode(0o777)).unwrap();
    env.orange(["doctor"])
        .fails_with(1)
        .says("config.yaml: other users can write to it (its mode is 666)")
        .says("--repair: takes that away (mode 600)")
        .says("tasks: other users can write");
    assert_eq!(mode(&config), 0o666);
    env.orange(["doctor", "--repair"])
        .ok()
        .says("+ ")
        .says("(its mode is 666) → its mode is 600");
    assert_eq!((mode(&config), mode(&tasks)), (0o600, 0o700));
    env.orange(["doctor", "--repair"]).ok().says("all is well");
}

#[test]
fn what_is_not_oranges_is_named_and_left_alone() {
    let env = TestEnvironment::new();
    env.create(["A task"]);
    let notes = env.write("home/orange/notes.txt", "mine");
    fs::set_permissions(&notes, fs::Permissions::from_mode(0o666)).unwrap();
    let others = [
        ".notes.2019",
        ".config.yaml.20240101",
        ".backup.99999-old.part",
        "tasks/shop/.new-idea/notes.md",
    ];
    let others = others.map(|name| env.write(&format!("home/orange/{name}"), "mine"));
    let elsewhere = env.write("elsewhere/.new-thing/TASK.md", "mine");
    std::os::unix::fs::symlink(
        env.root().join("elsewhere"),
        env.home().join("tasks/elsewhere"),
    )
    .unwrap();
    env.git(&env.shop(), &["branch", "orange/TASK-099-gone"]);
    env.git(&env.shop(), &["branch", "mine"]);
    env.git(&env.shop(), &["update-ref", "refs/orange/other", "HEAD"]);
    let said = env.orange(["doctor", "--repair"]).ok();
    said.says("! not Orange's, and left alone: notes.txt")
        .says("project shop: 1 branch of tasks that are gone: orange/TASK-099-gone;")
        .says("left alone: refs/orange/other")
        .says("all is well");
    assert_eq!(mode(&notes), 0o666);
    assert!(elsewhere.exists());
    for other in others {
        assert!(other.exists(), "{}", other.display());
    }
    env.git(
        &env.shop(),
        &["rev-parse", "orange/TASK-099-gone", "refs/orange/other"],
    );
}

#[test]
fn a_lock_of_a_killed_git_is_named_with_its_age_and_not_touched() {
    let env = TestEnvironment::new();
    let lock = env.write("shop/.git/refs/heads/orange/TASK-001.lock", "");
    env.orange(["doctor"]).ok().says("all is well");
    let then = SystemTime::now() - Duration::from_secs(3 * 60 * 60 + 5);
    let file = fs::File::options().write(true).open(&lock).unwrap();
    file.set_modified(then).unwrap();
    let how = "by hand: if no git is at work there, delete that file";
    for arguments in [&["doctor"][..], &["doctor", "--repair"]] {
        env.orange(arguments)
            .fails_with(1)
            .says("is a lock that a git process left 3 hours ago")
            .says(how);
    }
    assert!(lock.exists());
}

#[test]
fn files_of_killed_processes_are_removed() {
    let env = TestEnvironment::new();
    let left = [
        env.write("home/orange/.projects.json.4194304", "{"),
        env.write("home/orange/.probe-4194304-a", ""),
        env.write("home/orange/trash/.gone/1-2-3/history.jsonl", ""),
    ];
    env.orange(["doctor"])
        .fails_with(1)
        .says("3 problems found");
    env.orange(["doctor", "--repair"])
        .ok()
        .says("was left by a process that was killed → removed");
    assert!(left.iter().all(|path| !path.exists()));
    env.orange(["doctor"]).ok().says("all is well");
}

#[test]
fn an_agent_whose_task_is_gone_is_ended_and_its_window_closed() {
    let env = Agents::new();
    let task = env.start("Gone for good", "worker:\n  - wait for: {file: never}\n");
    fs::remove_dir_all(&task.folder).unwrap();
    let said = env.orange(["doctor"]).fails_with(1);
    said.says("a task that is gone").says("shop--1: is held by");
    env.orange(["doctor", "--repair"]);
    env.orange(["doctor"]).ok().says("all is well");
    assert_eq!(crate::env::names_in(&env.home().join("runs")).len(), 0);
    let sessions = env.tmux(&["list-sessions"]);
    assert!(sessions.stdout.is_empty(), "{sessions:?}");
}

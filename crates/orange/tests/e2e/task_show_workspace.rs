//! `orange task show` of a task that has a worktree.

use crate::env::TestEnvironment;
use crate::task_place::{script, settle};
use insta::assert_snapshot;
use std::fs;
use std::path::Path;

/// The block about the workspace, up to the next empty line.
fn block(env: &TestEnvironment) -> String {
    let shown = env.orange(["task", "show", "TASK-001"]).ok().stdout;
    let start = shown.find("\nworkspace ").unwrap() + 1;
    let (block, _) = shown[start..].split_once("\n\n").unwrap();
    block.to_owned()
}

#[test]
fn the_worktree_as_it_stands() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let slot = settle(&env, &task, "shop--1");
    assert_snapshot!(block(&env), @"
    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      branch   login
      commits  none that main has not
      changes  none uncommitted
    ");
    env.commit(&slot, "a", "1");
    env.commit(&slot, "README.md", "ours");
    env.commit(&env.shop(), "README.md", "theirs");
    fs::write(slot.join("a"), "2").unwrap();
    fs::write(slot.join("new"), "").unwrap();
    assert_snapshot!(block(&env), @"
    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      branch   login
      commits  2 ahead of main, 1 behind
      changes  1 changed file, 1 untracked
    ");
    assert_snapshot!(env.orange(["task", "show", "TASK-001", "--json"]).json()["workspace_state"], @r#"{"workspace":"shop--1","path":"[HOME]/workspaces/shop--1","branch":"login","detached_at":null,"problem":null,"on_branch":true,"base":"main","ahead":2,"behind":1,"changed":1,"untracked":1,"conflicts":0,"operation":null,"disk_bytes":null}"#);
    env.git(&slot, &["checkout", "-q", "-b", "better-name"]);
    assert_snapshot!(block(&env), @"
    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      branch   better-name, not the task's own login; `orange update TASK-001 --branch` takes it over
      commits  2 ahead of main, 1 behind
      changes  1 changed file, 1 untracked
    ");
    env.git(&slot, &["checkout", "-q", "--", "a"]);
    env.git(&slot, &["checkout", "-q", "login"]);
    let merge = env
        .foreign("git")
        .args(["merge", "-q", "main"])
        .current_dir(&slot)
        .output();
    assert!(!merge.unwrap().status.success());
    assert_snapshot!(block(&env), @"
    workspace shop--1
      folder     [HOME]/workspaces/shop--1
      branch     login
      commits    2 ahead of main, 1 behind
      under way  a merge; end or abort it there
      changes    1 changed file, 1 of them in conflict, 1 untracked
    ");
    let shown = env.orange(["task", "show", "TASK-001", "--json"]).json();
    assert_eq!(shown["workspace_state"]["operation"], "merge");
}

#[test]
fn a_damaged_worktree_breaks_nothing() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let slot = settle(&env, &task, "shop--1");
    env.git(&slot, &["checkout", "-q", "--detach"]);
    env.orange(["task", "show", "TASK-001"])
        .ok()
        .says("none: at commit ");
    // A repository around the pool is not taken for the worktree's.
    env.git(&env.home(), &["init", "-q"]);
    fs::remove_file(slot.join(".git")).unwrap();
    assert_snapshot!(block(&env), @"
    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      problem  the folder is no worktree: it has no .git; see `orange doctor`
    ");
    fs::remove_dir_all(&slot).unwrap();
    assert_snapshot!(block(&env), @"
    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      problem  the folder is gone; `orange doctor --repair` checks its branch out again
    ");
    let shown = env.orange(["task", "show", "TASK-001", "--json", "--disk"]);
    let state = &shown.ok().json()["workspace_state"];
    assert_eq!(state["problem"], "the folder is gone");
    assert_eq!(state["disk_bytes"], serde_json::Value::Null);
}

#[test]
fn disk_use_is_measured_when_asked_for() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let slot = settle(&env, &task, "shop--1");
    fs::write(slot.join("big"), vec![1; 3_000_000]).unwrap();
    env.orange(["task", "show", "TASK-001"])
        .ok()
        .silent_about("  disk ");
    env.orange(["task", "show", "TASK-001", "--disk"])
        .ok()
        .says("  disk     3.0 MB\n");
    let shown = env.orange(["task", "show", "TASK-001", "--disk", "--json"]);
    let bytes = &shown.ok().json()["workspace_state"]["disk_bytes"];
    assert!(bytes.as_u64().unwrap() > 3_000_000, "{bytes}");
}

/// How often a command starts git, by a git that notes it.
pub(crate) fn gits_of(env: &TestEnvironment, arguments: &[&str], folder: &Path) -> usize {
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("git"))
        .find(|path| path.is_file())
        .unwrap();
    let noted = env.write("noted", "");
    let text = format!(
        "echo \"$*\" >> '{}'\nexec '{}' \"$@\"",
        noted.display(),
        real.display()
    );
    let wrapper = script(env, "bin/git", &text);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", wrapper.parent().unwrap().display());
    let call = env.call(arguments).at(folder).var("PATH", path);
    call.run().ok();
    fs::read_to_string(noted).unwrap().lines().count()
}

#[test]
fn git_is_started_once_and_only_for_a_worktree() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.create(["other", "Without a workspace"]);
    let slot = settle(&env, &task, "shop--1");
    let shop = env.shop();
    let show = |key: &str, folder: &Path| gits_of(&env, &["task", "show", key], folder);
    assert_eq!(show("TASK-002", &shop), 0);
    assert_eq!(show("TASK-001", &shop), 1);
    assert_eq!(show("TASK-001", &slot), 1);
    // Also when the branch was pushed, or follows the branch it was made from.
    let origin = env.root().join("origin.git");
    let origin = origin.to_str().unwrap();
    env.git(&shop, &["clone", "-q", "--bare", ".", origin]);
    env.git(&shop, &["remote", "add", "origin", origin]);
    env.git(&slot, &["push", "-q", "-u", "origin", "login", "main"]);
    env.commit(&slot, "a", "1");
    // What the branch changes is looked up once, and known until it moves.
    assert_eq!(show("TASK-001", &shop), 3);
    assert_eq!(show("TASK-001", &shop), 1);
    env.git(&slot, &["branch", "-q", "-u", "origin/main"]);
    assert_eq!(show("TASK-001", &shop), 1);
    let shown = env.orange(["task", "show", "TASK-001", "--json"]).json();
    assert_eq!(shown["workspace_state"]["ahead"], 1);
    assert_eq!(shown["workspace_state"]["behind"], 0);
}

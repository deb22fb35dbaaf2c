//! Workspaces of odd repositories: a task starts, works and ends in each of them, and nothing is lost.

use crate::env::TestEnvironment;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A repository `shop` made by these git commands, with one commit on `main`, and registered.
fn made(init: &[&str]) -> TestEnvironment {
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    env.git(&env.shop(), &[&["init", "-q"], init].concat());
    env.commit(&env.shop(), "README.md", "first");
    add(&env, &env.shop());
    env
}

fn add(env: &TestEnvironment, repository: &Path) {
    let path = repository.to_str().unwrap();
    env.orange(["project", "add", path, "--name", "shop", "--pool-size", "2"])
        .ok();
}

/// What a task must not touch: the user's branch, commit, index and files.
fn untouched(env: &TestEnvironment, checkout: &Path) -> String {
    let status = env.git(checkout, &["status", "--porcelain=v2", "--branch"]);
    format!("{status}\n{}", env.git(checkout, &["ls-files", "-s"]))
}

/// One task from its start to its end. Gives its slot.
fn a_whole_life(env: &TestEnvironment, repository: &Path) -> PathBuf {
    let (task, slot) = env.started("work");
    assert_eq!(env.branch_at(&slot), "work");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    let base = env.git(&slot, &["rev-parse", "HEAD"]);
    let first = env.commit(&slot, "feature.txt", "half");
    fs::write(slot.join("feature.txt"), "amended").unwrap();
    env.git(&slot, &["commit", "-q", "-a", "--amend", "-m", "amended"]);
    let tip = env.git(&slot, &["rev-parse", "HEAD"]);
    fs::write(slot.join("README.md"), "edited").unwrap();
    fs::write(slot.join("nëw file.txt"), "untracked").unwrap();
    let shown = env.show(&task);
    assert_eq!(shown["workspace"], "shop--1");
    env.orange(["task", "show", &task.id]).ok().says("work");
    env.orange(["workspace", "list"])
        .ok()
        .says("work")
        .says("1 changed, 1 untracked");
    env.cancel(&task).ok();
    env.is_parked(&slot, &base);
    assert_eq!(env.git(repository, &["rev-parse", "work"]), tip);
    let saved = |file: &str| env.rescued(repository, &task, file);
    assert_eq!(saved("README.md").as_deref(), Some("edited"));
    assert_eq!(saved("nëw file.txt").as_deref(), Some("untracked"));
    let holding = ["for-each-ref", "--contains", &first, "refs/orange/rescue"];
    assert_ne!(
        env.git(repository, &holding),
        "",
        "the commit before the amending"
    );
    // The slot is as good as new.
    let (again, same) = env.started("more");
    assert_eq!(same, slot);
    env.cancel(&again).ok();
    env.orange(["workspace", "gc", "--all"])
        .ok()
        .says("removed shop--1");
    assert!(!slot.exists());
    slot
}

#[track_caller]
fn lives(env: &TestEnvironment) {
    let before = untouched(env, &env.shop());
    a_whole_life(env, &env.shop());
    assert_eq!(untouched(env, &env.shop()), before);
}

#[test]
fn without_a_remote() {
    lives(&made(&["-b", "main"]));
}

#[test]
fn without_a_commit() {
    let env = TestEnvironment::empty();
    fs::create_dir(env.shop()).unwrap();
    env.git(&env.shop(), &["init", "-q", "-b", "main"]);
    add(&env, &env.shop());
    let task = env.create(["work", "Some work"]);
    let events = task.events();
    let run = env.update(&task, &["--status", "planning", "--json"]);
    let error = run.refuses(3, "condition_unmet");
    assert!(error["hint"].as_str().unwrap().contains("first commit"));
    env.orange(["workspace", "init"]).fails_with(3);
    assert_eq!(task.events(), events);
    assert_eq!(env.show(&task)["status"], "pending");
    assert!(!env.slot(1).exists());
    assert_ne!(env.pool_entry(1)["status"], "bound");
}

#[test]
fn whose_hooks_all_fail() {
    for elsewhere in [false, true] {
        let env = made(&["-b", "main"]);
        let hooks = if elsewhere {
            env.root().join("my hooks")
        } else {
            env.shop().join(".git/hooks")
        };
        fs::create_dir_all(&hooks).unwrap();
        for hook in [
            "post-checkout",
            "reference-transaction",
            "post-index-change",
        ] {
            let path = hooks.join(hook);
            fs::write(
                &path,
                "#!/bin/sh\necho called >> \"$HOME/called\"\nexit 1\n",
            )
            .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if elsewhere {
            // By hand: the hooks would not let git do it.
            let config = env.shop().join(".git/config");
            let text = fs::read_to_string(&config).unwrap();
            let more = format!("[core]\n\thooksPath = {}\n", hooks.display());
            fs::write(config, text + &more).unwrap();
        }
        let (task, slot) = env.started("work");
        fs::write(slot.join("new.txt"), "untracked").unwrap();
        env.update(&task, &["--branch", "renamed"]).ok();
        env.cancel(&task).ok();
        let saved = env.rescued(&env.shop(), &task, "new.txt");
        assert_eq!(saved.as_deref(), Some("untracked"));
        let restore = ["task", "rescue", "restore", &task.id, "latest"];
        env.orange([&restore[..], &["--to-branch", "back"]].concat())
            .ok();
        env.orange(["workspace", "init", "2"]).ok();
        env.orange(["workspace", "gc", "--all"]).ok();
        let called = env.root().join("home/called");
        assert!(!called.exists(), "{}", fs::read_to_string(called).unwrap());
    }
}

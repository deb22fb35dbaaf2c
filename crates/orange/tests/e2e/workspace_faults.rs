//! Slots that somebody deleted, replaced or damaged: nothing outside is touched, nothing inside is lost.

use crate::env::{TestEnvironment, fingerprint};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn deleted_by_hand() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let tip = env.commit(&slot, "login.txt", "begun");
    fs::remove_dir_all(&slot).unwrap();
    env.orange(["task", "show", &task.id]).ok().says("gone");
    env.orange(["workspace", "list"]).ok().says("not made yet");
    env.orange(["ls"]).ok();
    env.update(&task, &["--priority", "high"]).ok();
    env.cancel(&task).ok();
    assert_eq!(env.show(&task)["workspace"], Value::Null);
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(env.git(&env.shop(), &["rev-parse", "login"]), tip);
    let (_, again) = env.started("other");
    assert_eq!(
        (again, env.branch_at(&slot)),
        (slot.clone(), "other".into())
    );
}

/// Git keeps a branch for a worktree that is gone; the pool knows that it is not needed.
#[test]
fn deleted_by_hand_and_its_branch_wanted_in_another_slot() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let tip = env.commit(&slot, "login.txt", "begun");
    fs::remove_dir_all(&slot).unwrap();
    env.cancel(&task).ok();
    let (holder, _) = env.started("holder");
    fs::remove_dir_all(&slot).unwrap();
    let (task, other) = env.started("login");
    assert_eq!(other, env.slot(2));
    assert_eq!(env.git(&other, &["rev-parse", "HEAD"]), tip);
    env.cancel(&task).ok();
    env.cancel(&holder).ok();
    env.orange(["workspace", "gc", "--all"]).ok();
    let left = env.git(&env.shop(), &["worktree", "list"]);
    assert_eq!(left.lines().count(), 1, "{left}");
}

#[test]
fn a_plain_folder_in_its_place() {
    let env = TestEnvironment::new();
    env.pool_size(1);
    fs::create_dir_all(env.slot(1)).unwrap();
    fs::write(env.slot(1).join("mine.txt"), "mine").unwrap();
    let before = fingerprint(&env.slot(1));
    let task = env.create(["login", "Some work"]);
    env.move_to(&task, "planning")
        .fails_with(3)
        .says("shop--1 (it is no worktree)");
    assert_eq!(env.show(&task)["status"], "pending");
    env.orange(["workspace", "gc", "--all"])
        .ok()
        .says("kept shop--1: it is no worktree");
    assert_eq!(fingerprint(&env.slot(1)), before);
    // With another slot nobody is held up by it.
    env.pool_size(2);
    env.move_to(&task, "planning").ok().says("passed over");
    assert_eq!(env.slot_of(&task), env.slot(2));
}

#[test]
fn a_plain_folder_in_the_place_of_one_in_use() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    fs::rename(&slot, env.root().join("moved")).unwrap();
    fs::create_dir(&slot).unwrap();
    fs::write(slot.join("TASK.md"), "somebody's").unwrap();
    let before = fingerprint(&slot);
    env.update(&task, &["--priority", "high"]).ok();
    env.orange(["task", "show", &task.id]).ok();
    env.cancel(&task).ok();
    assert_eq!(fingerprint(&slot), before);
    assert!(!task.text().contains("somebody's"));
}

/// The link leads to a worktree of the very same repository, with work in it.
#[test]
fn a_link_in_its_place() {
    let env = TestEnvironment::new();
    env.pool_size(1);
    let precious = env.root().join("precious");
    let path = precious.to_str().unwrap();
    env.git(&env.shop(), &["worktree", "add", "-q", "-b", "mine", path]);
    env.commit(&precious, "mine.txt", "committed");
    fs::write(precious.join("mine.txt"), "not committed").unwrap();
    fs::write(precious.join("TASK.md"), "my own list").unwrap();
    let state = || {
        let status = env.git(&precious, &["status", "--porcelain=v2", "--branch", "-uno"]);
        (fingerprint(&precious), status)
    };
    let before = state();
    fs::create_dir_all(env.home().join("workspaces")).unwrap();
    symlink(&precious, env.slot(1)).unwrap();
    let task = env.create(["login", "Some work"]);
    env.move_to(&task, "planning")
        .fails_with(3)
        .says("shop--1 (it is no folder)");
    env.orange(["workspace", "gc", "--all"])
        .ok()
        .says("kept shop--1");
    env.orange(["workspace", "list"]).ok();
    assert_eq!(state(), before);
    // In the place of one that is in use.
    fs::remove_file(env.slot(1)).unwrap();
    let slot = env.start(&task);
    fs::remove_dir_all(&slot).unwrap();
    symlink(&precious, &slot).unwrap();
    env.update(&task, &["--priority", "high"]).ok();
    env.orange(["task", "show", &task.id]).ok();
    assert_eq!(state(), before);
    env.cancel(&task)
        .fails_with(1)
        .says("is no folder of the pool");
    assert_eq!(state(), before);
    assert!(fs::symlink_metadata(&slot).unwrap().is_symlink());
    // Once it is away, the end of the task can be ended too.
    fs::remove_file(&slot).unwrap();
    env.orange(["task", "retry-hooks", &task.id]).ok();
    assert_eq!(env.pool_entry(1)["status"], "available");
}

fn standing(env: &TestEnvironment, repository: &Path) -> String {
    let refs = env.git(repository, &["for-each-ref"]);
    let log = env.git(repository, &["reflog"]);
    let status = env.git(
        repository,
        &["status", "--porcelain=v2", "--branch", "-uno"],
    );
    format!(
        "{refs}\n{log}\n{status}\n{}",
        env.git(repository, &["ls-files", "-s"])
    )
}

/// Git would find the repository around it, which is the user's.
#[test]
fn its_link_to_the_repository_deleted_inside_of_another_one() {
    let env = TestEnvironment::new();
    let outer = env.root();
    env.git(&outer, &["init", "-q", "-b", "outer"]);
    fs::write(outer.join("precious.txt"), "committed").unwrap();
    env.git(&outer, &["add", "precious.txt"]);
    env.git(&outer, &["commit", "-q", "-m", "outer"]);
    fs::write(outer.join("precious.txt"), "not committed").unwrap();
    fs::write(outer.join("untracked.txt"), "untracked").unwrap();
    let before = standing(&env, &outer);
    let (task, slot) = env.started("login");
    fs::write(slot.join("work.txt"), "work").unwrap();
    fs::remove_file(slot.join(".git")).unwrap();
    env.orange(["task", "show", &task.id]).ok();
    env.orange(["workspace", "list"]).ok().says("no .git");
    env.update(&task, &["--branch"]).fails_with(3);
    env.update(&task, &["--branch", "other"]);
    assert_ne!(env.show(&task)["branch"], "outer");
    env.orange(["task", "exec", &task.id, "--", "true"]);
    env.cancel(&task).ok();
    let (_, other) = env.started("other-work");
    assert_ne!(other, slot);
    env.orange(["workspace", "gc", "--all"])
        .ok()
        .says("kept shop--1");
    assert_eq!(standing(&env, &outer), before);
    for (file, text) in [
        ("precious.txt", "not committed"),
        ("untracked.txt", "untracked"),
    ] {
        assert_eq!(fs::read_to_string(outer.join(file)).unwrap(), text);
    }
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
}

/// As a full disk leaves it. Nobody takes the slot for one that git was just making.
#[test]
fn its_link_to_the_repository_emptied() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    fs::write(slot.join("work.txt"), "work").unwrap();
    fs::write(slot.join(".git"), "").unwrap();
    env.orange(["task", "show", &task.id]).ok();
    env.cancel(&task).ok();
    let (_, other) = env.started("other");
    assert_ne!(other, slot);
    env.orange(["workspace", "gc", "--all"]).ok();
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
}

/// What a killed `git worktree add` leaves behind is no slot, and in nobody's way.
#[test]
fn half_made() {
    let env = TestEnvironment::new();
    fs::create_dir_all(env.slot(1)).unwrap();
    fs::write(env.slot(1).join(".git"), "").unwrap();
    let (task, slot) = env.started("login");
    assert_eq!(slot, env.slot(1));
    env.cancel(&task).ok();
    env.orange(["workspace", "gc", "--all"]).ok();
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "--detach", slot.to_str().unwrap()],
    );
    let lock = [
        "worktree",
        "lock",
        "--reason",
        "initializing",
        slot.to_str().unwrap(),
    ];
    env.git(&env.shop(), &lock);
    fs::remove_file(slot.join("README.md")).unwrap();
    let (_, slot) = env.started("other");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
}

/// An operation that was under way is no obstacle, and what it was about is kept.
#[test]
fn in_the_middle_of_a_merge_or_a_rebase() {
    let env = TestEnvironment::new();
    for operation in ["merge", "rebase", "cherry-pick"] {
        let (task, slot) = env.started(operation);
        let ours = env.commit(&slot, "README.md", "ours");
        let side = format!("side-{operation}");
        env.git(&slot, &["switch", "-q", "-c", &side, "HEAD~1"]);
        let theirs = env.commit(&slot, "README.md", "theirs");
        env.git(&slot, &["switch", "-q", operation]);
        let failed = env
            .foreign("git")
            .current_dir(&slot)
            .args([operation, &side])
            .output()
            .unwrap();
        assert!(!failed.status.success());
        fs::write(slot.join("README.md"), format!("half solved {operation}")).unwrap();
        env.orange(["workspace", "list"]).ok().says(operation);
        env.cancel(&task).ok();
        env.is_parked(&slot, &env.git(&env.shop(), &["rev-parse", "main"]));
        assert_eq!(env.git(&slot, &["rev-parse", operation]), ours);
        assert_eq!(env.git(&slot, &["rev-parse", &side]), theirs);
        let saved = env.rescued(&env.shop(), &task, "README.md");
        assert_eq!(saved, Some(format!("half solved {operation}")));
        let unfinished = env.git(&slot, &["rev-parse", "--absolute-git-dir"]);
        for name in ["MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD"] {
            assert!(!Path::new(&unfinished).join(name).exists(), "{name}");
        }
    }
}

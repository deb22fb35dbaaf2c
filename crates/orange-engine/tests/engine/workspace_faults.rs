//! Slots that somebody deleted, replaced or damaged: nothing outside is touched, nothing inside is lost.

use crate::home::TestHome;
use crate::task::fingerprint;
use orange_core::task::Field;
use orange_engine::Code;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Git keeps a branch for a worktree that is gone; the pool knows that it is not needed.
#[test]
fn deleted_by_hand_and_its_branch_wanted_in_another_slot() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let tip = home.commit(&slot, "login.txt", "begun");
    fs::remove_dir_all(&slot).unwrap();
    home.cancel(&task).ok();
    let (holder, _) = home.started("holder");
    fs::remove_dir_all(&slot).unwrap();
    let (task, other) = home.started("login");
    assert_eq!(other, home.slot(2));
    assert_eq!(home.git(&other, &["rev-parse", "HEAD"]), tip);
    home.cancel(&task).ok();
    home.cancel(&holder).ok();
    home.collect_all_slots();
    let left = home.git(&home.shop(), &["worktree", "list"]);
    assert_eq!(left.lines().count(), 1, "{left}");
}

#[test]
fn a_plain_folder_in_its_place() {
    let home = TestHome::new();
    home.pool_size(1);
    fs::create_dir_all(home.slot(1)).unwrap();
    fs::write(home.slot(1).join("mine.txt"), "mine").unwrap();
    let before = fingerprint(&home.slot(1));
    let task = home.create("login");
    home.move_to(&task, "planning")
        .fails(Code::ConditionUnmet)
        .says("shop--1 (it is no worktree)");
    assert_eq!(home.show(&task)["status"], "pending");
    home.collect_all_slots();
    assert_eq!(fingerprint(&home.slot(1)), before);
    // With another slot nobody is held up by it.
    home.pool_size(2);
    home.move_to(&task, "planning").ok().says("passed over");
    assert_eq!(home.slot_of(&task), home.slot(2));
}

#[test]
fn a_plain_folder_in_the_place_of_one_in_use() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    fs::rename(&slot, home.root().join("moved")).unwrap();
    fs::create_dir(&slot).unwrap();
    fs::write(slot.join("TASK.md"), "somebody's").unwrap();
    let before = fingerprint(&slot);
    home.set(&task, Field::Priority, "high").ok();
    home.look(&task).ok();
    home.cancel(&task).ok();
    assert_eq!(fingerprint(&slot), before);
    assert!(!task.text().contains("somebody's"));
}

/// The link leads to a worktree of the very same repository, with work in it.
#[test]
fn a_link_in_its_place() {
    let home = TestHome::new();
    home.pool_size(1);
    let precious = home.root().join("precious");
    let path = precious.to_str().unwrap();
    home.git(&home.shop(), &["worktree", "add", "-q", "-b", "mine", path]);
    home.commit(&precious, "mine.txt", "committed");
    fs::write(precious.join("mine.txt"), "not committed").unwrap();
    fs::write(precious.join("TASK.md"), "my own list").unwrap();
    let state = || {
        let status = home.git(&precious, &["status", "--porcelain=v2", "--branch", "-uno"]);
        (fingerprint(&precious), status)
    };
    let before = state();
    fs::create_dir_all(home.folder().join("workspaces")).unwrap();
    symlink(&precious, home.slot(1)).unwrap();
    let task = home.create("login");
    home.move_to(&task, "planning")
        .fails(Code::ConditionUnmet)
        .says("shop--1 (it is no folder)");
    home.collect_all_slots();
    home.slots();
    assert_eq!(state(), before);
    // In the place of one that is in use.
    fs::remove_file(home.slot(1)).unwrap();
    let slot = home.start(&task);
    fs::remove_dir_all(&slot).unwrap();
    symlink(&precious, &slot).unwrap();
    home.set(&task, Field::Priority, "high").ok();
    home.look(&task).ok();
    assert_eq!(state(), before);
    home.cancel(&task)
        .fails(Code::Failed)
        .says("is no folder of the pool");
    assert_eq!(state(), before);
    assert!(fs::symlink_metadata(&slot).unwrap().is_symlink());
    // Once it is away, the end of the task can be ended too.
    fs::remove_file(&slot).unwrap();
    home.retry_hooks(&task).ok();
    assert_eq!(home.pool_entry(1)["status"], "available");
}

/// As a full disk leaves it. Nobody takes the slot for one that git was just making.
#[test]
fn its_link_to_the_repository_emptied() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    fs::write(slot.join("work.txt"), "work").unwrap();
    fs::write(slot.join(".git"), "").unwrap();
    home.look(&task).ok();
    home.cancel(&task).ok();
    let (_, other) = home.started("other");
    assert_ne!(other, slot);
    home.collect_all_slots();
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
}

/// What a killed `git worktree add` leaves behind is no slot, and in nobody's way.
#[test]
fn half_made() {
    let home = TestHome::new();
    fs::create_dir_all(home.slot(1)).unwrap();
    fs::write(home.slot(1).join(".git"), "").unwrap();
    let (task, slot) = home.started("login");
    assert_eq!(slot, home.slot(1));
    home.cancel(&task).ok();
    home.collect_all_slots();
    home.git(
        &home.shop(),
        &["worktree", "add", "-q", "--detach", slot.to_str().unwrap()],
    );
    let lock = [
        "worktree",
        "lock",
        "--reason",
        "initializing",
        slot.to_str().unwrap(),
    ];
    home.git(&home.shop(), &lock);
    fs::remove_file(slot.join("README.md")).unwrap();
    let (_, slot) = home.started("other");
    assert_eq!(home.git(&slot, &["status", "--porcelain"]), "");
}

/// An operation that was under way is no obstacle, and what it was about is kept.
#[test]
fn in_the_middle_of_a_merge_or_a_rebase() {
    let home = TestHome::new();
    for operation in ["merge", "rebase", "cherry-pick"] {
        let (task, slot) = home.started(operation);
        let ours = home.commit(&slot, "README.md", "ours");
        let side = format!("side-{operation}");
        home.git(&slot, &["switch", "-q", "-c", &side, "HEAD~1"]);
        let theirs = home.commit(&slot, "README.md", "theirs");
        home.git(&slot, &["switch", "-q", operation]);
        let failed = home
            .foreign("git")
            .current_dir(&slot)
            .args([operation, &side])
            .output()
            .unwrap();
        assert!(!failed.status.success());
        fs::write(slot.join("README.md"), format!("half solved {operation}")).unwrap();
        assert_eq!(home.slots()[0]["operation"], operation);
        home.cancel(&task).ok();
        home.is_parked(&slot, &home.git(&home.shop(), &["rev-parse", "main"]));
        assert_eq!(home.git(&slot, &["rev-parse", operation]), ours);
        assert_eq!(home.git(&slot, &["rev-parse", &side]), theirs);
        let saved = home.rescued(&home.shop(), &task, "README.md");
        assert_eq!(saved, Some(format!("half solved {operation}")));
        let unfinished = home.git(&slot, &["rev-parse", "--absolute-git-dir"]);
        for name in ["MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD"] {
            assert!(!Path::new(&unfinished).join(name).exists(), "{name}");
        }
    }
}

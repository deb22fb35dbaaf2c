//! `orange doctor` where the pool's file, the tasks, git's own list and the disk disagree.

use super::env::{TestEnvironment, TestTask};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn started() -> (TestEnvironment, TestTask) {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "planning");
    (env, task)
}

fn pool_file(env: &TestEnvironment) -> PathBuf {
    env.home().join("workspaces/.pool.json")
}

fn change_pool(env: &TestEnvironment, change: impl FnOnce(&mut Value)) {
    let text = fs::read(pool_file(env)).unwrap();
    let mut pool: Value = serde_json::from_slice(&text).unwrap();
    change(&mut pool["workspaces"]);
    fs::write(pool_file(env), pool.to_string()).unwrap();
}

/// Doctor finds it, says it, repairs it, and finds nothing any more.
#[track_caller]
fn found_and_repaired(env: &TestEnvironment, problem: &str) {
    env.orange(["doctor"]).fails_with(1).says(problem);
    env.orange(["doctor", "--repair"]).ok().says(problem);
    env.orange(["doctor"]).ok().says("all is well");
}

#[test]
fn a_pool_that_fits_is_well() {
    let (env, _) = started();
    env.orange(["doctor"]).ok().says("all is well");
}

#[test]
fn a_worktree_that_was_deleted_is_checked_out_again() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    let head = env.commit(&slot, "work.txt", "work");
    fs::remove_dir_all(&slot).unwrap();
    found_and_repaired(&env, "the worktree of TASK-001 is gone");
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]).trim(), head);
    assert!(slot.join("TASK.md").is_symlink());
}

/// Killed before all files are back, nothing is in the place of the slot: half of them would look like deletions.
#[test]
fn a_deleted_worktree_comes_back_whole_or_not_at_all() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    env.commit(&slot, "work.txt", "work");
    fs::remove_dir_all(&slot).unwrap();
    let repair = env.call(["doctor", "--repair"]);
    let killed = repair.var("ORANGE_CRASH_AT", "revive.checked-out").run();
    assert!(killed.stderr.contains("killed at revive"), "{killed}");
    assert!(!slot.exists());
    found_and_repaired(&env, "the worktree of TASK-001 is gone");
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
    let leaving = fs::read_dir(env.home().join("workspaces/.leaving"));
    assert_eq!(leaving.unwrap().count(), 0);
}

/// The branch is checked out elsewhere, so it cannot be checked out in the slot. Doctor goes on to say so until it can.
#[test]
fn a_repair_that_fails_is_reported_until_it_works() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    let shop = env.shop();
    fs::remove_dir_all(&slot).unwrap();
    env.git(&shop, &["worktree", "prune"]);
    env.git(&shop, &["switch", "-q", "login"]);
    for _ in 0..3 {
        env.orange(["doctor"]).fails_with(1).says("TASK-001");
        env.orange(["doctor", "--repair"])
            .fails_with(1)
            .says("branch login is checked out at");
        assert!(!slot.exists());
    }
    env.git(&shop, &["switch", "-q", "main"]);
    env.orange(["doctor", "--repair"]).ok();
    env.orange(["doctor"]).ok().says("all is well");
    assert_eq!(env.branch_at(&slot), "login");
    assert!(slot.join("TASK.md").is_symlink());
}

/// What a repair that failed left before it was all or nothing: a slot beside its branch.
#[test]
fn a_slot_without_its_branch_and_its_link_is_found_and_repaired() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    fs::remove_file(slot.join("TASK.md")).unwrap();
    env.git(&slot, &["switch", "-q", "--detach"]);
    change_pool(&env, |slots| {
        slots["shop--1"]["prepared"] = json!(0);
        slots["shop--1"]["link"] = Value::Null;
    });
    fs::write(slot.join("beside"), "its branch").unwrap();
    // A command that puts the link back does not make it ready.
    env.update(&task, &["--priority", "high"]).ok();
    found_and_repaired(&env, "login is not checked out");
    assert_eq!(env.branch_at(&slot), "login");
    assert!(slot.join("TASK.md").is_symlink());
    let saved = env.rescued(&env.shop(), &task, "beside");
    assert_eq!(saved.as_deref(), Some("its branch"));
}

#[test]
fn a_pool_file_that_cannot_be_read_is_made_anew() {
    let (env, task) = started();
    fs::write(pool_file(&env), "{\"workspaces\": [").unwrap();
    found_and_repaired(&env, "workspaces/.pool.json: cannot be read");
    let kept = fs::read_dir(env.home().join("workspaces")).unwrap();
    let kept = kept.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".pool.json.damaged-")
    });
    assert_eq!(kept.count(), 1);
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    assert_eq!(env.show(&task)["workspace"], Value::Null);
}

#[test]
fn a_slot_of_a_task_that_does_not_exist_is_saved_and_freed() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    fs::write(slot.join("unsaved.txt"), "unsaved\n").unwrap();
    change_pool(&env, |slots| {
        slots["shop--2"] =
            json!({"status": "bound", "task": "shop/ghost", "task_id": "ghost", "epoch": 1});
        slots["shop--1"]["task_id"] = json!("nobody");
    });
    env.orange(["doctor"])
        .fails_with(1)
        .says("shop--1: is held by a task that does not exist")
        .says("shop--2: is held by a task that does not exist")
        .says("says it has shop--1, which another task has");
    env.orange(["doctor", "--repair"]);
    env.orange(["doctor"]).ok().says("all is well");
    let refs = env.git(
        &env.shop(),
        &["for-each-ref", "--format=%(refname)", "refs/orange/rescue"],
    );
    let saved = format!("{}:unsaved.txt", refs.trim());
    assert_eq!(env.git(&env.shop(), &["show", &saved]), "unsaved");
}

#[test]
fn a_task_whose_slot_is_listed_as_free_gets_it_back() {
    let (env, task) = started();
    change_pool(&env, |slots| {
        slots["shop--1"] = json!({"status": "available", "epoch": 3})
    });
    found_and_repaired(&env, "says it has shop--1, which the pool lists as free");
    assert_eq!(env.show(&task)["workspace"], "shop--1");
}

#[test]
fn a_free_slot_that_is_not_clean_is_saved_and_parked() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    fs::write(slot.join("left.txt"), "left\n").unwrap();
    found_and_repaired(&env, "shop--1: is free, but not clean");
    assert!(!slot.join("left.txt").exists());
    env.orange(["task", "rescue", "show", &task.id, "latest"])
        .ok()
        .says("left.txt");
}

#[test]
fn a_folder_that_is_no_worktree_is_left_to_a_person() {
    let (env, _) = started();
    let folder = env.home().join("workspaces/shop--2");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine.txt"), "mine").unwrap();
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("shop--2: is no worktree of")
        .says("by hand: move");
    assert!(folder.join("mine.txt").exists());
}

#[test]
fn a_repository_that_was_moved_finds_its_worktrees() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    let head = env.commit(&slot, "work.txt", "work");
    let moved = env.root().join("moved shop");
    fs::rename(env.shop(), &moved).unwrap();
    env.orange([
        "project",
        "update",
        "shop",
        "--path",
        moved.to_str().unwrap(),
    ])
    .ok();
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]).trim(), head);
    env.call(["doctor"])
        .at(&moved)
        .run()
        .ok()
        .says("all is well");
    env.call(["task", "cancel", &task.id, "--yes"])
        .at(&moved)
        .run()
        .ok();
    assert_eq!(env.git(&moved, &["rev-parse", "login"]).trim(), head);
}

#[test]
fn a_home_that_was_moved_goes_on() {
    let (env, task) = started();
    let slot = env.slot_of(&task);
    fs::write(slot.join("unsaved.txt"), "unsaved\n").unwrap();
    let moved = env.root().join("moved home");
    fs::rename(env.home(), &moved).unwrap();
    let orange = |words: &[&str]| {
        let call = env
            .call(words.iter().copied())
            .var("ORANGE_HOME", moved.to_str().unwrap());
        call.run().ok()
    };
    orange(&["task", "update", &task.id, "--priority", "high"]);
    let link = fs::read_link(moved.join("workspaces/shop--1/TASK.md")).unwrap();
    assert!(
        link.starts_with(&moved) && link.exists(),
        "{}",
        link.display()
    );
    orange(&["task", "cancel", &task.id, "--yes"]).says("orange rescue list");
    assert!(!moved.join("workspaces/shop--1/unsaved.txt").exists());
}

/// A git that fails has answered nothing: doctor neither calls the slot broken nor says that all is well.
#[test]
fn what_git_does_not_answer_is_named() {
    let (env, _) = started();
    let config = env.shop().join(".git/config");
    let sound = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{sound}[include\n")).unwrap();
    env.orange(["doctor"])
        .fails_with(1)
        .says("shop--1: could not be checked: git rev-parse: bad config line")
        .says("the slots of shop: could not be checked: git worktree list: bad config line")
        .silent_about("is no worktree of")
        .silent_about("by hand: \n")
        .silent_about("all is well");
    // A repair does nothing about it either.
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("shop--1: could not be checked");
    fs::write(&config, sound).unwrap();
    env.orange(["doctor"]).ok().says("all is well");
}

#[test]
fn a_head_that_cannot_be_read_is_named() {
    let (env, _) = started();
    let head = env.shop().join(".git/worktrees/shop--1/HEAD");
    let sound = fs::read(&head).unwrap();
    fs::write(&head, "nonsense\n").unwrap();
    env.orange(["doctor"])
        .fails_with(1)
        .says("shop--1: could not be checked: ")
        .silent_about("all is well");
    fs::write(&head, sound).unwrap();
    env.orange(["doctor"]).ok();
}

/// What a `workspace gc` left that was killed, and of which neither the pool nor a folder tells any more.
#[test]
fn slots_that_were_being_removed_are_listed() {
    let (env, task) = started();
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    let workspaces = env.home().join("workspaces");
    let leaving = workspaces.join(".leaving");
    fs::create_dir_all(leaving.join("shop--7/files")).unwrap();
    fs::rename(workspaces.join("shop--1"), leaving.join("shop--1.whole")).unwrap();
    change_pool(&env, |pool| {
        pool.as_object_mut().unwrap().remove("shop--1");
    });
    env.orange(["doctor"])
        .fails_with(1)
        .says(".leaving/shop--1.whole: holds files of shop--1, a slot that the pool does not know")
        .says("--repair: moves it back into its place")
        .says(".leaving/shop--7: holds files of shop--7")
        .says("by hand: take what you need");
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("it is in its place again");
    assert!(workspaces.join("shop--1").is_dir());
    fs::remove_dir_all(leaving.join("shop--7")).unwrap();
    env.orange(["doctor"]).ok().says("all is well");
}

//! TASK.md in a worktree, where an editor put a file in the link's place.

use crate::env::{TestEnvironment, TestTask};
use std::fs;
use std::path::{Path, PathBuf};

fn started(env: &TestEnvironment, summary: &str) -> (TestTask, PathBuf) {
    let task = env.create([summary]);
    env.move_to(&task, "planning").ok();
    (task, env.home().join("workspaces/shop--1"))
}

/// As many editors save: a new file, renamed over the old name.
fn replace_link(slot: &Path, more: &str) {
    let link = slot.join("TASK.md");
    let text = fs::read_to_string(&link).unwrap();
    fs::remove_file(&link).unwrap();
    fs::write(&link, text + more).unwrap();
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).unwrap().is_symlink()
}

#[test]
fn its_text_is_taken_over_also_after_the_pool_file_is_lost() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env, "Add a login form");
    replace_link(&slot, "\nfirst note\n");
    env.orange(["task", "update", "TASK-001", "--priority", "high"])
        .ok()
        .says("the link put back");
    fs::remove_file(env.home().join("workspaces/.pool.json")).unwrap();
    replace_link(&slot, "\nsecond note\n");
    env.orange(["task", "cancel", "TASK-001"]).ok();
    let text = fs::read_to_string(task.file()).unwrap();
    assert!(
        text.contains("first note") && text.contains("second note"),
        "{text}"
    );
    assert!(!slot.join("TASK.md").exists());
}

#[test]
fn one_saved_after_its_task_was_over_is_not_the_next_tasks() {
    let env = TestEnvironment::new();
    let (old, slot) = started(&env, "Add a login form");
    env.orange(["task", "cancel", "TASK-001"]).ok();
    fs::write(slot.join("TASK.md"), "a late save\n").unwrap();
    let task = env.create(["Log out from the menu"]);
    let run = env.move_to(&task, "planning").ok();
    run.says("shop--1/TASK.md was a file of its own; it is kept as");
    assert!(is_link(&slot.join("TASK.md")));
    assert!(
        !fs::read_to_string(task.file())
            .unwrap()
            .contains("a late save")
    );
    let kept: Vec<_> = fs::read_dir(old.folder.join("rescued")).unwrap().collect();
    let kept = kept[0].as_ref().unwrap().path();
    assert_eq!(fs::read_to_string(kept).unwrap(), "a late save\n");
}

#[test]
fn a_removed_slot_leaves_it_to_its_task() {
    let env = TestEnvironment::new();
    let (old, slot) = started(&env, "Add a login form");
    env.orange(["task", "cancel", "TASK-001"]).ok();
    fs::write(slot.join("TASK.md"), "a late save\n").unwrap();
    env.orange(["workspace", "gc", "--all"])
        .ok()
        .says("removed shop--1");
    assert!(!slot.exists());
    assert_eq!(fs::read_dir(old.folder.join("rescued")).unwrap().count(), 1);
}

#[test]
fn a_branch_that_was_just_taken_over_is_not_complained_about() {
    let env = TestEnvironment::new();
    let (_, slot) = started(&env, "Add a login form");
    env.git(&slot, &["switch", "-q", "-c", "other"]);
    env.orange(["task", "update", "TASK-001", "--priority", "high"])
        .ok()
        .says("shop--1 is on other");
    let run = env.orange(["task", "update", "TASK-001", "--branch"]).ok();
    assert_eq!(run.stderr, "");
}

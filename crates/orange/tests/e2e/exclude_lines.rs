//! The lines in `info/exclude` that keep the link to TASK.md out of git's sight, when others take them out; and what becomes
//! of a link that was committed.

use crate::agents::Agents;
use crate::env::{TestEnvironment, TestTask};
use crate::merges::Merges;
use std::fs;
use std::path::Path;

fn lines(env: &TestEnvironment) -> String {
    fs::read_to_string(env.shop().join(".git/info/exclude")).unwrap()
}

/// As a tool does that writes the file anew.
fn take_out(env: &TestEnvironment) {
    fs::write(env.shop().join(".git/info/exclude"), "*.tmp\n").unwrap();
}

#[track_caller]
fn are_back(env: &TestEnvironment, slot: &Path) {
    let text = lines(env);
    for line in ["*.tmp", "/TASK.md", "/ORANGE_TASK.md"] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    assert_eq!(env.git(slot, &["status", "--porcelain"]), "");
}

/// A task that was reviewed, with everything in its workspace committed while nothing was ignored.
fn committed_link(env: &Merges) -> TestTask {
    let (task, slot) = env.started("work");
    take_out(env);
    fs::write(slot.join("new"), "x").unwrap();
    env.commit_all(&slot, "all of it");
    assert_eq!(env.git(&slot, &["ls-files", "TASK.md"]), "TASK.md");
    env.bring_on(&task, "reviewing");
    task
}

#[test]
fn put_back_before_an_agent_starts() {
    let env = Agents::new();
    let task = env.start(
        "Read it",
        "worker:\n  - exit: 1\nworker attempt 2:\n  - hang\n",
    );
    env.until_event(&task, "agent.crashed");
    let slot = env.slot_of(&task);
    take_out(&env);
    env.orange(["task", "respawn", &task.id]).ok();
    are_back(&env, &slot);
}

#[test]
fn put_back_after_another_home_removed_the_project() {
    let env = Agents::new();
    let task = env.start(
        "Read it",
        "worker:\n  - exit: 1\nworker attempt 2:\n  - hang\n",
    );
    env.until_event(&task, "agent.crashed");
    let slot = env.slot_of(&task);
    let other = env.root().join("other");
    let shop = env.shop();
    for words in [
        &["project", "add", shop.to_str().unwrap()][..],
        &["project", "remove", "shop"],
    ] {
        let call = env.call(words.iter().copied());
        call.var("ORANGE_HOME", other.to_str().unwrap()).run().ok();
    }
    assert!(!lines(&env).contains("/TASK.md"));
    fs::write(
        shop.join(".git/info/exclude"),
        format!("*.tmp\n{}", lines(&env)),
    )
    .unwrap();
    env.orange(["task", "respawn", &task.id]).ok();
    are_back(&env, &slot);
}

#[test]
fn put_back_before_a_merge() {
    let env = Merges::new();
    let (task, slot) = env.started("work");
    env.commit(&slot, "new", "x");
    env.bring_on(&task, "reviewing");
    take_out(&env);
    env.merge(&task, &[]).ok();
    assert!(env.is_done(&task));
    are_back(&env, &slot);
    assert!(!env.shop().join("TASK.md").exists());
}

#[test]
fn a_committed_link_is_not_merged_without_a_word() {
    let env = Merges::new();
    let task = committed_link(&env);
    let told = "TASK.md was committed on its branch as a link";
    env.refuses(&task, &[], 3, &[told, "git rm --cached TASK.md"]);
    env.why(&task).says(told);
    // As it says.
    let slot = env.slot_of(&task);
    env.orange([
        "task", "exec", &task.id, "--", "git", "rm", "--cached", "TASK.md",
    ])
    .ok();
    env.git(&slot, &["commit", "-q", "-m", "take the link out"]);
    let said = env.merge(&task, &[]).fails_with(3);
    said.silent_about(told).says("1 commit since review");
    env.merge(&task, &["--force"]).ok();
    assert!(env.shop().join("new").exists());
    assert_eq!(env.git(&env.shop(), &["ls-files", "TASK.md"]), "");
}

#[test]
fn a_committed_link_is_merged_when_a_person_says_so() {
    let env = Merges::new();
    let task = committed_link(&env);
    env.merge(&task, &["--force"]).ok();
    assert_eq!(env.git(&env.shop(), &["ls-files", "TASK.md"]), "TASK.md");
    // What the target has is no concern of the next task.
    let (next, slot) = env.started("next");
    env.commit(&slot, "more", "x");
    env.bring_on(&next, "reviewing");
    env.merge(&next, &[]).ok();
}

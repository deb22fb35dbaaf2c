//! A merge and the places where its target is checked out: edits stay byte for byte, and what cannot be brought
//! forward is not merged at all.

use crate::merges::Merges;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

#[test]
fn a_lock_that_goes_away_is_waited_for() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    let lock = env.shop().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let mut merge = env.call(["task", "merge", &task.id]).spawn();
    // The lock is taken away once the merge has been begun.
    while !task.events().iter().any(|event| event == "merge.started") {
        assert!(merge.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    fs::remove_file(&lock).unwrap();
    assert!(merge.wait().unwrap().success());
    assert!(env.shop().join("new").exists());
}

/// Starts a command, removes the lock as soon as the command says that it waits for it, and gives all that it said.
fn waits_for(env: &Merges, words: &[&str], lock: &Path) -> String {
    fs::write(lock, "").unwrap();
    let mut child = env.call(words.iter().copied()).spawn();
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        said.push_str(&line.unwrap());
        said.push('\n');
        if said.contains("waits for another git to release") && said.contains(".lock") {
            let _ = fs::remove_file(lock);
        }
    }
    let _ = fs::remove_file(lock);
    assert!(child.wait().unwrap().success(), "{said}");
    said
}

#[test]
fn a_wait_for_a_lock_of_the_users_is_reported() {
    let env = Merges::new();
    let git = env.shop().join(".git");
    for (n, name) in ["index.lock", "HEAD.lock", "refs/heads/main.lock"]
        .into_iter()
        .enumerate()
    {
        let task = env.work(&format!("work-{n}"), &[(&format!("new-{n}"), "x")]);
        let said = waits_for(&env, &["task", "merge", &task.id], &git.join(name));
        assert!(said.contains(name), "{name}: {said}");
        assert!(env.is_done(&task));
    }
    // A bisect has refs, and to delete one git wants this lock.
    let task = env.create(["bisected", "Find it"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.git(&slot, &["bisect", "start"]);
    env.git(&slot, &["bisect", "bad"]);
    let lock = git.join("packed-refs.lock");
    let said = waits_for(&env, &["task", "cancel", &task.id, "--yes"], &lock);
    assert!(said.contains("packed-refs.lock"), "{said}");
    assert_eq!(env.show(&task)["attention"], serde_json::Value::Null);
    assert_eq!(env.git(&slot, &["for-each-ref", "refs/bisect"]), "");
}

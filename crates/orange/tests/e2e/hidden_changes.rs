//! Content that git is told to show in another way than it is: replaced objects, grafts, and files that the index says
//! not to look at. What is shown and checked is what is merged, and what is not committed is seen and saved.

use crate::agents::Agents;
use crate::env::{TestEnvironment, TestTask};
use crate::merges::Merges;
use crate::verify::with_check;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The worker commits what is bad and makes git show what is good.
const DECEIT: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: price
    text: bad
  - commit: work
  - run: git replace $(git rev-parse HEAD:price) $(printf good | git hash-object -w --stdin)
  - run: git show HEAD:price > ROOT/worker
  - handoff: 'DONE: all'
  - complete
  - wait for: {file: never}
reviewer:
  - run: git show HEAD:price > ROOT/reviewer
  - review: PASS
  - status: reviewing
  - wait for: {file: never}
";

fn read(env: &Agents, name: &str) -> String {
    fs::read_to_string(env.root().join(name)).unwrap_or_default()
}

#[test]
fn what_is_replaced_is_shown_checked_and_merged_as_it_is() {
    let check = "cat price > ROOT/checked; git show HEAD:price >> ROOT/checked\n";
    let env = with_check(check);
    let task = env.start("Deceive", DECEIT);
    env.until_event(&task, "task.verified");
    env.until_status(&task, "reviewing");
    let shop = env.shop();
    // Somebody who asks git without care is deceived.
    assert_eq!(env.git(&shop, &["show", "deceive:price"]), "good");
    let diff = env.say(&["task", "diff", &task.id]).ok();
    assert!(diff.stdout.contains("+bad"), "{diff}");
    assert!(!diff.stdout.contains("good"), "{diff}");
    let shown = env.say(&["task", "exec", &task.id, "--", "git", "show", "HEAD:price"]);
    assert_eq!(shown.ok().stdout.trim(), "bad");
    assert_eq!(read(&env, "checked").replace('\n', ""), "badbad");
    assert_eq!(read(&env, "worker").trim(), "bad");
    assert_eq!(read(&env, "reviewer").trim(), "bad");
    env.say(&["task", "merge", &task.id]).ok();
    let merged = fs::read_to_string(shop.join("price")).unwrap();
    assert_eq!(merged.trim(), "bad");
    let replaced = env.git(&shop, &["replace", "--list"]);
    env.git(&shop, &["replace", "-d", &replaced]);
    assert_eq!(env.git(&shop, &["show", "main:price"]), "bad");
}

#[test]
fn doctor_names_what_is_replaced_and_grafted() {
    let env = TestEnvironment::new();
    env.orange(["doctor"]).ok();
    let shop = env.shop();
    env.commit(&shop, "price", "bad");
    env.commit(&shop, "other", "good");
    let (bad, good) = (
        env.git(&shop, &["rev-parse", "HEAD:price"]),
        env.git(&shop, &["rev-parse", "HEAD:other"]),
    );
    env.git(&shop, &["replace", &bad, &good]);
    let head = env.git(&shop, &["rev-parse", "HEAD"]);
    fs::write(shop.join(".git/info/grafts"), format!("{head}\n")).unwrap();
    for repair in [&["doctor"][..], &["doctor", "--repair"]] {
        env.orange(repair.iter().copied())
            .fails_with(1)
            .says("refs/replace")
            .says(&format!("refs/replace/{bad}"))
            .says("info/grafts");
    }
    // They may be the user's own.
    assert_eq!(env.git(&shop, &["replace", "--list"]), bad);
    assert!(shop.join(".git/info/grafts").exists());
    env.git(&shop, &["replace", "-d", &bad]);
    fs::remove_file(shop.join(".git/info/grafts")).unwrap();
    env.orange(["doctor"]).ok();
}

/// A history that is cut short does not change how many commits a task has.
#[test]
fn a_graft_does_not_hide_commits() {
    let env = Merges::new();
    let (task, slot) = env.started("work");
    for name in ["one", "two", "three"] {
        env.commit(&slot, name, "x");
    }
    let head = env.git(&slot, &["rev-parse", "HEAD"]);
    let base = env.git(&slot, &["rev-parse", "main"]);
    let grafts = env.shop().join(".git/info/grafts");
    fs::write(grafts, format!("{head} {base}\n")).unwrap();
    let shown = env.orange(["task", "diff", &task.id, "--json"]).ok().json();
    assert_eq!(shown["diff"]["commits"], 3, "{shown}");
}

fn workspace(env: &TestEnvironment, task: &TestTask) -> Value {
    let shown = env.orange(["task", "show", &task.id, "--json"]);
    shown.ok().json()["workspace_state"].clone()
}

/// The files that `task diff --uncommitted` shows.
fn uncommitted(env: &TestEnvironment, task: &TestTask) -> Vec<String> {
    let words = ["task", "diff", &task.id, "--uncommitted", "--json"];
    let shown = env.orange(words).ok().json();
    let files = shown["diff"]["files"].as_array().unwrap().clone();
    let name = |file: &Value| format!("{} {}", file["status"], file["path"]).replace('"', "");
    files.iter().map(name).collect()
}

fn is_hidden_from_git(env: &TestEnvironment, slot: &Path) {
    assert_eq!(env.git(slot, &["status", "--porcelain"]), "");
}

#[test]
fn edits_that_the_index_hides_are_shown_and_saved() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let env = Merges::new();
        let (task, slot) = env.started("work");
        env.commit(&slot, "new", "x");
        env.commit(&slot, "gone", "x");
        env.bring_on(&task, "reviewing");
        env.git(&slot, &["update-index", flag, "new", "gone"]);
        fs::write(slot.join("new"), "half done").unwrap();
        fs::remove_file(slot.join("gone")).unwrap();
        is_hidden_from_git(&env, &slot);
        assert_eq!(
            uncommitted(&env, &task),
            ["deleted gone", "modified new"],
            "{flag}"
        );
        assert_eq!(workspace(&env, &task)["changed"], 2, "{flag}");
        env.refuses(&task, &[], 3, &["2 uncommitted changes", "not part of it"]);
        env.merge(&task, &["--force"]).ok();
        let saved = |file: &str| env.rescued(&env.shop(), &task, file);
        assert_eq!(saved("new").as_deref(), Some("half done"), "{flag}");
        assert_eq!(saved("gone"), None, "{flag}");
        assert_eq!(fs::read_to_string(env.shop().join("new")).unwrap(), "x");
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    let env = Merges::new();
    let shop = env.shop();
    for folder in ["app", "docs"] {
        fs::create_dir(shop.join(folder)).unwrap();
        env.commit(&shop, &format!("{folder}/file.txt"), folder);
    }
    env.git(&shop, &["sparse-checkout", "set", "app"]);
    let (task, slot) = env.started("work");
    assert!(!slot.join("docs").exists());
    assert_eq!(uncommitted(&env, &task), Vec::<String>::new());
    assert_eq!(workspace(&env, &task)["changed"], 0);
    // One that is hidden beside it, and one that lies where the checkout has nothing.
    env.git(
        &slot,
        &["update-index", "--assume-unchanged", "app/file.txt"],
    );
    fs::write(slot.join("app/file.txt"), "half done").unwrap();
    fs::create_dir(slot.join("docs")).unwrap();
    fs::write(slot.join("docs/file.txt"), "outside").unwrap();
    env.git(
        &slot,
        &["config", "sparse.expectFilesOutsideOfPatterns", "true"],
    );
    is_hidden_from_git(&env, &slot);
    let wanted = ["modified app/file.txt", "modified docs/file.txt"];
    assert_eq!(uncommitted(&env, &task), wanted);
    assert_eq!(workspace(&env, &task)["changed"], 2);
    fs::remove_dir_all(slot.join("docs")).unwrap();
    assert_eq!(workspace(&env, &task)["changed"], 1);
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    let saved = |file: &str| env.rescued(&shop, &task, file);
    assert_eq!(saved("app/file.txt").as_deref(), Some("half done"));
    assert_eq!(saved("docs/file.txt").as_deref(), Some("docs"));
}

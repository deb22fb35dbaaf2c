//! What a list says of a task's work: conflicts with the target, commits since the review.

use crate::merges::Merges;
use serde_json::{Value, json};

fn listed(home: &Merges) -> Value {
    home.list()[0]["diff"].take()
}

#[test]
fn conflicts_with_a_target_that_moved_are_named() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("lines", "theirs\n"), ("other", "x\n")]);
    assert_eq!(listed(&home)["conflicts"], json!([]));
    home.commit(&shop, "unrelated", "x\n");
    assert_eq!(listed(&home)["conflicts"], json!([]));
    home.commit(&shop, "lines", "ours\n");
    assert_eq!(listed(&home)["conflicts"], json!(["lines"]));
    let why = home.why(&task);
    assert!(
        why.contains("conflicts with main") && why.contains("lines"),
        "{why}"
    );
    // The branch took main in: nothing is in conflict any more.
    home.git(&shop, &["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(listed(&home)["conflicts"], json!([]));
    // What only the remote has counts as well.
    home.colleague_pushes("lines", "a colleague's\n");
    home.git(&shop, &["fetch", "-q", "origin"]);
    assert_eq!(listed(&home)["conflicts"], json!(["lines"]));
    let why = home.why(&task);
    assert!(why.contains("origin/main"), "{why}");
    let left = std::fs::read_dir(home.folder()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.contains("merges")).count(), 0);
}

#[test]
fn commits_that_the_review_has_not_seen_are_counted() {
    let home = Merges::new();
    let shop = home.shop();
    home.work("work", &[("a", "1\n")]);
    assert_eq!(listed(&home)["since_review"], 0);
    home.branch("work", &[("b", "1\n")]);
    home.branch("work", &[("c", "1\n")]);
    assert_eq!(listed(&home)["since_review"], 2);
    // What comes with main is not the task's own.
    home.commit(&shop, "theirs", "1\n");
    home.branch_by("work", |folder| {
        home.git(folder, &["merge", "-q", "--no-edit", "main"]);
    });
    assert_eq!(listed(&home)["since_review"], 3);
    // A branch that was rewritten has only commits that nobody has seen.
    home.branch_by("work", |folder| {
        home.git(folder, &["reset", "-q", "--soft", "main"]);
        home.git(folder, &["commit", "-q", "-m", "all in one"]);
    });
    assert_eq!(listed(&home)["since_review"], 1);
}

#[test]
fn a_task_that_nobody_reviewed_has_no_commits_since() {
    let home = Merges::new();
    let (_, slot) = home.started("login");
    home.commit(&slot, "a", "1\n");
    assert_eq!(listed(&home)["since_review"], Value::Null);
}

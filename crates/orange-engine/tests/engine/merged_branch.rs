//! The task's own branch once its work is in: deleted after it was saved, or kept for a reason.

use crate::merges::{Merges, forced, plain};
use crate::task::TestTask;
use orange_engine::Caller;
use orange_engine::verbs::rescue;
use std::fs;

/// A task on a branch that Orange made, with a commit.
fn worked(home: &Merges, branch: &str) -> TestTask {
    let (task, slot) = home.started(branch);
    home.commit(&slot, branch, "x");
    home.bring_on(&task, "reviewing");
    task
}

fn is_there(home: &Merges, branch: &str) -> bool {
    !home
        .git(&home.shop(), &["branch", "--list", branch])
        .is_empty()
}

#[test]
fn it_is_saved_and_deleted_and_can_be_had_again() {
    let home = Merges::new();
    let task = worked(&home, "work");
    let at = home.at(&home.shop(), "refs/heads/work");
    home.merge(&task, &plain()).ok();
    assert!(!is_there(&home, "work"));
    let refs = home.git(
        &home.shop(),
        &[
            "for-each-ref",
            "--format=%(refname:lstrip=4) %(parent)",
            "refs/orange/rescue",
        ],
    );
    let (name, parent) = refs.split_once(' ').unwrap();
    assert_eq!(parent, at);
    home.call(Caller::Human, |call| {
        let owner = rescue::rescue_owner(call, &task.id, None)?;
        rescue::restore_rescue(call, &owner, name, Some("again"))
    })
    .ok();
    assert_eq!(home.at(&home.shop(), "refs/heads/again"), at);
    // It is over for good: nothing is tried again, and nothing is missed.
    home.merge(&task, &plain()).ok();
    assert!(!is_there(&home, "work"));
}

#[test]
fn the_settings_keep_it_the_persons_before_the_repositorys() {
    for (user, repository, deleted) in [
        ("", "", true),
        ("false", "", false),
        ("", "false", false),
        ("true", "false", true),
        ("false", "true", false),
    ] {
        let home = Merges::new();
        let said = |word: &str| match word {
            "" => String::new(),
            word => format!("merge:\n  delete_branch: {word}\n"),
        };
        home.config(&said(user));
        fs::create_dir_all(home.shop().join(".orange")).unwrap();
        home.commit(
            &home.shop(),
            ".orange/config.yaml",
            &format!("# rules\n{}", said(repository)),
        );
        let task = worked(&home, "work");
        home.merge(&task, &plain()).ok();
        assert_eq!(!is_there(&home, "work"), deleted, "{user:?} {repository:?}");
    }
}

#[test]
fn it_stays_where_somebody_needs_it() {
    // It was there before the task.
    let home = Merges::new();
    let task = home.work("theirs", &[("new", "x")]);
    home.merge(&task, &plain()).ok();
    assert!(is_there(&home, "theirs"));
    // It is checked out beside its slot.
    let task = worked(&home, "looked-at");
    let place = home.root().join("looked-at");
    let place = place.to_str().unwrap();
    home.git(
        &home.shop(),
        &["worktree", "add", "-q", "--force", place, "looked-at"],
    );
    home.merge(&task, &forced()).ok();
    assert!(is_there(&home, "looked-at"));
    // Another task's work goes into it.
    let task = worked(&home, "first");
    home.create_with("second", |new| new.base = Some("first".into()));
    home.merge(&task, &plain()).ok();
    assert!(is_there(&home, "first"));
}

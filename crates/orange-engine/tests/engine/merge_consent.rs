//! Who may merge, and what a person is told before: no review, commits since, a branch rewritten, work that is not
//! committed.

use crate::home::agent;
use crate::merges::{Merges, by, forced, plain};
use crate::task::TestTask;
use orange_core::workflow::Role;
use orange_engine::Code;
use orange_engine::verbs::merge::MergeWish;
use std::fs;
use std::path::Path;

/// A task that an agent handed off and a reviewer passed, with its slot and a commit.
fn passed(home: &Merges) -> TestTask {
    passed_with(home, |slot| {
        home.commit(slot, "new", "x");
    })
}

/// The same with other work.
fn passed_with(home: &Merges, work: impl Fn(&Path)) -> TestTask {
    let (task, slot) = home.started("work");
    work(&slot);
    home.bring_on(&task, "reviewing");
    task
}

#[test]
fn reviewed_work_needs_no_word() {
    let home = Merges::new();
    let task = passed(&home);
    let slot = home.slot_of(&task);
    home.merge(&task, &plain()).ok();
    assert!(home.is_done(&task));
    assert!(home.shop().join("new").exists());
    home.is_parked(&slot, &home.at(&home.shop(), "main"));
}

#[test]
fn what_nobody_reviewed() {
    for status in ["planning", "working", "stuck", "agent-review"] {
        let home = Merges::new();
        let task = home.create("work");
        home.bring_to(&task, status);
        home.commit(&home.slot_of(&task), "new", "x");
        let told = format!("it is {status}: no review of it has passed");
        home.refuses(
            &task,
            &plain(),
            Code::ConditionUnmet,
            &[&told, "force: true"],
        );
        home.merge(&task, &forced()).ok();
        assert!(home.is_done(&task), "{status}");
        assert!(home.shop().join("new").exists());
    }
}

#[test]
fn what_is_not_to_be_merged_even_with_force() {
    let home = Merges::new();
    let pending = home.create("later");
    home.refuses(&pending, &forced(), Code::IllegalTransition, &["pending"]);
    let cancelled = home.work("work", &[("new", "x")]);
    home.cancel(&cancelled).ok();
    home.refuses(
        &cancelled,
        &forced(),
        Code::IllegalTransition,
        &["cancelled"],
    );
}

#[test]
fn a_review_whose_commit_was_taken_out_of_the_journal() {
    let home = Merges::new();
    let task = home.work("work", &[("new", "x")]);
    let head = home.at(&home.shop(), "work");
    let journal = fs::read_to_string(task.journal()).unwrap();
    let noted = format!(",\"head\":\"{head}\"");
    assert!(journal.contains(&noted), "{journal}");
    fs::write(task.journal(), journal.replace(&noted, "")).unwrap();
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["cannot confirm what history.jsonl says", "force: true"],
    );
    home.merge(&task, &forced()).ok();
}

#[test]
fn commits_that_came_with_the_target_are_not_the_tasks_own() {
    let home = Merges::new();
    let task = passed(&home);
    let slot = home.slot_of(&task);
    home.commit(&home.shop(), "of main", "x");
    home.git(&slot, &["merge", "-q", "--no-edit", "main"]);
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["1 commit since review"],
    );
    assert!(home.why(&task).contains("1 commit since review"));
    let wish = MergeWish {
        force: true,
        ..by("rebase")
    };
    assert_eq!(home.merge(&task, &wish).value().commits, 1);
}

#[test]
fn a_task_without_commits_is_refused_before_anything_is_asked() {
    let home = Merges::new();
    let task = home.create("work");
    home.bring_to(&task, "working");
    for wish in [plain(), forced()] {
        home.refuses(
            &task,
            &wish,
            Code::ConditionUnmet,
            &["no commits of its own", "Resolve { task"],
        );
    }
}

#[test]
fn a_branch_that_was_rewritten_since_the_review() {
    let home = Merges::new();
    let task = passed(&home);
    let slot = home.slot_of(&task);
    let reviewed = home.at(&slot, "HEAD");
    home.git(&slot, &["commit", "-q", "--amend", "-m", "said otherwise"]);
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["rewritten since the review", &reviewed[..7]],
    );
}

#[test]
fn work_that_is_not_committed_is_told_of_and_saved() {
    let home = Merges::new();
    let task = passed(&home);
    let slot = home.slot_of(&task);
    fs::write(slot.join("new"), "half done").unwrap();
    fs::write(slot.join("untracked"), "mine").unwrap();
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["2 uncommitted changes", "not part of it"],
    );
    assert_eq!(fs::read_to_string(slot.join("new")).unwrap(), "half done");
    home.merge(&task, &forced()).ok();
    let shop = home.shop();
    assert_eq!(fs::read_to_string(shop.join("new")).unwrap(), "x");
    let saved = |file: &str| home.rescued(&shop, &task, file);
    assert_eq!(saved("new").as_deref(), Some("half done"));
    assert_eq!(saved("untracked").as_deref(), Some("mine"));
}

#[test]
fn commits_beside_the_branch_are_named() {
    let home = Merges::new();
    let task = passed(&home);
    let slot = home.slot_of(&task);
    home.git(&slot, &["switch", "-q", "--detach"]);
    let beside = home.commit(&slot, "beside", "x");
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &[
            "has a detached HEAD at",
            &beside[..7],
            "with 1 commit that is not on work",
        ],
    );
    home.git(&slot, &["switch", "-qc", "elsewhere"]);
    home.commit(&slot, "more", "x");
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["has branch elsewhere checked out, with 2 commits that are not on work"],
    );
    // Without work of its own it is nothing to worry about.
    home.git(&slot, &["switch", "-q", "--detach", "work"]);
    home.merge(&task, &plain()).ok();
}

#[test]
fn a_submodule_commit_that_only_the_workspace_has_is_named() {
    let home = Merges::new();
    let library = home.init_repository("library");
    let shop = home.shop();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
    ];
    home.git(
        &shop,
        &[&add[..], &[library.to_str().unwrap(), "lib"]].concat(),
    );
    home.git(&shop, &["commit", "-qm", "a submodule"]);
    let task = passed_with(&home, |slot| {
        let update = [
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "update",
            "--init",
        ];
        home.git(slot, &update);
        home.commit(&slot.join("lib"), "inside", "x");
        home.git(slot, &["commit", "-qam", "point to it"]);
    });
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["submodule lib points to", "which only its workspace has"],
    );
    let lib = home.slot_of(&task).join("lib");
    home.git(&lib, &["push", "-q", "origin", "HEAD:refs/heads/published"]);
    home.git(&lib, &["fetch", "-q"]);
    home.merge(&task, &plain()).ok();
}

#[test]
fn a_journal_that_lost_events_is_told_before_a_merge() {
    let home = Merges::new();
    let task = passed(&home);
    let journal = fs::read_to_string(task.journal()).unwrap();
    let moved = journal.rfind("\"to\":\"reviewing\"").unwrap();
    let start = journal[..moved].rfind('\n').unwrap() + 1;
    fs::write(task.journal(), &journal[..start]).unwrap();
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["its journal lost events on"],
    );
}

#[test]
fn agents_may_not_merge() {
    let home = Merges::new();
    let task = passed(&home);
    let other = home.work("other", &[("other", "x")]);
    let before = home.everything();
    for role in [Role::Worker, Role::Reviewer, Role::Executor] {
        for of in [&task, &other] {
            for wish in [plain(), forced()] {
                home.merge_as(agent(&task, role), of, &wish)
                    .fails(Code::NotAllowed);
            }
        }
    }
    assert_eq!(home.everything(), before);
    assert!(!home.is_done(&task) && !home.is_done(&other));
}

//! Who may merge, and what a person is told before: no review, commits since, a branch rewritten, work that is not
//! committed.

use crate::env::{TestEnvironment, TestTask, with_answers};
use crate::merges::Merges;
use crate::run::program;
use std::fs;
use std::path::Path;

/// A task that an agent handed off and a reviewer passed, with its slot and a commit.
fn passed(env: &Merges) -> TestTask {
    passed_with(env, |slot| {
        env.commit(slot, "new", "x");
    })
}

/// The same with other work.
fn passed_with(env: &Merges, work: impl Fn(&Path)) -> TestTask {
    let (task, slot) = env.started("work");
    work(&slot);
    env.bring_on(&task, "reviewing");
    task
}

#[test]
fn reviewed_work_needs_no_word() {
    let env = Merges::new();
    let task = passed(&env);
    let slot = env.slot_of(&task);
    env.merge(&task, &[]).ok();
    assert!(env.is_done(&task));
    assert!(env.shop().join("new").exists());
    env.is_parked(&slot, &env.at(&env.shop(), "main"));
    env.at(&env.shop(), "refs/heads/work");
}

#[test]
fn what_nobody_reviewed() {
    for status in ["planning", "working", "stuck", "agent-review"] {
        let env = Merges::new();
        let task = env.create(["work", "Do it"]);
        env.bring_to(&task, status);
        env.commit(&env.slot_of(&task), "new", "x");
        let told = format!("it is {status}: no review of it has passed");
        env.refuses(&task, &[], 3, &[&told, "--force"]);
        let refused = env.merge(&task, &["--json"]).refuses(3, "condition_unmet");
        assert!(refused["message"].as_str().unwrap().contains(&told));
        env.merge(&task, &["--force"]).ok();
        assert!(env.is_done(&task), "{status}");
        assert!(env.shop().join("new").exists());
    }
}

#[test]
fn what_is_not_to_be_merged_even_with_force() {
    let env = Merges::new();
    let pending = env.create(["later", "Not begun"]);
    env.refuses(&pending, &["--force"], 3, &["pending"]);
    let cancelled = env.work("work", &[("new", "x")]);
    env.cancel(&cancelled).ok();
    env.refuses(&cancelled, &["--force"], 3, &["cancelled"]);
}

#[test]
fn a_review_whose_commit_was_taken_out_of_the_journal() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    let head = env.at(&env.shop(), "work");
    let journal = fs::read_to_string(task.journal()).unwrap();
    let noted = format!(",\"head\":\"{head}\"");
    assert!(journal.contains(&noted), "{journal}");
    fs::write(task.journal(), journal.replace(&noted, "")).unwrap();
    env.refuses(
        &task,
        &[],
        3,
        &["cannot confirm what history.jsonl says", "--force"],
    );
    env.merge(&task, &["--force"]).ok();
}

#[test]
fn commits_since_the_review_are_named() {
    let env = Merges::new();
    let task = passed(&env);
    let slot = env.slot_of(&task);
    fs::write(slot.join("late"), "x").unwrap();
    env.git(&slot, &["add", "late"]);
    let words = "late \u{1b}]0;title\u{7} and \u{202e}turned";
    env.git(&slot, &["commit", "-q", "-m", words]);
    let late = env.commit(&slot, "later", "x");
    env.refuses(
        &task,
        &[],
        3,
        &[
            "2 commits since review",
            &late[..7],
            "change later",
            "late ",
        ],
    );
    let run = env.merge(&task, &[]);
    assert!(
        !run.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{run:?}"
    );
    env.merge(&task, &["--force"]).ok();
    assert!(env.shop().join("later").exists());
}

#[test]
fn commits_that_came_with_the_target_are_not_the_tasks_own() {
    let env = Merges::new();
    let task = passed(&env);
    let slot = env.slot_of(&task);
    env.commit(&env.shop(), "of main", "x");
    env.git(&slot, &["merge", "-q", "--no-edit", "main"]);
    env.refuses(&task, &[], 3, &["1 commit since review"]);
    let why = env.orange(["task", "why", &task.id]).ok();
    why.says("a merge needs your word (--force): 1 commit since review");
    let merged = env.merge(&task, &["--force", "--strategy", "rebase"]);
    merged.ok().says("(1 commit rebased)");
}

#[test]
fn a_task_without_commits_is_refused_before_anything_is_asked() {
    let env = Merges::new();
    let task = env.create(["work", "Do it"]);
    env.bring_to(&task, "working");
    for words in [&[][..], &["--force"]] {
        env.refuses(&task, words, 3, &["no commits of its own", "task resolve"]);
    }
}

#[test]
fn a_branch_that_was_rewritten_since_the_review() {
    let env = Merges::new();
    let task = passed(&env);
    let slot = env.slot_of(&task);
    let reviewed = env.at(&slot, "HEAD");
    env.git(&slot, &["commit", "-q", "--amend", "-m", "said otherwise"]);
    env.refuses(
        &task,
        &[],
        3,
        &["rewritten since the review", &reviewed[..7]],
    );
}

#[test]
fn work_that_is_not_committed_is_told_of_and_saved() {
    let env = Merges::new();
    let task = passed(&env);
    let slot = env.slot_of(&task);
    fs::write(slot.join("new"), "half done").unwrap();
    fs::write(slot.join("untracked"), "mine").unwrap();
    env.refuses(&task, &[], 3, &["2 uncommitted changes", "not part of it"]);
    assert_eq!(fs::read_to_string(slot.join("new")).unwrap(), "half done");
    env.merge(&task, &["--force"]).ok();
    let shop = env.shop();
    assert_eq!(fs::read_to_string(shop.join("new")).unwrap(), "x");
    let saved = |file: &str| env.rescued(&shop, &task, file);
    assert_eq!(saved("new").as_deref(), Some("half done"));
    assert_eq!(saved("untracked").as_deref(), Some("mine"));
}

#[test]
fn on_a_terminal_a_person_is_asked() {
    let env = Merges::new();
    let task = passed(&env);
    env.commit(&env.slot_of(&task), "late", "x");
    let line = format!("{} task merge {}", program().display(), task.id);
    let before = env.everything();
    let screen = with_answers(&env, 100, &line, "n\n");
    assert!(screen.contains("1 commit since review"), "{screen}");
    assert!(screen.contains("change late"), "{screen}");
    assert!(screen.contains("nothing was merged"), "{screen}");
    assert_eq!(env.everything(), before);
    assert!(!env.is_done(&task));
    let screen = with_answers(&env, 100, &line, "y\n");
    assert!(screen.contains("it is done"), "{screen}");
    assert!(env.shop().join("late").exists());
}

/// A yes is a yes to what was shown.
#[test]
fn without_concerns_nobody_is_asked() {
    let env = Merges::new();
    let task = passed(&env);
    let line = format!("{} task merge {}", program().display(), task.id);
    let screen = with_answers(&env, 100, &line, "");
    assert!(screen.contains("it is done"), "{screen}");
    assert!(!screen.contains("anyway?"), "{screen}");
}

#[test]
fn agents_may_not_merge() {
    let env = Merges::new();
    let task = passed(&env);
    let other = env.work("other", &[("other", "x")]);
    let before = env.everything();
    for role in ["worker", "reviewer", "executor"] {
        for of in [&task, &other] {
            for force in [&[][..], &["--force"]] {
                let words = [&["task", "merge", &of.id], force].concat();
                env.call(words)
                    .agent(&task, role)
                    .run()
                    .fails_with(3)
                    .says("merge");
            }
        }
    }
    assert_eq!(env.everything(), before);
    assert!(!env.is_done(&task) && !env.is_done(&other));
}

#[test]
fn json_says_what_was_merged() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    let told = env.merge(&task, &["--json"]).ok().json();
    let shop = env.shop();
    let merged = &told["merged"];
    assert_eq!(told["task"]["status"], "done");
    assert_eq!(merged["commit"], env.at(&shop, "main"));
    assert_eq!(merged["head"], env.at(&shop, "work"));
    assert_eq!(merged["target"], "main");
    assert_eq!(merged["strategy"], "squash");
    assert_eq!(merged["pushed"], true);
    assert_eq!(merged["commits"], 1);
    assert_eq!(merged["already"], false);
    assert_eq!(merged["fast_forwarded"], shop.to_str().unwrap());
}

#[test]
fn commits_beside_the_branch_are_named() {
    let env = Merges::new();
    let task = passed(&env);
    let slot = env.slot_of(&task);
    env.git(&slot, &["switch", "-q", "--detach"]);
    let beside = env.commit(&slot, "beside", "x");
    env.refuses(
        &task,
        &[],
        3,
        &[
            "has a detached HEAD at",
            &beside[..7],
            "with 1 commit that is not on work",
        ],
    );
    env.git(&slot, &["switch", "-qc", "elsewhere"]);
    env.commit(&slot, "more", "x");
    env.refuses(
        &task,
        &[],
        3,
        &["has branch elsewhere checked out, with 2 commits that are not on work"],
    );
    // Without work of its own it is nothing to worry about.
    env.git(&slot, &["switch", "-q", "--detach", "work"]);
    env.merge(&task, &[]).ok();
}

#[test]
fn a_submodule_commit_that_only_the_workspace_has_is_named() {
    let env = Merges::new();
    let library = env.init_repository("library");
    let shop = env.shop();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
    ];
    env.git(
        &shop,
        &[&add[..], &[library.to_str().unwrap(), "lib"]].concat(),
    );
    env.git(&shop, &["commit", "-qm", "a submodule"]);
    let task = passed_with(&env, |slot| {
        let update = [
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "update",
            "--init",
        ];
        env.git(slot, &update);
        env.commit(&slot.join("lib"), "inside", "x");
        env.git(slot, &["commit", "-qam", "point to it"]);
    });
    env.refuses(
        &task,
        &[],
        3,
        &["submodule lib points to", "which only its workspace has"],
    );
    let lib = env.slot_of(&task).join("lib");
    env.git(&lib, &["push", "-q", "origin", "HEAD:refs/heads/published"]);
    env.git(&lib, &["fetch", "-q"]);
    env.merge(&task, &[]).ok();
}

#[test]
fn a_journal_that_lost_events_is_told_before_a_merge() {
    let env = Merges::new();
    let task = passed(&env);
    let journal = fs::read_to_string(task.journal()).unwrap();
    let moved = journal.rfind("\"to\":\"reviewing\"").unwrap();
    let start = journal[..moved].rfind('\n').unwrap() + 1;
    fs::write(task.journal(), &journal[..start]).unwrap();
    env.refuses(&task, &[], 3, &["its journal lost events on"]);
}

/// A task whose only commit was made on a detached HEAD.
fn with_work_beside() -> (TestEnvironment, TestTask) {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.git(&slot, &["switch", "-q", "--detach"]);
    env.commit(&slot, "login.txt", "work");
    (env, task)
}

/// The branch has nothing, and that is not said to be all there is.
#[test]
fn work_beside_the_branch_is_named_before_anybody_is_told_to_resolve() {
    let (env, task) = with_work_beside();
    let slot = env.slot_of(&task);
    env.bring_on(&task, "reviewing");
    let what = "with 1 commit that is not on login";
    let why = env.orange(["task", "why", &task.id]).ok().says(what);
    assert!(!why.stdout.contains("nothing to merge"), "{why}");
    for force in [&[][..], &["--force"]] {
        let merge = [&["task", "merge", task.id.as_str()][..], force].concat();
        env.orange(merge)
            .fails_with(3)
            .says(what)
            .says("git switch --force-create login");
    }
    env.orange(["doctor"]).fails_with(1).says(what);
    env.git(&slot, &["switch", "-q", "--force-create", "login"]);
    env.orange(["doctor"]).ok();
    env.orange(["task", "merge", &task.id, "--force"]).ok();
    let merged = env.git(&env.shop(), &["show", "main:login.txt"]);
    assert_eq!(merged.trim(), "work");
}

/// Whoever resolves such a task is told, too.
#[test]
fn a_resolved_task_with_work_beside_its_branch_says_so() {
    let (env, task) = with_work_beside();
    let resolve = ["task", "resolve", &task.id, "--message", "done by hand"];
    env.orange(resolve)
        .ok()
        .says("with 1 commit that is not on login");
}

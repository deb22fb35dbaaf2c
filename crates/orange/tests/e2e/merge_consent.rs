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

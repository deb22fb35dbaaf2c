//! What people run into in their first month: squashed and deleted branches, short names, full disks,
//! one wrong line among right ones.

use super::env::{TestEnvironment, with_answers};
use super::run::program;
use insta::assert_snapshot;
use std::process::Stdio;

/// A task whose work is on its branch, reviewed, and the branch's head noted by the review.
fn reviewed(env: &TestEnvironment) -> super::env::TestTask {
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    env.commit(&env.slot_of(&task), "login.txt", "work");
    env.bring_on(&task, "reviewing");
    task
}

#[test]
fn a_branch_that_was_deleted_after_its_merge_is_merged() {
    let env = TestEnvironment::new();
    let task = reviewed(&env);
    env.move_to(&task, "done").fails_with(3);
    env.git(&env.shop(), &["merge", "-q", "--no-edit", &task.branch]);
    env.git(&env.slot_of(&task), &["switch", "-q", "--detach"]);
    env.git(&env.shop(), &["branch", "-q", "-d", &task.branch]);
    env.move_to(&task, "done").ok();
}

#[test]
fn a_squashed_branch_is_done_on_a_persons_word() {
    let env = TestEnvironment::new();
    let task = reviewed(&env);
    env.git(&env.shop(), &["merge", "-q", "--squash", &task.branch]);
    env.git(&env.shop(), &["commit", "-q", "-m", "squashed"]);
    env.move_to(&task, "done").says("orange resolve TASK-001");
    env.orange(["task", "resolve", "TASK-001", "--message", ""])
        .fails_with(2);
    let words = [
        "task",
        "resolve",
        "TASK-001",
        "--message",
        "squashed into main",
        "--json",
    ];
    env.call(words)
        .agent(&task, "worker")
        .run()
        .refuses(3, "not_allowed");
    let done = env.orange(words).ok().json();
    assert_eq!(done["task"]["status"], "done");
    let metadata = &done["task"]["metadata"];
    assert_eq!(metadata["resolved"], "true");
    assert_eq!(metadata["resolution_message"], "squashed into main");
    assert!(
        metadata["resolved_at"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
    assert_eq!(task.last("status.changed")["reason"], "squashed into main");
}

#[test]
fn the_branch_work_goes_to_is_nobodys_own() {
    let env = TestEnvironment::new();
    env.orange(["task", "create", "main", "Work on main", "--json"])
        .refuses(3, "conflict");
    env.orange([
        "task",
        "create",
        "stable",
        "x",
        "--target-branch",
        "stable",
        "--json",
    ])
    .refuses(3, "conflict");
}

#[test]
fn a_number_is_a_key_and_a_reason_is_kept() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    env.orange(["task", "stuck", "1", "--reason", "the API key is missing"])
        .ok();
    env.orange(["task", "why", "1"])
        .ok()
        .says("the API key is missing");
    env.orange(["task", "why", "999999"]).fails_with(4);
}

#[test]
fn words_bring_a_stuck_task_back_to_its_worker() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    env.orange(["stuck", "1", "--reason", "the API key is missing"])
        .ok();
    assert_snapshot!(env.orange(["answer", "1"]), @"
    TASK-001 is stuck: the API key is missing
    answer: orange answer TASK-001 TEXT
    ");
    env.orange(["answer", "1", "--allow", "--json"])
        .refuses(2, "usage");
    env.orange(["answer", "1", "  ", "--json"])
        .refuses(2, "usage");
    let asks = format!("{} answer 1", program().display());
    let said = with_answers(&env, 80, &asks, "\n");
    assert!(said.ends_with("not answered; it stays open\n"), "{said}");
    let said = with_answers(&env, 80, &asks, "ask Ann for it\n");
    assert!(said.contains("TASK-001: stuck → working"), "{said}");
    assert!(task.text().contains("ask Ann for it"), "{}", task.text());
    env.orange(["stuck", "1"]).ok();
    env.orange(["answer", "1", "it", "is", "in .env"])
        .ok()
        .says("TASK-001: stuck → working");
    assert!(task.text().contains("it is in .env"), "{}", task.text());
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let env = TestEnvironment::new();
    env.create(["Something to list"]);
    for arguments in [
        vec!["ls"],
        vec!["ls", "--json"],
        vec!["task", "show", "TASK-001"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = std::process::Command::new(program())
            .args(&arguments)
            .env("ORANGE_HOME", env.home())
            .current_dir(env.shop())
            .stdout(Stdio::from(full))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("no space left"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_repair_puts_back_only_what_cannot_be_used() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    task.edit("priority: normal", "priority: urgent");
    task.edit("queue: active", "queue: backlog");
    task.edit("summary: Add a login form", "summary: Another text");
    env.orange(["doctor", "--repair"]).ok();
    let shown = env.show(&task);
    assert_eq!(shown["priority"], "normal");
    assert_eq!(shown["queue"], "backlog");
    assert_eq!(shown["summary"], "Another text");
    assert_eq!(task.files_like("TASK.md.damaged-").len(), 1);
    env.orange(["doctor"]).ok();
}

#[test]
fn an_unquoted_sentence_is_noticed() {
    let env = TestEnvironment::new();
    env.orange(["task", "create", "Add", "a", "form"])
        .ok()
        .says("quote the whole sentence");
    env.orange(["task", "create", "fix-menu", "Fix", "the", "menu"])
        .ok()
        .silent_about("quote");
    env.orange(["new", "Add", "a", "form"])
        .ok()
        .silent_about("quote");
}

#[test]
fn a_parent_with_open_children_is_not_deleted() {
    let env = TestEnvironment::new();
    env.create(["parent", "The whole"]);
    env.create(["child", "A part", "--parent", "TASK-001"]);
    env.orange(["task", "delete", "TASK-001", "--json"])
        .refuses(3, "condition_unmet");
    env.orange(["task", "delete", "TASK-002"]).ok();
    env.orange(["task", "delete", "TASK-001"]).ok();
}

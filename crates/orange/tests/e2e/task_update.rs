//! `orange task update`: fields, lists, and status and fields in one go.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn every_field() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.create(["other", "Another task"]);
    assert_snapshot!(env.orange([
        "task", "update", "TASK-001", "--summary", "Add a better form", "--branch", "better-login", "--priority",
        "high", "--queue", "backlog", "--category", "bug", "--weight", "large", "--target-branch", "release",
        "--harness", "pi", "--review-harness", "claude", "--model", "openai/gpt-5", "--review-model", "opus",
        "--effort", "off", "--review-effort", "low",
        "--ui-testing", "false", "--add-blocker", "TASK-002", "--add-related", "TASK-002", "--add-tag", "a", "--add-tag", "b",
    ]), @"TASK-001: summary Add a better form, priority high, queue backlog, category bug, weight large, target branch release, harness pi, reviewer's harness claude, model openai/gpt-5, reviewer's model opus, effort off, reviewer's effort low, branch better-login, UI testing no, blockers TASK-002, related tasks TASK-002, tags a and b");
    let shown = env.show(&task);
    assert_eq!(shown["branch"], "better-login");
    assert_eq!(shown["tags"], json!(["a", "b"]));
    assert_eq!(shown["revision"], 2);
    assert_eq!(task.events(), ["task.created", "task.updated"]);
    // Empty clears; lists lose what is named.
    assert_snapshot!(env.orange([
        "task", "update", "TASK-001", "--target-branch", "", "--harness", "", "--model", "", "--effort", "", "--weight", "",
        "--remove-blocker", "task-2", "--remove-related", "shop:TASK-002", "--remove-tag", "a",
    ]), @"TASK-001: weight cleared, target branch cleared, harness cleared, model cleared, effort cleared, blockers cleared, related tasks cleared, tags b");
    let shown = env.show(&task);
    assert_eq!(
        (&shown["weight"], &shown["blocked_by"], &shown["tags"]),
        (&json!(null), &json!([]), &json!(["b"]))
    );
}

#[test]
fn what_is_so_already_changes_nothing() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form", "--tag", "a"]);
    let before = task.text();
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--priority", "normal", "--branch", "login", "--add-tag", "a"]), @"TASK-001: nothing changed, it was so already");
    assert_eq!(task.text(), before);
    assert_eq!(task.events(), ["task.created"]);
}

#[test]
fn fields_and_status_go_together_or_not_at_all() {
    let env = TestEnvironment::new();
    let task = env.create(["nameless"]);
    // The summary that this very command gives opens the way.
    assert_snapshot!(env.update(&task, &["--status", "planning", "--summary", "Now it has one"]), @"
    TASK-001: pending → planning; summary Now it has one
      branch   nameless starts from main@[HASH]
      slot     shop--1 [HOME]/workspaces/shop--1
    ");
    // A refused move takes the fields with it.
    env.update(&task, &["--status", "reviewing", "--priority", "high"])
        .fails_with(3);
    assert_eq!(env.show(&task)["priority"], "normal");
    env.update(&task, &["--priority", "high", "--queue", "never"])
        .fails_with(2);
    assert_eq!(env.show(&task)["priority"], "normal");
}

#[test]
fn a_summary_stays_one_line_and_of_a_size() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.update(&task, &["--summary", "Two\nlines\tand  blanks "])
        .ok();
    assert_eq!(env.show(&task)["summary"], "Two lines and blanks");
    env.update(&task, &["--summary", "--looks like a flag"])
        .ok();
    assert_eq!(env.show(&task)["summary"], "--looks like a flag");
    let error = env
        .orange([
            "task",
            "update",
            "TASK-001",
            "--summary",
            &"x".repeat(5000),
            "--json",
        ])
        .refuses(2, "usage");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("5000 characters"),
        "{error}"
    );
    env.update(&task, &["--summary", ""]).ok();
    assert_eq!(env.show(&task)["summary"], "");
}

#[test]
fn a_target_branch_must_be_a_name_that_git_accepts() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.orange([
        "task",
        "update",
        "TASK-001",
        "--target-branch",
        "a..b",
        "--json",
    ])
    .refuses(2, "usage");
    assert_eq!(env.show(&task)["target_branch"], json!(null));
}

#[test]
fn a_branch_without_a_name_is_that_of_the_workspace() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--branch"]), @"
    ------- stderr -------
    error: TASK-001 has no workspace whose branch could be taken over
    hint: name the branch: `orange update TASK-001 --branch NAME`
    [exit status: 3]
    ");
}

#[test]
fn json_has_the_task_and_a_message() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let said = env
        .orange([
            "task", "update", "TASK-001", "--status", "planning", "--json",
        ])
        .ok()
        .json();
    assert_eq!(said["message"], "TASK-001: pending → planning");
    assert_eq!(said["task"]["status"], "planning");
    assert_eq!(said["task"]["id"], task.id);
}

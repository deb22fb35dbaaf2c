//! The feed: what a process does to a task, others hear of.

use crate::env::{TestEnvironment, TestTask};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn feed(env: &TestEnvironment) -> PathBuf {
    env.home().join("feed.jsonl")
}

/// The lines of the feed about a task.
fn lines(env: &TestEnvironment, task: &TestTask) -> Vec<Value> {
    let text = fs::read_to_string(feed(env)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["folder"] == format!("shop/{}", task.id))
        .collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    let events = lines
        .iter()
        .flat_map(|line| line["events"].as_array().unwrap());
    events.map(|event| event.as_str().unwrap()).collect()
}

#[test]
fn every_change_of_a_task_is_a_line() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    assert_eq!(kinds(&lines(&env, &task))[0], "task.created");
    env.update(&task, &["--priority", "high"]).ok();
    let changed = lines(&env, &task);
    let last = changed.last().unwrap();
    assert_eq!(last["events"], serde_json::json!(["task.updated"]));
    assert_eq!(last["revision"], env.show(&task)["revision"]);
    // An edit by hand, once a command has taken it over.
    task.set_field("summary", "Edited");
    env.orange(["task", "show", &task.id]).ok();
    assert_eq!(kinds(&lines(&env, &task)).last(), Some(&"task.updated"));
    env.orange(["task", "delete", &task.id, "--yes"]).ok();
    assert_eq!(kinds(&lines(&env, &task)).last(), Some(&"task.deleted"));
    env.orange(["task", "restore", &task.id]).ok();
    assert_eq!(kinds(&lines(&env, &task)).last(), Some(&"task.restored"));
    // Whoever only looks is no news.
    let before = lines(&env, &task);
    env.orange(["task", "list"]).ok();
    env.orange(["task", "show", &task.id]).ok();
    assert_eq!(lines(&env, &task), before);
}

#[test]
fn a_move_is_told_before_its_hooks_are_over() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    env.bring_to(&task, "planning");
    let all = lines(&env, &task);
    let position = |kind: &str| {
        let has = |line: &Value| line["events"].as_array().unwrap().contains(&kind.into());
        all.iter().position(has).unwrap()
    };
    assert!(position("status.changed") < position("transition.finished"));
}

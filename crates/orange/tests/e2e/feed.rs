//! The feed: what a process does to a task, others hear of; and a feed that is damaged or missing harms nobody.

use crate::env::{TestEnvironment, TestTask};
use crate::running::Running;
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

/// A watch that has begun: what happens from now on is news.
fn watch(env: &TestEnvironment, arguments: &[&str]) -> Running {
    let _ = fs::remove_file(env.home().join(".monitor.lock"));
    let watch = Running::start(env.call(arguments));
    watch.until("start", |_| env.home().join(".monitor.lock").exists());
    watch
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

#[test]
fn a_watch_tells_what_another_process_does() {
    let env = TestEnvironment::new();
    let open = env.create(["Open"]);
    let watch = watch(&env, &["watch"]);
    env.update(&open, &["--priority", "high"]).ok();
    watch.until_printed(&format!("shop {} you", open.key));
    let new = env.create(["New"]);
    watch.until_printed(&format!("shop {} you created", new.key));
    env.orange(["task", "cancel", &new.id, "--yes"]).ok();
    watch.until_printed(&format!("shop {} you moved", new.key));
    // Over by now, and still heard of.
    env.orange(["task", "delete", &new.id, "--yes"]).ok();
    env.orange(["task", "restore", &new.id]).ok();
    watch.until_printed(&format!("shop {} you brought the task back", new.key));
    let printed = watch.printed();
    let created = format!("shop {} you created", new.key);
    assert_eq!(printed.matches(&created).count(), 1, "{printed}");
}

#[test]
fn nothing_depends_on_the_file() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    let watch = watch(&env, &["watch", "--json"]);
    let path = feed(&env);
    let remove = || {
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    };
    let garbage = b"no JSON\n\xff\0\n{\"folder\":\"../..\"}\n[]\nhalf a line";
    let damages: [(&str, &dyn Fn()); 5] = [
        ("deleted", &|| remove()),
        ("garbage", &|| fs::write(&path, garbage).unwrap()),
        ("read-only", &|| {
            let mut mode = fs::metadata(&path).unwrap().permissions();
            mode.set_readonly(true);
            fs::set_permissions(&path, mode).unwrap();
        }),
        ("a folder", &|| {
            remove();
            fs::create_dir(&path).unwrap();
        }),
        ("a link to nowhere", &|| {
            remove();
            std::os::unix::fs::symlink(env.root().join("elsewhere"), &path).unwrap();
        }),
    ];
    for (what, damage) in damages {
        damage();
        let said = env.update(&task, &["--summary", &format!("With {what}")]);
        assert_eq!(said.ok().stderr, "", "{what}");
        watch.until_printed(&format!("With {what}"));
        env.orange(["doctor"]).ok().says("all is well");
    }
    assert!(!env.root().join("elsewhere").exists());
    fs::remove_file(&path).unwrap();
    env.update(&task, &["--summary", "In order"]).ok();
    assert_eq!(kinds(&lines(&env, &task)), ["task.updated"]);
    watch.until_printed("In order");
    for line in watch.printed().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["task"], task.key.as_str());
    }
}

//! TASK.md and history.jsonl changed by hand: what is taken over, what is put back, what is recovered.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::task::Field;
use serde_json::{Value, json};
use std::fs;

fn working() -> (TestHome, TestTask) {
    let home = TestHome::new();
    let task = home.create("login");
    home.bring_to(&task, "working");
    (home, task)
}

#[test]
fn every_guarded_field_is_put_back() {
    let (home, task) = working();
    for (old, new) in [
        ("key: TASK-001", "key: TASK-777"),
        ("branch: login", "branch: other"),
        ("review_round: 0", "review_round: 9"),
        ("crash_count: 0", "crash_count: 9"),
        ("created_by: tester", "created_by: root"),
        ("project: shop", "project: books"),
        ("base: main", "base: other"),
        ("workspace: shop--1\n", "workspace: shop--9\n"),
        (
            "base: main\n",
            "base: main\npr_url: https://example.com/1\n",
        ),
        ("base: main\n", "base: main\nparent: TASK-001\n"),
        ("status: working\n", ""),
        ("status: working", "status: purple"),
        ("crash_count: 0", "crash_count: lots"),
        ("workflow: interactive", "workflow: anarchic"),
    ] {
        let before = home.show(&task);
        task.edit(old, new);
        home.look(&task).ok().says("put back");
        let after = home.show(&task);
        for (name, value) in before.as_object().unwrap() {
            if !matches!(name.as_str(), "revision" | "updated_at" | "hooks") {
                assert_eq!(after[name], *value, "{name} after {new:?}");
            }
        }
    }
    let restored = task
        .events()
        .iter()
        .filter(|kind| *kind == "fields.restored")
        .count();
    assert_eq!(restored, 14);
}

#[test]
fn descriptive_fields_are_taken_over() {
    let home = TestHome::new();
    let task = home.create("login");
    home.create("other");
    task.edit("summary: Do login", "summary: Add a better form");
    task.edit("priority: normal", "priority: high");
    task.edit(
        "category: feature",
        "category: bug\ntags: [web, ui]\nblocked_by: [TASK-002]\nweight: small",
    );
    let rows = home.list();
    let row = rows.iter().find(|row| row["key"] == "TASK-001").unwrap();
    assert_eq!(
        (&row["priority"], &row["summary"]),
        (&json!("high"), &json!("Add a better form"))
    );
    home.look(&task).says(
        "TASK-001: taken over from TASK.md: summary, priority, category, weight, tags, blocked_by",
    );
    let event = task.last("task.updated");
    assert_eq!(event["source"], "file");
    assert_eq!(
        event["fields"],
        json!({"summary": "Add a better form", "category": "bug", "priority": "high", "weight": "small",
               "tags": ["web", "ui"], "blocked_by": ["TASK-002"]}),
    );
    let shown = home.show(&task);
    assert_eq!(shown["tags"], json!(["web", "ui"]));
    assert_eq!(shown["revision"], 2);
}

#[test]
fn what_is_settled_at_the_start_is_put_back_afterwards() {
    let (home, task) = working();
    home.create("other");
    for (field, value) in [
        ("harness", "none"),
        ("review_harness", "sim"),
        ("model", "opus"),
        ("review_model", "opus"),
        ("effort", "high"),
        ("review_effort", "low"),
        ("target_branch", "release"),
        ("weight", "large"),
        ("initiative_id", "INIT-001"),
        ("blocked_by", "[TASK-002]"),
        ("tags", "[web]"),
        ("metadata", "{a: 1}"),
        ("testing_requirements", "{visual: true}"),
        // Not even a value that cannot be used stops the task.
        ("weight", "gigantic"),
    ] {
        let before = home.show(&task);
        task.set_field(field, value);
        home.look(&task)
            .ok()
            .says("put back")
            .says("settled when the task started");
        let after = home.show(&task);
        assert_eq!(after[field], before[field], "{field}");
        let found = &task.last("fields.restored")["found"];
        assert!(found[field] != Value::Null, "{field}: {found}");
    }
    // A person says so with a command.
    home.set(&task, Field::TargetBranch, "release").ok();
    assert_eq!(home.show(&task)["target_branch"], "release");
}

#[test]
fn an_honest_edit_beside_a_forged_one_is_still_taken_over() {
    let (home, task) = working();
    task.edit("status: working", "status: done");
    task.edit("priority: normal", "priority: low");
    home.look(&task).ok();
    let shown = home.show(&task);
    assert_eq!(
        (&shown["status"], &shown["priority"]),
        (&json!("working"), &json!("low"))
    );
}

#[test]
fn unknown_keys_comments_and_order_survive() {
    let (home, task) = working();
    task.edit(
        "status: working",
        "# mine\nmood: 'good'   # really\nstatus: working",
    );
    home.set(&task, Field::Priority, "high").ok();
    home.move_to(&task, "stuck").ok();
    assert!(
        task.text()
            .contains("\n# mine\nmood: 'good'   # really\nstatus: stuck\n"),
        "{}",
        task.text()
    );
}

#[test]
fn a_journal_that_lost_events_is_recovered_from_the_file() {
    let (home, task) = working();
    home.set(&task, Field::Priority, "high").ok();
    let lines: Vec<String> = fs::read_to_string(task.journal())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    fs::write(task.journal(), format!("{}\n", lines[..2].join("\n"))).unwrap();
    assert_eq!(home.list()[0]["status"], "working");
    home.look(&task).ok().says("had lost events");
    let shown = home.show(&task);
    assert_eq!(
        (&shown["status"], &shown["priority"]),
        (&json!("working"), &json!("high"))
    );
    let event = task.last("journal.recovered");
    assert_eq!(event["fields"]["status"], "working");
    assert_eq!(event["revision"], shown["revision"]);
    // Said once; from here on the journal stands on its own, and the file is not simply believed.
    home.look(&task).ok().silent_about("had lost events");
    task.edit("status: working", "status: done");
    home.look(&task).ok().says("put back");
    assert_eq!(home.show(&task)["status"], "working");
    let recovered = |kind: &&String| *kind == "journal.recovered";
    assert_eq!(task.events().iter().filter(recovered).count(), 1);
    fs::remove_file(task.file()).unwrap();
    assert_eq!(home.repair(), [""; 0]);
    assert_eq!(home.show(&task)["status"], "working");
}

#[test]
fn a_journal_with_a_hole_is_recovered_too() {
    let (home, task) = working();
    let text = fs::read_to_string(task.journal()).unwrap();
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("\"to\":\"planning\""))
        .collect();
    fs::write(task.journal(), format!("{}\n", without.join("\n"))).unwrap();
    home.look(&task).ok().says("had lost events");
    assert_eq!(home.show(&task)["status"], "working");
    let _ = task.last("journal.recovered");
}

#[test]
fn a_revision_forged_upwards_fools_nobody() {
    let (home, task) = working();
    let revision = home.show(&task)["revision"].as_u64().unwrap();
    task.edit(&format!("revision: {revision}"), "revision: 99");
    task.edit("status: working", "status: done");
    assert_eq!(home.list()[0]["status"], "working");
    home.look(&task).ok().says("put back");
    let shown = home.show(&task);
    assert_eq!(shown["status"], "working");
    assert_eq!(shown["revision"], revision + 1);
    assert!(!task.events().contains(&"journal.recovered".to_owned()));
    // Downwards neither.
    task.edit(&format!("revision: {}", revision + 1), "revision: 1");
    task.edit("status: working", "status: done");
    home.look(&task).ok();
    assert_eq!(home.show(&task)["status"], "working");
}

#[test]
fn strange_but_legal_yaml_is_read_and_kept() {
    let home = TestHome::new();
    let task = home.create("login");
    task.edit(
        "summary: Do login",
        "summary: >-\n  Folded over\n  two lines",
    );
    task.edit("category: feature", "category: \"bug\"\ntags:\n- a\n-   b");
    let shown = home.show(&task);
    assert_eq!(shown["summary"], "Folded over two lines");
    assert_eq!(shown["tags"], json!(["a", "b"]));
    home.bring_to(&task, "working");
    assert!(
        task.text()
            .contains("summary: >-\n  Folded over\n  two lines\n"),
        "{}",
        task.text()
    );
    assert_eq!(home.show(&task)["damaged"], Value::Null);
}

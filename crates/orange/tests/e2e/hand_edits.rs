//! TASK.md and history.jsonl changed by hand: what is taken over, what is put back, what is recovered.

use crate::env::{TestEnvironment, TestTask};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

fn working() -> (TestEnvironment, TestTask) {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    (env, task)
}

#[test]
fn a_status_written_by_hand_is_put_back() {
    let (env, task) = working();
    task.edit("status: working", "status: done");
    // The list is not fooled, and does not write.
    let rows = env.list([""; 0]);
    assert_eq!(rows[0]["status"], "working");
    assert!(task.text().contains("status: done"));
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @r###"
    TASK-001 is working: waits for the handoff: no "## Handoff" section in TASK.md; then: orange task complete TASK-001
    ------- stderr -------
    note: TASK-001: TASK.md was edited by hand; put back: status done → working
    "###);
    assert!(
        task.text().contains("\nstatus: working\n"),
        "{}",
        task.text()
    );
    let event = task.last("fields.restored");
    assert_eq!(event["fields"], json!({"status": "working"}));
    assert_eq!(event["found"], json!({"status": "done"}));
    // Said once, not again.
    env.orange(["task", "show", "TASK-001"])
        .ok()
        .silent_about("note:");
}

#[test]
fn every_guarded_field_is_put_back() {
    let (env, task) = working();
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
        let before = env.show(&task);
        task.edit(old, new);
        env.orange(["task", "show", &task.id]).ok().says("put back");
        let after = env.show(&task);
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
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.create(["other", "Another task"]);
    task.edit("summary: Add a login form", "summary: Add a better form");
    task.edit("priority: normal", "priority: high");
    task.edit(
        "category: feature",
        "category: bug\ntags: [web, ui]\nblocked_by: [TASK-002]\nweight: small",
    );
    assert_eq!(env.list(["--search", "better"])[0]["priority"], "high");
    env.orange(["task", "why", "TASK-001"]).says(
        "note: TASK-001: taken over from TASK.md: summary, priority, category, weight, tags, blocked_by",
    );
    let event = task.last("task.updated");
    assert_eq!(event["source"], "file");
    assert_eq!(
        event["fields"],
        json!({"summary": "Add a better form", "category": "bug", "priority": "high", "weight": "small",
               "tags": ["web", "ui"], "blocked_by": ["TASK-002"]}),
    );
    let shown = env.show(&task);
    assert_eq!(shown["tags"], json!(["web", "ui"]));
    assert_eq!(shown["revision"], 2);
}

#[test]
fn what_is_settled_at_the_start_is_put_back_afterwards() {
    let (env, task) = working();
    env.create(["other", "Another task"]);
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
        let before = env.show(&task);
        task.set_field(field, value);
        env.orange(["task", "show", &task.id])
            .ok()
            .says("put back")
            .says("settled when the task started");
        let after = env.show(&task);
        assert_eq!(after[field], before[field], "{field}");
        let found = &task.last("fields.restored")["found"];
        assert!(found[field] != Value::Null, "{field}: {found}");
    }
    // A person says so with a command.
    env.update(&task, &["--target-branch", "release"]).ok();
    assert_eq!(env.show(&task)["target_branch"], "release");
}

#[test]
fn an_honest_edit_beside_a_forged_one_is_still_taken_over() {
    let (env, task) = working();
    task.edit("status: working", "status: done");
    task.edit("priority: normal", "priority: low");
    env.orange(["task", "show", "TASK-001"]).ok();
    let shown = env.show(&task);
    assert_eq!(
        (&shown["status"], &shown["priority"]),
        (&json!("working"), &json!("low"))
    );
}

#[test]
fn unknown_keys_comments_and_order_survive() {
    let (env, task) = working();
    task.edit(
        "status: working",
        "# mine\nmood: 'good'   # really\nstatus: working",
    );
    env.update(&task, &["--priority", "high"]).ok();
    env.orange(["task", "stuck", &task.id]).ok();
    assert!(
        task.text()
            .contains("\n# mine\nmood: 'good'   # really\nstatus: stuck\n"),
        "{}",
        task.text()
    );
}

#[test]
fn a_cycle_made_by_hand_is_not_taken_over() {
    let env = TestEnvironment::new();
    let first = env.create(["first", "The first"]);
    env.create(["second", "The second", "--blocked-by", "TASK-001"]);
    first.edit(
        "category: feature",
        "category: feature\nblocked_by: [TASK-002]\ntags: [kept]",
    );
    assert_snapshot!(env.orange(["task", "show", "TASK-001", "--json"]).ok().stderr, @r#"
    note: TASK-001: TASK.md was edited by hand; put back: blocked_by ["TASK-002"] → [] (a cycle: TASK-001 → TASK-002 → TASK-001)
    note: TASK-001: taken over from TASK.md: tags
    "#);
    let shown = env.show(&first);
    assert_eq!(shown["blocked_by"], json!([]));
    assert_eq!(shown["tags"], json!(["kept"]));
    assert!(
        first.last("fields.restored")["reason"]
            .as_str()
            .unwrap()
            .contains("cycle")
    );
    env.orange(["doctor"]).ok();
}

#[test]
fn a_blocker_that_does_not_exist_is_taken_over_and_named() {
    let env = TestEnvironment::new();
    let task = env.create(["first", "The first"]);
    task.edit(
        "category: feature",
        "category: feature\nblocked_by: [TASK-404, nonsense]",
    );
    env.orange(["task", "show", "TASK-001"]).ok();
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @"TASK-001 is pending: it waits for TASK-404, which does not exist (`orange task restore` lists deleted tasks), so it would wait for ever; next: orange task update TASK-001 --remove-blocker TASK-404");
    assert_snapshot!(env.orange(["doctor"]), @"
    tasks      ✗ shop:TASK-001: waits for TASK-404, which does not exist
                   by hand: `orange task update TASK-001 --remove-blocker TASK-404`
               ✗ shop:TASK-001: waits for nonsense, which does not exist
                   by hand: `orange task update TASK-001 --remove-blocker nonsense`
    checked 1 task and 1 project
    ------- stderr -------
    error: 2 problems found
    hint: they are yours to mend
    [exit status: 1]
    ");
}

#[test]
fn a_journal_that_lost_events_is_recovered_from_the_file() {
    let (env, task) = working();
    env.update(&task, &["--priority", "high"]).ok();
    let lines: Vec<String> = fs::read_to_string(task.journal())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    fs::write(task.journal(), format!("{}\n", lines[..2].join("\n"))).unwrap();
    assert_eq!(env.list([""; 0])[0]["status"], "working");
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @r###"
    TASK-001 is working: waits for the handoff: no "## Handoff" section in TASK.md; then: orange task complete TASK-001
    ------- stderr -------
    note: TASK-001: history.jsonl had lost events; TASK.md is taken as it is
    "###);
    let shown = env.show(&task);
    assert_eq!(
        (&shown["status"], &shown["priority"]),
        (&json!("working"), &json!("high"))
    );
    let event = task.last("journal.recovered");
    assert_eq!(event["fields"]["status"], "working");
    assert_eq!(event["revision"], shown["revision"]);
    // Said once; from here on the journal stands on its own, and the file is not simply believed.
    env.orange(["task", "why", "TASK-001"])
        .ok()
        .silent_about("note:");
    task.edit("status: working", "status: done");
    env.orange(["task", "why", "TASK-001"])
        .ok()
        .says("put back");
    assert_eq!(env.show(&task)["status"], "working");
    let recovered = |kind: &&String| *kind == "journal.recovered";
    assert_eq!(task.events().iter().filter(recovered).count(), 1);
    fs::remove_file(task.file()).unwrap();
    env.orange(["doctor", "--repair"]).ok();
    assert_eq!(env.show(&task)["status"], "working");
}

#[test]
fn a_journal_with_a_hole_is_recovered_too() {
    let (env, task) = working();
    let text = fs::read_to_string(task.journal()).unwrap();
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("\"to\":\"planning\""))
        .collect();
    fs::write(task.journal(), format!("{}\n", without.join("\n"))).unwrap();
    env.orange(["task", "why", "TASK-001"])
        .ok()
        .says("had lost events");
    assert_eq!(env.show(&task)["status"], "working");
    let _ = task.last("journal.recovered");
}

#[test]
fn what_a_journal_lacks_is_named() {
    let (env, task) = working();
    let text = fs::read_to_string(task.journal()).unwrap();
    let broken: Vec<&str> = text
        .lines()
        .map(|line| match line.contains("\"to\":\"planning\"") {
            true => "not json",
            false => line,
        })
        .collect();
    fs::write(task.journal(), format!("{}\n", broken.join("\n"))).unwrap();
    // A repair comes before the next step of the work.
    env.orange(["task", "why", "TASK-001"])
        .ok()
        .says("1 unreadable line")
        .says("next: orange doctor --repair");
    let text = fs::read_to_string(task.journal()).unwrap();
    let line = text.lines().find(|line| line.contains("journal.recovered"));
    let event: Value = serde_json::from_str(line.unwrap()).unwrap();
    assert_snapshot!(event["reason"], @r#""history.jsonl has no revision 2, TASK.md was at 4""#);
    // Another thing that needs attention does not hide it.
    let raised =
        r#"{"type":"attention.raised","timestamp":"2026-01-01T00:00:00Z","reason":"look here"}"#;
    fs::write(task.journal(), format!("{text}{raised}\n")).unwrap();
    assert_eq!(env.show(&task)["attention"], "look here");
    env.orange(["doctor"]).fails_with(1).says("unreadable line");
    env.orange(["doctor", "--repair"])
        .ok()
        .says("set aside as history.unreadable-1");
    env.orange(["doctor"]).ok();
}

#[test]
fn a_journal_that_is_gone_is_told() {
    let (env, task) = working();
    fs::remove_file(task.journal()).unwrap();
    assert_snapshot!(env.orange(["doctor"]), @"
    tasks      ✗ shop:TASK-001 (shop/[ID]): history.jsonl was lost, and with it what happened before
                   --repair: takes TASK.md as it is, and lets history.jsonl go on from there
    checked 1 task and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: `orange doctor --repair` does what it can
    [exit status: 1]
    ");
    assert!(!task.journal().exists());
    let lost = "history.jsonl was lost, and with it what happened before";
    env.orange(["ls"]).ok().says(lost);
    assert_snapshot!(env.orange(["doctor", "--repair"]), @"
    tasks      + shop:TASK-001 (shop/[ID]): history.jsonl was lost, and with it what happened before → it goes on from TASK.md as it is
    checked 1 task and 1 project: 1 problem found and repaired
    ------- stderr -------
    note: TASK-001: history.jsonl was lost, and with it what happened before; TASK.md is taken as it is
    ");
    env.orange(["doctor"]).ok();
    let event = task.last("journal.recovered");
    assert_eq!(event["lost"], "all");
    assert_eq!(event["fields"]["status"], "working");
    assert!(!task.events().contains(&"task.adopted".to_owned()));
    // It needs attention until the task moves on.
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @r###"TASK-001 is working: waits for the handoff: no "## Handoff" section in TASK.md; needs attention: its history.jsonl was lost, and with it what happened before: its reviews and checks count no more; then: orange task complete TASK-001"###);
    env.orange(["task", "stuck", "TASK-001"]).ok();
    assert!(env.show(&task)["attention"].is_null());
    // Any command tells it too.
    fs::remove_file(task.journal()).unwrap();
    env.orange(["task", "show", "TASK-001"]).ok().says(lost);
    assert_eq!(env.show(&task)["status"], "stuck");
}

#[test]
fn a_revision_forged_upwards_fools_nobody() {
    let (env, task) = working();
    let revision = env.show(&task)["revision"].as_u64().unwrap();
    task.edit(&format!("revision: {revision}"), "revision: 99");
    task.edit("status: working", "status: done");
    assert_eq!(env.list([""; 0])[0]["status"], "working");
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @r###"
    TASK-001 is working: waits for the handoff: no "## Handoff" section in TASK.md; then: orange task complete TASK-001
    ------- stderr -------
    note: TASK-001: TASK.md was edited by hand; put back: revision 99 → 5, status done → working
    "###);
    let shown = env.show(&task);
    assert_eq!(shown["status"], "working");
    assert_eq!(shown["revision"], revision + 1);
    assert!(!task.events().contains(&"journal.recovered".to_owned()));
    // Downwards neither.
    task.edit(&format!("revision: {}", revision + 1), "revision: 1");
    task.edit("status: working", "status: done");
    env.orange(["task", "show", "TASK-001"]).ok();
    assert_eq!(env.show(&task)["status"], "working");
}

#[test]
fn a_torn_last_line_is_set_aside() {
    let (env, task) = working();
    let mut bytes = fs::read(task.journal()).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"status.chan");
    fs::write(task.journal(), &bytes).unwrap();
    assert_eq!(env.list([""; 0])[0]["status"], "working");
    assert_snapshot!(env.orange(["task", "stuck", "TASK-001"]), @"
    TASK-001: working → stuck
    ------- stderr -------
    note: shop/[ID]: the last line of history.jsonl was cut short; it is set aside
    ");
    let aside = task.files_like("history.torn-");
    assert_eq!(
        fs::read_to_string(&aside[0]).unwrap(),
        "{\"type\":\"status.chan"
    );
    assert_eq!(task.last("status.changed")["to"], "stuck");
    env.orange(["doctor"]).ok();
}

#[test]
fn a_line_of_the_journal_that_is_no_event_is_stepped_over_and_shown() {
    let (env, task) = working();
    let text = fs::read_to_string(task.journal()).unwrap();
    fs::write(task.journal(), format!("{text}not json\n")).unwrap();
    let shown = env.show(&task);
    assert_eq!(shown["status"], "working");
    assert!(
        shown["attention"]
            .as_str()
            .unwrap()
            .contains("1 unreadable line"),
        "{shown}"
    );
    env.orange(["doctor"]).fails_with(1).says("unreadable line");
    env.orange(["task", "stuck", "TASK-001"]).ok();
    // It is set aside, and nobody hears of it again.
    env.orange(["doctor", "--repair"])
        .ok()
        .says("set aside as history.unreadable-1");
    let aside = task.folder.join("history.unreadable-1");
    assert_eq!(fs::read_to_string(aside).unwrap(), "not json\n");
    let text = fs::read_to_string(task.journal()).unwrap();
    assert!(!text.contains("not json"), "{text}");
    env.orange(["doctor"]).ok();
    assert!(env.show(&task)["attention"].is_null());
    env.move_to(&task, "working").ok();
    assert!(env.list([""; 0])[0]["attention"].is_null());
}

#[test]
fn a_task_file_that_is_gone_is_written_again() {
    let (env, task) = working();
    fs::remove_file(task.file()).unwrap();
    env.orange(["doctor"])
        .fails_with(1)
        .says("writes TASK.md again from history.jsonl")
        .silent_about("keeps the damaged file");
    env.orange(["doctor", "--repair"])
        .ok()
        .silent_about("damaged file");
    assert_eq!(env.show(&task)["status"], "working");
}

fn with_context() -> (TestEnvironment, TestTask) {
    let env = TestEnvironment::new();
    env.call(["new", "With context", "--context", "-"])
        .input("Only Chrome\n")
        .run()
        .ok();
    let task = env.task_of(&env.list([""; 0])[0]);
    (env, task)
}

#[test]
fn a_changed_context_is_kept_and_flagged() {
    let (env, task) = with_context();
    env.bring_to(&task, "planning");
    task.edit("Only Chrome", "Every browser");
    assert_snapshot!(env.call(["task", "update", "--summary", "With another context"]).agent(&task, "worker").run(), @"
    TASK-001: summary With another context
    ------- stderr -------
    note: TASK-001: its Context was changed
    ");
    let shown = env.show(&task);
    assert_eq!(shown["context_changed"], json!(true));
    assert!(shown["body"].as_str().unwrap().contains("Every browser"));
    assert_eq!(task.last("context.changed")["by"], "agent");
    env.orange(["task", "show", &task.id])
        .ok()
        .says("changed since the task was created");
}

#[test]
fn a_context_that_went_with_its_file_is_lost() {
    let (env, task) = with_context();
    fs::remove_file(task.file()).unwrap();
    assert_snapshot!(env.orange(["doctor", "--repair"]), @"
    tasks      + shop:TASK-001 (shop/[ID]): TASK.md is missing → written again; its body is lost; TASK-001 is pending
    checked 1 task and 1 project: 1 problem found and repaired
    ------- stderr -------
    note: TASK-001: its Context is lost, it went with TASK.md
    ");
    let event = task.last("context.changed");
    assert_eq!(
        (&event["gone"], &event["by"]),
        (&json!(true), &json!("engine"))
    );
    env.orange(["task", "show", &task.id])
        .ok()
        .says("gone from TASK.md since the task was created");
}

#[test]
fn strange_but_legal_yaml_is_read_and_kept() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    task.edit(
        "summary: Add a login form",
        "summary: >-\n  Folded over\n  two lines",
    );
    task.edit("category: feature", "category: \"bug\"\ntags:\n- a\n-   b");
    let shown = env.show(&task);
    assert_eq!(shown["summary"], "Folded over two lines");
    assert_eq!(shown["tags"], json!(["a", "b"]));
    env.bring_to(&task, "working");
    assert!(
        task.text()
            .contains("summary: >-\n  Folded over\n  two lines\n"),
        "{}",
        task.text()
    );
    assert_eq!(env.show(&task)["damaged"], Value::Null);
}

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
    TASK-001 is working
    waits for the handoff: no "## Handoff" section in TASK.md
    then: orange complete TASK-001
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
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @"
    TASK-001 is pending
    it waits for TASK-404, which does not exist (`orange restore` lists deleted tasks), so it would wait for ever
    next: orange update TASK-001 --remove-blocker TASK-404
    ");
    assert_snapshot!(env.orange(["doctor"]), @"
    tasks      ✗ shop:TASK-001: waits for TASK-404, which does not exist
                   by hand: `orange update TASK-001 --remove-blocker TASK-404`
               ✗ shop:TASK-001: waits for nonsense, which does not exist
                   by hand: `orange update TASK-001 --remove-blocker nonsense`
    checked 1 task and 1 project
    ------- stderr -------
    error: 2 problems found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
}

#[test]
fn what_a_journal_lacks_is_named() {
    let (env, task) = working();
    let text = fs::read_to_string(task.journal()).unwrap();
    let broken: Vec<&str> = text
        .lines()
        .map(|line| {
            if line.contains("\"to\":\"planning\"") {
                "not json"
            } else {
                line
            }
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
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @r###"
    TASK-001 is working
    waits for the handoff: no "## Handoff" section in TASK.md; needs attention: its history.jsonl was lost, and with it what happened before: its reviews and checks count no more
    then: orange complete TASK-001
    "###);
    env.orange(["task", "stuck", "TASK-001"]).ok();
    assert!(env.show(&task)["attention"].is_null());
    // Any command tells it too.
    fs::remove_file(task.journal()).unwrap();
    env.orange(["task", "show", "TASK-001"]).ok().says(lost);
    assert_eq!(env.show(&task)["status"], "stuck");
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

//! `orange doctor` beside damaged tasks: leftovers, old trash, repositories that moved.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use serde_json::json;
use std::fs;
use std::time::{Duration, SystemTime};

#[test]
fn nothing_to_do() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["doctor"]), @"nothing to check yet but this machine: all is well");
    // Not even a home is made.
    assert!(!env.home().join("orange.db").exists() && !env.tasks().exists());
    let env = TestEnvironment::new();
    env.create(["A task"]);
    assert_snapshot!(env.orange(["doctor"]), @"checked 1 task and 1 project: all is well");
    assert_snapshot!(env.orange(["doctor", "--repair"]), @"checked 1 task and 1 project: all is well");
    let found = env.orange(["doctor", "--json"]).ok().json();
    let found = &found["doctor"];
    assert_eq!(found["tasks"], 1);
    assert_eq!(found["findings"], json!([]));
    let groups = found["groups"].as_array().unwrap();
    let names: Vec<&str> = groups
        .iter()
        .map(|group| group["group"].as_str().unwrap())
        .collect();
    let expected = "machine home databases tasks pool sessions processes leftovers disk";
    assert_eq!(names.join(" "), expected);
    assert_eq!(found["programs"][0]["name"], "git");
    assert_eq!(found["programs"][0]["oldest"], "2.39.0");
    assert!(found["file_system"]["free_bytes"].as_u64().unwrap() > 0);
    assert_eq!(found["disk"]["total_bytes"], json!(null));
}

#[test]
fn what_is_fine_has_a_line_too() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    env.bring_to(&task, "planning");
    let said = env.orange(["doctor", "--disk"]).ok();
    said.says("machine    ✓ git 2.")
        .says("tmux 3.")
        .says("home       ✓ ")
        .says(" free\n")
        .says("databases  ✓ orange.db is sound (schema ")
        .says("✓ index.db is sound")
        .says("tasks      ✓ 1 task of 1 project")
        .says("pool       ✓ 1 slot, 1 in use")
        .says("sessions   ✓ no sessions")
        .says("✓ nothing runs that belongs to no task")
        .says("leftovers  ✓ nothing was left behind")
        .says("disk       ✓ ")
        .says(" in all, shop--1 ");
}

#[test]
fn a_finished_command_leaves_nothing_in_flight() {
    let env = TestEnvironment::new();
    let in_flight = || crate::env::names_in(&env.home().join("in-flight"));
    let nothing = Vec::<String>::new();
    let task = env.create(["login", "Add a login form"]);
    assert_eq!(in_flight(), nothing);
    env.bring_to(&task, "agent-review");
    assert_eq!(in_flight(), nothing);
    env.orange(["task", "cancel", &task.id]).ok();
    env.orange(["task", "delete", &task.id]).ok();
    assert_eq!(in_flight(), nothing);
    env.orange(["task", "restore", &task.id]).ok();
    assert_eq!(in_flight(), nothing);
    env.git(&env.shop(), &["branch", "theirs"]);
    env.create(["theirs", "Look at this", "--status", "agent-review"]);
    assert_eq!(in_flight(), nothing);
}

#[test]
fn findings_in_json_and_an_exit_code() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    fs::write(task.file(), "prose").unwrap();
    let found = env.orange(["doctor", "--json"]).fails_with(1).json();
    let findings = found["doctor"]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["repaired"], json!(false));
    assert!(
        findings[0]["subject"]
            .as_str()
            .unwrap()
            .starts_with("shop:TASK-001")
    );
    let found = env.orange(["doctor", "--json", "--repair"]).ok().json();
    assert_eq!(found["doctor"]["findings"][0]["repaired"], json!(true));
    let found = env.orange(["doctor", "--json"]).ok().json();
    assert_eq!(found["doctor"]["findings"], json!([]));
}

#[test]
fn a_task_whose_making_was_interrupted() {
    let env = TestEnvironment::new();
    env.create(["A task"]);
    let half = env.tasks().join("shop/.new-half");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("history.jsonl"), "").unwrap();
    assert_eq!(env.keys(["--all"]).len(), 1);
    assert_snapshot!(env.orange(["doctor"]), @"
    leftovers  ✗ [HOME]/tasks/shop/.new-half: a task whose making was interrupted
                   --repair: removes it; nothing was reported as created
    checked 1 task and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: `orange doctor --repair` does what it can
    [exit status: 1]
    ");
    assert!(half.exists());
    env.orange(["doctor", "--repair"]).ok();
    assert!(!half.exists());
    env.orange(["doctor"]).ok();
}

#[test]
fn trash_past_its_time() {
    let env = TestEnvironment::new();
    let old = env.create(["Deleted long ago"]);
    let young = env.create(["Deleted today"]);
    env.orange(["task", "delete", &old.id]).ok();
    env.orange(["task", "delete", &young.id]).ok();
    let journal = env
        .home()
        .join("trash/shop")
        .join(&old.id)
        .join("history.jsonl");
    // Both the event and the file are from then: one of them alone may be a wrong clock or a copy.
    let aged: Vec<String> = fs::read_to_string(&journal)
        .unwrap()
        .lines()
        .map(|line| {
            if line.contains("task.deleted") {
                r#"{"type":"task.deleted","timestamp":"2020-01-01T00:00:00Z"}"#.to_owned()
            } else {
                line.to_owned()
            }
        })
        .collect();
    fs::write(&journal, aged.join("\n") + "\n").unwrap();
    let then = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    fs::File::options()
        .write(true)
        .open(&journal)
        .unwrap()
        .set_modified(then)
        .unwrap();
    // That is no damage: it is said, and `orange gc` removes it.
    env.orange(["doctor", "--repair"])
        .ok()
        .says("past their time: 1 deleted task; `orange gc` removes them");
    assert!(journal.exists());
    // So does the next deletion.
    let another = env.create(["Another"]);
    env.orange(["task", "delete", &another.id]).ok();
    assert!(!journal.exists());
    env.orange(["doctor"]).ok().silent_about("past their time");
    env.orange(["task", "restore", "TASK-002"]).ok();
    // Its key is not used again.
    assert_eq!(env.create(["The next one"]).key, "TASK-004");
}

#[test]
fn a_repository_that_moved() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Survives the move"]);
    let moved = env.root().join("moved");
    fs::rename(env.shop(), &moved).unwrap();
    assert_snapshot!(env.call(["doctor"]).at(env.root()).run(), @"
    home       ✗ project shop: its repository [TMP]/shop is not there
                   by hand: `orange project update shop --path PATH`
    checked 1 task and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    env.call(["task", "show", &task.id])
        .at(env.root())
        .run()
        .ok();
    env.call([
        "project",
        "update",
        "shop",
        "--path",
        moved.to_str().unwrap(),
    ])
    .at(env.root())
    .run()
    .ok();
    env.call(["doctor"]).at(&moved).run().ok();
    let keys = env.call(["ls", "--json"]).at(&moved).run().ok().json();
    assert_eq!(keys["tasks"][0]["key"], "TASK-001");
}

#[test]
fn several_damaged_tasks_are_repaired_in_one_go() {
    let env = TestEnvironment::new();
    let tasks: Vec<_> = (0..4)
        .map(|number| env.create([format!("Task number {number}")]))
        .collect();
    fs::write(tasks[0].file(), "---\nbroken: [\n---\nFirst body\n").unwrap();
    fs::write(tasks[1].file(), [0xff, 0xfe, 0x00]).unwrap();
    fs::remove_file(tasks[2].file()).unwrap();
    env.orange(["doctor"])
        .fails_with(1)
        .says("3 problems found")
        .says("✓ the other task is sound");
    env.orange(["doctor", "--repair"])
        .ok()
        .says("3 problems found and repaired");
    env.orange(["doctor"]).ok().says("all is well");
    for (number, task) in tasks.iter().enumerate() {
        assert_eq!(env.show(task)["summary"], format!("Task number {number}"));
    }
    assert!(tasks[0].text().ends_with("First body\n"));
}

#[test]
fn two_folders_that_claim_one_task_are_named() {
    let env = TestEnvironment::new();
    let task = env.create(["Is there twice"]);
    let copy = task.folder.with_file_name("zzzz-copy");
    fs::create_dir(&copy).unwrap();
    for name in ["TASK.md", "history.jsonl"] {
        fs::copy(task.folder.join(name), copy.join(name)).unwrap();
    }
    assert_eq!(env.list([""; 0]).len(), 2);
    assert_snapshot!(env.orange(["doctor"]), @"
    tasks      ✗ id [ID]: is claimed by shop/[ID] and shop/zzzz-copy
                   by hand: move one of the folders out of tasks/
               ✗ key shop:TASK-001: is claimed by shop/[ID] and shop/zzzz-copy
                   by hand: move one of the folders out of tasks/
    checked 2 tasks and 1 project
    ------- stderr -------
    error: 2 problems found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    env.orange(["task", "cancel", &task.id, "--json"])
        .refuses(4, "ambiguous");
}

//! index.db may be in any state without anybody noticing; orange.db may not, and says so.

use crate::env::{TestEnvironment, TestTask, names_in};
use insta::assert_snapshot;
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn three() -> (TestEnvironment, Vec<TestTask>) {
    let env = TestEnvironment::new();
    let tasks = ["The first", "The second", "The third"].map(|summary| env.create([summary]));
    (env, tasks.into())
}

/// The list is right and nothing is said about the index; then it is a good cache again.
#[track_caller]
fn unnoticed(damage: impl FnOnce(&Path)) {
    let (env, tasks) = three();
    damage(&env.home().join("index.db"));
    let run = env.orange(["ls", "--json"]).ok();
    assert_eq!(run.stderr, "");
    let keys: Vec<String> = run.json()["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(keys, ["TASK-001", "TASK-002", "TASK-003"]);
    env.orange(["task", "show", &tasks[1].id])
        .ok()
        .says("The second");
    env.move_to(&tasks[0], "planning").ok();
    assert_eq!(env.keys(["--status", "planning"]), ["TASK-001"]);
    assert_eq!(env.create(["The fourth"]).key, "TASK-004");
    let count: i64 = Connection::open(env.home().join("index.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 4);
    env.orange(["doctor"]).ok();
}

#[test]
fn an_index_that_is_gone() {
    unnoticed(|path| fs::remove_file(path).unwrap());
}

#[test]
fn a_pipe_where_the_index_belongs() {
    unnoticed(|path| {
        fs::remove_file(path).unwrap();
        let path = path.to_str().unwrap();
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    });
}

#[test]
fn nobody_waits_for_a_pipe_or_minds_a_folder() {
    let (env, _) = three();
    let path = env.home().join("index.db");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(env.keys([""; 0]).len(), 3);
    assert_eq!(
        env.orange(["status", "--json"]).ok().json()["status"]["open"],
        3
    );
    env.orange(["doctor"])
        .fails_with(1)
        .says("index.db: is a folder")
        .says("by hand: move");
    env.orange(["doctor", "--repair"]).fails_with(1);
    fs::remove_dir(&path).unwrap();
    let made = env.foreign("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    // A completion opens it as it is, and repairs nothing.
    let complete = env.call(["--", "orange", "task", "show", ""]);
    complete.var("ORANGE_COMPLETE", "fish").run().ok();
    assert_eq!(
        env.orange(["status", "--json"]).ok().json()["status"]["open"],
        3
    );
}

#[test]
fn an_index_cut_short() {
    unnoticed(|path| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(5000).unwrap();
    });
}

#[test]
fn an_empty_index() {
    unnoticed(|path| fs::write(path, "").unwrap());
}

#[test]
fn an_index_full_of_garbage() {
    unnoticed(|path| fs::write(path, "this is no database at all".repeat(1000)).unwrap());
}

#[test]
fn garbage_in_the_middle_of_an_index() {
    unnoticed(|path| {
        let mut bytes = fs::read(path).unwrap();
        let end = bytes.len();
        bytes[4096..end].fill(0x5a);
        fs::write(path, bytes).unwrap();
    });
}

#[test]
fn an_index_of_another_version() {
    unnoticed(|path| {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "DROP TABLE tasks; CREATE TABLE tasks (id TEXT); PRAGMA user_version = 42",
            )
            .unwrap();
    });
}

#[test]
fn an_index_of_an_older_program() {
    unnoticed(|path| {
        fs::remove_file(path).unwrap();
        Connection::open(path)
            .unwrap()
            .execute_batch("CREATE TABLE tasks (id TEXT PRIMARY KEY, project TEXT NOT NULL); INSERT INTO tasks VALUES ('x', 'shop')")
            .unwrap();
    });
}

#[test]
fn an_index_that_knows_the_wrong_things_about_what_changed() {
    let (env, tasks) = three();
    tasks[1].edit("summary: The second", "summary: Edited by hand");
    env.orange(["ls"]).ok().says("Edited by hand");
    fs::rename(&tasks[2].folder, env.root().join("moved away")).unwrap();
    assert_eq!(env.keys([""; 0]), ["TASK-001", "TASK-002"]);
    fs::rename(env.root().join("moved away"), &tasks[2].folder).unwrap();
    assert_eq!(env.keys([""; 0]).len(), 3);
}

#[test]
fn a_locked_index() {
    let (env, tasks) = three();
    let lock = Connection::open(env.home().join("index.db")).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .unwrap();
    let run = env.orange(["ls", "--json"]).ok();
    assert_eq!(run.json()["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(run.stderr, "");
    drop(lock);
    env.move_to(&tasks[0], "planning").ok();
    assert_eq!(env.keys(["--status", "planning"]), ["TASK-001"]);
}

#[test]
fn garbage_instead_of_orange_db() {
    let (env, tasks) = three();
    let path = env.home().join("orange.db");
    for name in ["orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    fs::write(&path, "no database".repeat(500)).unwrap();
    assert_snapshot!(env.orange(["new", "Needs a key"]), @"
    ------- stderr -------
    error: [HOME]/orange.db is damaged: file is not a database
    hint: run `orange doctor --repair`: it sets the file aside and restores the last backup
    [exit status: 1]
    ");
    env.orange(["new", "Needs a key", "--json"])
        .refuses(1, "damaged");
    // Looking works on; what cannot be sealed is not journalled.
    assert_eq!(env.keys([""; 0]).len(), 3);
    env.move_to(&tasks[0], "planning")
        .fails_with(1)
        .says("orange.db is damaged");
    assert_eq!(env.show(&tasks[0])["status"], "pending");
    assert_snapshot!(env.orange(["doctor"]), @"
    databases  ✗ orange.db: is damaged: file is not a database
                   --repair: sets the file aside, keeps every table of it that is whole, and has the others from the last backup; task keys are counted anew from the folders
    checked 3 tasks and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: `orange doctor --repair` does what it can
    [exit status: 1]
    ");
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .starts_with("no database")
    );
    env.orange(["doctor", "--repair"])
        .ok()
        .says("+ orange.db: is damaged: file is not a database → set aside as orange.db.damaged-")
        .says("; restored from the last backup, made ")
        .says("checked 3 tasks and 1 project: 1 problem found and repaired");
    let aside: Vec<String> = names_in(&env.home())
        .into_iter()
        .filter(|name| name.starts_with("orange.db.damaged-"))
        .collect();
    assert!(
        fs::read_to_string(env.home().join(&aside[0]))
            .unwrap()
            .starts_with("no database")
    );
    env.orange(["doctor"]).ok();
    assert_eq!(env.create(["The next one"]).key, "TASK-004");
}

#[test]
fn keys_are_not_used_twice_after_a_repair_from_an_old_backup() {
    let (env, tasks) = three();
    // A backup that knows of three keys, as a day-old one would.
    let backup = env.home().join("orange.db.backup");
    let yesterday = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    fs::File::options()
        .write(true)
        .open(&backup)
        .unwrap()
        .set_modified(yesterday)
        .unwrap();
    env.create(["The fourth"]);
    // Since then two more, of which the last lies in the trash.
    env.create(["The fifth"]);
    let last = env.create(["The sixth"]);
    env.orange(["task", "delete", &last.id]).ok();
    env.orange(["task", "delete", &tasks[0].id]).ok();
    for name in ["orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    fs::write(env.home().join("orange.db"), "garbage".repeat(1000)).unwrap();
    env.orange(["doctor", "--repair"])
        .ok()
        .says("the last backup");
    assert_eq!(env.create(["The seventh"]).key, "TASK-007");
    env.orange(["task", "restore", "TASK-006"]).ok();
    env.orange(["doctor"]).ok();
}

#[test]
fn a_deleted_orange_db_is_counted_anew_from_the_folders() {
    let (env, tasks) = three();
    env.orange(["task", "delete", &tasks[2].id]).ok();
    for name in names_in(&env.home()) {
        if name.starts_with("orange.db") {
            fs::remove_file(env.home().join(name)).unwrap();
        }
    }
    assert_eq!(env.create(["The next one"]).key, "TASK-004");
}

#[test]
fn an_orange_db_of_a_newer_version_is_left_alone() {
    let (env, _) = three();
    let path = env.home().join("orange.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 999; CREATE TABLE future (x)")
        .unwrap();
    assert_snapshot!(env.orange(["new", "Too old"]), @"
    ------- stderr -------
    error: [HOME]/orange.db was written by a newer version of orange (schema 999, this one knows 6)
    hint: upgrade orange; nothing was changed
    [exit status: 1]
    ");
    env.orange(["new", "Too old", "--json"])
        .refuses(1, "newer_version");
    assert_eq!(env.keys([""; 0]).len(), 3);
    assert_snapshot!(env.orange(["doctor", "--repair"]), @"
    databases  ✗ orange.db: was written by a newer version of orange (schema 999, this one knows 6)
                   by hand: upgrade orange; nothing was changed
    checked 3 tasks and 1 project
    ------- stderr -------
    error: 1 problem left
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    let version: u32 = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 999);
    assert!(
        !names_in(&env.home())
            .iter()
            .any(|name| name.contains("damaged"))
    );
}

#[test]
fn an_orange_db_of_an_older_version_is_copied_and_brought_up_to_date() {
    let (env, _) = three();
    let path = env.home().join("orange.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("DROP TABLE consents; DROP TABLE notifications; DROP TABLE secrets; DROP TABLE journal_seals; DROP TABLE environments; DROP TABLE permissions; DROP TABLE plans; DROP TABLE executions; DROP TABLE phases; DROP TABLE iterations; DROP TABLE gate_decisions; DROP TABLE specs; DROP TABLE test_results; DROP TABLE claims; DROP TABLE unjournalled; PRAGMA user_version = 1")
        .unwrap();
    assert_eq!(env.create(["The fourth"]).key, "TASK-004");
    let number = |path: &Path, question: &str| -> u32 {
        let connection = Connection::open(path).unwrap();
        connection
            .query_row(question, [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(number(&path, "PRAGMA user_version"), 6);
    assert_eq!(number(&path, "SELECT count(*) FROM consents"), 0);
    let before = env.home().join("orange.db.before-v6");
    assert_eq!(number(&before, "PRAGMA user_version"), 1);
    assert_eq!(number(&before, "SELECT last_key FROM key_counters"), 3);
}

#[test]
fn a_locked_orange_db_is_waited_for_and_then_said() {
    let (env, _) = three();
    let lock = Connection::open(env.home().join("orange.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_snapshot!(env.orange(["new", "Has to wait"]), @"
    ------- stderr -------
    error: [HOME]/orange.db is locked by another process
    hint: try again when that process has finished
    [exit status: 1]
    ");
    drop(lock);
    assert_eq!(env.create(["Has not to wait"]).key, "TASK-004");
}

#[test]
fn looking_needs_no_orange_db() {
    let (env, tasks) = three();
    let lock = Connection::open(env.home().join("orange.db")).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .unwrap();
    assert_eq!(env.keys([""; 0]).len(), 3);
    env.orange(["task", "show", &tasks[0].id]).ok();
}

#[test]
fn an_orange_db_that_is_gone_is_restored_from_its_backup() {
    let (env, tasks) = three();
    env.orange(["doctor"]).ok();
    assert!(env.home().join("orange.db.backup").exists());
    for name in ["orange.db", "orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    env.orange(["doctor"])
        .fails_with(1)
        .says("orange.db: is missing");
    // One that is made anew would know nothing of what the backup knows.
    env.move_to(&tasks[0], "planning")
        .fails_with(1)
        .says("orange.db is missing, and its backup is there");
    assert!(!env.home().join("orange.db").exists());
    env.orange(["doctor", "--repair"])
        .ok()
        .says("restored from the last backup, made ");
    env.move_to(&tasks[0], "planning").ok();
    env.orange(["doctor"]).ok();
}

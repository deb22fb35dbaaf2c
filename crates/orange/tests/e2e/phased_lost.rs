//! Phased tasks of which orange.db has lost something: it was damaged or gone, and an older copy took its place.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WAITS, WORKS, phased};
use serde_json::Value;
use std::fs;

/// Has a backup made now, of what orange.db holds now.
fn back_up(env: &Agents) {
    let backup = env.home().join("orange.db.backup");
    let _ = fs::remove_file(&backup);
    env.orange(["doctor"]);
    assert!(backup.exists());
}

/// What a person finds whose disk failed.
fn damage(env: &Agents) {
    for name in ["orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    fs::write(env.home().join("orange.db"), "no database".repeat(900)).unwrap();
}

fn at_gate(env: &Agents) -> TestTask {
    let task = phased(env, "small", WORKS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    task
}

fn execution(env: &Agents, task: &TestTask) -> Value {
    env.show(task)["execution"].clone()
}

#[test]
fn a_gate_of_which_orange_db_knows_nothing_is_filled_in_from_the_journal() {
    let env = Agents::new();
    env.create(["Makes a key", "--no-spawn"]);
    back_up(&env);
    let task = at_gate(&env);
    let before = execution(&env, &task);
    damage(&env);
    // One cause is one problem.
    env.orange(["doctor"]).fails_with(1).says("1 problem found");
    env.orange(["approve", &task.key])
        .fails_with(1)
        .says("orange doctor --repair");
    env.orange(["doctor", "--repair"])
        .ok()
        .says("restored from the last backup, made ")
        .says("orange.db has lost 1 of its 1 turns, or its plan")
        .says("filled in from its journal");
    env.orange(["doctor"]).ok();
    let after = execution(&env, &task);
    assert_eq!(after["cost"], before["cost"]);
    assert_eq!(after["phases"]["implement"]["status"], "blocked");
    assert_eq!(env.status(&task), "blocked", "nobody decided");
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(env.count(&task, "gate.decided"), 1);
    assert_eq!(env.count(&task, "iteration.started"), 2);
}

#[test]
fn rows_that_are_older_than_the_journal_decide_nothing() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &["--gate", "implement=human"]);
    back_up(&env);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    for name in ["orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    let (backup, path) = (
        env.home().join("orange.db.backup"),
        env.home().join("orange.db"),
    );
    fs::copy(&backup, &path).unwrap();
    // By the rows no phase has begun; the task stays where it is.
    env.orange(["update", &task.key, "--priority", "high"]).ok();
    assert_eq!(env.status(&task), "completed");
    for words in [
        &["why"][..],
        &["rewind", "--to", "implement"],
        &["request-changes", "More"],
    ] {
        let mut arguments = words.to_vec();
        arguments.insert(1, &task.key);
        env.orange(arguments)
            .fails_with(1)
            .says("knows less of TASK-001 than its journal")
            .says("orange doctor --repair");
    }
    env.orange(["doctor"])
        .fails_with(1)
        .says("orange.db has lost 2 of its 2 turns, or its plan");
    env.orange(["doctor", "--repair"]).ok();
    let phases = execution(&env, &task)["phases"].clone();
    for phase in ["implement", "test"] {
        assert_eq!(phases[phase]["status"], "completed");
    }
    env.orange(["why", &task.key]).ok();
    env.orange(["merge", &task.key]).ok();
    env.until_status(&task, "finished");
}

#[test]
fn an_executor_whose_orange_db_is_gone_goes_on_after_the_repair() {
    let env = Agents::new();
    let task = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until("its turn has begun", || {
        env.count(&task, "iteration.started") == 1
    });
    back_up(&env);
    for name in ["orange.db", "orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    env.orange(["doctor", "--repair"])
        .ok()
        .says("restored from the last backup");
    env.allow("go");
    env.until_status(&task, "completed");
    // What the executor came to stands in the new file.
    let phases = execution(&env, &task)["phases"].clone();
    assert_eq!(phases["test"]["status"], "completed");
    env.orange(["doctor"]).ok();
}

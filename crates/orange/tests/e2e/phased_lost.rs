//! Phased tasks of which orange.db has lost something: it was damaged or gone, and an older copy took its place.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WAITS, phased};
use serde_json::Value;
use std::fs;
use std::time::{Duration, SystemTime};

const COSTS: &str = "\
executor:
  - use: {input: 1000, output: 100, cost: 0.25}
  - write: '{phase}.txt'
    text: done
  - answer: complete
    summary: done
";

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
    let task = phased(env, "small", COSTS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    task
}

fn execution(env: &Agents, task: &TestTask) -> Value {
    env.show(task)["execution"].clone()
}

#[test]
fn a_task_that_went_on_since_the_backup_waits_for_another_plan() {
    let env = Agents::new();
    env.create(["Makes a key", "--no-spawn"]);
    back_up(&env);
    let task = at_gate(&env);
    let before = execution(&env, &task)["cost"].clone();
    assert_eq!(before["total_cost_usd"], 0.25);
    damage(&env);
    // One cause is one problem.
    env.orange(["doctor"]).fails_with(1).says("1 problem found");
    env.orange(["approve", &task.key])
        .fails_with(1)
        .says("orange doctor --repair");
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("restored from the last backup, made ")
        .says("1 task has gone on since")
        .says("orange.db does not have the plan of TASK-002 any more")
        .says("orange plan reset TASK-002");
    // Nobody has decided, and nobody can before there is a plan.
    for words in [&["approve"][..], &["why"]] {
        env.orange([words, &[&task.key]].concat())
            .fails_with(1)
            .says("orange plan reset TASK-002");
    }
    assert_eq!(env.status(&task), "blocked");
    env.orange(["plan", "reset", &task.key]).ok();
    env.until("it is executed anew, up to its gate", || {
        env.count(&task, "iteration.started") == 2 && env.status(&task) == "blocked"
    });
    assert_eq!(execution(&env, &task)["cost"]["total_cost_usd"], 0.5);
    assert_eq!(env.count(&task, "gate.decided"), 0);
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["doctor"]).ok();
}

#[test]
fn what_is_completed_stays_so_and_is_merged() {
    let env = Agents::new();
    let task = phased(&env, "small", COSTS, &["--gate", "implement=human"]);
    back_up(&env);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    damage(&env);
    env.orange(["doctor", "--repair"])
        .ok()
        .says("1 task has gone on since");
    env.orange(["update", &task.key, "--priority", "high"]).ok();
    assert_eq!(env.status(&task), "completed");
    env.orange(["merge", &task.key])
        .fails_with(3)
        .says("it is completed, and orange.db does not have its plan any more");
    env.orange(["merge", &task.key, "--force"]).ok();
    env.until_status(&task, "finished");
    env.orange(["cost", "--by", "task"]).ok().says("$0.50");
    env.orange(["doctor"]).ok();
}

#[test]
fn what_the_backup_knows_goes_on_as_if_nothing_had_been() {
    let env = Agents::new();
    let task = phased(&env, "small", COSTS, &["--gate", "implement=human"]);
    back_up(&env);
    let backup = env.home().join("orange.db.backup");
    let backup = fs::File::options().write(true).open(backup).unwrap();
    let later = SystemTime::now() + Duration::from_secs(120);
    backup.set_modified(later).unwrap();
    for name in ["orange.db", "orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    // One that is made anew would know nothing of it, and neither does an empty one.
    env.orange(["run", &task.key])
        .fails_with(1)
        .says("orange.db is missing, and its backup is there");
    fs::write(env.home().join("orange.db"), "").unwrap();
    env.orange(["run", &task.key]).fails_with(1);
    // A repair that is killed is begun again, or finished.
    for point in ["repair.built", "repair.aside"] {
        let call = env.call(["doctor", "--repair"]);
        call.var("ORANGE_CRASH_AT", point).run().fails_with(-1);
    }
    env.orange(["doctor", "--repair"]).ok();
    assert!(!env.home().join("orange.db.repair").exists());
    env.orange(["doctor"]).ok();
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
}

#[test]
fn an_executor_pauses_whose_database_became_an_older_one() {
    let env = Agents::new();
    let task = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_event(&task, "iteration.started");
    back_up(&env);
    for name in ["orange.db", "orange.db-wal", "orange.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("restored from the last backup");
    env.allow("go");
    env.until_status(&task, "paused");
    let why = task.last("status.changed")["reason"].clone();
    let why = why.as_str().unwrap_or_default();
    assert!(why.contains("does not have the plan of TASK-001"), "{why}");
    // What its turn left is on its branch.
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("begun.txt"), "{files}");
    env.orange(["plan", "reset", &task.key]).ok();
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["doctor"]).ok();
}

#[test]
fn rows_that_are_older_than_the_journal_open_no_gate() {
    let env = Agents::new();
    let task = at_gate(&env);
    let database = rusqlite::Connection::open(env.home().join("orange.db")).unwrap();
    let older = "UPDATE phases SET status = 'pending', error = NULL";
    assert!(database.execute(older, []).unwrap() > 0);
    drop(database);
    env.orange(["update", &task.key, "--priority", "high"]).ok();
    assert_eq!(env.status(&task), "blocked");
    env.orange(["approve", &task.key])
        .fails_with(1)
        .says("orange.db does not know what the phase of TASK-001 did")
        .says("orange plan reset TASK-001");
    assert_eq!(env.count(&task, "gate.decided"), 0);
    env.orange(["plan", "reset", &task.key]).ok();
    env.until("it is executed anew, up to its gate", || {
        env.count(&task, "iteration.started") == 2 && env.status(&task) == "blocked"
    });
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
}

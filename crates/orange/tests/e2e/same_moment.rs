//! Two commands on one task at the same moment: what the slower one says is true and helps.

use crate::env::TestEnvironment;
use crate::run::Run;
use std::sync::Barrier;
use std::thread;

const ROUNDS: usize = 8;

/// Runs commands in parallel, all from the same moment on.
fn at_once(env: &TestEnvironment, commands: &[Vec<&str>]) -> Vec<Run> {
    let start = Barrier::new(commands.len());
    // What a test environment holds for snapshots stays with its thread.
    let calls: Vec<_> = commands.iter().map(|words| env.call(words)).collect();
    let run = |call: crate::run::Call<'_>| {
        start.wait();
        call.run()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = calls
            .into_iter()
            .map(|call| scope.spawn(|| run(call)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    })
}

#[test]
fn restored_twice() {
    let env = TestEnvironment::new();
    for _ in 0..ROUNDS {
        let task = env.create(["Deleted"]);
        env.orange(["task", "delete", &task.id]).ok();
        let restore = vec!["task", "restore", task.id.as_str()];
        let runs = at_once(&env, &[restore.clone(), restore.clone(), restore]);
        assert_eq!(runs.iter().filter(|run| run.code == 0).count(), 1);
        for run in runs.iter().filter(|run| run.code != 0) {
            let told = ["was restored by another command", "is not deleted: it is"];
            assert!(told.iter().any(|words| run.stderr.contains(words)), "{run}");
            assert_eq!(run.code, 3, "{run}");
        }
        assert_eq!(env.show(&task)["status"], "pending");
        env.orange(["task", "delete", &task.id]).ok();
    }
}

#[test]
fn cancelled_and_deleted() {
    let env = TestEnvironment::new();
    for _ in 0..ROUNDS {
        let task = env.create(["Both"]);
        let id = task.id.as_str();
        let runs = at_once(
            &env,
            &[
                vec!["task", "cancel", id],
                vec!["task", "delete", id],
                vec!["task", "delete", id],
            ],
        );
        assert_eq!(runs[1..].iter().filter(|run| run.code == 0).count(), 1);
        for run in runs.iter().filter(|run| run.code != 0) {
            let deleted = format!("{} was deleted by another command", task.key);
            let told = [deleted, format!("{} is in the trash", task.key)];
            assert!(told.iter().any(|words| run.stderr.contains(words)), "{run}");
            let restore = format!("`orange task restore {}` brings it back", task.key);
            assert!(run.stderr.contains(&restore), "{run}");
        }
        env.orange(["task", "restore", id]).ok();
        let status = env.show(&task)["status"].clone();
        let cancelled = runs[0].code == 0;
        assert_eq!(status == "cancelled", cancelled, "{}", runs[0]);
    }
}

#[test]
fn created_and_started() {
    let mut env = TestEnvironment::new();
    env.set("ORANGE_AGENTS_SPAWN_ON_CREATE", "true");
    env.orange(["project", "update", "shop", "--pool-size", "40"])
        .ok();
    for round in 0..ROUNDS {
        let summary = format!("Number {round}");
        let ready = vec!["run", "--ready"];
        let runs = at_once(&env, &[vec!["new", &summary], ready.clone(), ready]);
        for run in &runs {
            assert_eq!(run.code, 0, "{run}");
            assert!(!run.stderr.contains("was not started"), "{run}");
        }
        let new = &runs[0].stdout;
        let by_new = new.contains("  slot     ");
        let by_another = new.contains("  started  another command started it: it is planning");
        assert!(by_new != by_another, "{}", runs[0]);
        assert!(!new.contains("not made yet"), "{}", runs[0]);
    }
}

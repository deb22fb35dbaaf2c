//! Two commands on one task at the same moment: what the slower one says is true and helps.

use crate::env::TestEnvironment;
use crate::run::Run;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const ROUNDS: usize = 8;

/// How often somebody looks for tasks to start while others are made.
const MOST_LOOKS: usize = 200;

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

/// A number is one task's, whichever prefix a process found.
#[test]
fn created_while_the_prefix_changes() {
    let env = TestEnvironment::new();
    let new = |summary: &'static str| vec!["new", summary, "--no-spawn"];
    for round in 0..ROUNDS {
        let prefix = if round % 2 == 0 { "API" } else { "TASK" };
        let commands = [
            new("One"),
            vec!["project", "update", "shop", "--prefix", prefix],
            new("Two"),
            new("Three"),
        ];
        for run in at_once(&env, &commands) {
            run.ok();
        }
    }
    let keys = env.keys([""; 0]);
    let number = |key: &String| -> usize {
        let (prefix, number) = key.split_once('-').unwrap();
        assert!(["API", "TASK"].contains(&prefix), "{key}");
        number.parse().unwrap()
    };
    let mut numbers: Vec<usize> = keys.iter().map(number).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(1..=3 * ROUNDS), "{keys:?}");
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
            let restore = format!("`orange restore {}` brings it back", task.key);
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
    let done = AtomicBool::new(false);
    let call = |words: &[&str]| env.call(words);
    let all_ready: Vec<_> = (0..2 * MOST_LOOKS)
        .map(|_| call(&["run", "--ready"]))
        .collect();
    let mut all_ready = all_ready.into_iter();
    let starters: Vec<Vec<_>> = (0..2)
        .map(|_| all_ready.by_ref().take(MOST_LOOKS).collect())
        .collect();
    let (created, looks) = thread::scope(|scope| {
        let looking: Vec<_> = starters
            .into_iter()
            .map(|calls| {
                let ongoing = calls
                    .into_iter()
                    .take_while(|_| !done.load(Ordering::SeqCst));
                scope.spawn(|| ongoing.map(crate::run::Call::run).collect::<Vec<Run>>())
            })
            .collect();
        let numbers = 0..ROUNDS * 2;
        let new = numbers.map(|number| call(&["new", &format!("Number {number}")]).run());
        let created: Vec<Run> = new.collect();
        done.store(true, Ordering::SeqCst);
        let looks = looking
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        (created, looks.collect::<Vec<Run>>())
    });
    for run in created.iter().chain(&looks) {
        assert_eq!(run.code, 0, "{run}");
        assert!(!run.stderr.contains("was not started"), "{run}");
    }
    for run in &created {
        let by_new = run.stdout.contains("  slot     ");
        let told = "  started  another command started it: it is planning";
        let by_another = run.stdout.contains(told);
        assert!(by_new != by_another, "{run}");
        assert!(!run.stdout.contains("not made yet"), "{run}");
    }
}

//! A soak: many tasks at once through the whole lifecycle, with agents that misbehave and with kills of agents,
//! windows, the tmux server and Orange itself. A seed decides all of it. `make soak` runs the long form.
#![cfg(all(target_os = "linux", debug_assertions))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on stops, and tells its figures"
)]

mod chance;
mod check;
mod kills;
mod person;
mod phased;
mod plan;
mod scripts;
mod state;
mod world;

use chance::Chance;
use kills::Tally;
use person::Person;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use world::World;

/// Tasks that somebody sees to at once: more than may run, so that some wait in the queue.
const AT_ONCE: usize = 6;
const TASKS: u64 = 20;
const SEED: u64 = 1;

#[test]
fn every_task_ends_and_nothing_is_lost() {
    let tasks = usize::try_from(setting("SOAK_TASKS", TASKS)).unwrap();
    let seed = setting("SOAK_SEED", SEED);
    let began = Instant::now();
    let world = World::new();
    let tally = Tally::default();
    let mut wrong = run(&world, &tally, tasks, seed);
    wrong.extend(settle(&world, tasks));
    println!(
        "soak: {tasks} tasks, {} commands, seed {seed}, {:.1} s",
        tally.operations(),
        began.elapsed().as_secs_f64()
    );
    for line in tally.lines() {
        println!("{line}");
    }
    if !wrong.is_empty() {
        panic!(
            "{}\n\nto repeat it: SOAK_TASKS={tasks} SOAK_SEED={seed} cargo test -p orange --test soak\n(SOAK_KEEP=1 keeps its home; this one was {})",
            wrong.join("\n"),
            world.root().display()
        );
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Sees every task through. What went wrong.
fn run(world: &World, tally: &Tally, tasks: usize, seed: u64) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let over = AtomicBool::new(false);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let monitor = scope.spawn(|| keep_watching(world, tally, seed, &over));
        let people: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number >= tasks || !wrong.lock().unwrap().is_empty() {
                            return;
                        }
                        let ended = Person::new(world, tally, seed, number).see_through();
                        wrong.lock().unwrap().extend(ended.err());
                    }
                })
            })
            .collect();
        let panicked = people.into_iter().any(|person| person.join().is_err());
        over.store(true, Ordering::SeqCst);
        assert!(monitor.join().is_ok() && !panicked, "seed {seed}");
    });
    wrong.into_inner().unwrap()
}

/// An `orange watch` at all times. Some of them die by themselves.
fn keep_watching(world: &World, tally: &Tally, seed: u64, over: &AtomicBool) {
    let mut chance = Chance::part(seed, 0);
    let start = |dies: Option<&str>| -> Child {
        let mut command = world.orange_command(&["watch"], dies);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut watcher = start(None);
    while !over.load(Ordering::SeqCst) {
        if watcher.try_wait().unwrap().is_some() {
            tally.add("monitor started again");
            let dies = chance.percent(30).then(|| plan::crash_point(&mut chance));
            watcher = start(dies.as_deref());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = watcher.kill();
    let _ = watcher.wait();
}

/// One look of the monitor, as a person's next command would be; then everything must be in order.
fn settle(world: &World, tasks: usize) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let look = world.orange(&["watch", "--once"], None);
        let mut wrong = check::all(world, tasks);
        if look.code != Some(0) {
            wrong.push(format!("watch: {}", look.stderr));
        }
        // What a process that was killed left running may take a moment to go.
        if wrong.is_empty() || Instant::now() >= deadline {
            return wrong;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

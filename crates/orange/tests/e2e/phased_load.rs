//! Much at once: a turn that says more than a hundred megabytes, and twenty executors at the same time.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::phased;
use orange_core::Timestamp;
use serde_json::Value;
use std::fs;

const FLOOD: &str = "\
executor:
  - repeat: 100
    steps:
      - flood: 1MB
  - flood: 5MB
    line: none
  - say: It is all said.
  - wait for: {file: ROOT/go}
    timeout: 60s
  - answer: complete
";
/// Talks for longer than it is between two heartbeats.
const TALKS: &str = "\
executor:
  - repeat: 350
    steps:
      - say: It goes on.
      - use: {input: 10, output: 1}
      - pause: 100ms
  - wait for: {file: ROOT/go}
    timeout: 600s
  - answer: complete
";

/// Of memory, in kilobytes.
const MOST: u64 = 50 * 1024;

/// The most memory that a process ever had, in kilobytes; None once it is gone.
fn peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line?.split_whitespace().next()?.parse().ok()
}

#[test]
fn an_executor_writes_a_hundred_megabytes_in_little_memory() {
    let env = Agents::new();
    let task = phased(&env, "trivial", FLOOD, &[]);
    env.orange(["run", &task.key]).ok();
    let file = task.folder.join("transcripts/01-implement-001.md");
    env.until("all is written", || {
        fs::metadata(&file).is_ok_and(|found| found.len() > 105_000_000)
    });
    let executor = env.run_agent(&task, "executor");
    let mut most = peak(executor).unwrap();
    env.write("go", "");
    // It is completed with what came of the iteration, which reads and writes all of it once more.
    env.until("its executor is gone", || {
        let now = peak(executor);
        most = most.max(now.unwrap_or_default());
        now.is_none()
    });
    env.until_status(&task, "completed");
    assert!(most <= MOST, "{most} kB");
    assert!(fs::metadata(&file).unwrap().len() > 105_000_000);
}

/// When its executor last said that it is alive.
fn heartbeat(env: &Agents, task: &TestTask) -> Timestamp {
    let shown: Value = env.show(task);
    let told = shown["execution"]["last_heartbeat"].as_str();
    told.unwrap_or_else(|| panic!("{shown}")).parse().unwrap()
}

#[test]
fn twenty_executors_at_once_miss_no_heartbeat() {
    let env = Agents::configured("  limit: 20\n");
    let size = ["project", "update", "shop", "--pool-size", "20"];
    env.orange(size).ok();
    let tasks: Vec<TestTask> = (0..20)
        .map(|_| phased(&env, "trivial", TALKS, &[]))
        .collect();
    for task in &tasks {
        env.orange(["run", &task.key]).ok();
    }
    for task in &tasks {
        env.until_status(task, "running");
        env.until_event(task, "iteration.started");
    }
    let begun: Vec<Timestamp> = tasks.iter().map(|task| heartbeat(&env, task)).collect();
    let mut next = Vec::new();
    for (task, begun) in tasks.iter().zip(&begun) {
        env.until("its executor says that it is alive", || {
            heartbeat(&env, task) > *begun
        });
        next.push(heartbeat(&env, task));
    }
    for (next, begun) in next.iter().zip(&begun) {
        // One that is missed makes it twice as long.
        let gap = next.duration_since(*begun).as_secs();
        assert!(gap < 60, "{gap} s between two heartbeats");
    }
    env.write("go", "");
    for task in &tasks {
        env.until_status(task, "completed");
    }
}

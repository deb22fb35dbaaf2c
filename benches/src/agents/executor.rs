//! An iteration of a phased task, without its agent's own time, against the git and SQLite work that it contains.

use super::stage::{Stage, until};
use crate::fixture::key;
use crate::measure::{Times, run, timed};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

const ITERATIONS: usize = 40;

/// What a turn writes into orange.db: opened, what it used (before and after its commit), checked, advanced, and that each of the two
/// events is journalled.
const TRANSACTIONS: usize = 7;

/// One phase that never says that it is complete.
const PLAN: &str = "\
task_id: TASK-001
weight: small
generated_at: 2026-01-01T00:00:00Z
phases:
  - name: implement
    type: implement
    prompt_template: prompts/implement.md
    max_iterations: 40
    timeout: 60s
    completion_criteria: [agent_confirms]
    checkpoint: true
    checkpoint_frequency: 3
    gate: {type: auto}
";

/// A turn changes a file that is there and answers; as an executor has it taken, and as a turn by itself.
const SCRIPT: &str = "\
executor:
  - append: file-1.txt
    text: more
  - answer: continue

worker:
  - append: file-1.txt
    text: more
  - answer: continue
";

pub(super) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("iterations of an executor …");
    let stage = Stage::new(scratch, "executor", 1, "true")?;
    let script = stage.root.join("agent.yaml");
    let plan = stage.root.join("plan.yaml");
    fs::write(&script, SCRIPT)?;
    fs::write(&plan, PLAN)?;
    let harness = format!("sim:{}", script.display());
    let iterations = iterations(&stage, &harness, &plan.display().to_string())?;
    let worktree = stage.root.join("alone");
    let path = worktree.display().to_string();
    stage.git(&["worktree", "add", "--quiet", "-b", "alone", &path])?;
    let alone = times(|_| {
        let words = ["headless", "--harness", &harness, "Do it"];
        run(stage.program(&scratch.orange, &worktree).args(words))
    })?;
    let version = times(|_| run(stage.program(&scratch.orange, &worktree).arg("--version")))?;
    let database = open(&stage.root.join("floor.db"))?;
    let floor = times(|round| {
        fs::write(worktree.join("file-1.txt"), format!("{round}\n"))?;
        timed(|| work(&stage, &worktree, &database, round))
    })?;
    // The agent is what a turn by itself takes, without the start of the program that has it taken.
    let agent = alone.median().saturating_sub(version.median());
    Ok(vec![Row::at_most(
        "an executor's iteration, without its agent",
        "the git and SQLite work in it",
        iterations.median().saturating_sub(agent),
        floor.median(),
        Some(3.0),
    )])
}

/// How long each iteration of a task took, from its beginning to that of the next one.
fn iterations(stage: &Stage<'_>, harness: &str, plan: &str) -> Result<Times> {
    let key = key(1);
    stage.orange(&[
        "task",
        "create",
        "Do it",
        "--workflow",
        "phased",
        "--weight",
        "small",
        "--harness",
        harness,
    ])?;
    stage.orange(&["plan", "edit", &key, "--file", plan])?;
    stage.orange(&["run", &key])?;
    let journal = stage.newest(&key)?.join("history.jsonl");
    let begun = || -> Vec<Timestamp> {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        let events = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let started = events.filter(|event| event["type"] == "iteration.started");
        started
            .filter_map(|event| event["timestamp"].as_str()?.parse().ok())
            .collect()
    };
    until("the last iteration", || begun().len() >= ITERATIONS)?;
    stage.orange(&["task", "cancel", &key, "--yes"])?;
    let begun = begun();
    let pairs = begun.iter().zip(begun.iter().skip(1));
    let took = pairs.map(|(one, next)| next.duration_since(*one).unsigned_abs());
    Ok(Times::of(took.collect()))
}

fn times(mut side: impl FnMut(usize) -> Result<Duration>) -> Result<Times> {
    let rounds: Result<Vec<Duration>> = (0..ITERATIONS).map(&mut side).collect();
    Ok(Times::of(rounds?))
}

/// As orange.db is opened.
fn open(path: &Path) -> Result<Connection> {
    let database = Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.execute_batch("CREATE TABLE turns (number INTEGER PRIMARY KEY, row TEXT)")?;
    Ok(database)
}

/// What is changed is committed, the commit is read, and what it changed is listed; every third one gets a ref.
fn work(stage: &Stage<'_>, worktree: &Path, database: &Connection, round: usize) -> Result<()> {
    let git = |words: &[&str]| run(stage.program("git", worktree).args(words));
    git(&["stage", "--update"])?;
    git(&["status", "--porcelain=v1", "-z", "--untracked-files=all"])?;
    // It fails where something is staged, which it is.
    let _ = git(&["diff", "--cached", "--quiet"]);
    git(&["commit", "--quiet", "--no-verify", "--message=iteration"])?;
    git(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    git(&["diff", "--raw", "--numstat", "-z", "HEAD~1", "HEAD"])?;
    if round % 3 == 2 {
        git(&["update-ref", "refs/bench/checkpoint", "HEAD"])?;
    }
    let row = "x".repeat(400);
    for _ in 0..TRANSACTIONS {
        database.execute(
            "INSERT OR REPLACE INTO turns VALUES (?1, ?2)",
            (i64::try_from(round)?, &row),
        )?;
    }
    Ok(())
}

//! A person's decision at a gate, against a status change: both are commands that wait for the disk.

use super::stage::{Stage, until};
use crate::fixture::key;
use crate::measure::in_turns;
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use std::fs;

const ROUNDS: usize = 25;

/// The tasks at gates come after these two.
const STANDS: usize = 1;
const FIRST: usize = 3;

const SCRIPT: &str = "\
executor:
  - answer: complete
    summary: done
";

pub(super) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("decisions at gates …");
    let stage = Stage::at(scratch, scratch.disk.join("gates"), 3, "exec sleep 100000")?;
    let script = stage.root.join("agent.yaml");
    fs::write(&script, SCRIPT)?;
    let harness = format!("sim:{}", script.display());
    let to = |status: &str| stage.orange(&["task", "update", &key(STANDS), "--status", status]);
    stage.orange(&[
        "task",
        "create",
        "Stands",
        "--harness",
        "none",
        "--no-spawn",
    ])?;
    to("planning")?;
    stage.orange(&["task", "create", "Works", "--harness", "tiny"])?;
    for number in FIRST..=FIRST + ROUNDS {
        stand_at_gate(&stage, &key(number), &harness)?;
    }
    // One agent is at work: who may go on waits in the queue, and no start is measured.
    let config = stage.home.join("config.yaml");
    let text = fs::read_to_string(&config)?;
    fs::write(&config, text.replace("limit: 1000", "limit: 1"))?;
    let [decisions, changes] = in_turns(
        ROUNDS,
        [
            Box::new(|round| stage.orange(&["approve", &key(FIRST + round)])),
            Box::new(|_| Ok((to("clarification")? + to("planning")?) / 2)),
        ],
    )?;
    Ok(vec![Row::at_most_usually(
        "a decision at a gate, as a command",
        "a status change, as a command",
        &decisions,
        &changes,
        Some(1.0),
    )])
}

/// Has a task executed up to the gate of its first phase.
fn stand_at_gate(stage: &Stage<'_>, key: &str, harness: &str) -> Result<()> {
    stage.orange(&[
        "task",
        "create",
        "Do it",
        "--workflow",
        "phased",
        "--weight",
        "small",
        "--gate",
        "implement=human",
        "--harness",
        harness,
    ])?;
    stage.orange(&["run", key])?;
    let file = stage.newest(key)?.join("TASK.md");
    until("the gate", || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.contains("\nstatus: blocked\n")
    })
}

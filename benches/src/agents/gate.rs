//! A person's decision at a gate, against a status change. Both wait for the disk.

use super::stage::{Stage, until};
use crate::fixture::{PROJECT, key};
use crate::measure::{in_turns, timed};
use crate::report::Row;
use crate::rows::to;
use crate::scratch::Scratch;
use crate::{Result, note};
use orange_core::task::Status;
use orange_engine::store::Place;
use orange_engine::verbs::phased::gate;
use orange_engine::{Call, Settings};
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
    stage.orange(&[
        "task",
        "create",
        "Stands",
        "--harness",
        "none",
        "--no-spawn",
    ])?;
    stage.orange(&["task", "update", &key(STANDS), "--status", "planning"])?;
    stage.orange(&["task", "create", "Works", "--harness", "tiny"])?;
    for number in FIRST..=FIRST + ROUNDS {
        stand_at_gate(&stage, &key(number), &harness)?;
    }
    // One agent is at work: who may go on waits in the queue, and no start is measured.
    let config = stage.home.join("config.yaml");
    let text = fs::read_to_string(&config)?;
    fs::write(&config, text.replace("limit: 1000", "limit: 1"))?;
    let call = Call::new(Settings {
        orange: scratch.orange.clone(),
        ..Settings::at(stage.home.clone())
    });
    let place = |number: usize| -> Result<Place> {
        let folder = stage.newest(&key(number))?;
        let id = folder.file_name().unwrap_or_default().to_string_lossy();
        Ok(call.store().place(&format!("{PROJECT}/{id}")))
    };
    let stands = place(STANDS)?;
    // All of them now: a command would have somebody look at the queue while the next decision is measured.
    let at_gates: Vec<Place> = (FIRST..=FIRST + ROUNDS).map(place).collect::<Result<_>>()?;
    let [decisions, changes] = in_turns(
        ROUNDS,
        [
            Box::new(|round| {
                let place = at_gates.get(round).cloned().ok_or("no task is left")?;
                timed(|| Ok(gate::approve(&call, place, "").map(drop)?))
            }),
            Box::new(|_| {
                to(&call, &stands, Status::Clarification)?;
                timed(|| to(&call, &stands, Status::Planning))
            }),
        ],
    )?;
    Ok(vec![Row::at_most_usually(
        "a decision at a gate, in process",
        "a status change with hooks, in process",
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

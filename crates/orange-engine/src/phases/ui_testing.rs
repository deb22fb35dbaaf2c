//! Turns that test a user interface: what they get, what is said where no browser can be had, and the report that they leave.

use crate::effects::ui_testing as ui;
use crate::error::Result;
use crate::harness::Harness;
use crate::headless::TurnExtras;
use crate::phases::executor::{Executor, lock};
use crate::prompt::ui::is_tested;
use crate::verbs::test_results;
use orange_core::history::payload::McpServerFailed;
use orange_core::history::{Event, Payload};
use orange_core::work::execution::{Iteration, WantedTurn};
use orange_core::work::plan::PlannedPhase;
use std::collections::BTreeMap;

/// Adds what a turn gets.
pub(super) fn equip(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    harness: &Harness,
    extras: &mut TurnExtras,
) -> Result<()> {
    ui::equip(
        this.call,
        &this.task,
        phase,
        harness,
        &this.place.path,
        extras,
    )
}

/// What the transcript of the first turn of an attempt says where there is no browser to drive: of what, and why.
pub(super) fn note(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    wanted: &WantedTurn,
    harness: &Harness,
) -> Option<(String, String)> {
    if wanted.iteration_of_attempt > 1 || !is_tested(&this.task, phase) {
        return None;
    }
    let why = ui::why_no_browser(this.call, harness)?;
    Some(("browser".to_owned(), why))
}

/// Journals which MCP servers the agent of a turn did without. The transcript has it too, so it is no reason to stop.
pub(super) fn note_failed_servers(
    this: &mut Executor<'_>,
    iteration: &Iteration,
    failed: &BTreeMap<String, String>,
) -> Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let Some(mut tx) = lock(this.call, this.run, &this.place)? else {
        return Ok(());
    };
    let events = failed.iter().map(|(server, why)| {
        let note = McpServerFailed {
            server: Some(server),
            phase: Some(&iteration.phase),
            iteration: Some(iteration.iteration),
        };
        let event = Event::of(Payload::McpServerFailed(note), this.call.now());
        event.by("engine").because(why)
    });
    let events = events.collect();
    tx.note(events)?;
    this.task = tx.commit(Vec::new())?.task;
    Ok(())
}

/// Takes in the report that a turn left where its screenshots go. Nothing that is wrong with it stops the executor.
pub(super) fn take_in_report(this: &mut Executor<'_>, phase: &PlannedPhase) -> Result<()> {
    if !is_tested(&this.task, phase) {
        return Ok(());
    }
    match test_results::has_found(this.call, &this.task.id, &this.place.path) {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(error) => {
            tracing::warn!(%error, "a test report cannot be looked at");
            return Ok(());
        }
    }
    let Some(mut tx) = lock(this.call, this.run, &this.place)? else {
        return Ok(());
    };
    match test_results::take_found(&mut tx, &this.slot) {
        Ok(None) => {}
        Ok(Some(error)) | Err(error) => tracing::warn!(%error, "a test report is not imported"),
    }
    this.task = tx.commit(Vec::new())?.task;
    Ok(())
}

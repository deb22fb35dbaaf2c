//! What a person does with a phased task: run, pause, decide at its gates, skip, rewind, change its plan. Each changes the rows
//! first (`execution.rs`), then moves the task by its table; a process that dies in between leaves the move to whoever
//! locks the task next. Read `run.rs` first.

pub mod changes;
pub mod gate;
pub mod gates;
pub mod pause;
pub mod plan;
pub mod rewind;
pub mod run;
pub mod skip;
pub mod spec;

use crate::call::Call;
use crate::error::{Error, Result, err};
pub(crate) use crate::execution::is_phased;
use crate::tx::TaskTx;
use crate::views::{task, why};
use orange_core::machine::Move;
use orange_core::task::Task;
use orange_core::workflow::Trigger;
use orange_core::{Action, text};

/// The move that a person makes by this word, where the task stands; a refusal says what to do instead.
pub(crate) fn said(tx: &TaskTx<'_>, trigger: Trigger) -> Result<Move> {
    Move::on(&tx.task, trigger).ok_or_else(|| not_here(tx.call, &tx.task, trigger.0))
}

/// That a verb means nothing where the task stands.
pub(crate) fn not_here(call: &Call, task: &Task, verb: &str) -> Error {
    let error = err!(
        IllegalTransition,
        "cannot {verb} {}: it {}",
        task.label(),
        task.phrase()
    );
    match advice(call, task) {
        _ if task.status.is_terminal() => error.hint(text!(
            "it stays so; a new task starts again from it: {}",
            Action::create_from(task.name(), false, None)
        )),
        Some(next) => error.hint(text!("what moves it on: {}", next)),
        None => error,
    }
}

fn advice(call: &Call, task: &Task) -> Option<Action> {
    let place = crate::facts::place_of(call, task).ok()??;
    let view = task::view_as_is(call, place).ok()?;
    why::why_of(call, &view).ok()?.next
}

/// Refuses what may not change under an executor, nor while a person is asked about it.
pub(crate) fn nobody_is_at_it(call: &Call, task: &Task, verb: &str) -> Result<()> {
    if task.may_change_plan() {
        return Ok(());
    }
    Err(not_while_executed(call, task, verb))
}

/// The same as [`not_here`] for what can be done once the executor is stopped.
pub(crate) fn not_while_executed(call: &Call, task: &Task, verb: &str) -> Error {
    let error = not_here(call, task, verb);
    match Move::on(task, Trigger::PAUSE) {
        Some(_) => error.hint(text!("pause it first: {}", Action::pause(task.name()))),
        None => error,
    }
}

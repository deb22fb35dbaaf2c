//! `pause`: the executor ends after saving what its turn left; a task that only waits starts by itself no more.

use crate::access;
use crate::call::Call;
use crate::error::Result;
use crate::execution;
use crate::field_checks::bad_value;
use crate::store::Place;
use crate::tx::commit::Committed;
use crate::tx::{self};
use crate::verbs::phased::{is_phased, not_here};
use orange_core::machine::{self, Move};
use orange_core::task::{Field, FieldMap};
use orange_core::workflow::{Actor, Trigger};
use serde_json::Value;

/// Stops the execution of a task until a person resumes it.
pub fn pause(call: &Call, place: Place) -> Result<Committed> {
    access::people_only(call, "pause tasks")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    if let Some(wish) = Move::on(&tx.task, Trigger::PAUSE) {
        let event = tx.decide_as(Actor::Human, wish)?;
        return tx.commit(vec![event]);
    }
    if !tx.task.is_queued() {
        return Err(not_here(call, &tx.task, "pause"));
    }
    execution::force_budget(call, &tx.task, false)?;
    tx.journal_execution()?;
    let withdrawn = FieldMap::from_iter([(Field::QueuedAt.name().to_owned(), Value::Null)]);
    let event = machine::update(&tx.task, withdrawn, Actor::Engine, call.now());
    let event = event
        .map_err(bad_value)?
        .map(|event| event.because("paused: it starts by itself no more"));
    tx.commit(Vec::from_iter(event))
}

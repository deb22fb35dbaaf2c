//! `skip`: a phase of the plan is left out.

use crate::access;
use crate::call::Call;
use crate::error::{Result, err};
use crate::execution;
use crate::store::Place;
use crate::tx;
use crate::tx::commit::Committed;
use crate::verbs::phased::{is_phased, nobody_is_at_it};
use orange_core::{Action, text};

/// Leaves a phase out; the reason is kept with it.
pub fn skip(call: &Call, place: Place, phase: &str, reason: &str) -> Result<Committed> {
    access::people_only(call, "skip phases")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    nobody_is_at_it(call, &tx.task, "skip a phase of")?;
    let plan = execution::required_plan(call, &tx.task)?;
    let execution = execution::execution(call, &tx.task)?;
    let reason = match reason.trim() {
        "" => "skipped by a person",
        reason => reason,
    };
    let after = execution.skipped(&plan, phase, reason).map_err(|why| {
        let label = tx.task.label();
        err!(
            IllegalTransition,
            "cannot skip phase {phase} of {label}: {why}"
        )
        .hint(text!(
            "{} shows how far each phase is",
            Action::show_plan(tx.task.name())
        ))
    })?;
    execution::store(call, &tx.task, &after)?;
    tx.journal_execution()?;
    // Nobody has to answer any more what the agent of that phase asked.
    tx.follow_person()?;
    tx.commit(Vec::new())
}

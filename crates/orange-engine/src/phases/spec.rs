//! What a phase of type spec hands over: it becomes the specification of the task, and its outline is checked before anybody
//! decides about the phase.

use crate::error::Result;
use crate::execution;
use crate::phases::executor::Executor;
use orange_core::work::execution::{CriterionResult, Iteration, IterationOutcome};
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::plan::{PhaseKind, PlannedPhase};
use orange_core::work::spec::{SPEC_COMPLETE, SpecSource, check_handed_over, check_text};

/// Takes over the specification of a turn that says it is complete. Carried out again it changes nothing. None: the outline is
/// not asked for.
pub(super) fn take_over(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    turn: &Iteration,
) -> Result<Option<CriterionResult>> {
    if phase.kind != PhaseKind::Spec || turn.outcome != Some(IterationOutcome::Completed) {
        return Ok(None);
    }
    let answer = turn.answer.as_ref();
    let artifact = answer.and_then(|answer| answer.artifact.as_deref());
    match artifact.map(|text| (text, check_text(text))) {
        Some((text, Ok(()))) => {
            let source = SpecSource::SpecPhase;
            execution::spec::save(this.call, &this.task.id, text, source, None)?;
        }
        // It is not taken over: its agent is told, whatever the gate asks for.
        Some((_, Err(_))) => return Ok(Some(check_handed_over(artifact))),
        None => {}
    }
    let asks = phase.gate.criteria.iter().any(|word| word == SPEC_COMPLETE);
    let is_skipped = this.rules.core.gate(phase) == PhaseGateKind::Skip;
    Ok((asks && !is_skipped).then(|| check_handed_over(artifact)))
}

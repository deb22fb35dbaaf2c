//! After a turn: its criteria are looked at, and what it means for its phase is carried out. Each is stored before the next begins,
//! so that whoever takes over after a killed executor does nothing twice.

use crate::call;
use crate::error::{Result, err};
use crate::execution;
use crate::git::checkpoint;
use crate::phases::criteria::{self, Checked};
use crate::phases::executor::{Executor, ExecutorEnd};
use crate::phases::progress::Progress;
use crate::phases::transcripts::{self, TurnTranscript};
use crate::phases::{spec, turn};
use orange_core::work::execution::{
    Advance, Execution, Iteration, IterationOutcome, advance as carry_out,
};
use orange_core::workflow::Trigger;
use orange_sys::crash_points::crash_point;
use std::time::Duration;

/// Between two looks whether the executor is to stop.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn iteration(execution: &Execution, at: usize) -> Result<Iteration> {
    let found = execution.iterations.get(at).cloned();
    found.ok_or_else(|| err!(Failed, "there is no iteration {at}"))
}

/// Looks at the criteria of an iteration's phase. Something, when the executor is to end.
pub(super) fn check(
    this: &mut Executor<'_>,
    execution: &Execution,
    at: usize,
) -> Result<Option<ExecutorEnd>> {
    let mut turn = iteration(execution, at)?;
    let phase = this.planned(&turn.phase)?;
    if turn.head.is_none() {
        // The executor of that turn died before it had committed.
        turn::commit(this, &mut turn)?;
    }
    let head = turn.head.clone().unwrap_or_default();
    let outline = spec::take_over(this, &phase, &turn)?;
    let mut checked = criteria::check(this, &phase, &head)?;
    if let Checked::All(checks) = &mut checked {
        checks.extend(outline);
    }
    if let Checked::All(checks) = &checked
        && turn.outcome == Some(IterationOutcome::Completed)
        && checks.iter().all(|check| check.passed != Some(false))
    {
        checked = criteria::check_clean(this, &phase, &head, checks.clone())?;
    }
    turn.checks = match checked {
        Checked::All(checks) => checks,
        Checked::Stopped => return Ok(Some(this.interrupted())),
        // The iteration stays unchecked, so that the check is made when the task goes on.
        Checked::Impossible(why) => return Ok(Some(ExecutorEnd::Because(Trigger::NO_CHECK, why))),
    };
    turn.checked = true;
    this.call
        .with_database(|database| database.checked(&this.task.id, &turn))?;
    crash_point("execution.checked");
    Ok(None)
}

/// Carries out what an iteration means. Something, when the executor is to end.
pub(super) fn advance(
    this: &mut Executor<'_>,
    mut execution: Execution,
    at: usize,
) -> Result<Option<ExecutorEnd>> {
    let before = iteration(&execution, at)?;
    let used = execution.used_of_attempt(&before.phase);
    let outcome = carry_out(
        &this.plan,
        &mut execution,
        &this.rules.core,
        at,
        this.call.now(),
    );
    tracing::info!(
        phase = before.phase,
        iteration = before.iteration,
        ?outcome,
        "iteration over"
    );
    let turn = iteration(&execution, at)?;
    let is_last = matches!(outcome, Advance::PhaseCompleted | Advance::AtGate(_));
    let phase = this.plan.phase(&turn.phase);
    if let (Some(phase), Some(head)) = (phase, &turn.head)
        && turn.counts()
        && phase.has_checkpoint(used, is_last)
    {
        let name = format!("{}/{:03}", turn.phase, turn.iteration);
        let reference = checkpoint::reference(&this.task.id, &name);
        let project = call::registered(this.call, &this.task.project)?;
        checkpoint::note(&this.call.site(&project.path), &reference, head)?;
        crash_point("execution.checkpoint");
    }
    let complete = transcripts::in_words(&turn, execution.status(&turn.phase));
    (this.show)(Progress::Over(&complete));
    TurnTranscript::of(this, &turn.phase, turn.iteration).complete(this, &execution, &turn);
    crash_point("execution.transcript");
    this.call
        .with_database(|database| database.advanced(&this.task.id, &turn, &execution))?;
    crash_point("execution.advanced");
    execution::review_file::write(this.call, &this.place, &this.task);
    if !this.journal()? {
        return Ok(Some(this.interrupted()));
    }
    if turn.outcome == Some(IterationOutcome::Service) {
        return Ok(wait(this, &turn));
    }
    Ok(None)
}

/// Ends an iteration whose executor died in it.
pub(super) fn interrupt(
    this: &mut Executor<'_>,
    mut execution: Execution,
    at: usize,
) -> Result<()> {
    execution.interrupt(at, this.call.now());
    let turn = iteration(&execution, at)?;
    TurnTranscript::of(this, &turn.phase, turn.iteration).complete(this, &execution, &turn);
    this.store(&execution)
}

/// A phase has used up what it may, although none of its iterations says so.
pub(super) fn used_up(
    this: &mut Executor<'_>,
    mut execution: Execution,
    phase: &str,
    why: &str,
) -> Result<Option<ExecutorEnd>> {
    execution.used_up(&this.plan, &this.rules.core, phase, why);
    this.store(&execution)?;
    Ok((!this.journal()?).then(|| this.interrupted()))
}

/// Waits until the service is tried again; something, when the executor is to end before.
pub(super) fn wait(this: &Executor<'_>, turn: &Iteration) -> Option<ExecutorEnd> {
    let again = turn.again_at?;
    tracing::info!(%again, "the service is tried again then");
    (this.show)(Progress::Waiting {
        until: again,
        why: turn.error.as_deref().unwrap_or("it gave no reason"),
    });
    while this.call.now() < again {
        if this.run.is_to_stop() {
            return Some(this.interrupted());
        }
        std::thread::sleep(LOOK);
    }
    None
}

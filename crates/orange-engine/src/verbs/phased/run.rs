//! `run`, `resume` and `retry`: the execution of a task begins or goes on.

use crate::access;
use crate::call::{self, Call};
use crate::effects::executor;
use crate::error::{Result, err};
use crate::execution;
use crate::store::Place;
use crate::tx;
use crate::verbs::phased::{is_phased, not_here, said};
use crate::verbs::start::{self, StartOutcome};
use orange_core::machine::Move;
use orange_core::task::Task;
use orange_core::work::execution::Execution;
use orange_core::workflow::{Actor, Trigger};

/// How a task is to be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunWish {
    /// This phase alone; then it is paused.
    pub phase: Option<String>,
    /// In spite of open dependencies, of `agents.limit` and of budgets that are spent.
    pub force: bool,
}

/// The word by which a person has the execution go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    Run,
    Resume,
    Retry,
}

impl Again {
    fn trigger(self) -> Trigger {
        match self {
            Again::Run => Trigger::RUN,
            Again::Resume => Trigger::RESUME,
            Again::Retry => Trigger::RETRY,
        }
    }
}

/// Executes a task, or has it wait in the queue.
pub fn run(call: &Call, place: Place, again: Again, wish: &RunWish) -> Result<StartOutcome> {
    access::people_only(call, "run tasks")?;
    let mut tx = tx::lock_task(call, place.clone())?;
    is_phased(&tx.task)?;
    if Move::on(&tx.task, again.trigger()).is_some() || !tx.task.has_started() {
        // What is wrong is said before anything changes.
        with_phase(call, &tx.task, wish)?;
        execution::force_budget(call, &tx.task, wish.force)?;
        tx.journal_execution()?;
    }
    if execution::waits_for_weight(&tx.task) {
        // The errand that finds it out may have died.
        executor::send_classifier(call, &place.folder())?;
        let why = "its weight is being found".to_owned();
        return Ok(StartOutcome::Queued(Box::new(tx.task.clone()), why));
    }
    if tx.task.has_started() {
        let mut known = Move::on(&tx.task, again.trigger());
        if wish.force {
            known = known.or_else(|| Move::on(&tx.task, Trigger::RUN_FORCE));
        }
        let wanted = known.ok_or_else(|| not_here(call, &tx.task, again.trigger().0))?;
        choose_phase(call, &tx.task, wish)?;
        let execution = execution::execution(call, &tx.task)?;
        if let Some(plan) = execution::plan(call, &tx.task)? {
            execution::store(call, &tx.task, &execution.retry_by_person(&plan))?;
        }
        let event = tx.decide_as(Actor::Human, wanted)?;
        tx.commit_with_rows(event, None).map(drop)?;
    } else {
        choose_phase(call, &tx.task, wish)?;
        if wish.force && Move::on(&tx.task, Trigger::RUN_FORCE).is_some() {
            let event = tx.decide_as(Actor::Human, said(&tx, Trigger::RUN_FORCE)?)?;
            tx.commit(vec![event]).map(drop)?;
        } else {
            drop(tx);
        }
    }
    let outcome = start::start(call, place, wish.force);
    if outcome.is_err() {
        // It is asked for nevertheless, and the queue tries it.
        call::request_queue_run(call)?;
    }
    outcome
}

/// Notes which phase is to run alone, or that all are.
fn choose_phase(call: &Call, task: &Task, wish: &RunWish) -> Result<()> {
    match with_phase(call, task, wish)? {
        Some(chosen) => execution::store(call, task, &chosen),
        None => Ok(()),
    }
}

/// The execution with the phase that is to run alone; None: nothing changes.
fn with_phase(call: &Call, task: &Task, wish: &RunWish) -> Result<Option<Execution>> {
    let Some(plan) = execution::plan(call, task)? else {
        if wish.phase.is_some() {
            execution::required_plan(call, task)?;
        }
        return Ok(None);
    };
    let execution = execution::execution(call, task)?;
    let chosen = execution
        .clone()
        .with_only_phase(&plan, wish.phase.as_deref());
    let chosen = chosen.map_err(|why| {
        let phase = wish.phase.as_deref().unwrap_or_default();
        err!(
            Usage,
            "phase {phase} of {} cannot be run: {why}",
            task.label()
        )
    })?;
    Ok((chosen != execution).then_some(chosen))
}

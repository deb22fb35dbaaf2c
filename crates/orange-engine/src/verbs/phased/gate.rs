//! `approve`, `reject` and the answer to an agent's question: a person decides about a phase.

use crate::access;
use crate::call::Call;
use crate::error::{Error, Result, err};
use crate::execution::{self, PlanProgress, rules};
use crate::field_checks::check_words;
use crate::store::Place;
use crate::tx::commit::Committed;
use crate::tx::{self, TaskTx};
use crate::verbs::phased::{is_phased, not_here, said};
use orange_core::display::time::ago;
use orange_core::history::Event;
use orange_core::history::payload::StatusMoved;
use orange_core::machine::Move;
use orange_core::task::Task;
use orange_core::work::execution::{Execution, ExecutionEnd, IterationKind};
use orange_core::work::phase_gate::{GateDecision, PhaseGateKind};
use orange_core::work::plan::Plan;
use orange_core::work::verdict::JudgeDecision;
use orange_core::workflow::{Actor, Intent, Trigger};
use orange_core::{Action, SignedDuration, text};
use orange_sys::crash_points::crash_point;

/// What the phase did counts, and the task goes on.
pub fn approve(call: &Call, place: Place, reason: &str) -> Result<Committed> {
    let decision = PersonDecision {
        approved: true,
        reason,
        shown: None,
    };
    decide(call, place, &decision)
}

/// The phase is tried again with the reason, or the task fails after its last try.
pub fn reject(call: &Call, place: Place, reason: &str) -> Result<Committed> {
    let decision = PersonDecision {
        approved: false,
        reason,
        shown: None,
    };
    decide(call, place, &decision)
}

/// What a person decides about the phase at whose gate a task stands.
#[derive(Debug, Clone, Copy)]
pub struct PersonDecision<'a> {
    pub approved: bool,
    /// Needed to reject.
    pub reason: &'a str,
    /// The phase that was shown to the person, and its attempt: a decision about another one is refused.
    pub shown: Option<(&'a str, u32)>,
}

/// Carries out a decision.
pub fn decide(call: &Call, place: Place, wish: &PersonDecision<'_>) -> Result<Committed> {
    let PersonDecision {
        approved,
        reason,
        shown,
    } = *wish;
    if !approved && reason.trim().is_empty() {
        return Err(err!(Usage, "why is it rejected?")
            .hint("say it: the agent gets it as what it has to do differently"));
    }
    check_words("the reason", reason)?;
    access::people_only(call, "decide about phases")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    check_is_as_shown(&tx, shown)?;
    let trigger = if approved {
        Trigger::APPROVE
    } else {
        Trigger::REJECT
    };
    said(&tx, trigger).map_err(|error| decided_before(&tx, error))?;
    let (plan, execution) = at_a_stop(&tx)?;
    let Some(phase) = execution.gate(&plan) else {
        return Err(nothing_to_decide(&tx.task));
    };
    let reason = reason.trim();
    // Nothing is decided while nobody can read what the repository demands of the phase.
    if let Some(planned) = plan.phase(&phase.name) {
        rules::gate_of(call, &tx.task, &plan, planned)?;
    }
    // As it was when the phase came to it, whatever settings say by now: a judge that could not tell, or a person.
    let gate_type = match execution.undecided(&phase.name) {
        Some(_) => PhaseGateKind::Ai,
        None => PhaseGateKind::Human,
    };
    let decision = GateDecision {
        phase: phase.name.clone(),
        gate_type,
        attempt: phase.attempt,
        approved,
        reason: (!reason.is_empty()).then(|| reason.to_owned()),
        by: call.user.clone().unwrap_or_else(|| "human".to_owned()),
        at: call.now(),
    };
    let after = if approved {
        execution.clone().approved(&plan, call.now())
    } else {
        let rules = rules::of(call, &tx.task, &plan)?;
        execution.clone().rejected(&plan, reason, &rules.core)
    };
    tx.mark()?;
    call.with_database(|database| database.decide(&tx.task.id, &decision, &after))?;
    crash_point("gate.stored");
    let progress = PlanProgress {
        plan: Some(&plan),
        execution: &after,
    };
    execution::review_file::write_for(call, &tx.place, &tx.task, progress);
    let event = move_on(&tx, trigger, progress)?;
    let event = if reason.is_empty() {
        event
    } else {
        event.because(reason)
    };
    tx.commit_with_rows(event, Some(progress))
}

/// The rows are older than the journal, because orange.db was replaced.
fn nothing_to_decide(task: &Task) -> Error {
    let label = task.label();
    err!(
        Damaged,
        "orange.db does not know what the phase of {label} did"
    )
    .hint(text!(
        "{} has its open phases executed anew; its commits stay",
        Action::reset_plan(task.name())
    ))
}

/// Who decides just after somebody else hears of that decision.
fn decided_before(tx: &TaskTx<'_>, error: Error) -> Error {
    const JUST: SignedDuration = SignedDuration::from_mins(1);
    let now = tx.call.now();
    let task = tx.task.id.as_str();
    let stored = tx
        .call
        .with_existing_database(|database| database.decisions(task));
    let last = stored.ok().flatten().and_then(|all| all.into_iter().last());
    // A phase that was rejected has been worked on since, and no person decided where a judge did.
    let execution = execution::execution(tx.call, &tx.task).unwrap_or_default();
    let has_gone_on = |last: &GateDecision| {
        let mut ends = execution.iterations.iter().filter_map(|run| run.ended_at);
        ends.any(|end| end > last.at)
    };
    let is_judges = |last: &GateDecision| {
        let judge = execution.iterations_of(&last.phase).any(|run| {
            run.kind == IterationKind::Judge
                && run.attempt == last.attempt
                && run
                    .judgement()
                    .is_some_and(|said| said.decision != JudgeDecision::Blocked)
        });
        judge && last.gate_type == PhaseGateKind::Ai
    };
    let last = last.filter(|last| {
        now.duration_since(last.at) < JUST
            && (last.approved || !has_gone_on(last))
            && !is_judges(last)
    });
    let Some(last) = last else {
        return error;
    };
    let decided = if last.approved {
        "approved"
    } else {
        "rejected"
    };
    let (label, phase, by) = (tx.task.label(), &last.phase, &last.by);
    let ago = ago(now, last.at);
    let message = format!("phase {phase} of {label} was {decided} already, by {by}, {ago}");
    Error { message, ..error }
}

/// Refuses a decision about something else than what the person saw.
fn check_is_as_shown(tx: &TaskTx<'_>, shown: Option<(&str, u32)>) -> Result<()> {
    let Some((phase, attempt)) = shown else {
        return Ok(());
    };
    let now = if is_decided_here(&tx.task) {
        let (plan, execution) = at_a_stop(tx)?;
        let gate = execution.gate(&plan);
        gate.map(|state| (state.name.clone(), state.attempt))
    } else {
        None
    };
    if now == Some((phase.to_owned(), attempt)) {
        return Ok(());
    }
    let label = tx.task.label();
    Err(err!(
        Conflict,
        "{label} does not wait for a decision about {phase} any more; nothing was changed"
    )
    .hint(text!(
        "{} says what it waits for",
        Action::explain(tx.task.name())
    )))
}

/// The first move by this word that its conditions allow, or else why the last one is refused.
fn move_on(tx: &TaskTx<'_>, trigger: Trigger, progress: PlanProgress<'_>) -> Result<Event> {
    let rows = tx.task.rows();
    let of_word = rows.filter(|row| row.who.iter().any(|by| by.when == Some(trigger)));
    let mut refused = None;
    for row in of_word {
        let wish = Move {
            trigger: Some(trigger),
            ..Move::to(row.to)
        };
        match tx.decide_on(wish, progress) {
            Ok(event) => return Ok(event),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| not_here(tx.call, &tx.task, trigger.0)))
}

/// Answers what the agent of a phase asked; the task goes on with it.
pub fn answer(call: &Call, place: Place, text: &str) -> Result<Committed> {
    access::people_only(call, "answer questions")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    let wish = Move::for_intent(&tx.task, Intent::Answer)
        .filter(|_| tx.task.offers(Intent::Answer))
        .ok_or_else(|| not_here(call, &tx.task, "answer"))?;
    let (plan, execution) = at_a_stop(&tx)?;
    let after = execution.answered(&plan, text.trim());
    tx.mark()?;
    execution::store(call, &tx.task, &after)?;
    crash_point("answer.stored");
    let event = tx.decide_as(Actor::Human, wish)?.with(StatusMoved {
        message: Some(text.trim()),
        ..StatusMoved::default()
    });
    let progress = PlanProgress {
        plan: Some(&plan),
        execution: &after,
    };
    tx.commit_with_rows(event, Some(progress))
}

/// The question that the task waits at, if it does.
pub fn question(call: &Call, task: &Task) -> Result<Option<String>> {
    if !task.has_plan() || !task.offers(Intent::Answer) {
        return Ok(None);
    }
    let execution = execution::execution(call, task)?;
    let Some(plan) = execution::plan(call, task)? else {
        return Ok(None);
    };
    Ok(match execution.end(&plan) {
        Some(ExecutionEnd::Question(question)) => Some(question),
        _ => None,
    })
}

/// Whether a person decides about a phase where the task stands.
pub(super) fn is_decided_here(task: &Task) -> bool {
    Move::on(task, Trigger::REJECT).is_some()
}

fn at_a_stop(tx: &TaskTx<'_>) -> Result<(Plan, Execution)> {
    let plan = execution::required_plan(tx.call, &tx.task)?;
    Ok((plan, execution::execution(tx.call, &tx.task)?))
}

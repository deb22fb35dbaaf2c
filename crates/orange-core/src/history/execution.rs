//! What a journal tells of the execution of a plan: enough to fill in rows that are older than it, because orange.db was restored
//! from a backup.

use super::payload::{GateDecided, IterationNote, PhaseChanged};
use super::{Event, EventType, History};
use crate::work::answer::{Answer, AnswerStatus};
use crate::work::execution::{Execution, Iteration, Outcome, PhaseState, PhaseStatus};
use crate::work::phase_gate::GateDecision;
use crate::work::plan::Plan;

impl History {
    /// Whether it tells of a turn that these rows do not have. A row is written before its event, so they are older.
    pub fn is_ahead_of(&self, execution: &Execution) -> bool {
        let mut newest_first = self.events.iter().rev();
        let last = newest_first.find(|event| event.kind == EventType::IterationStarted);
        let last = last.and_then(IterationNote::of);
        last.is_some_and(|told| row_of(execution, &told).is_none())
    }

    /// How many turns it tells of, and how many of them these rows do not have.
    pub fn turns_missing_in(&self, execution: &Execution) -> (usize, usize) {
        let began = |event: &&Event| event.kind == EventType::IterationStarted;
        let told = self.events.iter().filter(began);
        let told: Vec<_> = told.filter_map(IterationNote::of).collect();
        let missing = told.iter().filter(|told| row_of(execution, told).is_none());
        (told.len(), missing.count())
    }

    /// The execution with every turn that this tells of, and with each phase of the plan as it was told of last.
    pub fn filled_in(&self, execution: Execution, plan: &Plan) -> Execution {
        let known = execution.iterations.len();
        let mut filled = execution;
        for event in &self.events {
            if let Some(told) = IterationNote::of(event) {
                fill_in_turn(&mut filled, known, event, &told);
            } else if let Some(told) = PhaseChanged::of(event) {
                fill_in_phase(&mut filled, plan, event, &told);
            }
        }
        let begun = |turn: &Iteration| turn.started_at;
        filled.iterations.sort_by_key(begun);
        filled
    }

    /// The decisions about phases.
    pub fn decisions(&self) -> impl Iterator<Item = GateDecision> {
        self.events.iter().filter_map(|event| {
            let told = GateDecided::of(event)?;
            Some(GateDecision {
                phase: told.phase?.to_owned(),
                gate_type: told.gate_type?,
                attempt: told.attempt?,
                approved: told.approved?,
                reason: event.reason.clone(),
                by: event.by.clone()?,
                at: event.timestamp,
            })
        })
    }
}

fn row_of(execution: &Execution, told: &IterationNote<'_>) -> Option<usize> {
    let mut rows = execution.iterations.iter();
    rows.position(|row| {
        (Some(row.phase.as_str()), Some(row.iteration)) == (told.phase, told.iteration)
    })
}

/// Those that were known before stay as they are.
fn fill_in_turn(filled: &mut Execution, known: usize, event: &Event, told: &IterationNote<'_>) {
    let at = row_of(filled, told);
    if event.kind == EventType::IterationStarted && at.is_none() {
        let row = began(event, told);
        filled.iterations.extend(row);
    }
    let ended = event.kind == EventType::IterationEnded;
    let row = at.filter(|at| ended && *at >= known);
    if let Some(row) = row.and_then(|at| filled.iterations.get_mut(at)) {
        end(row, event, told);
        if let (Some(said), Some(phase)) = (told.summary, state_of(filled, told.phase)) {
            phase.summary = Some(said.to_owned());
        }
    }
}

fn began(event: &Event, told: &IterationNote<'_>) -> Option<Iteration> {
    Some(Iteration {
        phase: told.phase?.to_owned(),
        iteration: told.iteration?,
        attempt: told.attempt?,
        kind: told.kind?,
        run: told.run.unwrap_or_default().to_owned(),
        harness: told.harness.unwrap_or_default().to_owned(),
        model: told.model.map(str::to_owned),
        session: told.conversation.map(str::to_owned),
        started_at: event.timestamp,
        ..Iteration::default()
    })
}

/// What it meant for its phase is told by the events of that.
fn end(row: &mut Iteration, event: &Event, told: &IterationNote<'_>) {
    row.ended_at = Some(event.timestamp);
    row.outcome = told.outcome;
    row.usage = told.usage.unwrap_or_default();
    row.head = told.head.map(str::to_owned);
    row.model = told.model.map(str::to_owned);
    row.session = told.conversation.map(str::to_owned);
    row.rescue = told.rescue.map(str::to_owned);
    row.error.clone_from(&event.reason);
    row.answer = told.summary.map(|said| Answer {
        status: match told.outcome {
            Some(Outcome::Blocked) => AnswerStatus::Blocked,
            Some(Outcome::Completed) => AnswerStatus::Complete,
            _ => AnswerStatus::Continue,
        },
        summary: said.to_owned(),
        ..Answer::default()
    });
    (row.checked, row.advanced) = (true, true);
}

fn fill_in_phase(filled: &mut Execution, plan: &Plan, event: &Event, told: &PhaseChanged<'_>) {
    let Some(name) = told.phase.filter(|name| plan.phase(name).is_some()) else {
        return;
    };
    if state_of(filled, Some(name)).is_none() {
        filled.phases.push(PhaseState::new(name));
        let order = |state: &PhaseState| plan.phases.iter().position(|one| one.name == state.name);
        filled.phases.sort_by_key(order);
    }
    let session = filled.iterations.iter().rev();
    let session = session
        .filter(|turn| turn.phase == name)
        .find_map(|turn| turn.session.clone());
    let Some(state) = state_of(filled, Some(name)) else {
        return;
    };
    let Some(status) = told.state else {
        return;
    };
    state.status = status;
    state.attempt = told.attempt.unwrap_or(state.attempt);
    state.error.clone_from(&event.reason);
    if told.head.is_some() {
        state.commit_sha = told.head.map(str::to_owned);
    }
    match status {
        PhaseStatus::Pending => {}
        PhaseStatus::Running => {
            state.started_at.get_or_insert(event.timestamp);
        }
        PhaseStatus::Completed | PhaseStatus::Skipped => state.completed_at = Some(event.timestamp),
        PhaseStatus::Failed
        | PhaseStatus::Paused
        | PhaseStatus::Interrupted
        | PhaseStatus::Blocked => state.session_id = session,
    }
}

fn state_of<'e>(filled: &'e mut Execution, name: Option<&str>) -> Option<&'e mut PhaseState> {
    let mut phases = filled.phases.iter_mut();
    phases.find(|state| Some(state.name.as_str()) == name)
}

//! What the journal of a task does not say yet of its rows in orange.db, as events. A row is written first; whoever locks the
//! task journals what is still marked, once.

use crate::budget;
use crate::call::Call;
use crate::database::{Mark, Unjournalled};
use crate::error::Result;
use crate::store::replace::short_hash;
use orange_core::history::payload::{
    BudgetForced, GateDecided, IterationNote, PhaseChanged, PlanWritten, SpecSaved, TestResults,
};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::machine;
use orange_core::task::{Field, Task};
use orange_core::work::execution::{Iteration, IterationOutcome, in_short};
use std::borrow::Cow;

/// A row, and the event that tells of it.
pub(crate) struct Pending {
    pub(crate) row: Unjournalled,
    pub(crate) event: Event,
}

/// What is still marked, oldest first. Where orange.db cannot be read, nothing is journalled now.
pub(crate) fn pending(call: &Call, task: &Task) -> Vec<Pending> {
    let found = call.with_existing_database(|database| database.unjournalled(&task.id));
    let rows = match found {
        Ok(found) => found.unwrap_or_default(),
        Err(error) => {
            tracing::warn!(%error, "what is not journalled of an execution cannot be read");
            Vec::new()
        }
    };
    rows.into_iter()
        .map(|row| Pending {
            event: event(call, task, &row),
            row,
        })
        .collect()
}

pub(crate) fn note_journalled(call: &Call, task: &Task, marks: &[Mark]) -> Result<()> {
    call.with_database(|database| database.note_journalled(&task.id, marks, None))
}

/// Whether the journal has that event: a process died before it could say so in the row.
pub(crate) fn is_journalled(history: &History, pending: &Pending) -> bool {
    let event = &pending.event;
    let mut newest_first = history.events.iter().rev();
    match &pending.row {
        Unjournalled::Phase { .. } => {
            let own = PhaseChanged::of(event).unwrap_or_default();
            let of_phase = newest_first
                .filter_map(PhaseChanged::of)
                .find(|known| known.phase == own.phase);
            of_phase == Some(own)
        }
        Unjournalled::Plan { .. } => newest_first
            .find(|known| known.kind == EventType::PlanWritten)
            .is_some_and(|known| known.timestamp == event.timestamp),
        Unjournalled::Spec { .. } => newest_first
            .find(|known| known.kind == event.kind)
            .is_some_and(|known| {
                known.timestamp == event.timestamp && SpecSaved::of(known) == SpecSaved::of(event)
            }),
        Unjournalled::Opened { .. } => {
            newest_first.any(|known| known.kind == event.kind && is_same_turn(known, event))
        }
        // Told again where more of it is known: the last one counts.
        Unjournalled::Ended { .. } => newest_first
            .find(|known| known.kind == event.kind && is_same_turn(known, event))
            .is_some_and(|known| {
                IterationNote::of(known) == IterationNote::of(event) && known.reason == event.reason
            }),
        Unjournalled::Forced { forced, .. } => {
            let told = newest_first.find_map(BudgetForced::of);
            told.is_some_and(|told| told.forced == Some(true)) == *forced
        }
        Unjournalled::Decision { .. } => {
            let own = GateDecided::of(event);
            newest_first
                .any(|known| known.timestamp == event.timestamp && GateDecided::of(known) == own)
        }
        Unjournalled::TestResults { results, .. } => newest_first
            .filter_map(TestResults::of)
            .any(|known| known.import == Some(results.import.as_str())),
    }
}

fn is_same_turn(one: &Event, other: &Event) -> bool {
    let number = |event: &Event| {
        let note = IterationNote::of(event).unwrap_or_default();
        (note.phase.map(str::to_owned), note.iteration, note.kind)
    };
    number(one) == number(other)
}

fn event(call: &Call, task: &Task, row: &Unjournalled) -> Event {
    match row {
        Unjournalled::Plan { plan, edited, .. } => {
            let phases = plan.phases.iter();
            let written = PlanWritten {
                weight: Some(plan.weight),
                phases: Some(phases.map(|phase| Cow::from(phase.name.as_str())).collect()),
                edited: edited.then_some(true),
            };
            let by = if *edited { "human" } else { "engine" };
            Event::of(Payload::PlanWritten(written), plan.generated_at).by(by)
        }
        Unjournalled::Spec { spec, .. } => {
            let mark = format!("{:016x}", short_hash(spec.content.as_bytes()));
            let saved = SpecSaved {
                source: Some(spec.source.as_str()),
                bytes: Some(spec.content.len()),
                mark: Some(&mark),
            };
            let by = if spec.source.is_given() {
                "human"
            } else {
                "engine"
            };
            Event::of(Payload::SpecSaved(saved), spec.updated_at).by(by)
        }
        Unjournalled::Phase { phase, .. } => {
            let change = PhaseChanged {
                phase: Some(&phase.name),
                state: Some(phase.status),
                attempt: Some(phase.attempt),
                head: phase.commit_sha.as_deref(),
            };
            let event = Event::of(Payload::PhaseChanged(change), call.now()).by("engine");
            match &phase.error {
                Some(why) => event.because(in_short(why)),
                None => event,
            }
        }
        Unjournalled::Opened { iteration, .. } => {
            let started = Payload::IterationStarted(note_of(iteration));
            Event::of(started, iteration.started_at).by("engine")
        }
        Unjournalled::Ended { iteration, .. } => {
            let note = IterationNote {
                outcome: iteration.outcome.or(Some(IterationOutcome::Continue)),
                usage: Some(iteration.usage),
                head: iteration.head.as_deref(),
                summary: iteration.summary(),
                rescue: iteration.rescue.as_deref(),
                ..note_of(iteration)
            };
            let at = iteration.ended_at.unwrap_or_else(|| call.now());
            let event = Event::of(Payload::IterationEnded(note), at).by("engine");
            match &iteration.error {
                Some(why) => event.because(why),
                None => event,
            }
        }
        Unjournalled::Forced { forced, .. } => {
            let spent = forced.then(|| budget::spent_in_words(call, task)).flatten();
            let note = BudgetForced {
                forced: Some(*forced),
                spent: spent.map(Cow::from),
            };
            let by = if *forced { "human" } else { "engine" };
            Event::of(Payload::BudgetForced(note), call.now()).by(by)
        }
        Unjournalled::Decision { decision, .. } => {
            let decided = GateDecided {
                phase: Some(&decision.phase),
                gate_type: Some(decision.gate_type),
                attempt: Some(decision.attempt),
                approved: Some(decision.approved),
            };
            let event = Event::of(Payload::GateDecided(decided), decision.at).by(&decision.by);
            match decision.reason.as_deref() {
                None | Some("") => event,
                Some(why) => event.because(why),
            }
        }
        Unjournalled::TestResults { results, .. } => {
            let note = TestResults {
                import: Some(&results.import),
                source: Some(&results.source),
                figures: results.figures.clone(),
            };
            match &results.problem {
                None => Event::of(Payload::TestResultsImported(note), results.at).by(&results.by),
                Some(why) => {
                    let refused = TestResults {
                        figures: None,
                        ..note
                    };
                    let event = Event::of(Payload::TestResultsRefused(refused), results.at);
                    event.by(&results.by).because(why)
                }
            }
        }
    }
}

/// What both ends of an iteration tell.
fn note_of(iteration: &Iteration) -> IterationNote<'_> {
    IterationNote {
        phase: Some(&iteration.phase),
        iteration: Some(iteration.iteration),
        attempt: Some(iteration.attempt),
        kind: Some(iteration.kind),
        run: Some(&iteration.run),
        harness: Some(&iteration.harness),
        model: iteration.model.as_deref(),
        conversation: iteration.session.as_deref(),
        ..IterationNote::default()
    }
}

/// Adds the current phase to an event if the frontmatter names another one.
pub(crate) fn with_current_phase(task: &Task, event: Event, phase: Option<&str>) -> Event {
    if task.current_phase.as_deref() == phase {
        return event;
    }
    let mut event = event;
    event.set(Field::CurrentPhase, phase);
    machine::number(event, task)
}

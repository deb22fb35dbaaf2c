//! The turns that a journal tells of, for rows of orange.db that are older than it.

use super::payload::IterationNote;
use super::{Event, EventType, History};
use crate::work::execution::Iteration;

impl History {
    /// Every turn with what it came to and what it cost, in the order in which they began. What agents answered is not told.
    pub fn turns(&self) -> Vec<Iteration> {
        let mut turns: Vec<Iteration> = Vec::new();
        for event in self.own() {
            let Some(told) = IterationNote::of(event) else {
                continue;
            };
            let known = turns.iter_mut().find(|turn| {
                (Some(turn.phase.as_str()), Some(turn.iteration)) == (told.phase, told.iteration)
            });
            match known {
                None if event.kind == EventType::IterationStarted => {
                    turns.extend(began(event, &told));
                }
                Some(turn) if event.kind == EventType::IterationEnded => end(turn, event, &told),
                None | Some(_) => {}
            }
        }
        turns
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

/// It may be told again where more of it is known: the last one counts.
fn end(turn: &mut Iteration, event: &Event, told: &IterationNote<'_>) {
    turn.ended_at = Some(event.timestamp);
    turn.outcome = told.outcome;
    turn.usage = told.usage.unwrap_or_default();
    turn.head = told.head.map(str::to_owned);
    turn.model = told.model.map(str::to_owned);
    turn.rescue = told.rescue.map(str::to_owned);
    turn.error.clone_from(&event.reason);
    (turn.checked, turn.advanced) = (true, true);
}

//! What the hooks of a move do to its event: what they change in the task itself, what is left to be carried out, and how that ends.

use super::number;
use crate::gate::Gate;
use crate::history::{ArchiveSection, Event, EventType};
use crate::task::{Field, Task};
use crate::workflow::Hook;
use crate::{Timestamp, artifact};

/// Puts into the event what the hooks change in the task itself, and the names of those still to be run. Returns the
/// names of those that the event carries out.
pub(super) fn with_hooks(
    event: &mut Event,
    hooks: &[Hook],
    task: &Task,
    body: &str,
) -> Option<Vec<&'static str>> {
    let mut round = task.review_round;
    for hook in hooks {
        if *hook == Hook::IncrementReviewRound {
            round = round.saturating_add(1);
        }
        if *hook == Hook::ResetReviewRound {
            round = 0;
        }
        if *hook == Hook::ArchiveReview {
            event
                .archive
                .extend(archived(Gate::ReviewPass, body, false));
        }
        if *hook == Hook::ArchiveHandoff {
            event.archive.extend(archived(Gate::Handoff, body, false));
        }
    }
    if round != task.review_round {
        event.set(Field::ReviewRound, round);
    }
    let (applied, external): (Vec<&Hook>, Vec<&Hook>) =
        hooks.iter().partition(|hook| hook.is_state_change());
    event.hooks = external.iter().map(|hook| hook.name().to_owned()).collect();
    // With nothing left to carry out the transition is over, and with it the crashes before it.
    if event.hooks.is_empty() && task.crash_count > 0 {
        event.set(Field::CrashCount, 0);
    }
    (!applied.is_empty()).then(|| applied.iter().map(|hook| hook.name()).collect())
}

/// What a review becomes that gave no verdict, so that the next reviewer's own is told apart from it; None if there is
/// none.
pub fn without_verdict(body: &str) -> Option<ArchiveSection> {
    archived(Gate::ReviewPass, body, true)
}

/// Archived sections are numbered on: a new count of rounds must not give two the same name.
fn archived(gate: Gate, body: &str, no_verdict: bool) -> Option<ArchiveSection> {
    let section = gate.section();
    artifact::section(body, section)?;
    let mut next = ArchiveSection {
        section: section.to_owned(),
        round: 0,
        no_verdict,
    };
    // `Review (round `, without the number.
    let heading = next.heading();
    let prefix = heading.trim_end_matches("0)");
    let number = |name: &str| {
        let rest = name.strip_prefix(prefix)?.strip_suffix(')')?;
        rest.parse::<u32>().ok()
    };
    let sections = artifact::sections(body);
    let last = sections
        .iter()
        .filter_map(|found| number(&found.name))
        .max();
    next.round = last.unwrap_or(0).saturating_add(1);
    Some(next)
}

/// The end of a status change: all hooks have been seen to, so earlier crashes are forgiven.
pub fn finish_transition(task: &Task, transition: &str, now: Timestamp) -> Event {
    let mut event = Event::new(EventType::TransitionFinished, now);
    event.transition = Some(transition.to_owned());
    if task.crash_count == 0 {
        return event;
    }
    event.set(Field::CrashCount, 0);
    number(event, task)
}

/// The end of a move whose hooks only ask for something, to be journalled together with it. None: it has others, or its end
/// changes the task as well.
pub fn over_at_once(task: &Task, moved: &Event, now: Timestamp) -> Option<Vec<Event>> {
    let transition = moved.transition.as_deref()?;
    let only_asks = |name: &String| Hook::from_name(name).is_some_and(Hook::only_asks);
    if task.crash_count > 0 || moved.hooks.is_empty() || !moved.hooks.iter().all(only_asks) {
        return None;
    }
    let completed = moved.hooks.iter().map(|name| {
        let mut event = Event::new(EventType::HookCompleted, now);
        event.hook = Some(name.clone());
        event.transition = Some(transition.to_owned());
        event
    });
    let over = finish_transition(task, transition, now);
    Some(completed.chain([over]).collect())
}

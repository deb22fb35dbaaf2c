//! What a person should look at: derived from the journal, so that every process sees the same.

use crate::history::payload::{AgentAnswered, AgentState};
use crate::history::{Event, EventType, History, HookOutcome};
use crate::naming::counted;
use crate::reconcile::begins_anew;
use crate::runs::{Ending, State};
use crate::task::Field;
use crate::timeline::hooks;
use crate::workflow::Role;
use crate::{Action, TaskName};

/// The one thing to look at first, in words; None when nothing asks for a person besides the status.
pub fn attention(history: &History) -> Option<String> {
    failed_hook(history)
        .or_else(|| raised(history).and_then(remark))
        .or_else(|| kept_text(history))
        .or_else(|| unreadable(history))
        .or_else(|| lost(history))
}

fn failed_hook(history: &History) -> Option<String> {
    let hooks = history.last_transition()?.hooks;
    hooks.into_iter().find_map(|hook| match hook.outcome {
        HookOutcome::Failed(failure) => {
            Some(format!("{}: {}", hooks::failed(&hook.name), failure.why))
        }
        HookOutcome::Open | HookOutcome::Completed | HookOutcome::Skipped(_) => None,
    })
}

/// The newest remark since the last status change that nothing has answered.
pub fn raised(history: &History) -> Option<&Event> {
    let since = history.since_move();
    let events = since.map_or(history.events.as_slice(), |(_, later)| later);
    let open = |at: usize, event: &Event| {
        let later = events.get(at + 1..).unwrap_or_default();
        !answered(event, later)
    };
    let mut newest_first = events.iter().enumerate().rev();
    let newest = newest_first
        .find(|(at, event)| remark(event).is_some() && event.kept().is_none() && open(*at, event));
    newest.map(|(_, event)| event)
}

/// Texts beside TASK.md that could not be merged and that nobody has removed yet, by their names, oldest first.
pub fn unmerged(history: &History) -> Vec<&str> {
    let mut names = Vec::new();
    for event in &history.events {
        let Some(name) = event.kept() else {
            continue;
        };
        names.retain(|known| *known != name);
        if event.kind == EventType::AttentionRaised {
            names.push(name);
        }
    }
    names
}

/// A text that could not be merged: a change of status does not answer it.
fn kept_text(history: &History) -> Option<String> {
    let newest = unmerged(history).pop()?;
    let mut newest_first = history.events.iter().rev();
    let event = newest_first.find(|event| event.kept() == Some(newest))?;
    event.reason.clone()
}

fn remark(event: &Event) -> Option<String> {
    let reason = event.reason.as_deref().unwrap_or_default();
    match event.kind {
        EventType::AgentCrashed => {
            let role = event.role().map_or("agent", Role::as_str);
            Some(format!("its {role} crashed: {reason}"))
        }
        EventType::MessageFailed => Some(format!("message not delivered: {reason}")),
        // Journals of earlier versions have the way to answer at the end of a question.
        EventType::AttentionRaised => match reason.rsplit_once(" (answer: ") {
            Some((asked, _)) if event.question().is_some() => Some(asked.to_owned()),
            _ => Some(reason.to_owned()),
        },
        _ => None,
    }
}

/// What answers the question that an agent of a task asks. One without a name can only be answered in the
/// agent's window.
pub fn answer(event: &Event, task: TaskName) -> Option<Action> {
    event.question().map(|name| {
        if name.is_empty() {
            Action::attach(task)
        } else {
            Action::answer_question(task)
        }
    })
}

/// States of an agent that has gone on since somebody was asked for.
const GOES_ON: &[State] = &[State::Working, State::Idle, State::Finished];

/// A crash is answered by the next run, a message by its delivery, a question by its answer or the end of its run,
/// everything else by a run, a delivery, or the agent, which went on anyway.
fn answered(event: &Event, later: &[Event]) -> bool {
    if event.question().is_some() {
        return later.iter().any(|next| question_is_over(event, next));
    }
    later.iter().any(|next| {
        if event.kind == EventType::MessageFailed {
            let delivered = next.kind == EventType::MessageDelivered;
            return delivered && next.message() == event.message();
        }
        let respawned = next.kind == EventType::AgentSpawned
            && event.role().is_none_or(|role| next.role() == Some(role));
        // A task that is not to start by itself any more, or anew, waits for nothing that was said of it before.
        let is_asked_anew = event.kind == EventType::AttentionRaised
            && event.run().is_none()
            && event.kept().is_none()
            && next.fields.contains_key(Field::QueuedAt.name());
        let heard = event.kind == EventType::AttentionRaised
            && matches!(
                next.kind,
                EventType::MessageDelivered | EventType::AttentionRaised
            )
            && next.kept().is_none();
        let goes_on = event.kind == EventType::AttentionRaised
            && AgentState::of(next).is_some_and(|told| {
                let of_run = told.run.is_some() && told.run == event.run();
                of_run && told.state.is_some_and(|state| GOES_ON.contains(&state))
            });
        respawned || heard || goes_on || is_asked_anew
    })
}

fn question_is_over(asked: &Event, next: &Event) -> bool {
    match AgentAnswered::of(next) {
        Some(answer) => answer.answers == asked.turn(),
        None => Ending::of(&next.kind).is_some() && next.run() == asked.run(),
    }
}

/// A journal that had to begin anew: what speaks for the work, and who said what, went with the old one.
fn lost(history: &History) -> Option<String> {
    let newest_first = history.events.iter().rev();
    let mut last = newest_first
        .take_while(|event| !event.is_move())
        .filter(|event| event.is_whole());
    let text = "its history.jsonl was lost, and with it what happened before: its reviews and checks count no more";
    last.next()
        .filter(|event| begins_anew(event))
        .map(|_| text.to_owned())
}

/// Lines of the journal that are no events, in words.
pub fn unreadable(history: &History) -> Option<String> {
    let first = history.bad_lines.first()?;
    Some(format!(
        "history.jsonl: {}, the first is line {}",
        counted(history.bad_lines.len(), "unreadable line"),
        first.line
    ))
}

/// What a person is told when this is journalled; None for what moves on by itself.
pub fn notification(event: &Event) -> Option<String> {
    if event.is_move() {
        let told = event.new_status().and_then(|to| to.info().notifies);
        // The person who made the move is not notified.
        let by_person = event.by.as_deref() == Some("human");
        return told.filter(|_| !by_person).map(str::to_owned);
    }
    if event.kind == EventType::HookFailed {
        let hook = event.hook.as_deref().unwrap_or("a hook");
        let reason = event.reason.as_deref().unwrap_or_default();
        return Some(format!("{}: {reason}", hooks::failed(hook)));
    }
    // A reviewer is started again without anybody's help.
    if event.kind == EventType::AgentCrashed && event.role() == Some(Role::Reviewer) {
        return None;
    }
    remark(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(lines: &[&str]) -> Option<String> {
        let text: String = lines
            .iter()
            .map(|rest| format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",{rest}}}\n"))
            .collect();
        attention(&History::parse(text.as_bytes()))
    }

    const CRASH: &str =
        r#""type":"agent.crashed","role":"worker","run":"a","reason":"exit code 1""#;
    const FAILED: &str = r#""type":"message.failed","message":"m1","reason":"no answer""#;
    const STOPPED: &str = r#""type":"attention.raised","reason":"stopped""#;

    #[test]
    fn a_crash_stands_until_the_role_runs_again_or_the_status_changes() {
        let crashed = Some("its worker crashed: exit code 1".to_owned());
        assert_eq!(seen(&[CRASH]), crashed);
        let reviewer = r#""type":"agent.spawned","role":"reviewer","run":"b""#;
        assert_eq!(seen(&[CRASH, reviewer]), crashed);
        let worker = r#""type":"agent.spawned","role":"worker","run":"b""#;
        assert_eq!(seen(&[CRASH, worker]), None);
        let moved = r#""type":"status.changed","from":"working","to":"stuck""#;
        assert_eq!(seen(&[CRASH, moved]), None);
    }

    #[test]
    fn a_lost_journal_is_told_until_the_status_changes() {
        let whole = r#""type":"journal.recovered","revision":2,"fields":{"id":"a"}"#;
        let anew = &format!(r#"{whole},"lost":"all""#);
        let told = |lines: &[&str]| seen(lines).is_some_and(|text| text.contains("was lost"));
        assert!(told(&[anew]));
        assert!(told(&[anew, r#""type":"task.updated","revision":3"#]));
        assert!(!told(&[whole]));
        assert!(!told(&[anew, whole]));
        let moved = r#""type":"status.changed","from":"working","to":"stuck""#;
        assert!(!told(&[anew, moved]));
    }

    #[test]
    fn a_lost_message_stands_until_it_is_delivered() {
        let lost = Some("message not delivered: no answer".to_owned());
        let other = r#""type":"message.delivered","message":"m2""#;
        assert_eq!(seen(&[FAILED, other]), lost);
        let same = r#""type":"message.delivered","message":"m1""#;
        assert_eq!(seen(&[FAILED, same]), None);
    }

    #[test]
    fn what_an_agent_asked_for_is_over_when_it_goes_on() {
        let asks = r#""type":"attention.raised","run":"a","reason":"asks""#;
        let failed = r#""type":"agent.state","run":"a","state":"failed""#;
        assert_eq!(seen(&[asks, failed]), Some("asks".into()));
        let other = r#""type":"agent.state","run":"b","state":"working""#;
        assert_eq!(seen(&[asks, other]), Some("asks".into()));
        let same = r#""type":"agent.state","run":"a","state":"working""#;
        assert_eq!(seen(&[asks, same]), None);
    }

    #[test]
    fn a_question_stands_until_it_is_answered_or_its_agent_is_gone() {
        let asked =
            r#""type":"attention.raised","run":"a","turn":"t1","question":"q1","reason":"asks""#;
        let standing = Some("asks".to_owned());
        let heard = r#""type":"message.delivered","message":"m2""#;
        assert_eq!(seen(&[asked, heard]), standing);
        assert_eq!(
            seen(&[asked, r#""type":"agent.answered","answers":"t2""#]),
            standing
        );
        assert_eq!(
            seen(&[asked, r#""type":"agent.answered","answers":"t1""#]),
            None
        );
        assert_eq!(seen(&[asked, r#""type":"agent.stopped","run":"a""#]), None);
    }

    #[test]
    fn the_answer_in_a_question_of_an_older_journal_is_not_shown() {
        let asked = r#""type":"attention.raised","run":"a","question":"q1","reason":"asks: rm (answer: `orange task answer TASK-001`)""#;
        assert_eq!(seen(&[asked]), Some("asks: rm".to_owned()));
        let remark = r#""type":"attention.raised","run":"a","reason":"it printed (answer: 42)""#;
        assert_eq!(seen(&[remark]), Some("it printed (answer: 42)".into()));
    }

    #[test]
    fn a_text_that_was_not_merged_stands_until_its_file_is_gone() {
        let kept = r#""type":"attention.raised","kept":"TASK.md.conflict-1","reason":"two texts""#;
        let gone = r#""type":"attention.cleared","kept":"TASK.md.conflict-1""#;
        let moved = r#""type":"status.changed","from":"working","to":"stuck""#;
        let heard = r#""type":"message.delivered","message":"m2""#;
        assert_eq!(seen(&[kept, moved, heard]), Some("two texts".into()));
        assert_eq!(seen(&[kept, gone]), None);
        assert_eq!(seen(&[kept, gone, kept]), Some("two texts".into()));
        // It is no answer to what was raised before.
        assert_eq!(seen(&[STOPPED, kept]), Some("stopped".into()));
    }

    #[test]
    fn the_newest_that_stands_is_shown() {
        assert_eq!(seen(&[CRASH, STOPPED]), Some("stopped".into()));
        let heard = r#""type":"message.delivered","message":"m2""#;
        let crashed = Some("its worker crashed: exit code 1".to_owned());
        assert_eq!(seen(&[CRASH, STOPPED, heard]), crashed);
    }
}

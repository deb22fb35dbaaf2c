//! When the last turn of a task's agent began.

use crate::Timestamp;
use crate::history::payload::{AgentSpawned, MessageNote};
use crate::history::{Event, EventType, History};
use crate::workflow::Role;

/// When the agent that does the work was last told what to do: when it was started, when a message was sent that reached it,
/// or when somebody typed into its window. A reviewer's turns do not count, nor does a reminder of an artifact that is missing:
/// that goes on with the turn before. None where the task has had no such agent.
///
/// `prompts` are the times at which a live run took a prompt. The times err on the early side: a start counts from the event
/// before it, because an agent may be at work before its start is journalled.
pub fn last_turn(history: &History, prompts: impl Fn(&str) -> Vec<Timestamp>) -> Option<Timestamp> {
    let works = |role: Option<Role>| role != Some(Role::Reviewer);
    let mut began = None;
    let mut run = None;
    let mut before: Option<&Event> = None;
    for event in &history.events {
        if let Some(start) = AgentSpawned::of(event).filter(|start| works(start.role)) {
            began = Some(before.unwrap_or(event).timestamp);
            run = start.run;
        } else if let Some(message) = delivered(history, event).filter(|_| works(event.role())) {
            began = began.max(Some(message.timestamp));
        }
        before = Some(event);
    }
    let nudges = history.events.iter();
    let nudges = nudges.filter(|event| event.kind == EventType::AgentNudged && event.run() == run);
    let mut nudges: Vec<Timestamp> = nudges.map(|event| event.timestamp).collect();
    let typed = run.map_or_else(Vec::new, prompts).into_iter();
    let typed = typed.filter(|prompt| {
        // The first prompt after a reminder is the reminder.
        let reminder = nudges.iter().position(|nudge| nudge <= prompt);
        reminder.map(|place| nudges.remove(place)).is_none()
    });
    began.max(typed.max())
}

/// The message of which an event says that it reached its agent.
fn delivered<'h>(history: &'h History, event: &Event) -> Option<&'h Event> {
    if event.kind != EventType::MessageDelivered {
        return None;
    }
    let id = MessageNote::of(event)?.message?;
    let mut sent = history
        .events
        .iter()
        .filter(|event| event.kind.is_message());
    sent.find(|sent| sent.message() == Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(lines: &[&str]) -> History {
        let line = |(second, line): (usize, &&str)| {
            format!(r#"{{"timestamp":"2026-01-01T00:00:{second:02}Z",{line}}}"#)
        };
        let lines: Vec<String> = lines.iter().enumerate().map(line).collect();
        History::parse(lines.join("\n").as_bytes())
    }

    fn second(time: Option<Timestamp>) -> Option<i64> {
        time.map(|time| time.as_second() % 60)
    }

    const WORKER: &str = r#""type":"agent.spawned","run":"w","role":"worker""#;
    const REVIEWER: &str = r#""type":"agent.spawned","run":"r","role":"reviewer""#;
    const MOVED: &str = r#""type":"status.changed","from":"pending","to":"planning""#;

    #[test]
    fn a_turn_begins_when_the_worker_is_told_something() {
        let none = |_: &str| Vec::new();
        assert_eq!(last_turn(&history(&[MOVED]), none), None);
        assert_eq!(last_turn(&history(&[MOVED, REVIEWER]), none), None);
        let started = history(&[MOVED, MOVED, WORKER, REVIEWER]);
        assert_eq!(second(last_turn(&started, none)), Some(1));
        let told = |role: &str| {
            let sent = format!(r#""type":"message","message":"m","role":"{role}","content":"x""#);
            let taken = format!(r#""type":"message.delivered","message":"m","role":"{role}""#);
            history(&[MOVED, WORKER, &sent, MOVED, &taken])
        };
        assert_eq!(second(last_turn(&told("worker"), none)), Some(2));
        assert_eq!(second(last_turn(&told("reviewer"), none)), Some(0));
    }

    #[test]
    fn what_is_typed_begins_a_turn_and_a_reminder_does_not() {
        let nudged = r#""type":"agent.nudged","run":"w","role":"worker""#;
        let history = history(&[MOVED, WORKER, nudged]);
        let at = |second: i64| {
            let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
            start + crate::SignedDuration::from_secs(second)
        };
        let took = |seconds: &[i64]| {
            let prompts: Vec<Timestamp> = seconds.iter().map(|second| at(*second)).collect();
            second(last_turn(&history, |run| {
                assert_eq!(run, "w");
                prompts.clone()
            }))
        };
        assert_eq!(took(&[1]), Some(1));
        assert_eq!(took(&[1, 3]), Some(1));
        assert_eq!(took(&[1, 3, 9]), Some(9));
    }
}

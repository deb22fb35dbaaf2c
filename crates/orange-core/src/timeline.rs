//! A task's journal as people read it: who did what. Every front end takes its words from here.
//!
//! Texts of agents and files are in it as they are, on one line; who shows them makes them safe.

pub mod fields;
pub mod hooks;
mod words;

use crate::history::payload::{AgentAnswered, AgentState, TaskVerified};
use crate::history::{Event, EventType, History};
use crate::naming::{duration, one_line};
use crate::runs::{Ending, State, runs};
use crate::workflow::Role;
use crate::{Text, Timestamp};
use std::collections::HashMap;
pub use words::event_text;

/// How much an event matters to somebody who reads a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventWeight {
    /// Another event tells people the same; it is there for programs.
    Remark,
    /// A step on the way that only the whole history tells.
    Detail,
    Story,
    /// Something went wrong, or somebody is needed.
    Trouble,
}

/// One line of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    pub event: &'a Event,
    pub who: &'a str,
    pub words: Text,
    pub weight: EventWeight,
}

/// The whole journal, oldest first. An agent's end says how long its run was.
pub fn timeline<'a>(history: &'a History) -> Vec<Entry<'a>> {
    let started: HashMap<String, Timestamp> = runs(history)
        .into_iter()
        .map(|run| (run.id, run.started))
        .collect();
    let entry = |event: &'a Event| {
        let run = event.run().filter(|_| Ending::of(&event.kind).is_some());
        let lasted = run.and_then(|run| started.get(run)).map(|start| {
            let time = event.timestamp.duration_since(*start);
            format!("after {}", duration(time.as_secs_f64().max(0.0)))
        });
        Entry {
            event,
            who: who(event),
            words: words::with_time(event, lasted.as_deref()),
            weight: weight(event),
        }
    };
    history.events.iter().map(entry).collect()
}

/// Who did it, or whom it happened to: the role of an agent that starts, ends or tells what it does.
pub fn who(event: &Event) -> &str {
    if event.kind.component() == "agent" && event.kind != EventType::AgentAnswered {
        return event.role().map_or("agent", Role::as_str);
    }
    match event.by.as_deref() {
        Some("human") => "you",
        Some("agent") => "worker",
        Some("file") => "TASK.md",
        Some(other) => other,
        None => "engine",
    }
}

pub fn weight(event: &Event) -> EventWeight {
    match event.kind {
        EventType::AgentState => match AgentState::of(event).and_then(|told| told.state) {
            Some(State::Failed | State::Waiting) => EventWeight::Trouble,
            Some(State::Finished | State::Working) => EventWeight::Story,
            Some(_) | None => EventWeight::Detail,
        },
        // Nobody was asked, and it may happen often.
        EventType::AgentAnswered if is_by_rule(event) => EventWeight::Detail,
        EventType::TaskVerified => match TaskVerified::of(event).and_then(|told| told.result) {
            Some(result) if result.passed() => EventWeight::Story,
            _ => EventWeight::Trouble,
        },
        // The move that it belongs to says it; without one nothing else does.
        EventType::ReviewStarted | EventType::ReviewPassed | EventType::ReviewFailed
            if event.transition.is_some() =>
        {
            EventWeight::Remark
        }
        _ => event.kind.weight(),
    }
}

fn is_by_rule(event: &Event) -> bool {
    AgentAnswered::of(event).is_some_and(|answer| answer.rule.is_some())
}

/// A name of the machine as a person would write it: `queue.wanted`, `queue_wanted` → `queue wanted`.
fn plain(name: &str) -> String {
    name.replace(['_', '.'], " ")
}

/// In one line, and no longer than so many letters.
fn cut(text: &str, longest: usize) -> String {
    // Far more than is shown, so that white space may fall away; a text may have megabytes.
    let end = text.char_indices().nth(longest * 4).map(|(end, _)| end);
    let beginning = end.map_or(text, |end| text.get(..end).unwrap_or_default());
    let line = one_line(beginning);
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None if end.is_some() => format!("{line}…"),
        None => line,
    }
}

#[cfg(test)]
mod tests;

//! The part of `task show` about agents: who runs, what it is doing, what it has not been told yet.

use crate::ui::{Palette, Style, ago, clean, relative};
use orange_core::Timestamp;
use orange_core::history::{Event, EventType, History};
use orange_core::runs::Ending;
use orange_engine::engine::AgentView;
use serde_json::{Value, json};
use std::fmt::Write;

/// How much of a message a line shows.
const SHOWN: usize = 100;

pub(super) fn to_json(agents: &[AgentView]) -> Value {
    let as_json = |agent: &AgentView| {
        let (state, since) = agent.state.unzip();
        json!({
            "run": agent.run.id,
            "role": agent.run.role,
            "harness": agent.run.harness,
            "alive": agent.alive,
            "state": state,
            "since": since.map(|time| time.to_string()),
            "started": agent.run.started.to_string(),
            "ended": agent.run.end.as_ref().map(|end| json!({
                "how": ending(end.how),
                "reason": end.reason,
                "at": end.at.to_string(),
            })),
            "pane": agent.pane.as_ref().map(|pane| &pane.pane),
            "waiting": agent.waiting,
        })
    };
    agents.iter().map(as_json).collect()
}

/// Messages that did not arrive, or not yet.
pub(super) fn messages_json(history: &History) -> Value {
    let as_json = |(event, state): (&Event, &str)| {
        json!({
            "message": event.details.get("message"),
            "text": event.details.get("text"),
            "by": event.by,
            "state": state,
        })
    };
    messages(history).into_iter().map(as_json).collect()
}

pub(super) fn to_text(agents: &[AgentView], history: &History, label: &str) -> String {
    let mut text = String::new();
    if agents.is_empty() {
        return text;
    }
    let palette = Palette::stdout();
    let now = Timestamp::now();
    text.push_str("\nagents\n");
    for agent in agents {
        let line = line(agent, now);
        let sign = match agent.alive {
            true => palette.paint(Style::Green, "●"),
            false => palette.paint(Style::Dim, "○"),
        };
        let _ = writeln!(text, "  {sign} {}", clean(&line));
    }
    for (event, state) in messages(history) {
        let words = event
            .details
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let first: String = words
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(SHOWN)
            .collect();
        let _ = writeln!(text, "  message {state}: {}", clean(&first));
    }
    if agents.iter().any(|agent| agent.alive) {
        let _ = writeln!(text, "  orange task attach {label}");
    }
    text
}

fn line(agent: &AgentView, now: Timestamp) -> String {
    let mut line = format!("{:<9} {}", agent.run.role, agent.run.harness);
    match (&agent.run.end, agent.alive) {
        (_, true) => {
            let _ = match &agent.state {
                Some((state, since)) => write!(line, ", {state} for {}", relative(now, *since)),
                None => write!(line, ", running for {}", relative(now, agent.run.started)),
            };
        }
        (Some(end), false) => {
            let _ = write!(line, ", {} {}", ending(end.how), ago(now, end.at));
            if !end.reason.is_empty() {
                let _ = write!(line, ": {}", end.reason);
            }
        }
        (None, false) => line.push_str(", gone without a word"),
    }
    line
}

fn ending(how: Ending) -> &'static str {
    match how {
        Ending::Exited => "ended",
        Ending::Crashed => "crashed",
        Ending::Stopped => "stopped",
    }
}

/// What was said and is not known to have arrived.
fn messages(history: &History) -> Vec<(&Event, &'static str)> {
    let fate = |sent: &Event| {
        let of_it = |event: &&Event| {
            event.details.get("message") == sent.details.get("message")
                && matches!(
                    event.kind,
                    EventType::MessageDelivered | EventType::MessageFailed
                )
        };
        history
            .events
            .iter()
            .rev()
            .find(of_it)
            .map(|event| event.kind.clone())
    };
    let sent = history
        .events
        .iter()
        .filter(|event| event.kind == EventType::MessageSent);
    sent.filter_map(|event| match fate(event) {
        None => Some((event, "waiting")),
        Some(EventType::MessageFailed) => Some((event, "not delivered")),
        Some(_) => None,
    })
    .collect()
}

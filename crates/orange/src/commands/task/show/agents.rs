//! The part of `task show` about agents: who runs, what it is doing, what it has not been told yet.

use crate::ui::{Palette, Style, ago, clean, lasting, time_of_day};
use orange_core::Timestamp;
use orange_core::history::{Event, EventType, History};
use orange_core::runs::Ending;
use orange_core::usage::Usage;
use orange_engine::runs::{Doing, Source, State};
use orange_engine::views::AgentView;
use serde_json::{Value, json};
use std::fmt::Write;

/// How much of a message a line shows.
const SHOWN: usize = 100;

pub(super) fn to_json(agents: &[AgentView]) -> Value {
    let as_json = |agent: &AgentView| {
        let doing = agent.doing.as_ref();
        json!({
            "run": agent.run.id,
            "role": agent.run.role,
            "harness": agent.run.harness,
            "alive": agent.alive,
            "state": doing.map(|doing| doing.state),
            "since": doing.map(|doing| doing.since.to_string()),
            "until": doing.and_then(|doing| doing.until).map(|until| until.to_string()),
            "again": doing.and_then(|doing| doing.again).map(|again| again.to_string()),
            "source": doing.map(|doing| doing.source),
            "said": doing.map(|doing| doing.text.as_str()).filter(|text| !text.is_empty()),
            "usage": agent.usage,
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
            let _ = match &agent.doing {
                Some(doing) => write!(line, ", {}", for_how_long(doing, now)),
                None => write!(line, ", running for {}", lasting(now, agent.run.started)),
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
    if let Some(usage) = agent.usage.filter(|usage| !usage.is_empty()) {
        let _ = write!(line, "; {}", used(usage));
    }
    line
}

/// `working for 4m`, `finished 2m ago`, `waiting until 14:05 (usage limit) for 2m`
fn for_how_long(doing: &Doing, now: Timestamp) -> String {
    let words = doing.words(time_of_day);
    let screen = match doing.source {
        Source::Signals => "",
        Source::Screen => " (no signals; see its screen)",
    };
    match doing.state {
        // Nothing that lasts.
        State::Finished => format!("{words} {}{screen}", ago(now, doing.since)),
        _ => format!("{words} for {}{screen}", lasting(now, doing.since)),
    }
}

/// `57.0k in, 1.2k out, 0.3k cached, $0.16`
pub(super) fn used(usage: Usage) -> String {
    let mut parts = vec![
        format!("{} in", tokens(usage.input + usage.cache_write)),
        format!("{} out", tokens(usage.output)),
    ];
    if usage.cache_read > 0 {
        parts.push(format!("{} cached", tokens(usage.cache_read)));
    }
    if let Some(cost) = usage.cost {
        parts.push(format!("${cost:.2}"));
    }
    parts.join(", ")
}

/// In thousands, or in millions where there are many.
fn tokens(count: u64) -> String {
    let tenths = |unit: u64| (count.saturating_mul(10) + unit / 2) / unit;
    let form = |tenths: u64, sign: &str| format!("{}.{}{sign}", tenths / 10, tenths % 10);
    match count {
        0..1_000_000 => form(tenths(1_000), "k"),
        _ => form(tenths(1_000_000), "M"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_cost_in_one_line() {
        let usage = Usage {
            input: 56_000,
            output: 1_234,
            cache_read: 300,
            cache_write: 1_000,
            cost: Some(0.1649),
        };
        assert_eq!(used(usage), "57.0k in, 1.2k out, 0.3k cached, $0.16");
        let small = Usage {
            input: 2_345_678,
            output: 1,
            ..Usage::default()
        };
        assert_eq!(used(small), "2.3M in, 0.0k out");
    }
}

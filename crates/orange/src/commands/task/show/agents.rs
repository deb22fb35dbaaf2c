//! The part of `task show` about agents: who runs, what it is doing, what it has not been told yet.

use crate::ui::command::{command, spelled};
use crate::ui::{Palette, Style, ago, clean, lasting};
use orange_core::Action;
use orange_core::Timestamp;
use orange_core::usage::{Usage, tokens};
use orange_engine::runs::{Doing, State, StateSource};
use orange_engine::views::{AgentView, TaskFacts};
use std::fmt::Write;

/// How much of a message a line shows.
const SHOWN: usize = 100;

pub(super) fn to_text(facts: &TaskFacts) -> String {
    let mut text = String::new();
    if facts.agents.is_empty() {
        return text;
    }
    let palette = Palette::stdout();
    let now = Timestamp::now();
    text.push_str("\nagents\n");
    for agent in &facts.agents {
        let line = line(agent, now);
        let sign = if agent.alive {
            palette.paint(Style::Green, "●")
        } else {
            palette.paint(Style::Dim, "○")
        };
        let _ = writeln!(text, "  {sign} {}", clean(&line));
    }
    for message in &facts.messages {
        let words = message.text.as_deref().unwrap_or_default();
        let first = words.lines().next().unwrap_or_default();
        let first: String = first.chars().take(SHOWN).collect();
        let _ = writeln!(text, "  message {}: {}", message.state, clean(&first));
    }
    if facts.agents.iter().any(|agent| agent.alive) {
        let attach = command(&Action::attach(facts.view.task.name()));
        let _ = writeln!(text, "  {attach}");
    }
    text
}

fn line(agent: &AgentView, now: Timestamp) -> String {
    let mut line = format!("{:<9} {}", agent.role, agent.harness);
    match (&agent.ended, agent.alive) {
        (_, true) => {
            let _ = match &agent.doing {
                Some(doing) => write!(line, ", {}", for_how_long(doing, now)),
                None => write!(line, ", running for {}", lasting(now, agent.started)),
            };
        }
        (Some(end), false) => {
            let _ = write!(line, ", {} {}", end.how, ago(now, end.at));
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
    let words = spelled(&doing.words());
    let screen = match doing.source {
        StateSource::Signals => "",
        StateSource::Screen => " (no signals; see its screen)",
    };
    match doing.state {
        // Nothing that lasts.
        State::Finished => format!("{words} {}{screen}", ago(now, doing.since)),
        _ => format!("{words} for {}{screen}", lasting(now, doing.since)),
    }
}

/// `57.0k in, 1.2k out, 0.3k cached, $0.16`; `≥ $0.16` where that is not all it cost
pub(super) fn used(usage: Usage) -> String {
    let mut parts = vec![
        format!("{} in", tokens(usage.uncached_input())),
        format!("{} out", tokens(usage.output)),
    ];
    if usage.cache_read > 0 {
        parts.push(format!("{} cached", tokens(usage.cache_read)));
    }
    parts.extend(usage.cost_in_words());
    parts.join(", ")
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
            cost_partial: false,
        };
        assert_eq!(used(usage), "57.0k in, 1.2k out, 0.3k cached, $0.16");
        let partial = Usage {
            cost_partial: true,
            ..usage
        };
        assert_eq!(used(partial), "57.0k in, 1.2k out, 0.3k cached, ≥ $0.16");
        let small = Usage {
            input: 2_345_678,
            output: 1,
            ..Usage::default()
        };
        assert_eq!(used(small), "2.3M in, 0.0k out");
    }
}

//! What agents used of a model: tokens, and what they cost as far as their harness says. A figure is that of a whole
//! conversation so far, so that one which is resumed counts once.

use crate::history::History;
use crate::runs::runs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tokens and cost of one conversation, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Read by the model, without what came from its cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// In US dollars; None where the harness does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }

    /// Everything that went through the model.
    pub fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }

    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            cost: match (self.cost, other.cost) {
                (None, None) => None,
                (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
            },
        }
    }
}

/// What all runs of a task used; `live` knows those whose end is not journalled. None where no harness told.
pub fn total(history: &History, live: impl Fn(&str) -> Option<Usage>) -> Option<Usage> {
    let mut by_conversation: BTreeMap<String, Usage> = BTreeMap::new();
    for run in runs(history) {
        let known = run.usage.or_else(|| live(&run.id));
        let Some(usage) = known.filter(|usage| !usage.is_empty()) else {
            continue;
        };
        // A run that resumed a conversation says what all of it used.
        by_conversation.insert(run.conversation.unwrap_or(run.id), usage);
    }
    by_conversation.into_values().reduce(Usage::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_that_was_resumed_counts_once() {
        let line = |rest: &str| {
            format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"by\":\"engine\",{rest}}}\n")
        };
        let spawned = |run: &str, conversation: &str| {
            line(&format!(
                r#""type":"agent.spawned","run":"{run}","role":"worker","harness":"claude","conversation":"{conversation}""#
            ))
        };
        let ended = |run: &str, output: u32, cost: &str| {
            line(&format!(
                r#""type":"agent.stopped","run":"{run}","role":"worker","usage":{{"input":10,"output":{output}{cost}}}"#
            ))
        };
        let text = [
            spawned("a", "one"),
            ended("a", 5, ""),
            spawned("b", "one"),
            ended("b", 7, r#","cost":0.5"#),
            spawned("c", "two"),
            spawned("d", "three"),
            ended("d", 1, r#","cost":0.25"#),
        ]
        .concat();
        let history = History::parse(text.as_bytes());
        let live = |run: &str| {
            (run == "c").then_some(Usage {
                output: 100,
                ..Usage::default()
            })
        };
        let total = total(&history, live).unwrap();
        assert_eq!(
            (total.input, total.output, total.cost),
            (20, 108, Some(0.75))
        );
        assert_eq!(super::total(&History::parse(b""), |_| None), None);
    }
}

//! What agents cost: the share of each run of an interactive task, and sums in which it is known what is missing.

use crate::history::History;
use crate::runs::runs;
use crate::usage::{Usage, tokens};
use crate::work::prices::{Priced, Unpriced};
use crate::workflow::Role;
use crate::{Timestamp, choice};
use std::collections::BTreeMap;

choice! {
    /// By what costs are put together.
    pub enum CostBy ("grouping of costs") {
        Task = "task",
        Project = "project",
        Phase = "phase",
        Harness = "harness",
        Model = "model",
        Day = "day",
    }
}

/// What one run of an interactive task used beyond the earlier runs of its conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCost {
    pub run: String,
    pub harness: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// When it ended; of one that has not, when it started.
    pub at: Timestamp,
    /// Its end is not journalled: `usage` is what its conversation had used before it.
    pub is_open: bool,
    /// None: it told nothing.
    pub usage: Option<Usage>,
}

impl RunCost {
    /// The runs of a task, without its executors, whose turns are iterations.
    pub fn of(history: &History) -> Vec<RunCost> {
        let mut conversations: BTreeMap<String, Usage> = BTreeMap::new();
        let mut found = Vec::new();
        for run in runs(history) {
            if run.role == Role::Executor {
                continue;
            }
            let name = run.conversation.unwrap_or_else(|| run.id.clone());
            let before = conversations.get(&name).copied();
            let told = run.usage.filter(|usage| !usage.is_empty());
            let is_open = run.end.is_none() && run.usage.is_none();
            let usage = if is_open {
                before
            } else {
                told.map(|told| told.since(before.unwrap_or_default()))
            };
            if let Some(told) = told {
                conversations.insert(name, told);
            }
            found.push(RunCost {
                run: run.id,
                harness: run.harness,
                model: run.model,
                at: run.end.map_or(run.started, |end| end.at),
                is_open,
                usage,
            });
        }
        found
    }
}

/// What several runs and turns cost, and how much of it nobody knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cost {
    pub usage: Usage,
    /// How many runs and turns.
    pub count: usize,
    /// Some of them told nothing.
    pub has_silent: bool,
    /// Tokens without a price, by model; of a model that nobody named, by harness.
    pub unpriced: BTreeMap<String, Unpriced>,
}

impl Cost {
    /// Adds what one run or turn used. None: it told nothing.
    pub fn add(&mut self, used: Option<Priced>, model: Option<&str>, harness: &str) {
        self.count += 1;
        let Some(Priced { usage, unpriced }) = used.filter(|used| !used.usage.is_empty()) else {
            self.has_silent = true;
            return;
        };
        self.usage = self.usage.plus(usage);
        if unpriced.tokens > 0 {
            let name = model.unwrap_or(harness).to_owned();
            self.unpriced.entry(name).or_default().add(unpriced);
        }
    }

    /// The same usage, a lower bound where something is missing from it.
    pub fn known(&self) -> Usage {
        let is_partial = self.usage.cost_partial || self.has_silent || !self.unpriced.is_empty();
        Usage {
            cost_partial: self.usage.cost.is_some() && is_partial,
            ..self.usage
        }
    }

    pub fn usd(&self) -> f64 {
        self.usage.cost.unwrap_or(0.0)
    }

    pub fn unpriced_tokens(&self) -> u64 {
        let counts = self.unpriced.values();
        counts.fold(0, |sum, count| sum.saturating_add(count.tokens))
    }

    /// What has no price, with the setting that gives it one; None where everything has.
    pub fn missing_prices(&self) -> Option<String> {
        if self.unpriced.is_empty() {
            return None;
        }
        let names: Vec<String> = self
            .unpriced
            .iter()
            .map(|(name, unpriced)| {
                let fields: Vec<&str> = unpriced.fields.iter().copied().collect();
                match fields.as_slice() {
                    [] => format!("prices.{name}"),
                    fields => format!("{} of prices.{name}", fields.join(" and ")),
                }
            })
            .collect();
        let count = tokens(self.unpriced_tokens());
        Some(format!(
            "{count} tokens have no price ({})",
            names.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::prices::{Price, Prices};

    fn line(at: &str, rest: &str) -> String {
        format!("{{\"timestamp\":\"2026-01-{at}T00:00:00Z\",\"by\":\"engine\",{rest}}}\n")
    }

    fn spawned(at: &str, run: &str, role: &str, conversation: &str) -> String {
        line(
            at,
            &format!(
                r#""type":"agent.spawned","run":"{run}","role":"{role}","harness":"claude","model":"m","conversation":"{conversation}""#
            ),
        )
    }

    fn ended(at: &str, run: &str, usage: &str) -> String {
        line(
            at,
            &format!(r#""type":"agent.stopped","run":"{run}","role":"worker"{usage}"#),
        )
    }

    #[test]
    fn a_run_that_resumed_a_conversation_has_what_it_added() {
        let text = [
            spawned("01", "a", "worker", "one"),
            ended("02", "a", r#","usage":{"output":5,"cost":0.5}"#),
            spawned("03", "b", "worker", "one"),
            ended("04", "b", r#","usage":{"output":9,"cost":1.25}"#),
            spawned("05", "c", "worker", "one"),
            spawned("05", "d", "reviewer", "two"),
            ended("06", "d", ""),
            spawned("05", "e", "executor", "three"),
        ]
        .concat();
        let costs = RunCost::of(&History::parse(text.as_bytes()));
        let shown: Vec<_> = costs
            .iter()
            .map(|cost| {
                let usage = cost.usage.map(|usage| (usage.output, usage.cost));
                (cost.run.as_str(), cost.is_open, usage)
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("a", false, Some((5, Some(0.5)))),
                ("b", false, Some((4, Some(0.75)))),
                ("c", true, Some((9, Some(1.25)))),
                ("d", false, None),
            ]
        );
        assert_eq!(costs[1].at.to_string(), "2026-01-04T00:00:00Z");
        assert_eq!(costs[1].model.as_deref(), Some("m"));
    }

    #[test]
    fn what_has_no_price_is_said_with_the_setting() {
        let usage = |output: u64, cost: Option<f64>| {
            let usage = Usage {
                output,
                cost,
                ..Usage::default()
            };
            Some(Priced::from(usage))
        };
        let mut sum = Cost::default();
        sum.add(usage(1, Some(0.5)), Some("m"), "claude");
        assert_eq!(sum.missing_prices(), None);
        assert_eq!(sum.known().cost_in_words().as_deref(), Some("$0.50"));
        sum.add(usage(2_000, None), Some("x"), "codex");
        sum.add(usage(1_000, None), None, "codex");
        let told = "3.0k tokens have no price (prices.codex, prices.x)";
        assert_eq!(sum.missing_prices().as_deref(), Some(told));
        assert_eq!(sum.known().cost_in_words().as_deref(), Some("≥ $0.50"));
        let mut silent = Cost::default();
        silent.add(usage(1, Some(0.25)), None, "claude");
        silent.add(None, None, "claude");
        assert_eq!(silent.known().cost_in_words().as_deref(), Some("≥ $0.25"));
        assert_eq!((silent.count, silent.unpriced_tokens()), (2, 0));
    }

    #[test]
    fn what_a_price_lacks_is_said() {
        let price = Price {
            input: Some(3.0),
            ..Price::default()
        };
        let prices = Prices(BTreeMap::from([("sim-1".to_owned(), price)]));
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            ..Usage::default()
        };
        let mut sum = Cost::default();
        sum.add(
            Some(prices.priced(Some("sim-1"), usage)),
            Some("sim-1"),
            "sim",
        );
        assert_eq!(sum.known().cost_in_words().as_deref(), Some("≥ $3.00"));
        assert_eq!(sum.unpriced_tokens(), 100_000);
        let told = "100.0k tokens have no price (output of prices.sim-1)";
        assert_eq!(sum.missing_prices().as_deref(), Some(told));
        let endless = Usage {
            output: u64::MAX,
            ..Usage::default()
        };
        for model in ["x", "x", "y"] {
            sum.add(Some(endless.into()), Some(model), "sim");
        }
        assert_eq!(sum.unpriced_tokens(), u64::MAX);
    }
}

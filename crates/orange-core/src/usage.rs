//! What agents used of a model: tokens, and what they cost as far as their harness says. A figure is that of a whole
//! conversation so far, so that one which is resumed counts once.

use crate::history::payload::IterationNote;
use crate::history::{EventType, History};
use crate::runs::runs;
use crate::workflow::Role;
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
    /// It cost at least that much: of a part of it the cost is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cost_partial: bool,
}

/// `$0.16`, or `≥ $0.16` where that is not all of it.
pub(crate) fn cost_in_words(cost: f64, is_partial: bool) -> String {
    if !is_partial {
        return format!("${cost:.2}");
    }
    // A lower bound is never rounded up; the rest makes up for what binary fractions lose.
    let cents = (cost * 100.0 + 1e-6).floor();
    let bound = if cents.is_finite() {
        cents / 100.0
    } else {
        cost
    };
    format!("≥ ${bound:.2}")
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }

    /// Everything that went through the model.
    pub fn tokens(&self) -> u64 {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// What was not read from a cache.
    pub fn uncached_input(&self) -> u64 {
        self.input.saturating_add(self.cache_write)
    }

    /// `$0.16`, or `≥ $0.16` where that is not all of it; None where no cost is known.
    pub fn cost_in_words(&self) -> Option<String> {
        Some(cost_in_words(self.cost?, self.cost_partial))
    }

    /// The cost, or the tokens where no harness said what they cost: `$0.16`, `57.0k tok`.
    pub fn in_brief(&self) -> String {
        let tokens = || format!("{} tok", tokens(self.tokens()));
        self.cost_in_words().unwrap_or_else(tokens)
    }

    /// The sum of both, or the largest number where that is too large.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        let costs_nothing_known = |usage: Usage| usage.cost.is_none() && !usage.is_empty();
        let cost = match (self.cost, other.cost) {
            (None, None) => None,
            (one, other) => Some(sum_of_costs(one.unwrap_or(0.0), other.unwrap_or(0.0))),
        };
        let is_partial = [self, other]
            .into_iter()
            .any(|usage| usage.cost_partial || costs_nothing_known(usage));
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cost,
            cost_partial: cost.is_some() && is_partial,
        }
    }

    /// What came after `before` of the same conversation.
    #[must_use]
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cache_read: self.cache_read.saturating_sub(before.cache_read),
            cache_write: self.cache_write.saturating_sub(before.cache_write),
            cost: self
                .cost
                .map(|cost| sum_of_costs(cost, -before.cost.unwrap_or(0.0)).max(0.0)),
            cost_partial: self.cost_partial,
        }
    }

    /// The same conversation after another turn. Its later figures are those of all of it; a cost that is not told any
    /// more was at least what it was before.
    fn followed_by(self, later: Usage) -> Usage {
        match (self.cost, later.cost) {
            (Some(_), None) => Usage {
                cost: self.cost,
                cost_partial: true,
                ..later
            },
            _ => later,
        }
    }
}

/// A sum that stays a number: JSON and sums of sums have no place for others.
fn sum_of_costs(one: f64, other: f64) -> f64 {
    let known = |cost: f64| if cost.is_nan() { 0.0 } else { cost };
    let limited = |cost: f64| known(cost).clamp(f64::MIN, f64::MAX);
    limited(limited(one) + limited(other))
}

/// In thousands, or in millions where there are many.
pub fn tokens(count: u64) -> String {
    let tenths = |unit: u128| (u128::from(count) * 10 + unit / 2) / unit;
    let form = |tenths: u128, sign: &str| format!("{}.{}{sign}", tenths / 10, tenths % 10);
    match count {
        0..1_000_000 => form(tenths(1_000), "k"),
        _ => form(tenths(1_000_000), "M"),
    }
}

/// What all runs of a task used; `live` knows those whose end is not journalled. None where no harness told.
pub fn total(history: &History, live: impl Fn(&str) -> Option<Usage>) -> Option<Usage> {
    Spending::of(history).total(live)
}

/// What the journal says about usage. Lists keep it, so that they need not read journals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// What the conversations used of which every run has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Usage>,
    /// An ended conversation told nothing about its last run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    silent: bool,
    /// The runs whose end is not journalled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<OpenRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OpenRun {
    run: String,
    /// What its conversation had used before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Usage>,
}

/// One conversation, as far as its runs are known.
#[derive(Default)]
struct ConversationUsage {
    usage: Option<Usage>,
    /// The newest run told nothing: it died before, or its harness never does.
    silent: bool,
    open: Option<String>,
}

impl ConversationUsage {
    fn told(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage.filter(|usage| !usage.is_empty()) else {
            self.silent = true;
            return;
        };
        // A run that resumed a conversation says what all of it used.
        let total = self.usage.map_or(usage, |before| before.followed_by(usage));
        (self.usage, self.silent) = (Some(total), false);
    }
}

impl Spending {
    pub fn of(history: &History) -> Spending {
        let mut conversations: BTreeMap<String, ConversationUsage> = BTreeMap::new();
        for run in runs(history) {
            if run.role == Role::Executor {
                // What its agents used is told by their iterations.
                continue;
            }
            let name = run.conversation.unwrap_or_else(|| run.id.clone());
            let conversation = conversations.entry(name).or_default();
            if run.end.is_none() && run.usage.is_none() {
                conversation.open = Some(run.id);
            } else {
                conversation.open = None;
                conversation.told(run.usage);
            }
        }
        let mut spending = Spending::default();
        for conversation in conversations.into_values() {
            match (conversation.open, conversation.usage) {
                (Some(run), before) => spending.open.push(OpenRun { run, before }),
                (None, Some(usage)) => {
                    spending.ended = Some(spending.ended.map_or(usage, |sum| sum.plus(usage)));
                    spending.silent |= conversation.silent;
                }
                (None, None) => spending.silent = true,
            }
        }
        let mut iterations = BTreeMap::new();
        let ended = history.events.iter();
        for event in ended.filter(|event| event.kind == EventType::IterationEnded) {
            if let Some(note) = IterationNote::of(event) {
                // Told again where more of it became known: the last word counts.
                let number = (note.phase.map(str::to_owned), note.iteration, note.kind);
                iterations.insert(number, note.usage);
            }
        }
        for usage in iterations.into_values() {
            match usage.filter(|usage| !usage.is_empty()) {
                Some(usage) => {
                    spending.ended = Some(spending.ended.map_or(usage, |sum| sum.plus(usage)));
                }
                None => spending.silent = true,
            }
        }
        spending
    }

    /// Nothing was told, and nothing can be told any more.
    pub fn is_empty(&self) -> bool {
        self.ended.is_none() && self.open.is_empty()
    }

    /// Prices may tell more of what it cost than its agents did, or will.
    pub fn lacks_costs(&self) -> bool {
        let is_unknown = |usage: Usage| usage.cost.is_none() || usage.cost_partial;
        !self.open.is_empty() || self.ended.is_some_and(is_unknown)
    }

    /// The sum; `live` knows what open runs have used so far.
    pub fn total(&self, live: impl Fn(&str) -> Option<Usage>) -> Option<Usage> {
        let (mut sum, mut silent) = (self.ended, self.silent);
        for open in &self.open {
            let mut conversation = ConversationUsage {
                usage: open.before,
                ..ConversationUsage::default()
            };
            conversation.told(live(&open.run));
            silent |= conversation.silent;
            sum = match (sum, conversation.usage) {
                (Some(sum), Some(usage)) => Some(sum.plus(usage)),
                (sum, usage) => sum.or(usage),
            };
        }
        let total = sum?;
        Some(Usage {
            cost_partial: total.cost.is_some() && (total.cost_partial || silent),
            ..total
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rest: &str) -> String {
        format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"by\":\"engine\",{rest}}}\n")
    }

    fn spawned(run: &str, conversation: &str) -> String {
        line(&format!(
            r#""type":"agent.spawned","run":"{run}","role":"worker","harness":"claude","conversation":"{conversation}""#
        ))
    }

    /// The end of a run that told so many tokens, and its cost.
    fn ended(run: &str, output: u32, cost: &str) -> String {
        line(&format!(
            r#""type":"agent.stopped","run":"{run}","role":"worker","usage":{{"input":10,"output":{output}{cost}}}"#
        ))
    }

    /// The end of a run that told nothing.
    fn crashed(run: &str) -> String {
        line(&format!(
            r#""type":"agent.crashed","run":"{run}","role":"worker""#
        ))
    }

    fn cost_of(lines: &[String]) -> Option<String> {
        let history = History::parse(lines.concat().as_bytes());
        total(&history, |_| None)?.cost_in_words()
    }

    #[test]
    fn a_conversation_that_was_resumed_counts_once() {
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
            (total.input, total.output, total.cost, total.cost_partial),
            (20, 108, Some(0.75), true)
        );
        assert_eq!(super::total(&History::parse(b""), |_| None), None);
    }

    #[test]
    fn a_cost_that_is_known_in_part_is_a_lower_bound() {
        let told = [spawned("a", "one"), ended("a", 5, r#","cost":0.115"#)].concat();
        let whole = |more: &[String]| {
            let lines: Vec<String> = std::iter::once(&told).chain(more).cloned().collect();
            cost_of(&lines).unwrap()
        };
        assert_eq!(whole(&[]), "$0.12");
        let other = spawned("b", "two");
        for (why, more) in [
            ("runs still", vec![other.clone()]),
            ("died before it told", vec![other.clone(), crashed("b")]),
            ("tells tokens only", vec![other.clone(), ended("b", 1, "")]),
            ("resumed and runs still", vec![spawned("b", "one")]),
            (
                "resumed and told tokens only",
                vec![spawned("b", "one"), ended("b", 9, "")],
            ),
            (
                "tells a part itself",
                vec![
                    other.clone(),
                    ended("b", 1, r#","cost":0.0,"cost_partial":true"#),
                ],
            ),
        ] {
            assert_eq!(whole(&more), "≥ $0.11", "{why}");
        }
        // Once it has told, all of it is known.
        let resumed = [
            spawned("b", "one"),
            ended("b", 9, ""),
            spawned("c", "one"),
            ended("c", 9, r#","cost":0.3"#),
        ];
        assert_eq!(whole(&resumed), "$0.30");
        assert_eq!(
            cost_of(&[other, ended("b", 1, "")]),
            None,
            "nothing is known"
        );
    }

    #[test]
    fn a_lower_bound_is_not_rounded_up() {
        for (cost, shown) in [(0.29, "≥ $0.29"), (0.296, "≥ $0.29"), (0.0, "≥ $0.00")] {
            let usage = Usage {
                cost: Some(cost),
                cost_partial: true,
                ..Usage::default()
            };
            assert_eq!(usage.cost_in_words().as_deref(), Some(shown));
        }
        let none = Usage {
            output: 7,
            ..Usage::default()
        };
        assert_eq!(none.cost_in_words(), None);
        assert!(!none.plus(none).cost_partial);
        assert!(!serde_json::to_string(&none).unwrap().contains("cost"));
    }

    #[test]
    fn sums_end_at_the_largest_number() {
        let most = Usage {
            input: u64::MAX,
            output: u64::MAX,
            cache_write: 1,
            cost: Some(f64::MAX),
            ..Usage::default()
        };
        let sum = most.plus(most);
        assert_eq!((sum.input, sum.tokens()), (u64::MAX, u64::MAX));
        assert_eq!(sum.uncached_input(), u64::MAX);
        assert_eq!(sum.cost, Some(f64::MAX));
        assert_eq!(sum.since(most).cost, Some(0.0));
        assert_eq!(tokens(u64::MAX), "18446744073709.6M");
        for odd in [f64::INFINITY, f64::NAN] {
            let odd = Usage {
                cost: Some(odd),
                ..most
            };
            for sum in [odd.plus(most), most.plus(odd), odd.since(odd)] {
                assert!(sum.cost.unwrap().is_finite(), "{sum:?}");
            }
        }
        let partial = Usage {
            cost_partial: true,
            ..most
        };
        assert!(!partial.cost_in_words().unwrap().contains("inf"));
    }
}

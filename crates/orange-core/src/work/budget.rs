//! Budgets: what a task and a calendar month may cost, and whether that is spent.

use crate::cost::Cost;
use crate::usage::cost_in_words;
use crate::{Timestamp, choice};
use jiff::tz::TimeZone;
use serde::Serialize;
use std::ops::Range;

choice! {
    /// What a budget is for.
    pub enum BudgetScope ("scope of a budget") { Task = "task", Month = "month" }
}

choice! {
    /// How far a budget is used up.
    pub enum BudgetState ("state of a budget") {
        Free = "free",
        /// `budget.warn_at` is reached.
        Warn = "warn",
        Spent = "spent",
    }
}

/// A budget, and what has been spent of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Budget {
    pub scope: BudgetScope,
    /// In US dollars, as the other.
    pub limit: f64,
    pub spent: f64,
    /// At least that much is spent: of a part it is not known what it cost.
    pub partial: bool,
    pub unpriced_tokens: u64,
    /// Per cent of the limit.
    pub warn_at: u32,
    pub state: BudgetState,
    /// What has no price, and which setting gives it one.
    #[serde(skip)]
    pub missing_prices: Option<String>,
}

/// What binary fractions lose in a sum of cents.
const LOST: f64 = 1e-9;

impl Budget {
    pub fn new(scope: BudgetScope, limit: f64, warn_at: u32, cost: &Cost) -> Budget {
        let known = cost.known();
        let is_partial = known.cost_partial || !cost.unpriced.is_empty();
        Budget {
            scope,
            limit,
            spent: cost.usd(),
            partial: is_partial,
            unpriced_tokens: cost.unpriced_tokens(),
            warn_at,
            state: state(cost.usd(), limit, warn_at),
            missing_prices: cost.missing_prices(),
        }
    }

    pub fn is_spent(&self) -> bool {
        self.state == BudgetState::Spent
    }

    /// `$2.45 of $3.00`
    pub fn in_brief(&self) -> String {
        format!("{} of ${:.2}", self.spent_in_words(), self.limit)
    }

    /// The same as a whole sentence without its end, for people who are told once.
    pub fn in_words(&self) -> String {
        let whose = self.whose();
        let limit = self.limit;
        let used = self.spent_in_words();
        let words = match self.state {
            BudgetState::Spent => format!("{whose} budget of ${limit:.2} is spent ({used})"),
            BudgetState::Free | BudgetState::Warn => {
                format!("{used} of {whose} budget of ${limit:.2} is spent")
            }
        };
        match &self.missing_prices {
            Some(missing) => format!("{words}; {missing}"),
            None => words,
        }
    }

    /// The setting that has it.
    pub fn setting(&self) -> &'static str {
        match self.scope {
            BudgetScope::Task => "budget.task",
            BudgetScope::Month => "budget.month",
        }
    }

    fn whose(&self) -> &'static str {
        match self.scope {
            BudgetScope::Task => "its",
            BudgetScope::Month => "the month's",
        }
    }

    fn spent_in_words(&self) -> String {
        cost_in_words(self.spent, self.partial)
    }
}

fn state(spent: f64, limit: f64, warn_at: u32) -> BudgetState {
    if spent + LOST >= limit {
        BudgetState::Spent
    } else if spent + LOST >= limit * f64::from(warn_at) / 100.0 {
        BudgetState::Warn
    } else {
        BudgetState::Free
    }
}

/// The calendar month of a moment, from its first instant to that of the next one.
pub fn month_of(now: Timestamp, zone: &TimeZone) -> Range<Timestamp> {
    let date = now.to_zoned(zone.clone()).date();
    let start = date.first_of_month().to_zoned(zone.clone());
    let next = date.last_of_month().tomorrow();
    let end = next.and_then(|next| next.to_zoned(zone.clone()));
    range(start, end)
}

/// The day of a moment.
pub fn day_of(now: Timestamp, zone: &TimeZone) -> Range<Timestamp> {
    let date = now.to_zoned(zone.clone()).date();
    let next = date.tomorrow();
    let end = next.and_then(|next| next.to_zoned(zone.clone()));
    range(date.to_zoned(zone.clone()), end)
}

/// The ends of time stand for a date that there is not.
fn range(
    start: Result<jiff::Zoned, jiff::Error>,
    end: Result<jiff::Zoned, jiff::Error>,
) -> Range<Timestamp> {
    let start = start.map_or(Timestamp::MIN, |start| start.timestamp());
    start..end.map_or(Timestamp::MAX, |end| end.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Usage;

    fn cost(usd: f64) -> Cost {
        let mut cost = Cost::default();
        let usage = Usage {
            output: 1,
            cost: Some(usd),
            ..Usage::default()
        };
        cost.add(Some(usage.into()), Some("m"), "sim");
        cost
    }

    #[test]
    fn a_budget_is_spent_at_its_limit_and_warns_before() {
        for (spent, limit, warn_at, expected) in [
            (0.0, 3.0, 80, BudgetState::Free),
            (2.39, 3.0, 80, BudgetState::Free),
            (2.4, 3.0, 80, BudgetState::Warn),
            (2.99, 3.0, 80, BudgetState::Warn),
            (0.1 + 0.2, 0.3, 80, BudgetState::Spent),
            (3.0, 3.0, 80, BudgetState::Spent),
            (9.0, 3.0, 80, BudgetState::Spent),
            (2.99, 3.0, 100, BudgetState::Free),
            (0.03, 3.0, 1, BudgetState::Warn),
        ] {
            let budget = Budget::new(BudgetScope::Task, limit, warn_at, &cost(spent));
            assert_eq!(budget.state, expected, "{spent} of {limit} at {warn_at}");
        }
        let nothing = Budget::new(BudgetScope::Month, 1.0, 80, &Cost::default());
        assert_eq!((nothing.state, nothing.partial), (BudgetState::Free, false));
    }

    #[test]
    fn a_budget_says_what_is_spent_and_what_is_not_known() {
        let mut sum = cost(3.12);
        let budget = |scope, sum: &Cost| Budget::new(scope, 3.0, 80, sum);
        assert_eq!(
            budget(BudgetScope::Task, &sum).in_words(),
            "its budget of $3.00 is spent ($3.12)"
        );
        assert_eq!(
            budget(BudgetScope::Month, &cost(2.45)).in_words(),
            "$2.45 of the month's budget of $3.00 is spent"
        );
        let unpriced = Usage {
            input: 57_000,
            ..Usage::default()
        };
        sum.add(Some(unpriced.into()), Some("x"), "codex");
        let told = budget(BudgetScope::Task, &sum);
        assert_eq!(told.in_brief(), "≥ $3.12 of $3.00");
        assert_eq!(
            told.in_words(),
            "its budget of $3.00 is spent (≥ $3.12); 57.0k tokens have no price (prices.x)"
        );
        assert_eq!(told.unpriced_tokens, 57_000);
        // A lower bound is not rounded up, here as everywhere.
        let mut bound = cost(2.459);
        bound.add(Some(unpriced.into()), Some("x"), "codex");
        let told = budget(BudgetScope::Month, &bound);
        assert_eq!(told.in_brief(), "≥ $2.45 of $3.00");
    }

    #[test]
    fn a_month_is_a_calendar_month_of_local_time() {
        let zone = TimeZone::get("Europe/Berlin").unwrap_or(TimeZone::fixed(jiff::tz::offset(1)));
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        // Half an hour of January is left in London, and none in Berlin.
        let month = month_of(at("2026-01-31T23:30:00Z"), &zone);
        assert_eq!(month.start, at("2026-01-31T23:00:00Z"));
        assert_eq!(
            month.end.to_zoned(zone.clone()).date().to_string(),
            "2026-03-01"
        );
        let day = day_of(at("2026-01-31T22:30:00Z"), &zone);
        assert_eq!(day, at("2026-01-30T23:00:00Z")..at("2026-01-31T23:00:00Z"));
        for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::UNIX_EPOCH] {
            for zone in [TimeZone::UTC, zone.clone()] {
                assert!(month_of(extreme, &zone).contains(&extreme) || extreme == Timestamp::MAX);
                assert!(day_of(extreme, &zone).start <= extreme);
            }
        }
    }
}

//! Tells the person once how far a budget is used up.

use crate::budget;
use crate::call::Call;
use crate::effects::notify::tell_of_budget;
use crate::error::Result;
use jiff::tz::TimeZone;
use orange_core::history::History;
use orange_core::task::Task;
use orange_core::work::budget::{Budget, BudgetScope, BudgetState};

/// Tells of budgets that are used up to a large part; of one that is spent the pause of the task tells.
pub(crate) fn warn(call: &Call, task: &Task, budgets: &[Budget]) {
    let is_large = |budget: &&Budget| budget.state == BudgetState::Warn;
    for budget in budgets.iter().filter(is_large) {
        tell(call, task, budget);
    }
}

/// Tells of the budgets of an interactive task and of the month, of those that are spent too: nothing is paused.
pub(crate) fn tell_of_runs(call: &Call, task: &Task, history: &History) {
    if task.has_plan() {
        return;
    }
    let budgets = || -> Result<Vec<Budget>> {
        let both = [budget::of_runs(call, history)?, budget::of_month(call)?];
        Ok(both.into_iter().flatten().collect())
    };
    match budgets() {
        Ok(budgets) => {
            let is_large = |budget: &&Budget| budget.state != BudgetState::Free;
            for budget in budgets.iter().filter(is_large) {
                tell(call, task, budget);
            }
        }
        Err(error) => tracing::warn!(%error, "what is spent of the budgets cannot be read"),
    }
}

fn tell(call: &Call, task: &Task, budget: &Budget) {
    let (limit, state) = (budget.limit, budget.state);
    let key = match budget.scope {
        BudgetScope::Task => format!("{} budget.task {limit} {state}", task.id),
        BudgetScope::Month => {
            let today = call.now().to_zoned(TimeZone::system());
            format!("budget.month {limit} {state} {}", today.strftime("%Y-%m"))
        }
    };
    tell_of_budget(call, task, &key, &budget.in_words());
}

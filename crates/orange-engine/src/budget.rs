//! The budgets of the settings: what a task and the month have spent of them, and what that keeps from starting.

use crate::call::Call;
use crate::costs::{self, each_cost};
use crate::error::Result;
use crate::settings;
use jiff::tz::TimeZone;
use orange_core::cost::Cost;
use orange_core::history::History;
use orange_core::task::Task;
use orange_core::work::budget::{Budget, BudgetScope, month_of};
use orange_core::work::execution::Execution;
use orange_core::workflow::Workflow;

/// The budget of a phased task, whose turns are all that it costs; None: the settings set none.
pub(crate) fn of_execution(call: &Call, execution: &Execution) -> Result<Option<Budget>> {
    let config = settings::config(call)?;
    let Some(limit) = config.budget.task else {
        return Ok(None);
    };
    let cost = execution.cost(&config.prices);
    let warn_at = config.budget.warn_at;
    Ok(Some(Budget::new(BudgetScope::Task, limit, warn_at, &cost)))
}

/// The budget of an interactive task; None: the settings set none.
pub(crate) fn of_runs(call: &Call, history: &History) -> Result<Option<Budget>> {
    let budget = &settings::config(call)?.budget;
    let Some(limit) = budget.task else {
        return Ok(None);
    };
    let cost = costs::of_runs(call, history)?;
    let warn_at = budget.warn_at;
    Ok(Some(Budget::new(BudgetScope::Task, limit, warn_at, &cost)))
}

/// The budget of this calendar month, of all tasks; None: the settings set none.
pub(crate) fn of_month(call: &Call) -> Result<Option<Budget>> {
    let budget = &settings::config(call)?.budget;
    let Some(limit) = budget.month else {
        return Ok(None);
    };
    let month = month_of(call.now(), &TimeZone::system());
    let mut cost = Cost::default();
    each_cost(call, Some(month.start), |entry| {
        // A clock that went wrong dates some of them later.
        if entry.at < month.end {
            entry.add_to(&mut cost);
        }
    })?;
    let warn_at = budget.warn_at;
    Ok(Some(Budget::new(BudgetScope::Month, limit, warn_at, &cost)))
}

/// Both, as far as the settings set them: that of the task first.
pub(crate) fn of_both(call: &Call, execution: &Execution) -> Result<Vec<Budget>> {
    let both = [of_execution(call, execution)?, of_month(call)?];
    Ok(both.into_iter().flatten().collect())
}

/// Why a task may not go on, if a budget of it is spent and nobody lets it go on nevertheless.
pub(crate) fn spent(call: &Call, execution: &Execution) -> Result<Option<Budget>> {
    if execution.over_budget {
        return Ok(None);
    }
    let both = of_both(call, execution)?;
    Ok(both.into_iter().find(Budget::is_spent))
}

/// The budgets of a phased task that are spent, in words.
pub(crate) fn spent_in_words(call: &Call, task: &Task) -> Option<String> {
    let execution = stored(call, task).ok()?;
    let both = of_both(call, &execution).ok()?;
    let spent = both.iter().filter(|budget| budget.is_spent());
    let words: Vec<String> = spent.map(Budget::in_words).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The budget for which a task does not start by itself: of one that has no plan by its workflow the month's budget alone counts.
pub(crate) fn in_the_way(call: &Call, task: &Task) -> Result<Option<Budget>> {
    let budget = &settings::config(call)?.budget;
    if budget.task.is_none() && budget.month.is_none() {
        return Ok(None);
    }
    if Workflow::named(task.workflow).has_plans {
        spent(call, &stored(call, task)?)
    } else {
        Ok(of_month(call)?.filter(Budget::is_spent))
    }
}

fn stored(call: &Call, task: &Task) -> Result<Execution> {
    let found = call.with_existing_database(|database| database.execution(&task.id))?;
    Ok(found.flatten().unwrap_or_default())
}

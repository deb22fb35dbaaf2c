//! The budgets before a model is asked: a person is warned once, and the executor ends where one is spent.

use crate::budget;
use crate::call::Call;
use crate::effects::notify::tell_of_budget;
use crate::error::Result;
use crate::execution;
use crate::phases::executor::{End, Executor};
use jiff::tz::TimeZone;
use orange_core::task::Task;
use orange_core::work::budget::{Budget, BudgetScope, BudgetState};
use orange_core::work::execution::Execution;
use orange_core::workflow::Trigger;

/// Looks at the budgets as the settings have them now. Something, when the executor is to end.
pub(super) fn look(this: &Executor<'_>, execution: &Execution) -> Result<Option<End>> {
    // A person may have changed them since the executor began.
    let call = &this.call.anew();
    let budgets = budget::of_both(call, execution)?;
    warn(call, &this.task, &budgets);
    let spent = budgets.into_iter().find(Budget::is_spent);
    let spent = spent.filter(|_| !execution.over_budget);
    Ok(spent.map(|spent| End::Because(Trigger::BUDGET_SPENT, spent.in_words())))
}

/// The same where no turn follows: the last one may have reached what a person is warned of.
pub(super) fn warn_at_end(call: &Call, task: &Task) {
    let looked = || {
        let execution = execution::execution(call, task)?;
        budget::of_both(&call.anew(), &execution)
    };
    match looked() {
        Ok(budgets) => warn(call, task, &budgets),
        Err(error) => tracing::warn!(%error, "nobody knows what of the budgets is spent"),
    }
}

/// Tells of what is spent to a large part; of what is all spent the pause tells.
fn warn(call: &Call, task: &Task, budgets: &[Budget]) {
    for budget in budgets.iter().filter(|one| one.state == BudgetState::Warn) {
        let limit = budget.limit;
        let key = match budget.scope {
            BudgetScope::Task => format!("{} budget.task {limit}", task.id),
            BudgetScope::Month => {
                let today = call.now().to_zoned(TimeZone::system());
                format!("budget.month {limit} {}", today.strftime("%Y-%m"))
            }
        };
        tell_of_budget(call, task, &key, &budget.in_words());
    }
}

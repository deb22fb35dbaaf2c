//! The budgets before a model is asked: a person is warned once, and the executor ends where one is spent.

use crate::budget;
use crate::call::Call;
use crate::effects::budget::warn;
use crate::error::Result;
use crate::execution;
use crate::phases::executor::{Executor, ExecutorEnd};
use orange_core::task::Task;
use orange_core::work::budget::Budget;
use orange_core::work::execution::Execution;
use orange_core::workflow::Trigger;

/// Looks at the budgets as the settings have them now. Something, when the executor is to end.
pub(super) fn look(this: &Executor<'_>, execution: &Execution) -> Result<Option<ExecutorEnd>> {
    // A person may have changed them since the executor began.
    let call = &this.call.anew();
    let budgets = budget::of_both(call, execution)?;
    warn(call, &this.task, &budgets);
    let spent = budgets.into_iter().find(Budget::is_spent);
    let spent = spent.filter(|_| !execution.over_budget);
    Ok(spent.map(|spent| ExecutorEnd::Because(Trigger::BUDGET_SPENT, spent.in_words())))
}

/// Warns where no turn follows: the last one may have reached what a person is warned of.
pub(super) fn warn_at_end(call: &Call, task: &Task) {
    let call = &call.anew();
    let looked =
        execution::execution(call, task).and_then(|execution| budget::of_both(call, &execution));
    match looked {
        Ok(budgets) => warn(call, task, &budgets),
        Err(error) => tracing::warn!(%error, "what is spent of the budgets cannot be read"),
    }
}

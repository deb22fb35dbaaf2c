//! What only a person may do, and what an agent may do with its own task alone.

use crate::call::{Call, Caller};
use crate::error::{Result, err};
use orange_core::task::Task;

/// Refuses an agent that reaches for a task that is not its own.
pub fn own_task_only(call: &Call, task: &Task, verb: &str) -> Result<()> {
    match &call.caller {
        Caller::Human | Caller::Engine => Ok(()),
        Caller::Agent { task: own, .. } if *own == task.id => Ok(()),
        Caller::Agent {
            task: own, role, ..
        } => Err(err!(
            NotAllowed,
            "this {role} agent runs for task {own} and may not {verb} {}",
            task.label()
        )
        .hint("an agent may read every task, but change only its own")),
    }
}

/// Refuses an agent outright, where only a person decides.
pub fn people_only(call: &Call, what: &str) -> Result<()> {
    match &call.caller {
        Caller::Human | Caller::Engine => Ok(()),
        Caller::Agent { role, .. } => Err(err!(
            NotAllowed,
            "{} agent may not {what}",
            with_article(role.as_str())
        )
        .hint("only a person may do that; ask the person you work for")),
    }
}

pub(crate) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

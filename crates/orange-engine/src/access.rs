//! What only a person may do, and what an agent may do with its own task alone.

use crate::call::{Call, Caller};
use crate::error::{Result, err};
use orange_core::task::Task;
use orange_core::work::execution::{Iteration, IterationKind};

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

/// Refuses a judge what shows the conversation of the agent that it judges.
pub fn not_for_a_judge(call: &Call, what: &str) -> Result<()> {
    let Caller::Agent { task, .. } = &call.caller else {
        return Ok(());
    };
    let execution = call.with_existing_database(|database| database.execution(task))?;
    let execution = execution.flatten().unwrap_or_default();
    // An executor runs one agent at a time: what is below it while a judge is at work belongs to that judge.
    let is_judging = |known: &Iteration| known.kind == IterationKind::Judge && known.is_open();
    if !execution.iterations.iter().any(is_judging) {
        return Ok(());
    }
    Err(err!(NotAllowed, "a judge may not {what}").hint(
        "a judge never sees what the agent said that it judges; decide by what your prompt has",
    ))
}

pub(crate) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

//! What is not merged, whatever git says: tasks without work, without a target, and wishes without an effect.

use super::MergeWish;
use crate::error::{Code, Error, Result};
use crate::projects::Project;
use orange_core::history::History;
use orange_core::merge::Strategy;
use orange_core::task::{Status, Task};

/// A message that would stand nowhere is not passed over in silence.
pub(super) fn has_use_for_message(wish: &MergeWish, default: Strategy) -> Result<()> {
    let strategy = wish.strategy.unwrap_or(default);
    match strategy {
        Strategy::Rebase | Strategy::Ff if wish.message.is_some() => Err(Error::new(
            Code::Usage,
            format!(
                "--message has no place with --strategy {strategy}: commits keep their own messages"
            ),
        )
        .hint("leave it out, or use --strategy squash or merge")),
        Strategy::Squash | Strategy::Merge | Strategy::Rebase | Strategy::Ff => Ok(()),
    }
}

/// A branch has always all of its own work; that would end the task with nothing merged.
pub(super) fn has_a_target(task: &Task, project: &Project) -> Result<()> {
    if task.target(&project.default_branch) != task.branch {
        return Ok(());
    }
    let label = task.label();
    Err(Error::new(
        Code::ConditionUnmet,
        format!("{label} works on {}, which is its target too", task.branch),
    )
    .hint(format!(
        "choose where it goes: `orange task update {label} --target-branch BRANCH`"
    )))
}

/// What is not to be merged, whatever git says.
pub(super) fn mergeable(task: &Task) -> Result<()> {
    let label = task.label();
    match task.status {
        Status::Done => Err(Error::new(
            Code::IllegalTransition,
            format!("{label} is done already"),
        )
        .hint(format!("`orange task show {label} --history` says how"))),
        Status::Cancelled => Err(Error::new(
            Code::IllegalTransition,
            format!("{label} was cancelled, so it is not merged"),
        )
        .hint(format!(
            "start again from it: `orange task create --from {label} --with-work`"
        ))),
        Status::Pending => Err(Error::new(
            Code::IllegalTransition,
            format!("{label} is pending: there is no work to merge yet"),
        )
        .hint(format!("start it: `orange task spawn {label}`"))),
        _ => Ok(()),
    }
}

/// Refuses a branch on which nothing was ever committed.
pub(super) fn has_work(task: &Task, history: &History, head: Option<&str>) -> Result<()> {
    let mut events = history.events.iter();
    let base = events.find_map(|event| event.details.get("base_commit")?.as_str());
    if base.is_none() || base != head {
        return Ok(());
    }
    let label = task.label();
    Err(Error::new(
        Code::ConditionUnmet,
        format!("{label} has no commits of its own, so there is nothing to merge"),
    )
    .hint(format!(
        "if nothing had to be done: `orange task resolve {label} --message TEXT`; if work is not committed yet: `orange task shell {label}`"
    )))
}

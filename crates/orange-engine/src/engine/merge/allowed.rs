//! What is not merged, whatever git says: tasks without work, without a target, and wishes without an effect.

use super::MergeWish;
use crate::error::{Code, Error, Result};
use crate::projects::Project;
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

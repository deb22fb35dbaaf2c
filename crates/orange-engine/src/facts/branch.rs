//! The branch of a task as a name: whose it is, and what happens when it changes.

use crate::call::Call;
use crate::error::{Result, err};
use crate::index::query::FoundTask;
use crate::{field_checks, git, workspaces};
use orange_core::task::Task;
use orange_core::{Action, text};

/// The branch that the work goes to is nobody's own.
pub(crate) fn is_not_the_target(call: &Call, task: &Task, branch: &str) -> Result<()> {
    let Some(project) = call.project_of(&task.project) else {
        return Ok(());
    };
    if branch != task.target(&project.default_branch) && branch != project.default_branch {
        return Ok(());
    }
    Err(err!(
        Conflict,
        "{branch} is the branch the work goes to, so it cannot be the task's own"
    )
    .hint("choose another branch"))
}

pub(crate) fn checked_out_branch(call: &Call, task: &Task) -> Result<String> {
    let slot = task.workspace.clone().ok_or_else(|| {
        err!(
            ConditionUnmet,
            "{} has no workspace whose branch could be taken over",
            task.label()
        )
        .hint(text!(
            "name the branch: {}",
            Action::name_branch(task.name())
        ))
    })?;
    let folder = workspaces::slot_folder(call, &slot);
    git::current_branch(&folder)?.ok_or_else(|| {
        err!(ConditionUnmet, "no branch is checked out in {slot}").hint(text!(
            "check one out there, or name it: {}",
            Action::name_branch(task.name())
        ))
    })
}

/// A name git accepts and no other live task has.
pub(crate) fn branch_is_free(
    call: &Call,
    project: &str,
    branch: &str,
    own_id: Option<&str>,
) -> Result<()> {
    let hint = "no spaces, `~ ^ : ? * [ \\`, `..`, no leading `-`, no trailing `/` or `.lock`";
    field_checks::check_branch_name(branch, hint)?;
    let taken = call.index()?.by_branch(project, branch)?;
    let is_others = |task: &&FoundTask| Some(task.id.as_str()) != own_id && task.is_live();
    let Some(task) = taken.iter().find(is_others) else {
        return Ok(());
    };
    let label = task.label();
    Err(err!(
        Conflict,
        "branch {branch} belongs to {label} ({})",
        task.status
    )
    .hint(text!(
        "choose another branch, or end that task first: {}",
        Action::cancel(task.name(), false)
    )))
}

//! Gives a task's branch another name, in git and in the journal.

use crate::call::{self, Call};
use crate::error::{Result, err};
use crate::verbs::change::Edit;
use crate::{git, workspaces};
use orange_core::task::Task;
use orange_core::{Action, text};

/// A task that has a worktree takes its branch along when it gets another name. True if the name changed.
pub(crate) fn rename_branch(
    call: &Call,
    before: &Task,
    after: &Task,
    edits: &[Edit],
) -> Result<bool> {
    if before.branch == after.branch {
        return Ok(false);
    }
    let named = edits
        .iter()
        .any(|edit| matches!(edit, Edit::Branch(Some(_))));
    let Some(slot) = before.workspace.as_ref().filter(|_| named) else {
        return Ok(true);
    };
    let folder = workspaces::slot_folder(call, slot);
    let current = git::current_branch(&folder)?;
    if current.as_ref() == Some(&after.branch) {
        return Ok(true);
    }
    let project = call::registered(call, &before.project)?;
    if git::branch_exists(&project.path, &after.branch)? {
        return Err(err!(
            Conflict,
            "there is a branch {} already, and {slot} is on {}",
            after.branch,
            current.as_deref().unwrap_or("no branch")
        )
        .hint(text!(
            "check it out in the worktree, then {}; or choose another name",
            Action::take_branch(after.name())
        )));
    }
    if git::branch_exists(&project.path, &before.branch)? {
        if let Some(place) = git::worktree::checked_out_at(&project.path, &before.branch)?
            && !git::worktree::same_folder(&place, &folder)
        {
            return Err(err!(
                Conflict,
                "branch {} is checked out at {}, so it is not renamed",
                before.branch,
                place.display()
            )
            .hint("switch to another branch there first"));
        }
        git::worktree::rename_branch(&call.site(&project.path), &before.branch, &after.branch)?;
    }
    Ok(true)
}

//! The branch of a task as a name: whose it is, and what happens when it changes.

use super::{Edit, Engine};
use crate::error::{Code, Error, Result};
use crate::git;
use orange_core::task::{Status, Task};
use orange_core::{Action, text};

impl Engine {
    /// A task that has a worktree takes its branch along when it gets another name. True if the name changed.
    pub(super) fn rename_branch(
        &self,
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
        let folder = self.slot_folder(slot);
        let current = git::current_branch(&folder)?;
        if current.as_ref() == Some(&after.branch) {
            return Ok(true);
        }
        let project = self.registered(&before.project)?;
        if git::branch_exists(&project.path, &after.branch)? {
            return Err(Error::new(
                Code::Conflict,
                format!(
                    "there is a branch {} already, and {slot} is on {}",
                    after.branch,
                    current.as_deref().unwrap_or("no branch")
                ),
            )
            .hint(text!(
                "check it out in the worktree, then {}; or choose another name",
                Action::take_branch(after.label())
            )));
        }
        if git::branch_exists(&project.path, &before.branch)? {
            if let Some(place) = git::worktree::checked_out_at(&project.path, &before.branch)?
                && !git::worktree::same_folder(&place, &folder)
            {
                return Err(Error::new(
                    Code::Conflict,
                    format!(
                        "branch {} is checked out at {}, so it is not renamed",
                        before.branch,
                        place.display()
                    ),
                )
                .hint("switch to another branch there first"));
            }
            git::worktree::rename_branch(&project.path, &before.branch, &after.branch)?;
        }
        Ok(true)
    }

    /// The branch that the work goes to is nobody's own.
    pub(super) fn is_not_the_target(&self, task: &Task, branch: &str) -> Result<()> {
        let Some(project) = self.project_of(&task.project) else {
            return Ok(());
        };
        if branch != task.target(&project.default_branch) && branch != project.default_branch {
            return Ok(());
        }
        Err(Error::new(
            Code::Conflict,
            format!("{branch} is the branch the work goes to, so it cannot be the task's own"),
        )
        .hint("choose another branch"))
    }

    pub(super) fn checked_out_branch(&self, task: &Task) -> Result<String> {
        let slot = task.workspace.clone().ok_or_else(|| {
            Error::new(
                Code::ConditionUnmet,
                format!(
                    "{} has no workspace whose branch could be taken over",
                    task.label()
                ),
            )
            .hint("name the branch: `--branch NAME`")
        })?;
        let folder = self.slot_folder(&slot);
        git::current_branch(&folder)?.ok_or_else(|| {
            Error::new(
                Code::ConditionUnmet,
                format!("no branch is checked out in {slot}"),
            )
            .hint("check one out there, or name it: `--branch NAME`")
        })
    }

    /// A name git accepts and no other live task has.
    pub(crate) fn branch_is_free(
        &self,
        project: &str,
        branch: &str,
        own_id: Option<&str>,
    ) -> Result<()> {
        if !git::valid_branch_name(branch)? {
            return Err(Error::new(
                Code::Usage,
                format!("git does not accept {branch:?} as a branch name"),
            )
            .hint("no spaces, `~ ^ : ? * [ \\`, `..`, no leading `-`, no trailing `/` or `.lock`; see `git check-ref-format --help`"));
        }
        let taken = self.index()?.by_branch(project, branch)?;
        let live = taken.into_iter().find(|task| {
            Some(task.id.as_str()) != own_id && !task.status.parse().is_ok_and(Status::is_terminal)
        });
        match live {
            None => Ok(()),
            Some(task) => {
                let label = task.key.map_or(task.id, |key| key.to_string());
                Err(Error::new(
                    Code::Conflict,
                    format!("branch {branch} belongs to {label} ({})", task.status),
                )
                .hint(text!(
                    "choose another branch, or end that task first: {}",
                    Action::cancel(label, false)
                )))
            }
        }
    }
}

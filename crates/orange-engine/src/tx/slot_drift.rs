//! What happened in a task's worktree since the last command: an editor replaced the link to its file, or the
//! branch there has another name now.

use crate::call;
use crate::error::{Error, IoContext, Result};
use crate::facts::branch;
use crate::git::reflog;
use crate::git::state::{self, Head};
use crate::git::worktree;
use crate::store::replace::{self, Replacement};
use crate::tx::TaskTx;
use crate::workspaces::{self, link, slot_number};
use orange_core::task::{Field, Task};
use orange_core::task_file::{TaskFile, salvage_body};
use orange_core::{Action, Text, text};
use std::path::Path;

impl TaskTx<'_> {
    /// Looks into the task's slot, if it has one.
    pub(crate) fn check_slot(&mut self) -> Result<()> {
        let Some(slot) = self.task.workspace.clone() else {
            return Ok(());
        };
        let folder = workspaces::slot_folder(self.call, &slot);
        // An older program, or a hand, may have written anything into that field.
        if slot_number(&self.task.project, &slot).is_none()
            || !folder.join(".git").is_file()
            || worktree::inside(&self.call.store.workspaces(), &folder).is_err()
        {
            return Ok(());
        }
        let pool = workspaces::pool(self.call)?;
        if pool.is_anothers(&slot, &self.task) {
            return Ok(());
        }
        let entry = pool.workspaces.get(&slot);
        let name = match entry.and_then(|entry| entry.link.clone()) {
            Some(name) => Some(name),
            // A pool file that was made anew does not know how the link was called.
            None => link::name_in(&folder)?.map(str::to_owned),
        };
        if let Some(name) = name {
            self.take_replaced_link(&folder, &name)?;
        }
        self.follow_branch(&slot, &folder)
    }

    /// Many editors write a new file and rename it over the old one: then the link is gone, and what was
    /// written is not in the task's own file.
    fn take_replaced_link(&mut self, folder: &Path, name: &str) -> Result<()> {
        let target = self.place.task_file();
        if link::is_replaced(folder, name) && worktree::is_tracked(folder, name)? {
            // It came with a merge or a checkout: the repository's own, and none of ours.
            return self.make_way(folder);
        }
        let Some(waiting) = link::replaced(folder, name)? else {
            return link::put_back(folder, name, &target);
        };
        let bytes = std::fs::read(&waiting).doing("read", &waiting)?;
        self.take_body(&bytes)?;
        link::forget(&waiting)?;
        link::put_back(folder, name, &target)?;
        self.call.notice(format!(
            "{}: {name} in its worktree had been replaced by a file; its text is taken over, the link put back",
            self.task.label()
        ));
        Ok(())
    }

    /// Makes the text that was written in the worktree the task's body. Whatever cannot be merged is kept beside
    /// TASK.md: nobody's text is thrown away.
    fn take_body(&mut self, bytes: &[u8]) -> Result<()> {
        let target = self.place.task_file();
        let body = salvage_body(bytes);
        let is_text = std::str::from_utf8(bytes).is_ok();
        let current = replace::read(&target)
            .doing("read", &target)?
            .map(|content| content.bytes);
        if current.as_deref() == Some(bytes) {
            return Ok(());
        }
        let parsed = current.as_deref().map(TaskFile::parse);
        let (Some(current), Some(Ok(mut file)), true) = (&current, parsed, is_text) else {
            return self.keep_text(bytes);
        };
        let has = |line: &str| body.lines().any(|other| other == line);
        if !file.body().lines().all(has) {
            // Written meanwhile, or taken out by the editor: there is no telling which.
            self.keep_text(current)?;
        }
        // A whole file is taken as if it had been written in place: its fields are looked at like any others.
        let whole = TaskFile::parse(bytes).is_ok();
        file.set_body(&body);
        let text = if whole { bytes } else { file.text().as_bytes() };
        let outcome = replace::replace(&target, Some(current), text).doing("write", &target)?;
        match outcome {
            // What others wrote at the same time is found beside the file by the next command.
            Replacement::Done | Replacement::WriterOpen | Replacement::Overtaken(_) => {
                self.reread()
            }
            Replacement::Stale => self.keep_text(bytes),
        }
    }

    /// The repository has a file with the link's name by now: the link gets another one.
    fn make_way(&mut self, folder: &Path) -> Result<()> {
        let name = link::name_for(folder)?;
        link::make(folder, name, &self.place.task_file())?;
        let slot = self.task.workspace.clone().unwrap_or_default();
        workspaces::change_slot(self.call, &slot, |slot| {
            slot.link = Some(name.to_owned());
        })?;
        self.call.notice(format!(
            "{}: the repository has a TASK.md of its own now; the link to the task is called {name}",
            self.task.label()
        ));
        Ok(())
    }

    /// A branch that was renamed in the worktree is the task's branch under its new name.
    fn follow_branch(&mut self, slot: &str, folder: &Path) -> Result<()> {
        let Head::Branch(current) = state::head(folder) else {
            return Ok(());
        };
        if current == self.task.branch {
            return Ok(());
        }
        let Ok(project) = call::registered(self.call, &self.task.project) else {
            return Ok(());
        };
        let label = self.task.label();
        let old = self.task.branch.clone();
        let target = self.task.target(&project.default_branch);
        // What is left in the slot of an executed task is committed: on no branch that it only switched to.
        let is_others = || {
            Ok::<_, Error>(
                self.task.has_plan() && reflog::is_another(&project.path, &current, &old)?,
            )
        };
        if crate::git::branch_exists(&project.path, &old)? || current == target || is_others()? {
            self.call.notice(astray(&self.task, slot, &current, &old));
            return Ok(());
        }
        if let Err(error) =
            branch::branch_is_free(self.call, &project.name, &current, Some(&self.task.id))
        {
            self.call
                .notice(format!("{label}: {slot} is on {current}, but {error}"));
            return Ok(());
        }
        // The pool first: once the task has the new name, nobody looks here again.
        let task = self.task.clone();
        workspaces::change_pool(self.call, |pool| {
            pool.rename(&task, &current);
            Ok(())
        })?;
        let branch = current.as_str().into();
        self.correct(Field::Branch, branch, "renamed in its worktree")?;
        self.follow_session();
        self.call.notice(format!(
            "{label}: its branch was renamed from {old} to {current}"
        ));
        Ok(())
    }
}

/// Said of a worktree that is on another branch than its task's.
pub(crate) fn astray(task: &Task, slot: &str, current: &str, own: &str) -> Text {
    text!(
        "{}: {slot} is on {current}, its branch is {own}; {} makes {current} its branch",
        task.label(),
        Action::take_branch(task.name())
    )
}

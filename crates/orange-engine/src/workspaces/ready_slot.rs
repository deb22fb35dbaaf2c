//! A last look at a task's slot before an agent starts in it or its branch is merged: the slot is the task's own worktree, the
//! link to TASK.md is there, and git ignores it.

use crate::call::Call;
use crate::error::{Result, err};
use crate::git::worktree;
use crate::projects::Project;
use crate::workspaces::{self, link};
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::Path;

/// Puts back the lines that keep the links to task files out of git's sight. Another home's `project remove`, or a tool
/// that writes `info/exclude`, may have taken them out; an agent that then commits everything would commit the link.
pub(crate) fn ensure_exclude_lines(project: &Project) -> Result<()> {
    if link::exclude(&project.path)? {
        tracing::warn!(
            project = project.name,
            "the lines for TASK.md were missing in info/exclude and are there again"
        );
    }
    Ok(())
}

/// Makes sure that an agent that starts in the task's slot finds TASK.md there. A slot that is not the task's, as in a
/// home of an older program or in a copied folder, is refused.
pub(crate) fn ensure_slot_is_ready(call: &Call, task: &Task, task_file: &Path) -> Result<()> {
    let Some(slot) = task.workspace.clone() else {
        return Ok(());
    };
    let folder = workspaces::slot_folder(call, &slot);
    // Of a project that is not registered any more nothing is known; a folder that is gone is named by whoever uses it.
    let Some(project) = call.project_of(&task.project) else {
        return Ok(());
    };
    if !project.path.is_dir() || !folder.is_dir() {
        return Ok(());
    }
    worktree::inside(&call.store.workspaces(), &folder)?;
    if !worktree::belongs(&folder, &project.path)? {
        return Err(err!(
            Refused,
            "{slot} is no worktree of {}",
            project.path.display()
        )
        .hint(text!(
            "{} says what is wrong with it; no agent is started there",
            Action::check()
        )));
    }
    let pool = workspaces::pool(call)?;
    if pool.is_anothers(&slot, task) {
        return Err(err!(
            Conflict,
            "{slot} is another task's, so no agent is started there"
        )
        .hint(text!("{} says which tasks claim it", Action::check())));
    }
    ensure_exclude_lines(&project)?;
    let entry = pool.workspaces.get(&slot);
    let known = entry.and_then(|entry| entry.link.clone());
    let name = match &known {
        Some(name) => name.clone(),
        None => link::name_for(&folder)?.to_owned(),
    };
    if link::is_replaced(&folder, &name) {
        // Whoever locked the task took it over, or it is the repository's own and the link has another name.
        return Ok(());
    }
    link::make(&folder, &name, task_file)?;
    if known.is_some() || entry.is_none() {
        return Ok(());
    }
    workspaces::change_slot(call, &slot, |entry| {
        entry.link.get_or_insert(name);
    })
}

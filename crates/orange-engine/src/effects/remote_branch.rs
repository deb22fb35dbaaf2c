//! The task's branch on the remote, once its work is in.

use crate::effects::local_branch;
use crate::effects::merge::recorded;
use crate::error::Result;
use crate::git::{self, landing};
use crate::projects::Project;
use crate::settings;
use crate::tx::TaskTx;
use orange_core::history::{Event, EventType};
use orange_core::merge::RemoteBranches;

/// Sees to the branch there and here. Says what was done.
pub(crate) fn delete_branches(tx: &TaskTx<'_>) -> Result<String> {
    let Some(project) = tx.call.project_of(&tx.task.project) else {
        return Ok("its project is not registered".into());
    };
    let there = delete_remote_branch(tx, &project)?;
    let here = local_branch::delete_branch(tx, &project)?;
    Ok(format!("{there}; here: {here}"))
}

/// Deletes it if the settings say so, and only if nothing is lost by it. Says what was done.
fn delete_remote_branch(tx: &TaskTx<'_>, project: &Project) -> Result<String> {
    let task = &tx.task;
    // Asked first: mostly there is none, and the settings need git.
    let remote = format!("refs/remotes/origin/{}", task.branch);
    let Some(at) = git::commit_of(&project.path, &remote)? else {
        return Ok("origin has no such branch".into());
    };
    match settings::config_for(tx.call, task)?
        .merge
        .delete_remote_branch
    {
        RemoteBranches::Never => return Ok("the settings keep it".into()),
        // Branches of tasks are pushed for pull requests alone.
        RemoteBranches::Own => return Ok("orange has not pushed its branch".into()),
        RemoteBranches::Always => {}
    }
    let merged = recorded(tx.history(), EventType::TaskMerged);
    let Some(head) = merged.as_ref().and_then(Event::head) else {
        return Ok("kept: orange did not merge it itself".into());
    };
    if at != head && !git::is_ancestor(&project.path, &at, head)? {
        return Ok(format!(
            "kept: it has commits that were not merged, up to {}",
            git::short(&at)
        ));
    }
    Ok(
        if landing::delete_remote(&tx.call.site(&project.path), &task.branch, &at)? {
            format!("deleted at {}", git::short(&at))
        } else {
            format!("kept: it is not at {} any more", git::short(&at))
        },
    )
}

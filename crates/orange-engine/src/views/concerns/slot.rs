//! What a workspace holds that a merge of the task's branch would leave out, or that would point to nothing.

use crate::call::Call;
use crate::error::Result;
use crate::git::gitlinks::{self, Availability};
use crate::git::merge_base;
use crate::git::state::{self, Head};
use crate::projects::Project;
use crate::views::concerns::Concern;
use crate::{git, workspaces};
use orange_core::naming::counted;
use orange_core::task::Task;
use std::path::Path;

pub(crate) fn slot_concerns(
    call: &Call,
    task: &Task,
    project: &Project,
    head: Option<&str>,
) -> Result<Vec<Concern>> {
    let Some(slot) = &task.workspace else {
        return Ok(Vec::new());
    };
    let folder = workspaces::slot_folder(call, slot);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut concerns = Vec::new();
    concerns.extend(elsewhere(task, project, &folder, slot)?);
    if let Some(head) = head {
        concerns.extend(unpublished_submodules(task, project, &folder, head)?);
    }
    Ok(concerns)
}

/// Commits that are checked out in the task's workspace and are not on its branch, in words.
pub(crate) fn work_beside_branch(
    call: &Call,
    task: &Task,
    project: &Project,
) -> Result<Option<String>> {
    let slot = task.workspace.as_deref();
    let Some(slot) = slot.filter(|slot| workspaces::slot_folder(call, slot).is_dir()) else {
        return Ok(None);
    };
    let found = elsewhere(task, project, &workspaces::slot_folder(call, slot), slot)?;
    Ok(found.map(|concern| concern.what))
}

/// Commits that are checked out in the workspace and are not on the task's branch.
fn elsewhere(task: &Task, project: &Project, folder: &Path, slot: &str) -> Result<Option<Concern>> {
    let (place, commit) = match state::head(folder) {
        Head::Branch(name) if name == task.branch => return Ok(None),
        Head::Branch(name) => (
            format!("{slot} has branch {name} checked out"),
            format!("refs/heads/{name}"),
        ),
        Head::Detached(commit) => (
            format!("{slot} has a detached HEAD at {}", git::short(&commit)),
            commit,
        ),
        Head::Missing(why) => {
            return Ok(Some(Concern::plain(format!(
                "nobody can tell what {slot} has checked out: {why}"
            ))));
        }
    };
    let branch = format!("refs/heads/{}", task.branch);
    let ahead = git::commits_ahead(&project.path, &commit, &branch)?;
    Ok(match ahead {
        Some(0) => None,
        Some(count) => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let commits = counted(count, "commit");
            let verb = if count == 1 { "is" } else { "are" };
            Some(Concern::plain(format!(
                "{place}, with {commits} that {verb} not on {} and not part of the merge",
                task.branch
            )))
        }
        None => Some(Concern::plain(format!(
            "{place}, and nobody can tell whether that is part of the merge"
        ))),
    })
}

fn unpublished_submodules(
    task: &Task,
    project: &Project,
    folder: &Path,
    head: &str,
) -> Result<Vec<Concern>> {
    let target = task.target(&project.default_branch);
    let Some(base) = merge_base(&project.path, head, target)? else {
        return Ok(Vec::new());
    };
    let mut concerns = Vec::new();
    for link in gitlinks::changed(&project.path, &base, head)? {
        let (path, commit) = (link.path.display(), git::short(&link.commit));
        let what = match gitlinks::availability(folder, &link)? {
            Availability::Published => continue,
            Availability::OnlyHere => {
                format!(
                    "submodule {path} points to {commit}, which only its workspace has: push it from there first"
                )
            }
            Availability::Unknown => {
                format!(
                    "submodule {path} points to {commit}, which its workspace does not have: make sure that others can fetch it"
                )
            }
        };
        concerns.push(Concern::plain(what));
    }
    Ok(concerns)
}

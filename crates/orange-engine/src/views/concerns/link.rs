//! A link to a task's file that was committed: merged, everybody would get a TASK.md that leads into one person's home.

use crate::error::Result;
use crate::git::committed::CommittedFiles;
use crate::projects::Project;
use crate::rules;
use crate::views::concerns::Concern;
use crate::workspaces::LINK_NAMES;
use orange_core::task::Task;
use orange_core::{Action, text};

/// The links with such a name that the task's branch has and its target has not.
pub(crate) fn committed_links(
    task: &Task,
    project: &Project,
    head: Option<&str>,
) -> Result<Vec<Concern>> {
    let Some(head) = head else {
        return Ok(Vec::new());
    };
    let committed = CommittedFiles::at(&project.path, head, &LINK_NAMES)?;
    if committed.links().next().is_none() {
        return Ok(Vec::new());
    }
    let target = task.target(&project.default_branch);
    let mut known: Vec<(String, String)> = Vec::new();
    for commit in rules::tips(&project.path, target)? {
        let there = CommittedFiles::at(&project.path, &commit, &LINK_NAMES)?;
        let links = there.links();
        known.extend(links.map(|(path, object)| (path.to_owned(), object.to_owned())));
    }
    let is_known = |link: &(&str, &str)| {
        let mut known = known.iter();
        known.any(|(path, object)| *link == (path.as_str(), object.as_str()))
    };
    let added = committed.links().filter(|link| !is_known(link));
    Ok(added.map(|(path, _)| concern(task, path)).collect())
}

fn concern(task: &Task, path: &str) -> Concern {
    Concern {
        remedy: Some(text!(
            "to take it out: {}, then commit that in the workspace",
            Action::untrack(task.name(), path)
        )),
        ..Concern::plain(format!(
            "{path} was committed on its branch as a link; in a workspace that is the link to the task's own file"
        ))
    }
}

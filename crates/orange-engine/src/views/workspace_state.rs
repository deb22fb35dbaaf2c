//! Where a task's work lies, and how it stands there.

use crate::call::Call;
use crate::error::{Error, err};
use crate::git::state::{self, Head, Operation};
use crate::git::status::{self, AheadBehind, Dirt};
use crate::views::or_nulls;
use crate::{disk, workspaces};
use orange_core::machine::destination;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use orange_core::{Action, text};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// A task's worktree as it is now. What could not be found out is None.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkspaceState {
    #[serde(rename = "workspace")]
    pub slot: String,
    #[serde(rename = "path")]
    pub folder: PathBuf,
    #[serde(flatten, serialize_with = "checked_out")]
    pub head: Head,
    /// Whether the branch checked out is the task's own.
    pub on_branch: bool,
    /// What `distance` is counted from.
    pub base: String,
    #[serde(flatten, serialize_with = "or_nulls")]
    pub distance: Option<AheadBehind>,
    #[serde(flatten, serialize_with = "or_nulls")]
    pub dirt: Option<Dirt>,
    pub operation: Option<Operation>,
    /// Bytes; only when asked for.
    #[serde(rename = "disk_bytes")]
    pub disk: Option<u64>,
}

fn checked_out<S: Serializer>(head: &Head, to: S) -> Result<S::Ok, S::Error> {
    let (branch, detached, problem) = match head {
        Head::Branch(name) => (Some(name), None, None),
        Head::Detached(commit) => (None, Some(commit), None),
        Head::Missing(reason) => (None, None, Some(reason)),
    };
    to.collect_map([
        ("branch", branch),
        ("detached_at", detached),
        ("problem", problem),
    ])
}

/// The folder of the task's worktree, which is there.
pub fn workspace_folder(call: &Call, task: &Task) -> crate::Result<PathBuf> {
    let Some(slot) = &task.workspace else {
        return Err(no_workspace(task));
    };
    let gone = |what: String| {
        err!(Failed, "the workspace of {}, {what}", task.label()).hint(text!(
            "{} says what is left of it and what can be done",
            Action::check()
        ))
    };
    match workspaces::safe_slot_folder(call, slot) {
        Some(folder) if folder.is_dir() => Ok(folder),
        Some(folder) => Err(gone(format!("{}, is gone", folder.display()))),
        None => Err(gone(format!("{slot:?}, is not the name of a workspace"))),
    }
}

/// How the task's worktree stands; None for a task without one. Starts git only where there is a worktree.
/// Measuring its disk use reads every folder in it.
pub fn workspace_state(call: &Call, task: &Task, measure: bool) -> Option<WorkspaceState> {
    let slot = task.workspace.clone()?;
    let Some(folder) = workspaces::safe_slot_folder(call, &slot) else {
        return Some(WorkspaceState {
            folder: call.store.workspaces(),
            head: Head::Missing(format!("{slot:?} is not the name of a workspace")),
            slot,
            on_branch: false,
            base: String::new(),
            distance: None,
            dirt: None,
            operation: None,
            disk: None,
        });
    };
    let base = task.base.clone().unwrap_or_else(|| {
        let project = call.project_of(&task.project);
        let default = project.map_or_else(|| "main".to_owned(), |known| known.default_branch);
        task.target(&default).to_owned()
    });
    let mut head = state::head(&folder);
    // Without the link to its repository there is nothing to ask git about.
    let is_worktree = folder.join(".git").exists();
    let status = is_worktree
        .then(|| status::status(&folder, head.branch(), &base))
        .flatten();
    // Some repositories keep their HEAD where only git can read it.
    if let (Head::Missing(_), Some(branch)) = (
        &head,
        status.as_ref().and_then(|status| status.branch.clone()),
    ) {
        head = Head::Branch(branch);
    }
    Some(WorkspaceState {
        on_branch: head.branch() == Some(task.branch.as_str()),
        operation: state::operation(&folder),
        distance: status.as_ref().and_then(|status| status.distance),
        dirt: status.map(|status| status.dirt),
        disk: (measure && folder.is_dir()).then(|| disk::used(&folder)),
        head,
        base,
        folder,
        slot,
    })
}

fn no_workspace(task: &Task) -> Error {
    let label = task.label();
    let start = destination(task, Intent::Start).filter(|_| !task.has_started());
    let way = match start {
        Some(start) => text!("{} gives it one", Action::move_to(task.name(), start)),
        None if task.status.is_terminal() => text!(
            "it is over; {} shows what was saved of its work",
            Action::list_rescues(task.name())
        ),
        None => text!("{} says what it waits for", Action::explain(task.name())),
    };
    err!(
        ConditionUnmet,
        "{label} has no workspace: it is {}",
        task.status
    )
    .hint(text!(
        "{}; {} is the folder of its TASK.md",
        way,
        Action::task_folder(task.name())
    ))
}

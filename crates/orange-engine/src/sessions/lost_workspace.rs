//! Workspaces that somebody deleted although their tasks still need them.

use crate::call::Call;
use crate::workspaces::pool_file::Pool;
use crate::{find, home_record, sessions, workspaces};
use orange_core::Action;
use orange_core::exit::role_of;
use orange_core::history::History;
use orange_core::task::Task;
use orange_core::workflow::Role;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// What keeps a task from going on in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostWorkspace {
    /// As part of a sentence about the task.
    pub what: String,
    pub next: Action,
}

/// Whether the workspace of a started task was deleted, or its agent still runs in one that was. None while the
/// workspace is being made, and in a copy of a home, which need not have workspaces.
pub(crate) fn lost_workspace(call: &Call, task: &Task, history: &History) -> Option<LostWorkspace> {
    let slot = task.workspace.as_ref()?;
    let is_being_made = history.last_transition().is_some_and(|last| !last.finished);
    if task.status.is_terminal() || is_being_made || home_record::copied_from(call).is_some() {
        return None;
    }
    // A repository that is not there comes first: without it no workspace can be made.
    if !call.project_of(&task.project)?.path.is_dir() {
        return None;
    }
    let role = role_of(task.status);
    if is_deleted(&workspaces::safe_slot_folder(call, slot)?) {
        let agent = match sessions::live_run(call, history, role) {
            Some(_) => format!(", and its {role} still runs in it"),
            None => String::new(),
        };
        return Some(LostWorkspace {
            what: format!("its workspace {slot} was deleted{agent}"),
            next: Action::repair(),
        });
    }
    runs_in_deleted_folder(call, history, role).then(|| {
            LostWorkspace {
                what: format!(
                    "its {role} runs in a workspace that was deleted and made anew, so it does not see the files there: quit it, then start it again"
                ),
                next: Action::attach(task.name()),
            }
        })
}

/// Whether the folder in which the live agent of this role was started is gone, whatever is at its path now.
pub(crate) fn runs_in_deleted_folder(call: &Call, history: &History, role: Role) -> bool {
    let run = sessions::live_run(call, history, role);
    let started = run.and_then(|run| sessions::run_folder(call, &run.id).started());
    started.is_some_and(|started| {
        let folder = std::fs::read_link(format!("/proc/{}/cwd", started.process.pid));
        folder.is_ok_and(|folder| folder.to_string_lossy().ends_with(" (deleted)"))
    })
}

/// What is to be said of tasks whose workspaces were deleted, by their ids.
pub(crate) fn lost_workspaces(call: &Call) -> BTreeMap<String, String> {
    // Without this file nobody can tell cheaply which task has a workspace.
    if !call.store.workspaces().join(".pool.json").is_file() {
        return BTreeMap::new();
    }
    let pool = workspaces::pool(call).unwrap_or_else(|error| {
        tracing::warn!(%error, "whether workspaces were deleted was not checked");
        Pool::default()
    });
    let held = pool.workspaces.iter().filter(|(_, slot)| !slot.is_free());
    let deleted = held.filter(|(name, _)| is_deleted(&workspaces::slot_folder(call, name)));
    let lost = deleted.filter_map(|(_, slot)| {
        let holder = slot.task_id.as_ref().or(slot.task.as_ref())?;
        let place = find::find(call, holder, None).ok()?;
        let task = call.store.survey(&place.folder()).task;
        let history = place.history().ok()?;
        let lost = lost_workspace(call, &task, &history)?;
        Some((task.id, lost.what))
    });
    lost.collect()
}

fn is_deleted(folder: &Path) -> bool {
    let found = std::fs::symlink_metadata(folder);
    found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

//! Tasks whose workspace was deleted by hand.

use crate::call::Call;
use crate::sessions::lost_workspace::{self, is_deleted};
use crate::views::find;
use crate::workspaces;
use std::collections::BTreeMap;

/// What is to be said of tasks whose workspaces were deleted, by their ids.
pub(crate) fn lost_workspaces(call: &Call) -> BTreeMap<String, String> {
    let mut lost = BTreeMap::new();
    // Without this file nobody can tell cheaply which task has a workspace.
    if !call.store.workspaces().join(".pool.json").is_file() {
        return lost;
    }
    let pool = match workspaces::pool(call) {
        Ok(pool) => pool,
        Err(error) => {
            tracing::warn!(%error, "whether workspaces were deleted was not checked");
            return lost;
        }
    };
    let held = pool.workspaces.iter().filter(|(_, slot)| !slot.is_free());
    let deleted = held.filter(|(name, _)| is_deleted(&workspaces::slot_folder(call, name)));
    let holders: Vec<String> = deleted
        .filter_map(|(_, slot)| slot.task_id.clone().or_else(|| slot.task.clone()))
        .collect();
    for holder in holders {
        let Ok(place) = find::find(call, &holder, None) else {
            continue;
        };
        if let Some((task, what)) = lost_workspace::lost_at(call, &place) {
            lost.insert(task, what);
        }
    }
    lost
}

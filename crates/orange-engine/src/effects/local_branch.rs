//! The task's own branch here, once its work is in.

use crate::effects::merge::recorded;
use crate::error::Result;
use crate::git::rescue::refs;
use crate::git::{self, worktree};
use crate::projects::Project;
use crate::rescue::branch::{OldBranch, save_branch};
use crate::store::index::list::{ListFacts, TaskFilter};
use crate::tx::TaskTx;
use crate::{facts, settings};
use orange_core::history::payload::HookEnded;
use orange_core::history::{Event, EventType};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

/// Why such a rescue was made.
const REASON: &str = "its branch was deleted after the merge";

/// Deletes it if the settings say so, nothing is lost by it and nobody is on it. Says what was done.
pub(crate) fn delete_branch(tx: &TaskTx<'_>, project: &Project) -> Result<String> {
    let (call, task) = (tx.call, &tx.task);
    let Some(at) = facts::branch_commit(call, task)? else {
        return Ok("there is no such branch here".into());
    };
    let merged = recorded(tx.history(), EventType::TaskMerged);
    let Some(head) = merged.as_ref().and_then(Event::head) else {
        return Ok("kept: orange did not merge it itself".into());
    };
    if let Some(why) = kept(tx, project, &at, head)? {
        return Ok(format!("kept: {why}"));
    }
    let rescue = save_branch(&OldBranch {
        repository: &call.site(&project.path),
        task_id: &task.id,
        name: &task.branch,
        at: &at,
        commits: 0,
        reason: REASON,
        now: call.now(),
    })?;
    crash_point("branch.saved");
    let (name, at) = (rescue.name, at.as_str());
    Ok(
        if refs::delete_branch(&call.site(&project.path), &task.branch, at)? {
            format!("deleted at {}, saved as {name}", git::short(at))
        } else {
            format!("kept: it is not at {} any more", git::short(at))
        },
    )
}

/// Why it stays.
fn kept(tx: &TaskTx<'_>, project: &Project, at: &str, head: &str) -> Result<Option<String>> {
    let (call, task) = (tx.call, &tx.task);
    if !settings::config_for(call, task)?.merge.delete_branch {
        return Ok(Some("the settings say so".into()));
    }
    if at != head && !git::is_ancestor(&project.path, at, head)? {
        let at = git::short(at);
        return Ok(Some(format!(
            "it has commits that were not merged, up to {at}"
        )));
    }
    if was_there_before(tx) || task.branch == project.default_branch {
        return Ok(Some("it was there before the task".into()));
    }
    if let Some(place) = worktree::checked_out_at(&project.path, &task.branch)? {
        return Ok(Some(format!("it is checked out in {}", place.display())));
    }
    // Their work starts from it, or goes into it.
    let open = TaskFilter {
        projects: vec![task.project.clone()],
        with_fields: true,
        ..TaskFilter::default()
    };
    let rows = call.index()?.list(&open, &ListFacts::nothing())?.rows;
    let needs_it = rows.into_iter().find(|other| {
        let fields: Value = serde_json::from_str(&other.fields).unwrap_or_default();
        let mut named = ["base", "target_branch"]
            .iter()
            .filter_map(|name| fields.get(name));
        other.id != task.id && named.any(|name| *name == task.branch)
    });
    Ok(needs_it.map(|other| {
        let key = other.key.map(|key| key.to_string());
        format!("{} needs it", key.unwrap_or(other.id))
    }))
}

/// Whether the task took a branch that was there. One that was renamed since may be taken for its own.
fn was_there_before(tx: &TaskTx<'_>) -> bool {
    let mut hooks = tx.history().events.iter().filter_map(HookEnded::of);
    let began = hooks.find(|hook| hook.base_commit.is_some());
    began.is_none_or(|began| began.base == Some(tx.task.branch.as_str()))
}

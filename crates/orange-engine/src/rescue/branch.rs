//! Saving a branch before it is deleted or moved: its commits stay reachable from a rescue of its task.

use super::note::RescueNote;
use super::{Rescue, list, names, task_ref, too_many};
use crate::error::Result;
use crate::git::Site;
use crate::git::rescue::{commit_in, refs};
use orange_core::Timestamp;

/// A branch that is about to go, or to be moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OldBranch<'a> {
    pub(crate) repository: &'a Site,
    pub(crate) task_id: &'a str,
    pub(crate) name: &'a str,
    /// The commit that it is at.
    pub(crate) at: &'a str,
    /// How many of its commits are to be brought back by a restore: none where they are in the target, perhaps as others.
    pub(crate) commits: usize,
    pub(crate) reason: &'a str,
    pub(crate) now: Timestamp,
}

/// Saves it, unless an attempt that was cut short has done so already.
pub(crate) fn save_branch(old: &OldBranch<'_>) -> Result<Rescue> {
    let is_same = |rescue: &Rescue| {
        let note = &rescue.note;
        note.reason == old.reason
            && note.branch.as_deref() == Some(old.name)
            && note.head.as_deref() == Some(old.at)
    };
    let before = list(old.repository, Some(old.task_id))?;
    if let Some(rescue) = before.into_iter().find(is_same) {
        return Ok(rescue);
    }
    let note = RescueNote {
        time: old.now,
        reason: old.reason.to_owned(),
        task_id: old.task_id.to_owned(),
        branch: Some(old.name.to_owned()),
        head: Some(old.at.to_owned()),
        staged: None,
        operation: None,
        files: 0,
        commits: old.commits,
        raw: None,
    };
    let tree = format!("{}^{{tree}}", old.at);
    let parents = [old.at.to_owned()];
    let commit = commit_in(old.repository, &tree, &parents, &note.message(), old.now)?;
    for name in names(old.now) {
        let reference = format!("{}/{name}", task_ref(old.task_id));
        if refs::keep_in(old.repository, &reference, &commit)? {
            return Ok(Rescue {
                name,
                task_id: old.task_id.to_owned(),
                reference,
                commit,
                note,
            });
        }
    }
    Err(too_many(old.now))
}

//! Finishing what a dead process began. Every command comes by here first; with nothing to do it costs
//! one look at a few small folders.

use crate::call::{self, Call};
use crate::error::{Code, Result};
use crate::git::{calls, state, worktree};
use crate::home_record::{self, Identity, identify};
use crate::store::lock::TaskLock;
use crate::store::{Place, replace};
use crate::tx::{self, explain_lock};
use crate::{checks, started_by, trash, workspaces};
use orange_agents::home_paths::{HomeRecord, RECORD, real};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Looks at the tasks that are listed as changing. Those of live processes are left alone.
pub fn recover(call: &Call) {
    if home_record::copied_from(call).is_some() {
        return;
    }
    // First: whatever is finished here may need what a dead git has locked.
    calls::clear_up(call.store.home(), calls::Need::Later);
    for place in call.store.marked() {
        let folder = place.folder();
        match recover_one(call, &place) {
            Ok(true) => tracing::info!(folder, "finished what an earlier process began"),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, folder, "could not be finished");
                // A damaged orange.db is another matter: this is finished after its repair.
                if error.code == Code::Damaged && call.store.survey(&folder).damaged.is_some() {
                    // Nothing but a repair helps, and the list shows it as damaged.
                    call.store.unmark(&place);
                }
            }
        }
    }
    call.store.remove_abandoned();
    checks::resume_checks(call);
}

/// False when a live process is at it. A task's own lock tells that, and the project's while the task
/// has no folder yet: taking a task off the list under a live process would hide it from everybody.
fn recover_one(call: &Call, place: &Place) -> Result<bool> {
    if place.path.is_dir() {
        return finish_marked(call, place);
    }
    let Some(_project) = call::try_lock_project(call, &place.project)? else {
        return Ok(false);
    };
    if !place.path.is_dir() {
        trash::finish_arrival(call, place)?;
    }
    if place.path.is_dir() {
        return finish_marked(call, place);
    }
    call.store.unmark(place);
    Ok(true)
}

/// An errand: finishes what a transition of this task left open.
pub fn finish(call: &Call, folder: &str) -> Result<()> {
    let place = call.store.place(folder);
    let task = call.store.survey(folder).task.id;
    // As one that is listed: what its caller did not live to tell the person is told too.
    tx::lock_marked(&started_by::inherit_here(call, &task), place).map(drop)
}

/// Records that this is the home, for a command that may change something. A home that was moved gets its workspaces
/// registered with git under their new path; a copy is refused.
pub fn claim_home(call: &Call) -> Result<()> {
    let home = call.store.home().to_owned();
    if !home.is_dir() {
        return Ok(());
    }
    let record = match identify(&home) {
        Identity::Own => {
            home_record::note_original(call);
            return Ok(());
        }
        Identity::Copy { .. } => return home_record::refuse_copy(call),
        Identity::Unrecorded => new_record(&home),
        Identity::Moved(old) => {
            follow_move(call, &old);
            moved_record(&home, old)
        }
    };
    // Without a record the home works as before; only a copy of it is not recognised as easily.
    if let Some(record) = record
        && let Ok(text) = serde_json::to_vec(&record)
        && let Err(error) = replace::write_atomic(&home.join(RECORD), &text)
    {
        tracing::debug!(%error, "the path of the home was not recorded");
    }
    Ok(())
}

/// Tells git where the workspaces are now. Git would go on naming the old path, and a branch that is checked out in one
/// of them would seem to be checked out elsewhere.
fn follow_move(call: &Call, old: &HomeRecord) {
    for project in call.projects().unwrap_or_default() {
        let slots: Vec<PathBuf> = workspaces::slot_folders(call, &project.name)
            .iter()
            .map(|slot| workspaces::slot_folder(call, slot))
            .filter(|slot| state::git_folder(slot).is_ok())
            .collect();
        if slots.is_empty() || !project.path.is_dir() {
            continue;
        }
        if let Err(error) = worktree::repair(&call.site(&project.path), &slots) {
            tracing::warn!(%error, project = project.name, "git was not told where the workspaces are");
        }
    }
    call.notice(format!(
        "the home was at {} and is at {} now",
        old.path.display(),
        call.store.home().display()
    ));
}

fn new_record(home: &Path) -> Option<HomeRecord> {
    Some(HomeRecord {
        id: nanoid::nanoid!(21, &orange_core::id::ID_ALPHABET),
        path: real(home)?,
        inode: fs::metadata(home).ok()?.ino(),
        former: Vec::new(),
    })
}

fn moved_record(home: &Path, mut old: HomeRecord) -> Option<HomeRecord> {
    let new = new_record(home)?;
    // In a folder with another inode nobody who named the old path is still at work.
    if new.inode == old.inode {
        old.former.push(old.path)
    } else {
        old.former.clear()
    }
    Some(HomeRecord {
        id: old.id,
        former: old.former,
        ..new
    })
}

/// Finishes a task that somebody listed as changing; false when a live process has it.
pub(crate) fn finish_marked(call: &Call, place: &Place) -> Result<bool> {
    let lock = match TaskLock::try_acquire(&place.path) {
        Ok(Some(lock)) => lock,
        Ok(None) => return Ok(false),
        Err(error) => return Err(explain_lock(place, error)),
    };
    if place.history()?.is_deleted() {
        trash::move_to_trash(call, place)?;
        call.store.unmark(place);
        return Ok(true);
    }
    tx::opened(call, place.clone(), lock, false, true)?;
    Ok(true)
}

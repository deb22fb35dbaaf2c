//! Taking a slot back: what is in it is saved, then it is parked clean, so that the next task starts at once.

use crate::call::{self, Call};
use crate::error::{IoContext, Result};
use crate::git::worktree;
use crate::projects::Project;
use crate::rescue::{self, SavedContent};
use crate::store::{Place, make_folder};
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::tidy::{self, remove_parked, restore_whole, revive};
use crate::workspaces::{self, Lease, Slot, TaskSlot, link, lockfiles_at};
use crate::{occupants, rules};
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use std::path::{Path, PathBuf};

/// What became of a task's slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Released {
    /// The task had none.
    Nothing,
    /// The slot is another task's by now: a late clean-up must not touch it.
    Passed { slot: String },
    Parked {
        lease: Lease,
        /// Where what was in it can be found.
        rescue: Option<String>,
        /// Why it could not be cleaned and no task gets it; None: it is free.
        kept: Option<String>,
    },
}

/// Gives the task's slot back. `noted` is the lease that the task's journal knows of.
pub(crate) fn release(
    call: &Call,
    task: &Task,
    place: &Place,
    noted: Option<Lease>,
) -> Result<Released> {
    let pool = workspaces::pool(call)?;
    let current = pool.lease_of(task);
    let Some(lease) = noted.or_else(|| current.clone()) else {
        return Ok(Released::Nothing);
    };
    if !pool.holds(task, &lease) {
        return match current {
            // A pool file that was made anew counts from higher up.
            Some(current) => clean_and_park(call, task, place, current),
            // A process that died right after it gave the slot back did not come to say so.
            None if pool.was_last(task, &lease) => Ok(Released::Parked {
                lease,
                rescue: None,
                kept: None,
            }),
            None => Ok(Released::Passed { slot: lease.slot }),
        };
    }
    clean_and_park(call, task, place, lease)
}

fn clean_and_park(call: &Call, task: &Task, place: &Place, lease: Lease) -> Result<Released> {
    let lock = SlotLock::take(&call.store, &lease.slot)?;
    let folder = workspaces::slot_folder(call, &lease.slot);
    let (mut saved, mut kept) = (None, None);
    let mut lockfiles = None;
    // Of a project that is not registered any more there is nothing to tidy.
    if let Ok(project) = call::registered(call, &task.project) {
        worktree::inside(&call.store.workspaces(), &folder)?;
        restore_whole(&folder)?;
        // Deleted by hand or by an agent: what git still knows of it is saved like the rest.
        make_way_for_link(call, &task.id, &folder)?;
        lock.handed_on(|| revive(&call.site(&project.path), &folder))?;
        if folder.is_dir() && tidy::is_worktree_of(call, &project.path, &folder, &task.id)? {
            let park = rules::parking_place(call, &project)?;
            let slot = TaskSlot {
                call,
                project: &project,
                task,
                place,
                lease: &lease,
                folder: &call.site(&folder),
            };
            slot.tear_down()?;
            // Before anything in it changes: if cleaning it fails and a person moves the task back, the slot is made ready
            // again.
            let name = workspaces::change_pool(call, |pool| {
                let is_held = pool.holds(task, &lease);
                let slot = pool.workspaces.get_mut(&lease.slot).filter(|_| is_held);
                Ok(slot.and_then(Slot::begin_cleaning))
            })?;
            let name = match name {
                Some(name) => Some(name),
                None => link::name_in(&folder)?.map(str::to_owned),
            };
            link::remove(&folder, name.as_deref().unwrap_or(rules::LINK))?;
            let reason = "the slot was given back";
            saved = match occupant(&folder) {
                None => {
                    let tidied =
                        lock.handed_on(|| tidy::tidy(call, &task.id, &folder, &park, reason))?;
                    kept = tidied.kept;
                    tidied.saved
                }
                Some(who) => {
                    // Somebody may be writing there. Whoever gets the slot next saves and tidies it first.
                    call.notice(format!(
                            "{} is not tidied yet: {who} lives in it; no task gets it before that has ended",
                            lease.slot
                        ));
                    save_and_detach(call, &task.id, &folder, reason)?.0
                }
            };
            lockfiles = lockfiles_at(&project.path, &park)?;
        } else if folder.is_dir() && !listing::is_empty(&folder) {
            // Nobody knows whose git would read it: it is neither saved nor emptied.
            let path = project.path.display();
            kept = Some(format!("it is no worktree of {path} any more"));
        }
    }
    crash_point("release.parked");
    workspaces::change_pool(call, |pool| {
        if let Some(slot) = pool.free(task, &lease) {
            slot.lockfiles = lockfiles;
            slot.last_task = Some(task.id.clone());
            slot.give_back(kept.as_deref());
        }
        Ok(())
    })?;
    if let Some(why) = &kept {
        note_retired(call, &lease.slot, why);
    }
    Ok(Released::Parked {
        lease,
        rescue: saved,
        kept,
    })
}

/// Moves a repository out of the way that was made in a task's slot where its own `.git` had been. It is kept with the task.
fn make_way_for_link(call: &Call, task_id: &str, folder: &Path) -> Result<()> {
    let found = folder.join(".git");
    let is_folder = std::fs::symlink_metadata(&found).is_ok_and(|about| about.is_dir());
    if !is_folder || !link::is_in(folder) {
        return Ok(());
    }
    let kept = raw_folder(call, task_id);
    let aside = kept.join(format!("git-{}", call.file_stamp()));
    make_folder(&kept)
        .and_then(|()| std::fs::rename(&found, &aside))
        .doing("move", &found)?;
    call.notice(format!(
        "{} was a repository of its own; its .git is kept as {}",
        folder.display(),
        aside.display()
    ));
    Ok(())
}

pub(crate) fn note_retired(call: &Call, slot: &str, why: &str) {
    call.notice(text!(
        "{slot} is kept as it is, and no task gets it: {why}; {} cleans it later",
        Action::repair()
    ));
}

/// Has git forget a slot whose folder was deleted, and saves what only git still knew of it.
pub(crate) fn forget_gone(call: &Call, project: &Project, folder: &Path) -> Result<()> {
    worktree::inside(&call.store.workspaces(), folder)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let lock = SlotLock::take(&call.store, &name)?;
    lock.handed_on(|| forget_locked(call, project, folder, &name))
}

fn forget_locked(call: &Call, project: &Project, folder: &Path, name: &str) -> Result<()> {
    restore_whole(folder)?;
    let pool = workspaces::pool(call)?;
    if !pool.is_free(name) || !worktree::is_gone(folder, &call.store.workspaces()) {
        // Another process was quicker.
        return Ok(());
    }
    let repository = call.site(&project.path);
    if revive(&repository, folder)? && worktree::belongs(folder, &project.path)? {
        let park = rules::parking_place(call, project)?;
        let owner = pool.last_owner(name);
        let tidied = tidy::tidy(call, owner, folder, &park, "its folder was deleted")?;
        if tidied.kept.is_none() {
            remove_parked(&repository, folder)?;
        }
        return Ok(());
    }
    worktree::remove(&repository, folder)
}

/// Takes away what a killed git left, which would keep every later one from its work.
pub(crate) fn unlock_slot(folder: &Path) -> Result<()> {
    // Not even a git that this command came from: it goes on with its work afterwards.
    let own = [std::process::id()];
    if worktree::is_locked(folder)? && occupants::others_in_folder(folder, &own).is_empty() {
        unlock(folder)
    } else {
        Ok(())
    }
}

/// Saves what is in a slot and lets go of its branch; files and index stay. Returns the rescue, if there was anything to
/// save, and what was found.
pub(crate) fn save_and_detach(
    call: &Call,
    task_id: &str,
    folder: &Path,
    reason: &str,
) -> Result<(Option<String>, SavedContent)> {
    let site = call.site(folder);
    let branch = crate::git::current_branch(folder)?;
    let (saved, content) = rescue::save_content(&rescue::Save {
        slot: &site,
        task_id,
        raw_folder: &raw_folder(call, task_id),
        branch: branch.as_deref(),
        reason,
        now: call.now(),
    })?;
    save_strays(call, task_id, folder)?;
    crash_point("release.saved");
    // Before any reset: on the task's branch that would take its commits from it.
    worktree::detach(&site)?;
    crash_point("release.detached");
    Ok((saved.map(|saved| saved.reference), content))
}

/// A process that lives in a folder and that this command did not come from.
pub(crate) fn occupant(folder: &Path) -> Option<String> {
    let others = occupants::others_in_folder(folder, &occupants::own_line());
    let process = others.first()?;
    Some(format!("process {} ({})", process.pid, process.name))
}

/// A TASK.md that somebody saved after its task was gone is ignored by git, so no rescue holds it, and the
/// next task must not take it for its own: it goes to the task that had the slot.
pub(crate) fn save_strays(call: &Call, task_id: &str, folder: &Path) -> Result<()> {
    for name in link::strays(folder)? {
        let stray = folder.join(name);
        let kept = raw_folder(call, task_id);
        let aside = kept.join(format!("{name}-{}", call.file_stamp()));
        make_folder(&kept)
            .and_then(|()| std::fs::rename(&stray, &aside))
            .doing("move", &stray)?;
        call.notice(format!(
            "{} was a file of its own; it is kept as {}",
            stray.display(),
            aside.display()
        ));
    }
    Ok(())
}

/// Where content goes that git cannot hold.
pub(crate) fn raw_folder(call: &Call, task_id: &str) -> PathBuf {
    let found = call.index().and_then(|index| index.by_id_prefix(task_id));
    let folder = found
        .ok()
        .and_then(|found| found.into_iter().find(|task| task.id == task_id))
        .map(|task| call.store.place(&task.folder).path);
    match folder {
        Some(folder) => folder.join(rescue::RAW),
        None => call.store.workspaces().join(rescue::STRAYS).join(task_id),
    }
}

pub(crate) fn unlock(folder: &Path) -> Result<()> {
    if worktree::unlock(folder)? {
        tracing::warn!(slot = %folder.display(), "removed the locks of a git that was killed");
    }
    Ok(())
}

//! Taking a slot back: what is in it is saved, then it is parked clean, so that the next task starts at once.

use super::slot_lock::SlotLock;
use super::tidy::{remove_parked, restore_whole, revive};
use super::{Lease, link, lockfiles_at};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::git::worktree;
use crate::occupants;
use crate::projects::Project;
use crate::rescue::{self, Content};
use crate::store::{Place, make_folder};
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use std::path::{Path, PathBuf};

/// What became of a task's slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Released {
    /// The task had none.
    Nothing,
    /// The slot is another task's by now: a late clean-up must not touch it.
    Passed { slot: String },
    Parked {
        slot: String,
        epoch: u64,
        /// Where what was in it can be found.
        rescue: Option<String>,
        /// Why it could not be cleaned and no task gets it; None: it is free.
        kept: Option<String>,
    },
}

impl Engine {
    /// Gives the task's slot back. `noted` is the lease that the task's journal knows of.
    pub(crate) fn release(
        &self,
        task: &Task,
        place: &Place,
        noted: Option<Lease>,
    ) -> Result<Released> {
        let pool = self.pool()?;
        let current = pool.lease_of(task);
        let Some(lease) = noted.or_else(|| current.clone()) else {
            return Ok(Released::Nothing);
        };
        if !pool.holds(task, &lease) {
            return match current {
                // A pool file that was made anew counts from higher up.
                Some(current) => self.give_back(task, place, current),
                // A process that died right after it gave the slot back did not come to say so.
                None if pool.was_last(task, &lease) => Ok(Released::Parked {
                    slot: lease.slot,
                    epoch: lease.epoch,
                    rescue: None,
                    kept: None,
                }),
                None => Ok(Released::Passed { slot: lease.slot }),
            };
        }
        self.give_back(task, place, lease)
    }

    fn give_back(&self, task: &Task, place: &Place, lease: Lease) -> Result<Released> {
        let lock = SlotLock::take(&self.store, &lease.slot)?;
        let folder = self.slot_folder(&lease.slot);
        let (mut saved, mut kept) = (None, None);
        let mut lockfiles = None;
        // Of a project that is not registered any more there is nothing to tidy.
        if let Ok(project) = self.registered(&task.project) {
            worktree::inside(&self.store.workspaces(), &folder)?;
            restore_whole(&folder)?;
            // Deleted by hand: what git still knows of it is saved like the rest.
            lock.handed_on(|| revive(&project.path, &folder))?;
            if folder.is_dir() && self.is_worktree_of(&project.path, &folder, &task.id)? {
                let park = self.parking_place(&project)?;
                self.tear_down(&project, task, place, &lease, &folder)?;
                let name = self.begin_cleaning(task, &lease)?;
                let name = match name {
                    Some(name) => Some(name),
                    None => link::name_in(&folder)?.map(str::to_owned),
                };
                link::remove(&folder, name.as_deref().unwrap_or(link::LINK))?;
                let reason = "the slot was given back";
                saved = match self.occupant(&folder) {
                    None => {
                        let tidied =
                            lock.handed_on(|| self.tidy(&task.id, &folder, &park, reason))?;
                        kept = tidied.kept;
                        tidied.saved
                    }
                    Some(who) => {
                        // Somebody may be writing there. Whoever gets the slot next saves and tidies it first.
                        self.notice(format!(
                            "{} is not tidied yet: {who} lives in it; no task gets it before that has ended",
                            lease.slot
                        ));
                        self.save_and_detach(&task.id, &folder, reason)?.0
                    }
                };
                lockfiles = lockfiles_at(&project.path, &park)?;
            }
        }
        crash_point("release.parked");
        self.change_pool(|_, pool| {
            if pool.free(task, &lease)
                && let Some(slot) = pool.workspaces.get_mut(&lease.slot)
            {
                slot.lockfiles = lockfiles;
                slot.last_task = Some(task.id.clone());
                if let Some(why) = &kept {
                    slot.retire(why);
                }
            }
            Ok(())
        })?;
        if let Some(why) = &kept {
            self.tell_retired(&lease.slot, why);
        }
        Ok(Released::Parked {
            slot: lease.slot,
            epoch: lease.epoch,
            rescue: saved,
            kept,
        })
    }

    /// Notes that the slot is not ready for work any more, before anything in it changes: if cleaning it fails and a person
    /// moves the task back, the slot is made ready again. Returns what the link to the task's file is called.
    fn begin_cleaning(&self, task: &Task, lease: &Lease) -> Result<Option<String>> {
        self.change_pool(|_, pool| {
            let is_held = pool.holds(task, lease);
            let slot = pool.workspaces.get_mut(&lease.slot);
            Ok(slot.filter(|_| is_held).and_then(|slot| {
                slot.prepared = 0;
                // The next command would put the link into a slot that is not on its branch.
                slot.link.take()
            }))
        })
    }

    pub(super) fn tell_retired(&self, slot: &str, why: &str) {
        self.notice(text!(
            "{slot} is kept as it is, and no task gets it: {why}; {} cleans it later",
            Action::repair()
        ));
    }

    /// Has git forget a slot whose folder was deleted, and saves what only git still knew of it.
    pub(crate) fn forget_gone(&self, project: &Project, folder: &Path) -> Result<()> {
        worktree::inside(&self.store.workspaces(), folder)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let lock = SlotLock::take(&self.store, &name)?;
        lock.handed_on(|| self.forget_locked(project, folder, &name))
    }

    fn forget_locked(&self, project: &Project, folder: &Path, name: &str) -> Result<()> {
        restore_whole(folder)?;
        let pool = self.pool()?;
        let is_held = pool
            .workspaces
            .get(name)
            .is_some_and(|slot| !slot.is_free());
        if is_held || !worktree::is_gone(folder, &self.store.workspaces()) {
            // Another process was quicker.
            return Ok(());
        }
        if revive(&project.path, folder)? && worktree::belongs(folder, &project.path)? {
            let owner = pool
                .workspaces
                .get(name)
                .and_then(|slot| slot.last_task.clone());
            let owner = owner.unwrap_or_else(|| name.to_owned());
            let park = self.parking_place(project)?;
            let tidied = self.tidy(&owner, folder, &park, "its folder was deleted")?;
            if tidied.kept.is_some() {
                return Ok(());
            }
            remove_parked(self, &project.path, folder)?;
            return Ok(());
        }
        worktree::remove(&project.path, folder)
    }

    /// Takes away what a killed git left, which would keep every later one from its work.
    pub(crate) fn unlock_slot(&self, folder: &Path) -> Result<()> {
        // Not even a git that this command came from: it goes on with its work afterwards.
        let own = [std::process::id()];
        match worktree::is_locked(folder)? && occupants::others_in_folder(folder, &own).is_empty() {
            true => unlock(folder),
            false => Ok(()),
        }
    }

    /// Saves what is in a slot and lets go of its branch; files and index stay.
    pub(super) fn save_and_detach(
        &self,
        task_id: &str,
        folder: &Path,
        reason: &str,
    ) -> Result<(Option<String>, Content)> {
        let saved = self.save(task_id, folder, reason)?;
        self.keep_strays(task_id, folder)?;
        crash_point("release.saved");
        // Before any reset: on the task's branch that would take its commits from it.
        worktree::detach(folder)?;
        crash_point("release.detached");
        Ok(saved)
    }

    /// Saves what is in a slot. Returns the rescue, if there was anything to save, and what was found.
    pub(super) fn save(
        &self,
        task_id: &str,
        folder: &Path,
        reason: &str,
    ) -> Result<(Option<String>, Content)> {
        let branch = crate::git::current_branch(folder)?;
        let raw_folder = self.raw_folder(task_id);
        let (saved, content) = rescue::save_content(&rescue::Save {
            slot: folder,
            task_id,
            raw_folder: &raw_folder,
            branch: branch.as_deref(),
            reason,
            now: self.now(),
        })?;
        Ok((saved.map(|saved| saved.reference), content))
    }

    /// A process that lives in a folder and that this command did not come from.
    pub(crate) fn occupant(&self, folder: &Path) -> Option<String> {
        let others = occupants::others_in_folder(folder, &occupants::own_line());
        let process = others.first()?;
        Some(format!("process {} ({})", process.pid, process.name))
    }

    /// A TASK.md that somebody saved after its task was gone is ignored by git, so no rescue holds it, and the
    /// next task must not take it for its own: it goes to the task that had the slot.
    pub(super) fn keep_strays(&self, task_id: &str, folder: &Path) -> Result<()> {
        for name in link::strays(folder)? {
            let stray = folder.join(name);
            let kept = self.raw_folder(task_id);
            let aside = kept.join(format!("{name}-{}", self.file_stamp()));
            make_folder(&kept)
                .and_then(|()| std::fs::rename(&stray, &aside))
                .map_err(|error| Error::io("move", &stray, &error))?;
            self.notice(format!(
                "{} was a file of its own; it is kept as {}",
                stray.display(),
                aside.display()
            ));
        }
        Ok(())
    }

    /// Where content goes that git cannot hold.
    pub(super) fn raw_folder(&self, task_id: &str) -> PathBuf {
        let found = self.index().and_then(|index| index.by_id_prefix(task_id));
        let folder = found
            .ok()
            .and_then(|found| found.into_iter().find(|task| task.id == task_id))
            .map(|task| self.store.place(&task.folder).path);
        match folder {
            Some(folder) => folder.join(crate::engine::rescue::RAW),
            None => self.store.workspaces().join(rescue::STRAYS).join(task_id),
        }
    }
}

pub(super) fn unlock(folder: &Path) -> Result<()> {
    if worktree::unlock(folder)? {
        tracing::warn!(slot = %folder.display(), "removed the locks of a git that was killed");
    }
    Ok(())
}

//! Taking a slot back: what is in it is saved, then it is parked clean, so that the next task starts at once.

use super::slot_lock::SlotLock;
use super::{Lease, link, lockfiles_at};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::git::worktree;
use crate::projects::Project;
use crate::store::faults::crash_point;
use crate::store::{Place, make_folder};
use crate::{occupants, rescue};
use orange_core::task::Task;
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
    },
}

impl Engine {
    /// Gives the task's slot back. `noted` is the lease that the task's journal knows of.
    pub(crate) fn release(
        &mut self,
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
                }),
                None => Ok(Released::Passed { slot: lease.slot }),
            };
        }
        self.give_back(task, place, lease)
    }

    fn give_back(&mut self, task: &Task, place: &Place, lease: Lease) -> Result<Released> {
        let lock = SlotLock::take(&self.store, &lease.slot)?;
        let folder = self.slot_folder(&lease.slot);
        let mut saved = None;
        let mut lockfiles = None;
        // Of a project that is not registered any more there is nothing to tidy.
        if let Ok(project) = self.registered(&task.project) {
            worktree::inside(&self.store.workspaces(), &folder)?;
            // Deleted by hand: what git still knows of it is saved like the rest.
            lock.handed_on(|| worktree::revive(&project.path, &folder))?;
            if folder.is_dir() && worktree::belongs(&folder, &project.path)? {
                let park = self.parking_place(&project)?;
                self.tear_down(&project, task, place, &lease, &folder)?;
                let pool = self.pool()?;
                let slot = pool.workspaces.get(&lease.slot);
                let name = slot.and_then(|slot| slot.link.clone());
                let name = match name {
                    Some(name) => Some(name),
                    None => link::name_in(&folder)?.map(str::to_owned),
                };
                link::remove(&folder, name.as_deref().unwrap_or(link::LINK))?;
                let reason = "the slot was given back";
                saved = match self.occupant(&folder) {
                    None => lock.handed_on(|| self.tidy(&task.id, &folder, &park, reason))?,
                    Some(who) => {
                        // Somebody may be writing there. Whoever gets the slot next saves and tidies it first.
                        self.notice(format!(
                            "{} is not tidied yet: {who} lives in it; no task gets it before that has ended",
                            lease.slot
                        ));
                        self.save_and_detach(&task.id, &folder, reason)?
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
            }
            Ok(())
        })?;
        Ok(Released::Parked {
            slot: lease.slot,
            epoch: lease.epoch,
            rescue: saved,
        })
    }

    /// Has git forget a slot whose folder was deleted, and saves what only git still knew of it.
    pub(crate) fn forget_gone(&mut self, project: &Project, folder: &Path) -> Result<()> {
        worktree::inside(&self.store.workspaces(), folder)?;
        if worktree::revive(&project.path, folder)? && worktree::belongs(folder, &project.path)? {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let pool = self.pool()?;
            let owner = pool
                .workspaces
                .get(name.as_ref())
                .and_then(|slot| slot.last_task.clone());
            let owner = owner.unwrap_or_else(|| name.clone().into_owned());
            let park = self.parking_place(project)?;
            self.tidy(&owner, folder, &park, "its folder was deleted")?;
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

    /// Saves what is in a slot and parks it. Gives where it was saved, if there was anything.
    pub(crate) fn tidy(
        &mut self,
        task_id: &str,
        folder: &Path,
        park: &str,
        reason: &str,
    ) -> Result<Option<String>> {
        worktree::inside(&self.store.workspaces(), folder)?;
        if self.occupant(folder).is_none() {
            unlock(folder)?;
        }
        let saved = self.save_and_detach(task_id, folder, reason)?;
        worktree::quit_unfinished(folder)?;
        // Before the reset: what the branch ignores is not for the base's rules to judge.
        worktree::clean(folder)?;
        worktree::reset(folder, park)?;
        crash_point("release.reset");
        worktree::empty_changed_submodules(folder)?;
        let mut left = None;
        if worktree::changes(folder)? > 0 {
            // The branch ignored it, the base does not: it must not be in the next task's way.
            left = self.save(task_id, folder, "ignored by the branch, not by the base")?;
            worktree::clean(folder)?;
        }
        worktree::forget_moves(folder)?;
        Ok(saved.or(left))
    }

    /// Saves what is in a slot and lets go of its branch; files and index stay.
    fn save_and_detach(
        &mut self,
        task_id: &str,
        folder: &Path,
        reason: &str,
    ) -> Result<Option<String>> {
        let saved = self.save(task_id, folder, reason)?;
        self.keep_strays(task_id, folder)?;
        crash_point("release.saved");
        // Before any reset: on the task's branch that would take its commits from it.
        worktree::detach(folder)?;
        crash_point("release.detached");
        Ok(saved)
    }

    fn save(&mut self, task_id: &str, folder: &Path, reason: &str) -> Result<Option<String>> {
        let branch = crate::git::current_branch(folder)?;
        let raw_folder = self.raw_folder(task_id);
        let saved = rescue::save(&rescue::Save {
            slot: folder,
            task_id,
            raw_folder: &raw_folder,
            branch: branch.as_deref(),
            reason,
            now: self.now(),
        })?;
        Ok(saved.map(|saved| saved.reference))
    }

    /// A process that lives in a folder and that this command did not come from.
    pub(crate) fn occupant(&self, folder: &Path) -> Option<String> {
        let others = occupants::others_in_folder(folder, &occupants::own_line());
        let process = others.first()?;
        Some(format!("process {} ({})", process.pid, process.name))
    }

    /// A TASK.md that somebody saved after its task was gone is ignored by git, so no rescue holds it, and the
    /// next task must not take it for its own: it goes to the task that had the slot.
    pub(super) fn keep_strays(&mut self, task_id: &str, folder: &Path) -> Result<()> {
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
    pub(super) fn raw_folder(&mut self, task_id: &str) -> PathBuf {
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

fn unlock(folder: &Path) -> Result<()> {
    if worktree::unlock(folder)? {
        tracing::warn!(slot = %folder.display(), "removed the locks of a git that was killed");
    }
    Ok(())
}

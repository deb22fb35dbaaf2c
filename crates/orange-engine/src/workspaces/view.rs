//! The pool as people see it: what is in each slot, slots made in advance, and those that nobody needs.

use super::slot_lock::SlotLock;
use super::tidy::{remove_parked, restore_whole};
use super::{Slot, quarantine, slot_name, slot_number};
use crate::disk;
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::git;
use crate::git::state::{self, Head, Operation};
use crate::git::status::{self, Status};
use crate::git::worktree;
use crate::occupants::{self, Occupant};
use crate::projects::Project;
use crate::runs::{self, RunSpec};
use std::path::{Path, PathBuf};

/// One slot, looked at.
#[derive(Debug, Clone)]
pub struct SlotView {
    pub name: String,
    pub project: String,
    pub folder: PathBuf,
    pub slot: Slot,
    /// Who has it, as people call it.
    pub holder: Option<String>,
    /// None: there is no folder yet.
    pub head: Option<Head>,
    pub operation: Option<Operation>,
    pub status: Option<Status>,
    pub occupants: Vec<Occupant>,
    /// Bytes; only if asked for.
    pub disk: Option<u64>,
}

/// What `workspace gc` did.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    pub removed: Vec<String>,
    /// Slots that stay, and why.
    pub kept: Vec<(String, String)>,
    /// Rescue refs that were too old.
    pub expired: usize,
}

impl Engine {
    /// Slots of one project, or of all, in order.
    pub fn slots_of(&self, project: Option<&str>, with_disk: bool) -> Result<Vec<SlotView>> {
        let pool = self.pool()?;
        let mut all = Vec::new();
        for registered in self.projects()? {
            if project.is_some_and(|wanted| wanted != registered.name) {
                continue;
            }
            let mut numbers: Vec<u32> = (1..=registered.pool_size)
                .chain(
                    pool.workspaces
                        .keys()
                        .filter_map(|name| slot_number(&registered.name, name)),
                )
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                let name = slot_name(&registered.name, number);
                let slot = pool.workspaces.get(&name).cloned().unwrap_or_default();
                all.push(self.slot_view(&registered, name, slot, with_disk)?);
            }
            if let Some(name) = self.verify_folder(&registered.name) {
                let slot = Slot::default();
                all.push(self.slot_view(&registered, name, slot, with_disk)?);
            }
        }
        Ok(all)
    }

    fn slot_view(
        &self,
        project: &Project,
        name: String,
        slot: Slot,
        with_disk: bool,
    ) -> Result<SlotView> {
        let folder = self.slot_folder(&name);
        let there = folder.is_dir();
        let head = there.then(|| state::head(&folder));
        let branch = head.as_ref().and_then(Head::branch);
        let remote = format!("origin/{}", project.default_branch);
        let target = match git::commit_of(&project.path, &remote) {
            Ok(Some(_)) => &remote,
            Ok(None) | Err(_) => &project.default_branch,
        };
        Ok(SlotView {
            holder: match slot.is_free() || slot.is_retired() {
                true => None,
                false => Some(self.holder_name(&name, &slot)?),
            },
            operation: state::operation(&folder).filter(|_| there),
            status: match there {
                true => status::status(&folder, branch, target),
                false => None,
            },
            occupants: match there {
                true => self.strangers(&folder, &slot),
                false => Vec::new(),
            },
            disk: (there && with_disk).then(|| disk::used(&folder)),
            project: project.name.clone(),
            head,
            name,
            folder,
            slot,
        })
    }

    /// Who lives in a slot and is not at work there: the agents of the task that has it are.
    fn strangers(&self, folder: &Path, slot: &Slot) -> Vec<Occupant> {
        let mut ours = occupants::own_line();
        let of_task = |spec: &RunSpec| Some(&spec.task) == slot.task_id.as_ref();
        for run in runs::all(self.store.home()) {
            if run.spec().as_ref().is_some_and(of_task)
                && let Some(started) = run.started().filter(|_| run.is_alive())
            {
                let family = runs::descendants(started.process.pid);
                ours.extend(family.into_iter().map(|process| process.pid));
                ours.push(started.process.pid);
            }
        }
        occupants::others_in_folder(folder, &ours)
    }

    /// Makes slots before anybody needs them. Gives the new ones.
    pub fn make_slots(&self, project: &str, count: Option<u32>) -> Result<Vec<String>> {
        self.people_only("make workspaces")?;
        let project = self.registered(project)?;
        let count = count.unwrap_or(project.pool_size);
        if count == 0 || count > project.pool_size {
            return Err(Error::new(
                Code::Usage,
                format!("the pool of {} has {} slots", project.name, project.pool_size),
            )
            .hint(format!(
                "give a number from 1 to {0}, or enlarge it: `orange project update {1} --pool-size N`",
                project.pool_size, project.name
            )));
        }
        let park = self.parking_place(&project)?;
        let mut made = Vec::new();
        for number in 1..=count {
            let name = slot_name(&project.name, number);
            let folder = self.slot_folder(&name);
            // Under the lock: a task could take the slot meanwhile.
            let is_new = self.change_pool(|engine, pool| {
                if !pool.is_free(&name) || folder.exists() {
                    return Ok(false);
                }
                worktree::inside(&engine.store.workspaces(), &folder)?;
                let lock = SlotLock::try_take(&engine.store, &name)?;
                lock.handed_on(|| worktree::add(&project.path, &folder, &park))?;
                let slot = pool.workspaces.entry(name.clone()).or_default();
                slot.lockfiles = super::lockfiles_at(&project.path, &park)?;
                Ok(true)
            })?;
            if is_new {
                made.push(name);
            }
        }
        Ok(made)
    }

    /// Removes free slots that nobody needs: those beyond the pool's size, or with `all` every free one.
    pub fn collect_slots(&self, project: Option<&str>, all: bool) -> Result<Collected> {
        self.people_only("remove workspaces")?;
        let mut collected = Collected::default();
        for registered in self.projects()? {
            if project.is_some_and(|wanted| wanted != registered.name) {
                continue;
            }
            let of_checks = self.verify_folder(&registered.name);
            for name in self
                .slot_folders(&registered.name)
                .into_iter()
                .chain(of_checks)
            {
                let number = slot_number(&registered.name, &name).unwrap_or(0);
                if !all && number <= self.pool()?.last_number(&registered) {
                    continue;
                }
                match self.remove_slot(&registered, &name)? {
                    None => collected.removed.push(name),
                    Some(why) => collected.kept.push((name, why)),
                }
            }
            if registered.path.is_dir() {
                self.forget_all_gone(&registered)?;
                let old = self.sweep_rescues(Some(&registered.name), true)?;
                if let Some(left) = old.left.iter().find(|left| left.failed) {
                    let what = format!("{}: {}", left.name, left.why);
                    return Err(Error::new(Code::Failed, what));
                }
                collected.expired += old.items.len();
            }
        }
        Ok(collected)
    }

    /// Slots that nobody has, that git remembers and whose folders were deleted. One at which a process is at work is none
    /// of them.
    pub(crate) fn gone_slots(&self, project: &Project) -> Result<Vec<PathBuf>> {
        let workspaces = self.store.workspaces();
        let mut gone = Vec::new();
        for folder in worktree::gone(&project.path, &workspaces)? {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            // Under its lock: another process makes or removes it just now otherwise.
            let Some(_lock) = SlotLock::if_free(&self.store, &name)? else {
                continue;
            };
            if self.pool()?.is_free(&name)
                && worktree::gone(&project.path, &workspaces)?.contains(&folder)
            {
                gone.push(folder);
            }
        }
        Ok(gone)
    }

    /// Has git forget them. What a killed process was about to remove is put back or removed.
    pub(crate) fn forget_all_gone(&self, project: &Project) -> Result<()> {
        for name in quarantine::wholes(&self.store.workspaces()) {
            if slot_number(&project.name, &name).is_some()
                && let Some(_lock) = SlotLock::if_free(&self.store, &name)?
            {
                restore_whole(&self.slot_folder(&name))?;
            }
        }
        for folder in self.gone_slots(project)? {
            self.forget_gone(project, &folder)?;
        }
        Ok(())
    }

    /// Why the slot stays; None if it is gone.
    fn remove_slot(&self, project: &Project, name: &str) -> Result<Option<String>> {
        let folder = self.slot_folder(name);
        self.change_pool(|engine, pool| {
            if !pool.is_free(name) && !pool.is_retired(name) {
                let entry = pool.workspaces.get(name).cloned().unwrap_or_default();
                let holder = engine.holder_name(name, &entry)?;
                return Ok(Some(format!("{holder} has it")));
            }
            let others = occupants::others_in_folder(&folder, &occupants::own_line());
            if let Some(process) = others.first() {
                let (pid, name) = (process.pid, &process.name);
                return Ok(Some(format!("process {pid} ({name}) lives in it")));
            }
            if let Err(error) = worktree::inside(&engine.store.workspaces(), &folder) {
                return Ok(Some(error.message));
            }
            let entry = pool.workspaces.get(name);
            let owner = entry.and_then(|slot| slot.last_task.clone());
            let owner = owner.unwrap_or_else(|| name.to_owned());
            if !engine.is_worktree_of(&project.path, &folder, &owner)? {
                return Ok(Some(format!(
                    "it is no worktree of {}",
                    project.path.display()
                )));
            }
            let park = engine.parking_place(project)?;
            let lock = match SlotLock::try_take(&engine.store, name) {
                Ok(lock) => lock,
                Err(busy) => return Ok(Some(busy.message)),
            };
            let kept = lock.handed_on(|| {
                let tidied = engine.tidy(&owner, &folder, &park, "the slot was removed")?;
                match tidied.kept {
                    None => remove_parked(engine, &project.path, &folder),
                    kept => Ok(kept),
                }
            })?;
            if kept.is_none() {
                pool.workspaces.remove(name);
            }
            Ok(kept)
        })
    }
}

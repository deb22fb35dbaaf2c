//! The pool: worktrees that tasks borrow. Who has which slot stands in `.pool.json`; each lease has a number
//! (its epoch), and whoever gives a slot back or resets it must name it.

mod acquire;
mod collect;
pub mod commands;
mod earlier_work;
pub mod files;
mod link;
mod pool_file;
mod project_consent;
mod quarantine;
mod ready_slot;
mod release;
pub mod rules;
mod rules_commit;
mod setup;
mod slot_drift;
mod slot_lock;
mod special_files;
mod tidy;
mod verify_slot;

pub use acquire::Acquired;
pub use collect::{Collected, KeptSlot};
pub(crate) use link::{LINK_NAMES, name_at, unexclude};
pub use pool_file::{Pool, Slot};
pub(crate) use quarantine::{LEAVING, left_of};
pub use release::Released;
pub(crate) use setup::surroundings_of_check;
pub(crate) use slot_drift::astray;
pub(crate) use slot_lock::SlotLock;
pub(crate) use verify_slot::VerifySlot;
pub use verify_slot::{CHECK_MARK, verify_slot};

use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::git;
use crate::git::committed::Committed;
use crate::occupants;
use crate::projects::Project;
use crate::store::Store;
use crate::store::locks::{Lock, LockFile};
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use std::path::{Path, PathBuf};

/// A slot that is one task's until it gives it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub slot: String,
    pub epoch: u64,
}

/// `shop--2`.
pub fn slot_name(project: &str, number: u32) -> String {
    format!("{project}--{number}")
}

/// The number of a project's slot.
pub fn slot_number(project: &str, slot: &str) -> Option<u32> {
    let digits = slot.strip_prefix(project)?.strip_prefix("--")?;
    let number = digits.parse().ok()?;
    (slot_name(project, number) == slot).then_some(number)
}

impl Engine {
    pub(crate) fn slot_folder(&self, slot: &str) -> PathBuf {
        self.store.workspaces().join(slot)
    }

    /// The pool, for looking at. A file that is missing or cannot be read is made up for from the tasks.
    pub fn pool(&self) -> Result<Pool> {
        match Pool::read(&self.store)? {
            Some(pool) => Ok(pool),
            None => self.pool_from_tasks(),
        }
    }

    /// Changes the pool under its lock; written only if it changed.
    pub(crate) fn change_pool<T>(
        &self,
        change: impl FnOnce(&Engine, &mut Pool) -> Result<T>,
    ) -> Result<T> {
        self.refuse_copy()?;
        let _lock = lock_pool(&self.store)?;
        let before = Pool::read(&self.store)?;
        let mut pool = match &before {
            Some(pool) => pool.clone(),
            None => {
                let stamp = self.file_stamp();
                if let Some(aside) = Pool::set_aside(&self.store, &stamp)? {
                    self.notice(format!(
                        "workspaces/.pool.json could not be read; it is kept as {aside} and was made anew from the tasks"
                    ));
                }
                self.pool_from_tasks()?
            }
        };
        let result = change(self, &mut pool)?;
        if before.as_ref() != Some(&pool) {
            pool.write(&self.store)?;
            crash_point("pool.written");
        }
        Ok(result)
    }

    /// Who has which slot, as the tasks and the folders say. The index is taken as it is: that field is only ever
    /// changed by commands, which tell it.
    fn pool_from_tasks(&self) -> Result<Pool> {
        let mut pool = Pool::default();
        let epoch = self.epoch_floor();
        for project in self.projects()? {
            for task in self.index()?.slot_holders(&project.name)? {
                let task = self.store.survey(&task.folder).task;
                if let Some(slot) = task
                    .workspace
                    .clone()
                    .filter(|slot| slot_number(&project.name, slot).is_some())
                {
                    pool.workspaces.insert(slot, Slot::bound_to(&task, epoch));
                }
            }
            for slot in self.slot_folders(&project.name) {
                pool.workspaces.entry(slot).or_default();
            }
        }
        Ok(pool)
    }

    /// Slots of a project that have a folder.
    pub(crate) fn slot_folders(&self, project: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.store.workspaces()) else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| slot_number(project, name).is_some())
            .collect()
    }

    /// No lease of a pool file that was lost can have had a higher number than the time.
    fn epoch_floor(&self) -> u64 {
        u64::try_from(self.now().as_second()).unwrap_or(0)
    }

    /// Gives a task a slot, or the one it has. Nothing is done to the slot yet.
    pub(crate) fn reserve(&self, task: &Task, wanted: &Wanted) -> Result<Lease> {
        let project = self.registered(&task.project)?;
        self.change_pool(|engine, pool| {
            if let Some(lease) = pool.lease_of(task) {
                return Ok(lease);
            }
            let slot = engine.choose(pool, &project, task, wanted)?;
            let epoch = engine.epoch_floor();
            Ok(pool.bind(&slot, task, epoch))
        })
    }

    /// Gives a reservation back that came to nothing.
    pub(crate) fn unreserve(&self, task: &Task, lease: &Lease) -> Result<()> {
        self.change_pool(|_, pool| {
            pool.free(task, lease);
            Ok(())
        })
    }

    /// For `doctor`: a task that says it has a slot gets it.
    pub(crate) fn bind_slot(&self, slot: &str, task: &Task) -> Result<()> {
        self.change_pool(|engine, pool| {
            if !pool.is_free(slot) {
                return Err(changed_meanwhile(slot));
            }
            let epoch = engine.epoch_floor();
            pool.bind(slot, task, epoch);
            Ok(())
        })
    }

    /// For `doctor`: what is in a slot is saved under the task's name, then the slot is free.
    pub(crate) fn free_slot(
        &self,
        project: &Project,
        slot: &str,
        seen: &Slot,
        task: &Task,
    ) -> Result<String> {
        self.change_pool(|engine, pool| {
            if pool.workspaces.get(slot) != Some(seen) {
                return Err(changed_meanwhile(slot));
            }
            let (said, kept) = engine.tidied(project, slot, &task.id)?;
            if let Some(entry) = pool.workspaces.get_mut(slot) {
                entry.release();
                entry.last_task = Some(task.id.clone());
                if let Some(why) = &kept {
                    entry.retire(why);
                }
            }
            Ok(said)
        })
    }

    /// For `doctor`: a free slot as it should be.
    pub(crate) fn park_slot(&self, project: &Project, slot: &str, owner: &str) -> Result<String> {
        self.change_pool(|engine, pool| {
            if !pool.is_free(slot) && !pool.is_retired(slot) {
                return Err(changed_meanwhile(slot));
            }
            let folder = engine.slot_folder(slot);
            if folder.is_dir() && !engine.is_worktree_of(&project.path, &folder, owner)? {
                return Err(Error::new(
                    Code::Refused,
                    format!(
                        "{slot} is no worktree that was made from {}",
                        project.path.display()
                    ),
                )
                .hint(format!(
                    "nothing was touched; move {} away",
                    folder.display()
                )));
            }
            let (said, kept) = engine.tidied(project, slot, owner)?;
            let entry = pool.workspaces.entry(slot.to_owned()).or_default();
            match &kept {
                None => entry.release(),
                Some(why) => entry.retire(why),
            }
            Ok((said, kept))
        })
        // Outside: an error would leave the pool as it was.
        .and_then(|(said, kept)| match kept {
            None => Ok(said),
            Some(why) => Err(Error::new(Code::ConditionUnmet, why)),
        })
    }

    /// What was done, and why the slot is still not clean.
    fn tidied(
        &self,
        project: &Project,
        slot: &str,
        owner: &str,
    ) -> Result<(String, Option<String>)> {
        let folder = self.slot_folder(slot);
        if !folder.is_dir() || !self.is_worktree_of(&project.path, &folder, owner)? {
            return Ok(("it is free".to_owned(), None));
        }
        if let Some(who) = self.occupant(&folder) {
            return Err(Error::new(
                Code::ConditionUnmet,
                format!("{who} lives in {slot}"),
            ));
        }
        let park = self.parking_place(project)?;
        let lock = SlotLock::try_take(&self.store, slot)?;
        let tidied = lock.handed_on(|| self.tidy(owner, &folder, &park, "repaired"))?;
        let mut said = match &tidied.kept {
            None => "free and clean now".to_owned(),
            Some(why) => format!("kept as it is, and no task gets it: {why}"),
        };
        if let Some(reference) = tidied.saved {
            said = format!("{said}; what was in it is saved as {reference}");
        }
        Ok((said, tidied.kept))
    }

    /// A slot that was reserved for a task that then did not get it is free again.
    pub(crate) fn drop_reservation(&self, task: &Task) -> Result<()> {
        let pool = Pool::read(&self.store)?;
        match pool.and_then(|pool| pool.lease_of(task)) {
            Some(lease) if task.workspace.as_ref() != Some(&lease.slot) => {
                self.unreserve(task, &lease)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The task's own slot, then one with the same dependencies installed, then any that is free.
    fn choose(
        &self,
        pool: &Pool,
        project: &Project,
        task: &Task,
        wanted: &Wanted,
    ) -> Result<String> {
        let held = pool.held(&project.name).count();
        let size = usize::try_from(project.pool_size).unwrap_or(usize::MAX);
        if held >= size {
            return Err(self.exhausted(pool, project));
        }
        let mut free: Vec<(u8, u32, String)> = (1..=pool.last_number(project))
            .map(|number| (number, slot_name(&project.name, number)))
            .filter(|(_, slot)| pool.is_free(slot))
            .map(|(number, slot)| {
                let entry = pool.workspaces.get(&slot);
                let last = entry.and_then(|entry| entry.last_task.as_deref());
                let lockfiles = entry.and_then(|entry| entry.lockfiles.as_deref());
                let rank = match () {
                    () if last == Some(task.id.as_str()) => 0,
                    () if lockfiles.is_some() && lockfiles == wanted.lockfiles.as_deref() => 1,
                    () if self.slot_folder(&slot).is_dir() => 2,
                    () => 3,
                };
                (rank, number, slot)
            })
            .collect();
        free.sort();
        let own = occupants::own_line();
        let mut passed = Vec::new();
        for (_, _, slot) in free {
            match why_not(&self.slot_folder(&slot), &own) {
                None => return Ok(slot),
                Some(why) => {
                    self.notice(format!("{slot} is passed over: {why}"));
                    passed.push(format!("{slot} ({why})"));
                }
            }
        }
        if passed.is_empty() {
            return Err(self.exhausted(pool, project));
        }
        Err(Error::new(
            Code::ConditionUnmet,
            format!(
                "no free slot of {} can be used: {}",
                project.name,
                passed.join(", ")
            ),
        )
        .hint(
            "leave those folders, end those processes, move away what is no worktree; Orange never ends or deletes what is not its own",
        ))
    }

    fn exhausted(&self, pool: &Pool, project: &Project) -> Error {
        let holders: Vec<String> = pool
            .held(&project.name)
            .map(|(slot, entry)| format!("{slot}: {}", entry.task.as_deref().unwrap_or("?")))
            .collect();
        Error::new(
            Code::ConditionUnmet,
            format!(
                "no slot of {} is free ({} of {} held: {})",
                project.name,
                holders.len(),
                project.pool_size,
                holders.join(", ")
            ),
        )
        .hint(text!(
            "finish or cancel one of these, or enlarge the pool: {}",
            Action::enlarge_pool(&project.name, project.pool_size + 1)
        ))
    }

    /// A project whose repository is where it is said to be.
    pub(crate) fn registered(&self, name: &str) -> Result<Project> {
        let registry = self.projects()?;
        let project = crate::projects::named(&registry, name)?.clone();
        if project.path.is_dir() {
            return Ok(project);
        }
        Err(Error::new(
            Code::NotFound,
            format!(
                "the repository of project {} is not at {} any more",
                project.name,
                project.path.display()
            ),
        )
        .hint(text!(
            "say where it is: {}",
            Action::move_project(&project.name)
        )))
    }
}

/// What speaks against giving a free slot to somebody.
fn why_not(folder: &Path, own_line: &[u32]) -> Option<String> {
    let Ok(found) = std::fs::symlink_metadata(folder) else {
        return None;
    };
    if !found.is_dir() {
        return Some("it is no folder".to_owned());
    }
    let empty = std::fs::read_dir(folder).is_ok_and(|mut all| all.next().is_none());
    if !empty
        && !git::worktree::is_half_made(folder)
        && (!folder.join(".git").is_file() || git::state::git_folder(folder).is_err())
    {
        return Some("it is no worktree".to_owned());
    }
    if !empty && git::worktree::is_led_astray(folder) {
        return Some(format!("it {}", git::worktree::astray(folder)));
    }
    let others = occupants::others_in_folder(folder, own_line);
    let process = others.first()?;
    Some(format!(
        "process {} ({}) lives in it",
        process.pid, process.name
    ))
}

fn changed_meanwhile(slot: &str) -> Error {
    Error::new(
        Code::Conflict,
        format!("{slot} was given to a task meanwhile"),
    )
}

/// What a task would like of a slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Names what its base says about dependencies.
    pub(crate) lockfiles: Option<String>,
}

fn lock_pool(store: &Store) -> Result<LockFile> {
    store.ensure_home()?;
    store.lock(Lock::Pool)
}

/// Files that decide what is installed in a slot: a slot where they are the same needs no new installation.
const LOCKFILES: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "requirements.txt",
    "Gemfile.lock",
    "composer.lock",
    "go.sum",
    "mix.lock",
    "flake.lock",
];

/// Names the lockfiles of a commit; None if it has none.
pub(crate) fn lockfiles_at(repository: &Path, commit: &str) -> Result<Option<String>> {
    let files = base_files(repository, commit, LOCKFILES)?;
    let objects: String = files.objects().collect();
    Ok((!objects.is_empty()).then(|| {
        let hash = crate::store::replace::short_hash(objects.as_bytes());
        format!("{hash:016x}")
    }))
}

/// Files of the commit that a task starts from. One start asks for several, so all of them are looked for at once.
pub(crate) fn base_files<'a>(
    repository: &'a Path,
    commit: &str,
    paths: &[impl AsRef<str>],
) -> Result<Committed<'a>> {
    let rules = [rules::CONFIG, rules::INCLUDE, PROMPTS, link::LINK];
    let all = rules.into_iter().chain(LOCKFILES.iter().copied());
    Committed::looking_ahead(repository, commit, paths, all)
}

/// What is in the folder of prompts.
const PROMPTS: &str = ".orange/prompts/";

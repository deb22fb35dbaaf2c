//! Slots made before a task needs one, and those that nobody needs.

use crate::call::{self, Call};
use crate::error::{Code, Error, Result, err};
use crate::git::worktree;
use crate::maintenance::gc::rescues;
use crate::projects::Project;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::tidy::{self, remove_parked, restore_whole};
use crate::workspaces::{self, quarantine, release, slot_name, slot_number, verify_slot};
use crate::{access, facts, occupants, rules};
use orange_core::{Action, text};
use serde::Serialize;
use std::path::PathBuf;

/// What `workspace gc` did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Collected {
    pub removed: Vec<String>,
    pub kept: Vec<KeptSlot>,
    /// Rescue refs that were too old.
    #[serde(rename = "expired_rescues")]
    pub expired: usize,
}

/// A slot that stays, and why.
#[derive(Debug, Clone, Serialize)]
pub struct KeptSlot {
    pub slot: String,
    pub reason: String,
}

/// Makes slots before anybody needs them. Gives the new ones.
pub fn make_slots(call: &Call, project: &str, count: Option<u32>) -> Result<Vec<String>> {
    access::people_only(call, "make workspaces")?;
    let project = call::registered(call, project)?;
    let count = count.unwrap_or(project.pool_size);
    if count == 0 || count > project.pool_size {
        return Err(err!(
            Usage,
            "the pool of {} has {} slots",
            project.name,
            project.pool_size
        )
        .hint(text!(
            "{}{}",
            format!(
                "give a number from 1 to {}, or enlarge it: ",
                project.pool_size
            ),
            Action::enlarge_pool(&project.name, None)
        )));
    }
    let park = rules::parking_place(call, &project)?;
    let mut made = Vec::new();
    for number in 1..=count {
        let name = slot_name(&project.name, number);
        let folder = workspaces::slot_folder(call, &name);
        // Under the lock: a task could take the slot meanwhile.
        let is_new = workspaces::change_pool(call, |call, pool| {
            if !pool.is_free(&name) || folder.exists() {
                return Ok(false);
            }
            worktree::inside(&call.store.workspaces(), &folder)?;
            let lock = SlotLock::try_take(&call.store, &name)?;
            lock.handed_on(|| worktree::add(&project.path, &folder, &park))?;
            let slot = pool.workspaces.entry(name.clone()).or_default();
            slot.lockfiles = workspaces::lockfiles_at(&project.path, &park)?;
            Ok(true)
        })?;
        if is_new {
            made.push(name);
        }
    }
    Ok(made)
}

/// Removes free slots that nobody needs: those beyond the pool's size, or with `all` every free one.
pub fn collect_slots(call: &Call, project: Option<&str>, all: bool) -> Result<Collected> {
    access::people_only(call, "remove workspaces")?;
    let mut collected = Collected::default();
    for registered in call.projects()? {
        if project.is_some_and(|wanted| wanted != registered.name) {
            continue;
        }
        let of_checks = verify_slot::verify_folder(call, &registered.name);
        for name in workspaces::slot_folders(call, &registered.name)
            .into_iter()
            .chain(of_checks)
        {
            let number = slot_number(&registered.name, &name).unwrap_or(0);
            if !all && number <= workspaces::pool(call)?.last_number(&registered) {
                continue;
            }
            match remove_slot(call, &registered, &name)? {
                None => collected.removed.push(name),
                Some(reason) => collected.kept.push(KeptSlot { slot: name, reason }),
            }
        }
        if registered.path.is_dir() {
            forget_all_gone(call, &registered)?;
            let old = rescues::sweep_rescues(call, Some(&registered.name), true)?;
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
pub(crate) fn gone_slots(call: &Call, project: &Project) -> Result<Vec<PathBuf>> {
    let workspaces = call.store.workspaces();
    let mut gone = Vec::new();
    for folder in worktree::gone(&project.path, &workspaces)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        // Under its lock: another process makes or removes it just now otherwise.
        let Some(_lock) = SlotLock::if_free(&call.store, &name)? else {
            continue;
        };
        if workspaces::pool(call)?.is_free(&name)
            && worktree::gone(&project.path, &workspaces)?.contains(&folder)
        {
            gone.push(folder);
        }
    }
    Ok(gone)
}

/// Has git forget them. What a killed process was about to remove is put back or removed.
pub(crate) fn forget_all_gone(call: &Call, project: &Project) -> Result<()> {
    for name in quarantine::wholes(&call.store.workspaces()) {
        if slot_number(&project.name, &name).is_some()
            && let Some(_lock) = SlotLock::if_free(&call.store, &name)?
        {
            restore_whole(&workspaces::slot_folder(call, &name))?;
        }
    }
    for folder in gone_slots(call, project)? {
        release::forget_gone(call, project, &folder)?;
    }
    Ok(())
}

/// Why the slot stays; None if it is gone.
fn remove_slot(call: &Call, project: &Project, name: &str) -> Result<Option<String>> {
    let folder = workspaces::slot_folder(call, name);
    workspaces::change_pool(call, |call, pool| {
        if !pool.is_free(name) && !pool.is_retired(name) {
            let entry = pool.workspaces.get(name).cloned().unwrap_or_default();
            let holder = facts::holder_name(call, name, &entry)?;
            return Ok(Some(format!("{holder} has it")));
        }
        let others = occupants::others_in_folder(&folder, &occupants::own_line());
        if let Some(process) = others.first() {
            let (pid, name) = (process.pid, &process.name);
            return Ok(Some(format!("process {pid} ({name}) lives in it")));
        }
        if let Err(error) = worktree::inside(&call.store.workspaces(), &folder) {
            return Ok(Some(error.message));
        }
        let entry = pool.workspaces.get(name);
        let owner = entry.and_then(|slot| slot.last_task.clone());
        let owner = owner.unwrap_or_else(|| name.to_owned());
        if !tidy::is_worktree_of(call, &project.path, &folder, &owner)? {
            return Ok(Some(format!(
                "it is no worktree of {}",
                project.path.display()
            )));
        }
        let park = rules::parking_place(call, project)?;
        let lock = match SlotLock::try_take(&call.store, name) {
            Ok(lock) => lock,
            Err(busy) => return Ok(Some(busy.message)),
        };
        let kept = lock.handed_on(|| {
            let tidied = tidy::tidy(call, &owner, &folder, &park, "the slot was removed")?;
            match tidied.kept {
                None => remove_parked(call, &project.path, &folder),
                kept => Ok(kept),
            }
        })?;
        if kept.is_none() {
            pool.workspaces.remove(name);
        }
        Ok(kept)
    })
}

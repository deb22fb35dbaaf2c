//! Slots made before a task needs one, and those that nobody needs.

use crate::call::{self, Call};
use crate::error::{Code, Error, IoContext, Result, err};
use crate::git::worktree;
use crate::maintenance::gc::rescues;
use crate::projects::Project;
use crate::store::make_folder;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::tidy::{self, remove_parked, restore_whole};
use crate::workspaces::{self, quarantine, release, slot_name, slot_number, verify_slot};
use crate::{access, facts, rules};
use orange_core::{Action, text};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
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
    let size = project.pool_size;
    let count = count.unwrap_or(size);
    if count == 0 || count > size {
        return Err(
            err!(Usage, "the pool of {} has {size} slots", project.name).hint(text!(
                "give a number from 1 to {size}, or enlarge it: {}",
                Action::enlarge_pool(&project.name, None)
            )),
        );
    }
    let park = rules::parking_place(call, &project)?;
    let mut made = Vec::new();
    for number in 1..=count {
        let name = slot_name(&project.name, number);
        let folder = workspaces::slot_folder(call, &name);
        // Under the lock: a task could take the slot meanwhile.
        let is_new = workspaces::change_pool(call, |pool| {
            if !pool.is_free(&name) || folder.exists() {
                return Ok(false);
            }
            worktree::inside(&call.store.workspaces(), &folder)?;
            let lock = SlotLock::try_take(&call.store, &name)?;
            lock.handed_on(|| worktree::add(&call.site(&project.path), &folder, &park))?;
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

/// Empties the pool of a project whose repository is gone. Without it nothing in a slot can be saved as a rescue: the folders
/// are kept whole beside the copies of the tasks that had them, under names that never expire.
pub(crate) fn set_slots_aside(call: &Call, project: &str) -> Result<()> {
    workspaces::change_pool(call, |pool| {
        let known = pool.workspaces.keys().cloned();
        let known = known.filter(|name| slot_number(project, name).is_some());
        let folders = workspaces::slot_folders(call, project).into_iter();
        let folders = folders.chain(verify_slot::verify_folder(call, project));
        for name in known.chain(folders).collect::<BTreeSet<String>>() {
            let folder = workspaces::slot_folder(call, &name);
            if folder.is_dir() && !folder.is_symlink() {
                if let Some(who) = release::occupant(&folder) {
                    return Err(
                        err!(ConditionUnmet, "{name} is still in use: {who} lives in it")
                            .hint("leave the folder, or end the process; then remove the project"),
                    );
                }
                let _lock = SlotLock::try_take(&call.store, &name)?;
                let holder = pool.workspaces.get(&name);
                let holder = holder.and_then(|slot| slot.task_id.as_deref());
                let owner = holder.unwrap_or(pool.last_owner(&name));
                let kept = release::raw_folder(call, owner);
                let aside = kept.join(format!("{name}-{}", call.file_stamp()));
                make_folder(&kept)
                    .and_then(|()| fs::rename(&folder, &aside))
                    .doing("move", &folder)?;
                call.notice(format!(
                    "{name} cannot be saved without its repository; it is kept as {}",
                    aside.display()
                ));
            }
            pool.workspaces.remove(&name);
        }
        Ok(())
    })
}

/// Why the slot stays; None if it is gone.
fn remove_slot(call: &Call, project: &Project, name: &str) -> Result<Option<String>> {
    let folder = workspaces::slot_folder(call, name);
    workspaces::change_pool(call, |pool| {
        if !pool.is_free(name) && !pool.is_retired(name) {
            let entry = pool.workspaces.get(name).cloned().unwrap_or_default();
            let holder = facts::holder_name(call, name, &entry)?;
            return Ok(Some(format!("{holder} has it")));
        }
        if let Some(who) = release::occupant(&folder) {
            return Ok(Some(format!("{who} lives in it")));
        }
        if let Err(error) = worktree::inside(&call.store.workspaces(), &folder) {
            return Ok(Some(error.message));
        }
        let owner = pool.last_owner(name);
        if !tidy::is_worktree_of(call, &project.path, &folder, owner)? {
            let path = project.path.display();
            return Ok(Some(format!("it is no worktree of {path}")));
        }
        let park = rules::parking_place(call, project)?;
        let lock = match SlotLock::try_take(&call.store, name) {
            Ok(lock) => lock,
            Err(busy) => return Ok(Some(busy.message)),
        };
        let kept = lock.handed_on(|| {
            let tidied = tidy::tidy(call, owner, &folder, &park, "the slot was removed")?;
            match tidied.kept {
                None => remove_parked(&call.site(&project.path), &folder),
                kept => Ok(kept),
            }
        })?;
        if kept.is_none() {
            pool.workspaces.remove(name);
        }
        Ok(kept)
    })
}

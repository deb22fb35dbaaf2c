//! The pool: worktrees that tasks borrow. Who has which slot stands in `.pool.json`; each lease has a number (its epoch), and
//! whoever gives a slot back or resets it must name it. Called by hooks, verbs, checks and `maintenance/`. Read `acquire.rs` and
//! `release.rs` first.

pub mod acquire;
pub mod base;
pub mod commands;
pub mod consents;
pub mod earlier_work;
pub mod files;
pub mod link;
pub mod pool_file;
pub mod project_consent;
pub mod quarantine;
pub mod ready_slot;
pub mod release;
pub mod setup;
pub mod slot_lock;
pub mod special_files;
pub mod tidy;
pub mod verify_slot;

use crate::call::Call;
use crate::error::{Code, Error, Result, err};
use crate::git::Site;
use crate::projects::Project;
use crate::rules::{self, LOCKFILES, base_files};
use crate::store::Place;
use crate::store::locks::Lock;
pub use crate::workspaces::acquire::Acquired;
pub(crate) use crate::workspaces::link::LINK_NAMES;
pub use crate::workspaces::pool_file::{Pool, Slot};
pub use crate::workspaces::release::Released;
pub(crate) use crate::workspaces::slot_lock::SlotLock;
pub use crate::workspaces::verify_slot::{CHECK_MARK, verify_slot};
use crate::{git, home_record};
use orange_core::task::Task;
use orange_core::{Action, Parameter, text};
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// A slot that is one task's until it gives it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lease {
    pub slot: String,
    pub epoch: u64,
}

/// A task and its slot, while that is made ready or given back.
struct TaskSlot<'a> {
    call: &'a Call,
    project: &'a Project,
    task: &'a Task,
    place: &'a Place,
    lease: &'a Lease,
    folder: &'a Site,
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

pub(crate) fn slot_folder(call: &Call, slot: &str) -> PathBuf {
    call.store.workspaces().join(slot)
}

/// The pool, for looking at. A file that is missing or cannot be read is made up for from the tasks.
pub fn pool(call: &Call) -> Result<Pool> {
    match Pool::read(&call.store)? {
        Some(pool) => Ok(pool),
        None => pool_from_tasks(call),
    }
}

/// Changes the pool under its lock; written only if it changed.
pub(crate) fn change_pool<T>(
    call: &Call,
    change: impl FnOnce(&mut Pool) -> Result<T>,
) -> Result<T> {
    home_record::refuse_copy(call)?;
    call.store.ensure_home()?;
    let _lock = call.store.lock(Lock::Pool)?;
    let before = Pool::read(&call.store)?;
    let mut pool = match &before {
        Some(pool) => pool.clone(),
        None => {
            let stamp = call.file_stamp();
            if let Some(aside) = Pool::set_aside(&call.store, &stamp)? {
                call.notice(format!(
                        "workspaces/.pool.json could not be read; it is kept as {aside} and was made anew from the tasks"
                    ));
            }
            pool_from_tasks(call)?
        }
    };
    let result = change(&mut pool)?;
    if before.as_ref() != Some(&pool) {
        pool.write(&call.store)?;
        crash_point("pool.written");
    }
    Ok(result)
}

/// Changes one slot of the pool, if there is such a slot.
pub(crate) fn change_slot(call: &Call, slot: &str, change: impl FnOnce(&mut Slot)) -> Result<()> {
    change_pool(call, |pool| {
        pool.workspaces.get_mut(slot).map(change);
        Ok(())
    })
}

/// Who has which slot, as the tasks and the folders say. The index is taken as it is: that field is only ever
/// changed by commands, which tell it.
fn pool_from_tasks(call: &Call) -> Result<Pool> {
    let mut pool = Pool::default();
    let epoch = epoch_floor(call);
    for project in call.projects()? {
        for task in call.index()?.slot_holders(&project.name)? {
            let task = call.store.survey(&task.folder).task;
            if let Some(slot) = task.workspace.clone()
                && slot_number(&project.name, &slot).is_some()
            {
                pool.workspaces.insert(slot, Slot::bound_to(&task, epoch));
            }
        }
        for slot in slot_folders(call, &project.name) {
            pool.workspaces.entry(slot).or_default();
        }
    }
    Ok(pool)
}

/// Slots of a project that have a folder.
pub(crate) fn slot_folders(call: &Call, project: &str) -> Vec<String> {
    let names = listing::names(&call.store.workspaces());
    let is_slot = |name: &String| slot_number(project, name).is_some();
    names.filter(is_slot).collect()
}

/// No lease of a pool file that was lost can have had a higher number than the time.
fn epoch_floor(call: &Call) -> u64 {
    u64::try_from(call.now().as_second()).unwrap_or(0)
}

/// Gives a task a slot, or the one it has. Nothing is done to the slot yet. `lockfiles`: of the commit it starts from.
pub(crate) fn reserve(
    call: &Call,
    project: &Project,
    task: &Task,
    lockfiles: Option<&str>,
) -> Result<Lease> {
    change_pool(call, |pool| {
        if let Some(lease) = pool.lease_of(task) {
            return Ok(lease);
        }
        let slot = choose(call, pool, project, task, lockfiles)?;
        Ok(pool.bind(&slot, task, epoch_floor(call)))
    })
}

/// Gives a reservation back that came to nothing.
pub(crate) fn unreserve(call: &Call, task: &Task, lease: &Lease) -> Result<()> {
    change_pool(call, |pool| {
        pool.free(task, lease);
        Ok(())
    })
}

/// For `doctor`: a task that says it has a slot gets it.
pub(crate) fn bind_slot(call: &Call, slot: &str, task: &Task) -> Result<()> {
    change_pool(call, |pool| {
        if !pool.is_free(slot) {
            return Err(changed_meanwhile(slot));
        }
        pool.bind(slot, task, epoch_floor(call));
        Ok(())
    })
}

/// For `doctor`: what is in a slot is saved under the task's name, then the slot is free.
pub(crate) fn free_slot(
    call: &Call,
    project: &Project,
    slot: &str,
    seen: &Slot,
    owner: &str,
) -> Result<String> {
    change_pool(call, |pool| {
        if pool.workspaces.get(slot) != Some(seen) {
            return Err(changed_meanwhile(slot));
        }
        let (said, kept) = tidied(call, project, slot, owner)?;
        if let Some(entry) = pool.workspaces.get_mut(slot) {
            entry.give_back(kept.as_deref());
            entry.last_task = Some(owner.to_owned());
        }
        Ok(said)
    })
}

/// For `doctor`: a free slot as it should be.
pub(crate) fn park_slot(call: &Call, project: &Project, slot: &str, owner: &str) -> Result<String> {
    change_pool(call, |pool| {
        if !pool.is_free(slot) && !pool.is_retired(slot) {
            return Err(changed_meanwhile(slot));
        }
        let folder = slot_folder(call, slot);
        if folder.is_dir() && !tidy::is_worktree_of(call, &project.path, &folder, owner)? {
            return Err(err!(
                Refused,
                "{slot} is no worktree that was made from {}",
                project.path.display()
            )
            .hint(format!(
                "nothing was touched; move {} away",
                folder.display()
            )));
        }
        let (said, kept) = tidied(call, project, slot, owner)?;
        let entry = pool.workspaces.entry(slot.to_owned()).or_default();
        entry.give_back(kept.as_deref());
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
    call: &Call,
    project: &Project,
    slot: &str,
    owner: &str,
) -> Result<(String, Option<String>)> {
    let folder = slot_folder(call, slot);
    if !folder.is_dir() || !tidy::is_worktree_of(call, &project.path, &folder, owner)? {
        return Ok(("it is free".to_owned(), None));
    }
    if let Some(who) = release::occupant(&folder) {
        return Err(err!(ConditionUnmet, "{who} lives in {slot}"));
    }
    let park = rules::parking_place(call, project)?;
    let lock = SlotLock::try_take(&call.store, slot)?;
    let tidied = lock.handed_on(|| tidy::tidy(call, owner, &folder, &park, "repaired"))?;
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
pub(crate) fn drop_reservation(call: &Call, task: &Task) -> Result<()> {
    let pool = Pool::read(&call.store)?;
    match pool.and_then(|pool| pool.lease_of(task)) {
        Some(lease) if task.workspace.as_ref() != Some(&lease.slot) => {
            unreserve(call, task, &lease)
        }
        Some(_) | None => Ok(()),
    }
}

/// The task's own slot, then one with the same dependencies installed, then any that is free.
pub(crate) fn choose(
    call: &Call,
    pool: &Pool,
    project: &Project,
    task: &Task,
    wanted: Option<&str>,
) -> Result<String> {
    let held = pool.held(&project.name).count();
    let size = usize::try_from(project.pool_size).unwrap_or(usize::MAX);
    if held >= size {
        return Err(exhausted(pool, project));
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
                () if lockfiles.is_some() && lockfiles == wanted => 1,
                () if slot_folder(call, &slot).is_dir() => 2,
                () => 3,
            };
            (rank, number, slot)
        })
        .collect();
    free.sort();
    let mut passed = Vec::new();
    for (_, _, slot) in free {
        match why_not(&slot_folder(call, &slot)) {
            None => return Ok(slot),
            Some(why) => {
                call.notice(format!("{slot} is passed over: {why}"));
                passed.push(format!("{slot} ({why})"));
            }
        }
    }
    if passed.is_empty() {
        return Err(exhausted(pool, project));
    }
    Err(err!(ConditionUnmet, "no free slot of {} can be used: {}", project.name, passed.join(", "))
        .hint(
            "leave those folders, end those processes, move away what is no worktree; Orange never ends or deletes what is not its own",
        ))
}

fn exhausted(pool: &Pool, project: &Project) -> Error {
    let holders: Vec<String> = pool
        .held(&project.name)
        .map(|(slot, entry)| format!("{slot}: {}", entry.task.as_deref().unwrap_or("?")))
        .collect();
    err!(
        ConditionUnmet,
        "no slot of {} is free ({} of {} held: {})",
        project.name,
        holders.len(),
        project.pool_size,
        holders.join(", ")
    )
    .hint(text!(
        "finish or cancel one of these, or enlarge the pool: {}",
        Action::enlarge_pool(&project.name, project.pool_size + 1)
    ))
}

/// What speaks against giving a free slot to somebody.
fn why_not(folder: &Path) -> Option<String> {
    let found = std::fs::symlink_metadata(folder).ok()?;
    if !found.is_dir() {
        return Some("it is no folder".to_owned());
    }
    let empty = listing::is_empty(folder);
    if !empty
        && !git::worktree::is_half_made(folder)
        && (!folder.join(".git").is_file() || git::state::git_folder(folder).is_err())
    {
        return Some("it is no worktree".to_owned());
    }
    if !empty && git::worktree::is_led_astray(folder) {
        return Some(format!("it {}", git::worktree::astray(folder)));
    }
    release::occupant(folder).map(|who| format!("{who} lives in it"))
}

fn changed_meanwhile(slot: &str) -> Error {
    err!(Conflict, "{slot} was given to a task meanwhile")
}

/// Names the lockfiles of a commit; None if it has none.
pub(crate) fn lockfiles_at(repository: &Path, commit: &str) -> Result<Option<String>> {
    let files = base_files(repository, commit, LOCKFILES)?;
    let objects: String = files.objects().collect();
    Ok((!objects.is_empty()).then(|| {
        let hash = crate::store::replace::short_hash(objects.as_bytes());
        format!("{hash:016x}")
    }))
}

pub(crate) fn repository_of(call: &Call, task: &Task, project: &str) -> Result<PathBuf> {
    if let Some(known) = call.project_of(project) {
        return if known.path.is_dir() {
            Ok(known.path)
        } else {
            Err(err!(
                NotFound,
                "the repository of project {project} is not at {}",
                known.path.display()
            )
            .hint(text!("say where it is: {}", Action::move_project(project))))
        };
    }
    // A workspace of it may still be there, and knows where it comes from.
    if let Ok(slot) = workspace_of(call, task)
        && let Some(repository) = git::repository_of(&slot)?
    {
        return Ok(repository);
    }
    Err(err!(
        NotFound,
        "project {project} is not registered, so its repository is not known"
    )
    .hint(text!(
        "register it again: {}",
        Action::add_project(None, project.to_owned())
    )))
}

/// The task's slot. Only a folder that really lies in the pool.
pub(crate) fn workspace_of(call: &Call, task: &Task) -> Result<PathBuf> {
    let label = task.label();
    let Some(name) = task.workspace.as_deref().filter(|name| !name.is_empty()) else {
        return Err(no_workspace(&label, "has no workspace"));
    };
    let pool = call.store.workspaces().canonicalize();
    let is_inside = |slot: &PathBuf| match (slot.canonicalize(), &pool) {
        (Ok(slot), Ok(pool)) => slot.parent() == Some(pool) && slot.is_dir(),
        (Ok(_) | Err(_), _) => false,
    };
    let found = safe_slot_folder(call, name).filter(is_inside);
    found.ok_or_else(|| {
        let why = format!("has the workspace {name:?}, which is not there");
        no_workspace(&label, &why)
    })
}

pub(crate) fn no_workspace(label: &str, why: &str) -> Error {
    err!(ConditionUnmet, "{label} {why}, so files cannot be put back")
        .hint(text!("add {} to get it as a branch", Parameter::ToBranch))
}

/// A slot is a folder of the pool: a name with a way in it leads out, and is none.
pub(crate) fn safe_slot_folder(call: &Call, slot: &str) -> Option<PathBuf> {
    let mut parts = Path::new(slot).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => Some(call.store.workspaces().join(name)),
        _ => None,
    }
}

//! Giving a task a slot: reserved before its status changes, made ready afterwards.

use crate::call::{self, Call};
use crate::error::{Error, IoContext, Result, err};
use crate::git::state::{self, Head};
use crate::git::{self, worktree};
use crate::projects::Project;
use crate::rules::{self, Start, no_commits};
use crate::store::Place;
use crate::workspaces::pool_file::Slot;
use crate::workspaces::quarantine::Quarantine;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::tidy::{self, remove_parked, restore_whole, revive};
use crate::workspaces::{
    self, Lease, Wanted, base, earlier_work, link, lockfiles_at, release, setup,
};
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// A slot that is ready for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acquired {
    pub lease: Lease,
    pub folder: PathBuf,
    /// Where the branch starts, or started.
    pub start: Start,
    /// The rescue whose files were put into it.
    pub brought: Option<String>,
}

impl Serialize for Acquired {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            slot: &'a str,
            path: &'a Path,
            epoch: u64,
            base: &'a str,
            base_commit: &'a Option<String>,
            fetched: bool,
            brought: &'a Option<String>,
        }
        let keys = Keys {
            slot: &self.lease.slot,
            path: &self.folder,
            epoch: self.lease.epoch,
            base: &self.start.reference,
            base_commit: &self.start.commit,
            fetched: self.start.fetched,
            brought: &self.brought,
        };
        keys.serialize(to)
    }
}

/// What is in a slot once the task's branch is checked out.
enum Checkout {
    /// Exactly the commit that the branch starts from.
    Fresh,
    /// Whatever was there.
    Found,
}

/// Whether a slot has the task's branch.
enum Ready {
    Yes(Start, Checkout),
    /// It cannot be cleaned, and why: another slot has to do.
    Retire(String),
}

/// A slot that could not be made ready.
#[derive(Debug)]
pub(crate) struct NotReady {
    pub(crate) error: Error,
    /// The task keeps the slot: its branch is checked out there, only what comes after it failed.
    pub(crate) kept: Option<Lease>,
}

impl From<Error> for NotReady {
    fn from(error: Error) -> NotReady {
        NotReady { error, kept: None }
    }
}

/// Whatever is known to be in the way is said before anything changes. Gives the slot.
pub(crate) fn reserve_for(call: &Call, task: &Task) -> Result<Lease> {
    let project = call::registered(call, &task.project)?;
    branch_is_usable(call, &project, task)?;
    let start = base::start_of(call, &project, task, false)?;
    let commit = start
        .commit
        .as_deref()
        .ok_or_else(|| no_commits(&project))?;
    setup::commands_are_trusted(call, &project, task)?;
    let wanted = Wanted {
        lockfiles: lockfiles_at(&project.path, commit)?,
    };
    workspaces::reserve(call, task, &wanted)
}

/// Would a task that is about to be made get a slot now? Another one may still be quicker.
pub(crate) fn check_can_acquire(call: &Call, project: &Project, task: &Task) -> Result<()> {
    setup::commands_are_trusted(call, project, task)?;
    let pool = workspaces::pool(call)?;
    workspaces::choose(call, &pool, project, task, &Wanted::default()).map(drop)
}

/// A branch can be checked out only once.
fn branch_is_usable(call: &Call, project: &Project, task: &Task) -> Result<()> {
    let own = workspaces::pool(call)?
        .lease_of(task)
        .map(|lease| workspaces::slot_folder(call, &lease.slot));
    let Some(place) = worktree::checked_out_at(&project.path, &task.branch)? else {
        return Ok(());
    };
    if own.is_some_and(|own| own == place || worktree::same_folder(&own, &place)) {
        return Ok(());
    }
    if worktree::is_gone(&place, &call.store.workspaces()) {
        // A slot that was deleted by hand; git would go on keeping the branch for it.
        return release::forget_gone(call, project, &place);
    }
    Err(err!(
        ConditionUnmet,
        "branch {} is checked out at {}",
        task.branch,
        place.display()
    )
    .hint(format!(
        "switch to another branch there (`git -C {} switch …`), then try again",
        place.display()
    )))
}

/// Makes the task's slot ready. Done once more after a crash, it goes on where it was.
pub(crate) fn acquire(
    call: &Call,
    task: &Task,
    place: &Place,
) -> std::result::Result<Acquired, NotReady> {
    let project = call::registered(call, &task.project)?;
    let held = workspaces::pool(call)?.lease_of(task);
    let mut lease = match held {
        Some(lease) => lease,
        None => reserve_for(call, task)?,
    };
    let mut lock = SlotLock::take(&call.store, &lease.slot)?;
    let mut folder = workspaces::slot_folder(call, &lease.slot);
    let (start, checkout) = loop {
        let checked_out = check_out(call, &project, task, place, &lease, &folder, &lock);
        let error = match checked_out {
            Ok(Ready::Yes(start, checkout)) => break (start, checkout),
            Ok(Ready::Retire(why)) => {
                retire(call, task, &lease, &why)?;
                drop(lock);
                lease = reserve_for(call, task)?;
                lock = SlotLock::take(&call.store, &lease.slot)?;
                folder = workspaces::slot_folder(call, &lease.slot);
                continue;
            }
            Err(error) => error,
        };
        if is_own(task, &lease) {
            // It had the slot before, with work in it.
            let kept = Some(lease);
            return Err(NotReady { error, kept });
        }
        // Others may have it. If this cannot be written either, the end of the command tries again.
        if let Err(other) = workspaces::unreserve(call, task, &lease) {
            tracing::warn!(%other, "the slot is still reserved");
        }
        return Err(error.into());
    };
    crash_point("acquire.checked-out");
    let name = match (&checkout, &start.commit) {
        (Checkout::Fresh, Some(commit)) => link::name_at(&project.path, commit),
        (Checkout::Fresh | Checkout::Found, _) => link::name_for(&folder),
    };
    let furnished =
        name.and_then(|name| prepare_slot(call, &project, task, place, &lease, &folder, name));
    match furnished {
        Ok(()) => Ok(Acquired {
            lease,
            folder,
            start,
            brought: None,
        }),
        Err(error) => Err(NotReady {
            error,
            kept: Some(lease),
        }),
    }
}

/// The worktree is there, clean, and on the task's branch.
fn check_out(
    call: &Call,
    project: &Project,
    task: &Task,
    place: &Place,
    lease: &Lease,
    folder: &Path,
    lock: &SlotLock,
) -> Result<Ready> {
    let repository = &project.path;
    worktree::inside(&call.store.workspaces(), folder)?;
    let start = earlier_work::start_for(call, project, task, place)?;
    let commit = start.commit.clone().ok_or_else(|| no_commits(project))?;
    if std::fs::symlink_metadata(folder).is_err() {
        // Before anything is made: without its branch the slot would be of no use.
        branch_is_usable(call, project, task)?;
    }
    let is_new = lock.handed_on(|| make_worktree(call, repository, folder, &commit))?;
    crash_point("acquire.worktree");
    if !is_new && is_own(task, lease) && !is_unready(call, task, &lease.slot)? {
        // The task's own slot, whatever is checked out there by now.
        return Ok(Ready::Yes(start, Checkout::Found));
    }
    let current = git::current_branch(folder)?;
    let is_interrupted = Quarantine::of(folder).is_in_use();
    if current.as_deref() == Some(&task.branch) && !is_interrupted {
        return Ok(Ready::Yes(start, Checkout::Found));
    }
    if !is_new {
        let detached = current.is_none() && !is_interrupted;
        let kept = lock.handed_on(|| preflight(call, project, task, lease, folder, detached))?;
        if let Some(why) = kept {
            return Ok(Ready::Retire(why));
        }
    }
    let switched = lock.handed_on(|| switch(repository, folder, task, &start, &commit));
    if let Err(error) = switched {
        // Nobody has worked in one that is new: all or nothing.
        let removed = if is_new {
            lock.handed_on(|| remove_parked(call, repository, folder))
                .map(drop)
        } else {
            Ok(())
        };
        if let Err(other) = removed {
            tracing::warn!(%other, slot = lease.slot, "a slot without its branch is left");
        }
        return Err(error);
    }
    let checkout = if start.existing {
        Checkout::Found
    } else {
        Checkout::Fresh
    };
    Ok(Ready::Yes(start, checkout))
}

/// Is a task's slot there, but neither on its branch nor with a link to its file, because making it ready failed, or is
/// it half cleaned? One that has the link was ready for work once, and may be at any commit.
pub(crate) fn is_unready(call: &Call, task: &Task, slot: &str) -> Result<bool> {
    let folder = workspaces::slot_folder(call, slot);
    if Quarantine::of(&folder).is_in_use() {
        return Ok(true);
    }
    let is_prepared = |entry: &Slot| entry.prepared == entry.epoch;
    let prepared = workspaces::pool(call)?
        .workspaces
        .get(slot)
        .is_some_and(is_prepared);
    if prepared || state::head(&folder).branch() == Some(&task.branch) {
        return Ok(false);
    }
    Ok(!link::is_in(&folder))
}

/// Is a task's slot there without a link to the task's file, because making it ready failed?
pub(crate) fn lacks_link(call: &Call, task: &Task, slot: &str) -> Result<bool> {
    Ok(
        unprepared_slot(call, task)?.is_some()
            && !link::is_in(&workspaces::slot_folder(call, slot)),
    )
}

/// Takes a slot out of use that could not be cleaned for the task that got it.
fn retire(call: &Call, task: &Task, lease: &Lease, why: &str) -> Result<()> {
    workspaces::change_pool(call, |_, pool| {
        if pool.free(task, lease)
            && let Some(slot) = pool.workspaces.get_mut(&lease.slot)
        {
            slot.retire(why);
        }
        Ok(())
    })?;
    release::note_retired(call, &lease.slot, why);
    Ok(())
}

/// True when the worktree had to be made.
pub(crate) fn make_worktree(
    _call: &Call,
    repository: &Path,
    folder: &Path,
    commit: &str,
) -> Result<bool> {
    restore_whole(folder)?;
    // Git was killed in the middle of it: nobody has worked there yet.
    if worktree::is_half_made(folder) {
        remove_half_made(folder)?;
    }
    if revive(repository, folder)? && worktree::belongs(folder, repository)? {
        return Ok(false);
    }
    let empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if empty || std::fs::symlink_metadata(folder).is_err() {
        let made = worktree::add(repository, folder, commit);
        // Only what git left: making it may have waited, and others may have put files there.
        if made.is_err() && worktree::is_half_made(folder) {
            remove_half_made(folder)?;
        }
        return made.map(|()| true);
    }
    if worktree::belongs(folder, repository)? {
        return Ok(false);
    }
    Err(err!(
        Failed,
        "{} is in the way: it is no worktree of {}",
        folder.display(),
        repository.display()
    )
    .hint(text!(
        "{} says more; move the folder away if it is not needed",
        Action::check()
    )))
}

/// A slot should have been left clean. If it was not, what is in it is saved before it goes. Returns why it cannot be
/// cleaned.
fn preflight(
    call: &Call,
    project: &Project,
    task: &Task,
    lease: &Lease,
    folder: &Path,
    detached: bool,
) -> Result<Option<String>> {
    if detached
        && tidy::untidy(call, folder)?.is_none()
        && worktree::head_is_kept(folder, &rules::parking_place(call, project)?)?
    {
        return Ok(None);
    }
    let before = workspaces::pool(call)?.workspaces.get(&lease.slot).cloned();
    let before = before.and_then(|slot| slot.last_task);
    let (owner, reason) = if is_own(task, lease) {
        (task.id.clone(), "its slot was not cleaned to the end")
    } else {
        (
            before.unwrap_or_else(|| task.id.clone()),
            "found in a free slot",
        )
    };
    let park = rules::parking_place(call, project)?;
    let tidied = tidy::tidy(call, &owner, folder, &park, reason)?;
    if let Some(saved) = tidied.saved {
        call.notice(format!(
            "{} was not clean; what was in it is saved as {saved}",
            lease.slot
        ));
    }
    Ok(tidied.kept)
}

/// What a slot gets besides the checkout.
fn prepare_slot(
    call: &Call,
    project: &Project,
    task: &Task,
    place: &Place,
    lease: &Lease,
    folder: &Path,
    name: &'static str,
) -> Result<()> {
    let slot = workspaces::pool(call)?.workspaces.get(&lease.slot).cloned();
    let ready = slot
        .as_ref()
        .is_some_and(|slot| slot.prepared == lease.epoch);
    let last = slot.and_then(|slot| slot.last_task);
    let returns = last.as_ref() == Some(&task.id);
    if !ready {
        let before = last.as_deref().filter(|_| !is_own(task, lease));
        release::save_strays(call, before.unwrap_or(&task.id), folder)?;
    }
    link::exclude(&project.path)?;
    link::make(folder, name, &place.task_file())?;
    crash_point("acquire.linked");
    if !ready {
        setup::set_up(call, project, task, place, lease, folder, !returns)?;
        crash_point("acquire.set-up");
    }
    workspaces::change_pool(call, |_, pool| {
        if !pool.holds(task, lease) {
            return Err(err!(Conflict, "{} was taken from it meanwhile", lease.slot));
        }
        if let Some(slot) = pool.workspaces.get_mut(&lease.slot) {
            slot.link = Some(name.to_owned());
            slot.prepared = lease.epoch;
        }
        Ok(())
    })
}

/// Refuses a slot whose setup has not come to its end: no agent works in one.
pub(crate) fn slot_is_ready(call: &Call, task: &Task) -> Result<()> {
    match unprepared_slot(call, task)? {
        None => Ok(()),
        Some(slot) => Err(err!(
            ConditionUnmet,
            "{slot} is not ready for {}: its setup, or cleaning it, did not come to an end",
            task.label()
        )
        .hint(text!(
            "setup.log in the task's folder says how its setup ended; {} tries again",
            Action::retry_hooks(task.label())
        ))),
    }
}

/// The slot that the task has but that was never made ready to the end.
pub(crate) fn unprepared_slot(call: &Call, task: &Task) -> Result<Option<String>> {
    let pool = workspaces::pool(call)?;
    let lease = pool.lease_of(task);
    let unprepared = lease.filter(|lease| {
        let slot = pool.workspaces.get(&lease.slot);
        slot.is_some_and(|slot| slot.prepared != lease.epoch)
    });
    Ok(unprepared.map(|lease| lease.slot))
}

/// Checks the task's branch out, made at the commit where it starts if there is none yet.
fn switch(
    repository: &Path,
    folder: &Path,
    task: &Task,
    start: &Start,
    commit: &str,
) -> Result<()> {
    if !start.existing {
        let parked_there = state::head(folder) == Head::Detached(commit.to_owned());
        return worktree::switch_to_new(folder, &task.branch, commit, parked_there);
    }
    if git::branch_exists(repository, &task.branch)? {
        worktree::switch(folder, &task.branch)
    } else {
        worktree::switch_to_remote(folder, &task.branch)
    }
}

/// Whether the task has had the slot before, with work in it.
fn is_own(task: &Task, lease: &Lease) -> bool {
    task.workspace.as_ref() == Some(&lease.slot)
}

/// What is left of a worktree that git did not finish making.
fn remove_half_made(folder: &Path) -> Result<()> {
    std::fs::remove_dir_all(folder).doing("remove", folder)
}

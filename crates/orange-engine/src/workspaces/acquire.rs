//! Giving a task a slot: reserved before its status changes, made ready afterwards.

use crate::call::{self, Call};
use crate::error::{Error, IoContext, Result, err};
use crate::git::Site;
use crate::git::state::{self, Head};
use crate::git::{self, worktree};
use crate::projects::Project;
use crate::rules::{self, Start, no_commits};
use crate::store::Place;
use crate::workspaces::quarantine::Quarantine;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::tidy::{self, remove_parked, restore_whole, revive};
use crate::workspaces::{
    self, Lease, TaskSlot, base, earlier_work, link, lockfiles_at, release, setup,
};
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A slot that is ready for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Acquired {
    #[serde(flatten)]
    pub lease: Lease,
    #[serde(rename = "path")]
    pub folder: PathBuf,
    /// Where the branch starts, or started.
    #[serde(flatten)]
    pub start: Start,
    /// The rescue whose files were put into it.
    pub brought: Option<String>,
}

/// Whether a slot has the task's branch.
enum Ready {
    /// Where the branch starts, and whether nothing but that commit is checked out.
    Yes { start: Start, is_fresh: bool },
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
    let lockfiles = lockfiles_at(&project.path, commit)?;
    workspaces::reserve(call, &project, task, lockfiles.as_deref())
}

/// Would a task that is about to be made get a slot now? Another one may still be quicker.
pub(crate) fn check_can_acquire(call: &Call, project: &Project, task: &Task) -> Result<()> {
    setup::commands_are_trusted(call, project, task)?;
    let pool = workspaces::pool(call)?;
    workspaces::choose(call, &pool, project, task, None).map(drop)
}

/// A branch can be checked out only once.
fn branch_is_usable(call: &Call, project: &Project, task: &Task) -> Result<()> {
    let Some(place) = other_checkout(call, project, task)? else {
        return Ok(());
    };
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
    .hint(text!(
        "switch to another branch there, for instance by {}; then try again",
        Action::leave_branch(place.display().to_string())
    )))
}

/// Where a person has checked out the task's branch, so that no slot can have it.
pub(crate) fn branch_elsewhere(
    call: &Call,
    project: &Project,
    task: &Task,
) -> Result<Option<PathBuf>> {
    let place = other_checkout(call, project, task)?;
    Ok(place.filter(|place| !worktree::is_gone(place, &call.store.workspaces())))
}

/// Another worktree than the task's own slot that has its branch.
fn other_checkout(call: &Call, project: &Project, task: &Task) -> Result<Option<PathBuf>> {
    let Some(place) = worktree::checked_out_at(&project.path, &task.branch)? else {
        return Ok(None);
    };
    let own = workspaces::pool(call)?
        .lease_of(task)
        .map(|lease| workspaces::slot_folder(call, &lease.slot));
    let is_own = own.is_some_and(|own| own == place || worktree::same_folder(&own, &place));
    Ok((!is_own).then_some(place))
}

/// Makes the task's slot ready. Done once more after a crash, it goes on where it was.
pub(crate) fn acquire(
    call: &Call,
    task: &Task,
    place: &Place,
) -> std::result::Result<Acquired, NotReady> {
    let project = &call::registered(call, &task.project)?;
    loop {
        let held = workspaces::pool(call)?.lease_of(task);
        let lease = held.map_or_else(|| reserve_for(call, task), Ok)?;
        let lock = SlotLock::take(&call.store, &lease.slot)?;
        let folder = workspaces::slot_folder(call, &lease.slot);
        let slot = TaskSlot {
            call,
            project,
            task,
            place,
            lease: &lease,
            folder: &call.site(&folder),
        };
        let error = match slot.check_out(&lock) {
            Ok(Ready::Retire(why)) => {
                slot.retire(&why)?;
                continue;
            }
            Ok(Ready::Yes { start, is_fresh }) => match slot.prepare(&start, is_fresh) {
                Ok(()) => {
                    return Ok(Acquired {
                        lease,
                        folder,
                        start,
                        brought: None,
                    });
                }
                Err(error) => {
                    let kept = Some(lease);
                    return Err(NotReady { error, kept });
                }
            },
            Err(error) => error,
        };
        if slot.is_own() {
            // It had the slot before, with work in it.
            let kept = Some(lease);
            return Err(NotReady { error, kept });
        }
        // Others may have it. If this cannot be written either, the end of the command tries again.
        if let Err(other) = workspaces::unreserve(call, task, &lease) {
            tracing::warn!(%other, "the slot is still reserved");
        }
        return Err(error.into());
    }
}

impl TaskSlot<'_> {
    /// The worktree is there, clean, and on the task's branch.
    fn check_out(&self, lock: &SlotLock) -> Result<Ready> {
        let (call, task, folder) = (self.call, self.task, self.folder);
        let repository = &call.site(&self.project.path);
        worktree::inside(&call.store.workspaces(), folder)?;
        let start = earlier_work::start_for(call, self.project, task, self.place)?;
        let commit = start.commit.clone();
        let commit = commit.ok_or_else(|| no_commits(self.project))?;
        if std::fs::symlink_metadata(folder).is_err() {
            // Before anything is made: without its branch the slot would be of no use.
            branch_is_usable(call, self.project, task)?;
        }
        let is_new = lock.handed_on(|| make_worktree(repository, folder, &commit))?;
        crash_point("acquire.worktree");
        let found = |start| {
            let is_fresh = false;
            Ok(Ready::Yes { start, is_fresh })
        };
        if !is_new && self.is_own() && !is_unready(call, task, &self.lease.slot)? {
            // The task's own slot, whatever is checked out there by now.
            return found(start);
        }
        let current = git::current_branch(folder)?;
        let is_interrupted = Quarantine::of(folder).is_in_use();
        if current.as_deref() == Some(&task.branch) && !is_interrupted {
            return found(start);
        }
        if !is_new {
            let detached = current.is_none() && !is_interrupted;
            if let Some(why) = lock.handed_on(|| self.preflight(detached))? {
                return Ok(Ready::Retire(why));
            }
        }
        let switched = lock.handed_on(|| switch(repository, folder, task, &start, &commit));
        if let Err(error) = switched {
            // Nobody has worked in one that is new: all or nothing.
            if is_new && let Err(other) = lock.handed_on(|| remove_parked(repository, folder)) {
                let slot = &self.lease.slot;
                tracing::warn!(%other, slot, "a slot without its branch is left");
            }
            return Err(error);
        }
        let is_fresh = !start.existing;
        Ok(Ready::Yes { start, is_fresh })
    }

    /// A slot should have been left clean. If it was not, what is in it is saved before it goes. Returns why it cannot be
    /// cleaned.
    fn preflight(&self, detached: bool) -> Result<Option<String>> {
        let (call, folder, slot) = (self.call, self.folder, &self.lease.slot);
        let park = rules::parking_place(call, self.project)?;
        if detached && tidy::untidy(folder)?.is_none() && worktree::head_is_kept(folder, &park)? {
            return Ok(None);
        }
        let pool = workspaces::pool(call)?;
        let before = pool.workspaces.get(slot);
        let before = before.and_then(|entry| entry.last_task.as_ref());
        let (owner, reason) = if self.is_own() {
            (&self.task.id, "its slot was not cleaned to the end")
        } else {
            (before.unwrap_or(&self.task.id), "found in a free slot")
        };
        let tidied = tidy::tidy(call, owner, folder, &park, reason)?;
        if let Some(saved) = tidied.saved {
            call.notice(format!(
                "{slot} was not clean; what was in it is saved as {saved}"
            ));
        }
        Ok(tidied.kept)
    }

    /// What a slot gets besides the checkout.
    fn prepare(&self, start: &Start, is_fresh: bool) -> Result<()> {
        let (call, task, lease, folder) = (self.call, self.task, self.lease, self.folder);
        crash_point("acquire.checked-out");
        let name = match &start.commit {
            Some(commit) if is_fresh => link::name_at(&self.project.path, commit)?,
            Some(_) | None => link::name_for(folder)?,
        };
        let slot = workspaces::pool(call)?.workspaces.remove(&lease.slot);
        let slot = slot.unwrap_or_default();
        let ready = slot.prepared == lease.epoch;
        let last = slot.last_task;
        let returns = last.as_ref() == Some(&task.id);
        if !ready {
            let before = last.as_ref().filter(|_| !self.is_own());
            release::save_strays(call, before.unwrap_or(&task.id), folder)?;
        }
        link::exclude(&self.project.path)?;
        link::make(folder, name, &self.place.task_file())?;
        crash_point("acquire.linked");
        if !ready {
            self.set_up(!returns)?;
            crash_point("acquire.set-up");
        }
        workspaces::change_pool(call, |pool| {
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

    /// Takes a slot out of use that could not be cleaned for the task that got it.
    fn retire(&self, why: &str) -> Result<()> {
        workspaces::change_pool(self.call, |pool| {
            if let Some(slot) = pool.free(self.task, self.lease) {
                slot.give_back(Some(why));
            }
            Ok(())
        })?;
        release::note_retired(self.call, &self.lease.slot, why);
        Ok(())
    }

    /// Whether the task has had the slot before, with work in it.
    fn is_own(&self) -> bool {
        self.task.workspace.as_ref() == Some(&self.lease.slot)
    }
}

/// Is a task's slot there, but neither on its branch nor with a link to its file, because making it ready failed, or is
/// it half cleaned? One that has the link was ready for work once, and may be at any commit.
pub(crate) fn is_unready(call: &Call, task: &Task, slot: &str) -> Result<bool> {
    let folder = workspaces::slot_folder(call, slot);
    if Quarantine::of(&folder).is_in_use() {
        return Ok(true);
    }
    let entry = workspaces::pool(call)?.workspaces.remove(slot);
    let prepared = entry.is_some_and(|entry| entry.prepared == entry.epoch);
    if prepared || state::head(&folder).branch() == Some(&task.branch) {
        return Ok(false);
    }
    Ok(!link::is_in(&folder))
}

/// Is a task's slot there without a link to the task's file, because making it ready failed?
pub(crate) fn lacks_link(call: &Call, task: &Task, slot: &str) -> Result<bool> {
    let folder = workspaces::slot_folder(call, slot);
    Ok(unprepared_slot(call, task)?.is_some() && !link::is_in(&folder))
}

/// True when the worktree had to be made.
pub(crate) fn make_worktree(repository: &Site, folder: &Path, commit: &str) -> Result<bool> {
    restore_whole(folder)?;
    // Git was killed in the middle of it: nobody has worked there yet.
    if worktree::is_half_made(folder) {
        remove_half_made(folder)?;
    }
    if revive(repository, folder)? && worktree::belongs(folder, repository)? {
        return Ok(false);
    }
    if listing::is_empty(folder) || std::fs::symlink_metadata(folder).is_err() {
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
            Action::retry_hooks(task.name())
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
    folder: &Site,
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

/// What is left of a worktree that git did not finish making.
fn remove_half_made(folder: &Path) -> Result<()> {
    std::fs::remove_dir_all(folder).doing("remove", folder)
}

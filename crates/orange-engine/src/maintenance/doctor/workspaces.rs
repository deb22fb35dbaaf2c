//! What the pool's file, the tasks, git's own list and the disk say of the slots, where they disagree.

use crate::call::Call;
use crate::error::{Code, Error, Result};
use crate::find;
use crate::git::state::{self, Head};
use crate::git::worktree;
use crate::index::list::ListedTask;
use crate::maintenance::doctor::leaving;
use crate::maintenance::every_task;
use crate::projects::Project;
use crate::store::Place;
use crate::store::lock::{LOCK_FILE, LockError, TaskLock};
use crate::views::concerns::slot;
use crate::views::doctor::DoctorReport;
use crate::workspaces::pool_file::{Pool, Slot};
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::{self, acquire, slot_number, tidy, verify_slot};
use crate::{maintenance, tx};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::{Path, PathBuf};

pub(crate) fn check_workspaces(call: &Call, report: &mut DoctorReport) -> Result<()> {
    if let Some(damage) = Pool::damage(&call.store) {
        let problem = format!("cannot be read: {damage}");
        let how = "keeps the file under another name and makes it anew from the tasks";
        report.repair("workspaces/.pool.json", problem, how, || {
            workspaces::change_pool(call, |_| Ok("made anew from the tasks"))
        });
    }
    let Ok(projects) = call.projects() else {
        return Ok(());
    };
    // Before the folders: what is moved back is looked at there.
    leaving::check_leaving(call, &projects, report)?;
    let checks = [check_holders, check_claims, check_folders, check_git_list];
    for project in projects.iter().filter(|project| project.path.is_dir()) {
        for check in checks {
            let looked = check(call, project, report);
            report.checked(&format!("the slots of {}", project.name), looked);
        }
    }
    let pool = workspaces::pool(call)?;
    let in_use = pool.workspaces.values().filter(|slot| !slot.is_free());
    let (all, in_use) = (pool.workspaces.len(), in_use.count());
    match all {
        _ if !report.is_clean() => {}
        0 => report.fine("no slots yet"),
        all => report.fine(format!("{}, {in_use} in use", counted(all, "slot"))),
    }
    Ok(())
}

/// Slots that are held by nobody who would know of it.
fn check_holders(call: &Call, project: &Project, report: &mut DoctorReport) -> Result<()> {
    let pool = workspaces::pool(call)?;
    let damaged = damaged_tasks(call, project)?;
    for (name, slot) in pool.held(&project.name) {
        let holder = task_of_slot(call, project, name, slot)?;
        // One that is on its way to its slot, or gives it back just now, is as it should be.
        let held = match &holder {
            Some(task) => hold(&task_folder(call, task)),
            None => Ok(TaskHold::Free(None)),
        };
        let Some(TaskHold::Free(lock)) = report.checked(name, held) else {
            continue;
        };
        // Read again: it may have got or given back the slot before its lock was ours.
        if workspaces::pool(call)?.workspaces.get(name) != Some(slot) {
            continue;
        }
        let holder = task_of_slot(call, project, name, slot)?;
        let problem = match &holder {
            None => "is held by a task that does not exist".to_owned(),
            Some(task) if task.workspace.as_deref() != Some(name) => {
                format!("is held by {}, which does not know of it", task.label())
            }
            Some(task) => {
                check_held(call, project, name, task, lock, report);
                continue;
            }
        };
        if let Some(task) = unreadable_holder(&damaged, holder.as_ref()) {
            let problem = format!("may be held by {task}, whose TASK.md cannot be read");
            report.by_hand(name, problem, "correct that TASK.md first");
            continue;
        }
        let known = holder.map(|task| task.id).or(slot.task_id.clone());
        let owner = known.unwrap_or_else(|| name.clone());
        report.repair(name, problem, "saves what is in it and frees it", || {
            workspaces::free_slot(call, project, name, slot, &owner)
        });
    }
    Ok(())
}

fn task_folder(call: &Call, task: &Task) -> PathBuf {
    let found = find::find(call, &task.id, Some(&task.project));
    found.map_or_else(|_| PathBuf::new(), |place| place.path)
}

/// Tasks of a project whose TASK.md cannot be read.
fn damaged_tasks(call: &Call, project: &Project) -> Result<Vec<ListedTask>> {
    let mut rows = every_task(call)?;
    rows.retain(|row| row.project == project.name && row.damaged.is_some());
    Ok(rows)
}

/// The task that the pool says has a slot.
fn task_of_slot(call: &Call, project: &Project, name: &str, slot: &Slot) -> Result<Option<Task>> {
    let index = call.index()?;
    let found = match (&slot.task_id, &slot.task) {
        (Some(id), _) => index
            .by_id_prefix(id)?
            .into_iter()
            .find(|row| row.id == *id),
        (None, Some(task)) => {
            let branch = task.strip_prefix(&format!("{}/", project.name));
            let branch = branch.unwrap_or(task);
            index.by_branch(&project.name, branch)?.into_iter().next()
        }
        (None, None) => index.by_workspace(&project.name, name)?.into_iter().next(),
    };
    Ok(found.map(|row| call.store.survey(&row.folder).task))
}

/// A slot and its task know of each other; is the worktree what they think?
fn check_held(
    call: &Call,
    project: &Project,
    name: &str,
    task: &Task,
    lock: Option<TaskLock>,
    report: &mut DoctorReport,
) {
    let folder = workspaces::slot_folder(call, name);
    let (label, own) = (task.label(), &task.branch);
    if task.status.is_terminal() {
        let problem = format!("{label} is {} and still has it", task.status);
        return report.by_hand(name, problem, Action::retry_hooks(task.name()));
    }
    if !folder.is_dir() {
        drop(lock);
        let problem = format!("the worktree of {label} is gone");
        return report.repair(name, problem, "checks its branch out again", || {
            check_out_again(call, task, name).map(|()| format!("{own} is checked out again"))
        });
    }
    match report.checked(name, worktree::belongs(&folder, &project.path)) {
        Some(true) => {}
        Some(false) => {
            let repository = project.path.display();
            let problem = format!("the folder of {label} is no worktree of {repository}");
            let how = format!("move {} away, then run this again", folder.display());
            return report.by_hand(name, problem, how);
        }
        None => return,
    }
    let head = state::head(&folder);
    if let Head::Missing(why) = head {
        report.checked::<()>(name, Err(Error::new(Code::Failed, why)));
        return;
    }
    if let Some(branch) = head.branch()
        && branch != own
    {
        let problem = format!("is on {branch}, {label} works on {own}");
        let take = Action::take_branch(task.name());
        return report.by_hand(name, problem, text!("{} makes {branch} its branch", take));
    }
    match report.checked(name, unfinished_slot(call, task, name)) {
        Some(Some(problem)) => {
            drop(lock);
            let how = "saves what is in it and checks its branch out";
            report.repair(name, problem, how, || {
                check_out_again(call, task, name).map(|()| format!("{own} is checked out"))
            });
        }
        Some(None) => check_detached(call, project, task, &folder, name, report),
        None => {}
    }
}

/// What is missing in a slot that could not be made ready.
fn unfinished_slot(call: &Call, task: &Task, slot: &str) -> Result<Option<String>> {
    if !acquire::lacks_link(call, task, slot)? {
        return Ok(None);
    }
    let label = task.label();
    Ok(Some(if acquire::is_unready(call, task, slot)? {
        format!("is {label}'s, but {} is not checked out", task.branch)
    } else {
        format!("is {label}'s, but has no link to its TASK.md")
    }))
}

/// Commits on a detached HEAD are on no branch, so that no merge has them. In the middle of a rebase that is as it should
/// be.
fn check_detached(
    call: &Call,
    project: &Project,
    task: &Task,
    folder: &Path,
    name: &str,
    report: &mut DoctorReport,
) {
    let is_detached = matches!(state::head(folder), Head::Detached(_));
    if !is_detached || worktree::is_unfinished(folder).unwrap_or(false) {
        return;
    }
    let work = slot::work_beside_branch(call, task, project);
    if let Some(Some(what)) = report.checked(name, work) {
        let branch = &task.branch;
        let how = text!(
            "in {}, {} and merge them, or {} if {branch} has nothing of its own",
            Action::shell(task.name()),
            Action::switch(branch, false),
            Action::switch(branch, true)
        );
        report.by_hand(name, what, how);
    }
}

fn check_out_again(call: &Call, task: &Task, slot: &str) -> Result<()> {
    let place = find::find(call, &task.id, Some(&task.project))?;
    let tx = tx::lock_task(call, place)?;
    workspaces::change_slot(call, slot, |slot| drop(slot.begin_cleaning()))?;
    let acquired = acquire::acquire(call, &tx.task, &tx.place);
    acquired.map(drop).map_err(|trouble| trouble.error)
}

/// Tasks that say they have a slot which the pool does not give them.
fn check_claims(call: &Call, project: &Project, report: &mut DoctorReport) -> Result<()> {
    for row in call.index()?.slot_holders(&project.name)? {
        let task = call.store.survey(&row.folder).task;
        let Some(slot) = task.workspace.clone() else {
            continue;
        };
        let has_it =
            |pool: &Pool, task: &Task| pool.lease_of(task).is_some_and(|lease| lease.slot == slot);
        if has_it(&workspaces::pool(call)?, &task) {
            continue;
        }
        // One that gives it back just now does not know yet that it has: its lock is held.
        let TaskHold::Free(lock) = hold(&task_folder(call, &task))? else {
            continue;
        };
        let task = call.store.survey(&row.folder).task;
        let pool = workspaces::pool(call)?;
        if task.workspace.as_ref() != Some(&slot) || has_it(&pool, &task) {
            continue;
        }
        drop(lock);
        let free = pool.workspaces.get(&slot).is_none_or(Slot::is_free);
        let ours = slot_number(&project.name, &slot).is_some();
        let problem = match (ours, free) {
            (true, true) => format!("says it has {slot}, which the pool lists as free"),
            (true, false) => format!("says it has {slot}, which another task has"),
            (false, _) => format!("says it has {slot}, which is no slot of {}", project.name),
        };
        let subject = format!("{}:{}", project.name, task.label());
        if ours && free {
            report.repair(subject, problem, "gives it the slot", || {
                give_slot(call, &slot, &task).map(|()| format!("{slot} is its own"))
            });
        } else {
            report.repair(subject, problem, "takes that out of the task", || {
                forget_slot(call, call.store.place(&row.folder)).map(|()| "it has none")
            });
        }
    }
    Ok(())
}

/// The task's branch is in the slot afterwards, or the next check finds that it is not.
fn give_slot(call: &Call, slot: &str, task: &Task) -> Result<()> {
    workspaces::bind_slot(call, slot, task)?;
    if !workspaces::slot_folder(call, slot).is_dir() || acquire::is_unready(call, task, slot)? {
        check_out_again(call, task, slot)
    } else {
        Ok(())
    }
}

/// Takes the slot out of a task that does not have it.
pub(crate) fn forget_slot(call: &Call, place: Place) -> Result<()> {
    let mut tx = tx::lock_task(call, place)?;
    tx.forget_workspace()?;
    tx.commit(Vec::new()).map(drop)
}

/// Folders of the pool that no entry speaks of, and free slots that are not clean.
fn check_folders(call: &Call, project: &Project, report: &mut DoctorReport) -> Result<()> {
    let no_worktree = format!("is no worktree of {}", project.path.display());
    let move_away = |folder: &Path| format!("move {} away", folder.display());
    if let Some(name) = verify_slot::verify_folder(call, &project.name)
        && let Some(_lock) = SlotLock::if_free(&call.store, &name)?
    {
        let folder = workspaces::slot_folder(call, &name);
        if folder.is_dir() && !worktree::belongs(&folder, &project.path)? {
            report.by_hand(&name, &no_worktree, move_away(&folder));
        }
    }
    for name in workspaces::slot_folders(call, &project.name) {
        let folder = workspaces::slot_folder(call, &name);
        // A process that makes, cleans or removes a slot has its lock; who is to get it stands in the pool before.
        let lock = SlotLock::if_free(&call.store, &name);
        let Some(Some(lock)) = report.checked(&name, lock) else {
            continue;
        };
        let pool = workspaces::pool(call)?;
        if !folder.is_dir() {
            continue;
        }
        let entry = pool.workspaces.get(&name);
        let retired = entry.filter(|slot| slot.is_retired());
        if retired.is_none() && entry.is_some_and(|slot| !slot.is_free()) {
            continue;
        }
        if !worktree::belongs(&folder, &project.path)? {
            let problem = if worktree::is_led_astray(&folder) {
                worktree::astray(&folder)
            } else {
                no_worktree.clone()
            };
            report.by_hand(&name, problem, move_away(&folder));
            continue;
        }
        let is_clean = tidy::untidy(&folder)?.is_none();
        let listed = pool.workspaces.contains_key(&name);
        if is_clean && listed && retired.is_none() {
            continue;
        }
        let problem = match (retired, is_clean, listed) {
            (Some(slot), _, _) => {
                let why = slot.why_retired.as_deref();
                let why = why.unwrap_or("it could not be cleaned");
                format!("is out of use: {why}")
            }
            (None, true, _) => "is a slot that the pool does not know".to_owned(),
            (None, false, true) => "is free, but not clean".to_owned(),
            (None, false, false) => {
                "is a slot that the pool does not know, and not clean".to_owned()
            }
        };
        drop(lock);
        let how = if is_clean && retired.is_none() {
            "takes it into the pool, as free"
        } else {
            "saves what is in it and makes it a clean, free slot"
        };
        report.repair(&name, problem, how, || {
            workspaces::park_slot(call, project, &name, pool.last_owner(&name))
        });
    }
    Ok(())
}

/// Worktrees that git remembers and that are not there.
fn check_git_list(call: &Call, project: &Project, report: &mut DoctorReport) -> Result<()> {
    let gone: Vec<String> = maintenance::workspaces::gone_slots(call, project)?
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    let problem = format!("git remembers worktrees that are gone: {}", gone.join(", "));
    let how = "saves what git still knows of them and has it forget them";
    report.repair(format!("project {}", project.name), problem, how, || {
        maintenance::workspaces::forget_all_gone(call, project).map(|()| "forgotten")
    });
    Ok(())
}

/// A task that cannot be read does not say which slot it has. A slot whose holder is not known may be its own.
fn unreadable_holder(damaged: &[ListedTask], holder: Option<&Task>) -> Option<String> {
    let found = match holder {
        Some(task) => damaged.iter().find(|row| row.id == task.id),
        None => damaged.first(),
    };
    found.map(|row| row.folder.clone())
}

/// Whether another process is at work on a task.
enum TaskHold {
    ByAnother,
    /// With its lock; None where it never had one: a check writes nothing.
    Free(Option<TaskLock>),
}

fn hold(folder: &Path) -> Result<TaskHold> {
    let lock = folder.join(LOCK_FILE);
    if !lock.exists() {
        return Ok(TaskHold::Free(None));
    }
    match TaskLock::try_acquire(folder) {
        Ok(Some(lock)) => Ok(TaskHold::Free(Some(lock))),
        // A task that was just moved or deleted is another process's doing too.
        Ok(None) | Err(LockError::Busy { .. } | LockError::Gone) => Ok(TaskHold::ByAnother),
        Err(LockError::Io(error)) => Err(Error::io("lock", &lock, &error)),
    }
}

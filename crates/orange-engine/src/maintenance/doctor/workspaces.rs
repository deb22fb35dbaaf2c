//! What the pool's file, the tasks, git's own list and the disk say of the slots, where they disagree.

use crate::call::Call;
use crate::error::{Code, Error, Result};
use crate::find;
use crate::git::state::{self, Head};
use crate::git::worktree;
use crate::index::list::{Filter, Listed};
use crate::maintenance::doctor::leaving;
use crate::projects::Project;
use crate::store::lock::{LOCK_FILE, LockError, TaskLock};
use crate::views::concerns::slot;
use crate::views::doctor::Report;
use crate::workspaces::pool_file::{Pool, Slot};
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::{self, acquire, slot_number, tidy, verify_slot};
use crate::{maintenance, tx};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::{Path, PathBuf};

pub(crate) fn check_workspaces(call: &Call, report: &mut Report, repair: bool) -> Result<()> {
    check_pool_file(call, report, repair);
    let Ok(projects) = call.projects() else {
        return Ok(());
    };
    // Before the folders: what is moved back is looked at there.
    leaving::check_leaving(call, &projects, report, repair)?;
    let checks = [check_holders, check_claims, check_folders, check_git_list];
    for project in projects.iter().filter(|project| project.path.is_dir()) {
        for check in checks {
            if let Err(error) = check(call, project, report, repair) {
                report.add_unchecked(format!("the slots of {}", project.name), &error);
            }
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

fn check_pool_file(call: &Call, report: &mut Report, repair: bool) {
    let Some(damage) = Pool::damage(&call.store) else {
        return;
    };
    let finding = report.add("workspaces/.pool.json", format!("cannot be read: {damage}"));
    finding.repair("keeps the file under another name and makes it anew from the tasks");
    if repair {
        let outcome = workspaces::change_pool(call, |_, _| Ok(()));
        finding.done(outcome.map(|()| "made anew from the tasks".to_owned()));
    }
}

/// Slots that are held by nobody who would know of it.
fn check_holders(call: &Call, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
    let pool = workspaces::pool(call)?;
    let damaged = damaged_tasks(call, project)?;
    for (name, slot) in pool.held(&project.name) {
        let holder = task_of_slot(call, project, name, slot)?;
        // One that is on its way to its slot, or gives it back just now, is as it should be.
        let held = match &holder {
            Some(task) => hold(&task_folder(call, task)),
            None => Ok(Held::Free(None)),
        };
        let lock = match held {
            Ok(Held::Free(lock)) => lock,
            Ok(Held::ByAnother) => continue,
            Err(error) => {
                report.add_unchecked(name, &error);
                continue;
            }
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
                check_held(call, project, name, task, lock, report, repair);
                continue;
            }
        };
        if let Some(task) = unreadable_holder(&damaged, holder.as_ref()) {
            let problem = format!("may be held by {task}, whose TASK.md cannot be read");
            report
                .add(name, problem)
                .by_hand("correct that TASK.md first");
            continue;
        }
        let finding = report.add(name, problem);
        finding.repair("saves what is in it and frees it");
        if repair {
            let owner = holder.unwrap_or_else(|| Task {
                id: slot.task_id.clone().unwrap_or_else(|| name.clone()),
                project: project.name.clone(),
                ..Task::default()
            });
            finding.done(workspaces::free_slot(call, project, name, slot, &owner));
        }
    }
    Ok(())
}

fn task_folder(call: &Call, task: &Task) -> PathBuf {
    let found = find::find(call, &task.id, Some(&task.project));
    found.map_or_else(|_| PathBuf::new(), |place| place.path)
}

/// Tasks of a project whose TASK.md cannot be read.
fn damaged_tasks(call: &Call, project: &Project) -> Result<Vec<Listed>> {
    let filter = Filter {
        projects: vec![project.name.clone()],
        all: true,
        ..Filter::default()
    };
    let mut rows = call.index()?.list(&filter, &|_, _| None)?.rows;
    rows.retain(|row| row.damaged.is_some());
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
    report: &mut Report,
    repair: bool,
) {
    let folder = workspaces::slot_folder(call, name);
    let label = task.label();
    if task.status.is_terminal() {
        report
            .add(name, format!("{label} is {} and still has it", task.status))
            .by_hand(Action::retry_hooks(label));
        return;
    }
    let is_there = folder.is_dir();
    let belongs = if is_there {
        worktree::belongs(&folder, &project.path)
    } else {
        Ok(false)
    };
    let belongs = match belongs {
        Ok(belongs) => belongs,
        Err(error) => return report.add_unchecked(name, &error),
    };
    if belongs {
        let head = state::head(&folder);
        if let Head::Missing(why) = &head {
            report.add_unchecked(name, &Error::new(Code::Failed, why.clone()));
        } else if let Some(branch) = head.branch()
            && branch != task.branch
        {
            report
                .add(
                    name,
                    format!("is on {branch}, {label} works on {}", task.branch),
                )
                .by_hand(text!(
                    "{} makes {branch} its branch",
                    Action::take_branch(&label)
                ));
        } else {
            let problem = match unfinished_slot(call, task, name) {
                Ok(Some(problem)) => problem,
                Ok(None) => return check_detached(call, project, task, &folder, name, report),
                Err(error) => return report.add_unchecked(name, &error),
            };
            let finding = report.add(name, problem);
            finding.repair("saves what is in it and checks its branch out");
            drop(lock);
            if repair {
                let outcome = check_out_again(call, task, name);
                finding.done(outcome.map(|()| format!("{} is checked out", task.branch)));
            }
        }
        return;
    }
    let problem = if is_there {
        format!(
            "the folder of {label} is no worktree of {}",
            project.path.display()
        )
    } else {
        format!("the worktree of {label} is gone")
    };
    let finding = report.add(name, problem);
    if is_there {
        finding.by_hand(format!(
            "move {} away, then run this again",
            folder.display()
        ));
        return;
    }
    finding.repair("checks its branch out again");
    drop(lock);
    if repair {
        let outcome = check_out_again(call, task, name);
        finding.done(outcome.map(|()| format!("{} is checked out again", task.branch)));
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
    report: &mut Report,
) {
    let is_detached = matches!(state::head(folder), Head::Detached(_));
    if !is_detached || worktree::is_unfinished(folder).unwrap_or(false) {
        return;
    }
    match slot::work_beside_branch(call, task, project) {
        Ok(None) => {}
        Ok(Some(what)) => {
            let label = task.label();
            let branch = &task.branch;
            report.add(name, what).by_hand(text!(
                "in {}, {} and merge them, or {} if {branch} has nothing of its own",
                Action::shell(label),
                Action::switch(branch, false),
                Action::switch(branch, true)
            ));
        }
        Err(error) => report.add_unchecked(name, &error),
    }
}

fn check_out_again(call: &Call, task: &Task, slot: &str) -> Result<()> {
    let place = find::find(call, &task.id, Some(&task.project))?;
    let tx = tx::lock_task(call, place)?;
    workspaces::change_pool(call, |_, pool| {
        if let Some(slot) = pool.workspaces.get_mut(slot) {
            slot.prepared = 0;
            // The next command would put the link into a slot that is not on its branch.
            slot.link = None;
        }
        Ok(())
    })?;
    let acquired = acquire::acquire(call, &tx.task, &tx.place);
    acquired.map(drop).map_err(|trouble| trouble.error)
}

/// Tasks that say they have a slot which the pool does not give them.
fn check_claims(call: &Call, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
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
        let Held::Free(lock) = hold(&task_folder(call, &task))? else {
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
        let finding = report.add(format!("{}:{}", project.name, task.label()), problem);
        finding.repair(if ours && free {
            "gives it the slot"
        } else {
            "takes that out of the task"
        });
        if !repair {
            continue;
        }
        let outcome = if ours && free {
            give_slot(call, &slot, &task).map(|()| format!("{slot} is its own"))
        } else {
            forget_slot(call, &task).map(|()| "it has none".to_owned())
        };
        finding.done(outcome);
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

fn forget_slot(call: &Call, task: &Task) -> Result<()> {
    let place = find::find(call, &task.id, Some(&task.project))?;
    let mut tx = tx::lock_task(call, place)?;
    tx.forget_workspace()?;
    tx.commit(Vec::new()).map(drop)
}

/// Folders of the pool that no entry speaks of, and free slots that are not clean.
fn check_folders(call: &Call, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
    if let Some(name) = verify_slot::verify_folder(call, &project.name)
        && let Some(_lock) = SlotLock::if_free(&call.store, &name)?
        && workspaces::slot_folder(call, &name).is_dir()
        && !worktree::belongs(&workspaces::slot_folder(call, &name), &project.path)?
    {
        let folder = workspaces::slot_folder(call, &name);
        report
            .add(
                &name,
                format!("is no worktree of {}", project.path.display()),
            )
            .by_hand(format!("move {} away", folder.display()));
    }
    for name in workspaces::slot_folders(call, &project.name) {
        let folder = workspaces::slot_folder(call, &name);
        // A process that makes, cleans or removes a slot has its lock; who is to get it stands in the pool before.
        let lock = match SlotLock::if_free(&call.store, &name) {
            Ok(Some(lock)) => lock,
            Ok(None) => continue,
            Err(error) => {
                report.add_unchecked(&name, &error);
                continue;
            }
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
                format!("is no worktree of {}", project.path.display())
            };
            report
                .add(&name, problem)
                .by_hand(format!("move {} away", folder.display()));
            continue;
        }
        let is_clean = tidy::untidy(call, &folder)?.is_none();
        let listed = pool.workspaces.contains_key(&name);
        if is_clean && listed && retired.is_none() {
            continue;
        }
        let problem = match (retired, is_clean, listed) {
            (Some(slot), _, _) => {
                let why = slot
                    .why_retired
                    .as_deref()
                    .unwrap_or("it could not be cleaned");
                format!("is out of use: {why}")
            }
            (None, true, _) => "is a slot that the pool does not know".to_owned(),
            (None, false, true) => "is free, but not clean".to_owned(),
            (None, false, false) => {
                "is a slot that the pool does not know, and not clean".to_owned()
            }
        };
        drop(lock);
        let finding = report.add(&name, problem);
        finding.repair(if is_clean && retired.is_none() {
            "takes it into the pool, as free"
        } else {
            "saves what is in it and makes it a clean, free slot"
        });
        if repair {
            let owner = pool
                .workspaces
                .get(&name)
                .and_then(|slot| slot.last_task.clone());
            let owner = owner.unwrap_or_else(|| name.clone());
            finding.done(workspaces::park_slot(call, project, &name, &owner));
        }
    }
    Ok(())
}

/// Worktrees that git remembers and that are not there.
fn check_git_list(call: &Call, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
    let gone: Vec<String> = maintenance::workspaces::gone_slots(call, project)?
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    let finding = report.add(
        format!("project {}", project.name),
        format!("git remembers worktrees that are gone: {}", gone.join(", ")),
    );
    finding.repair("saves what git still knows of them and has it forget them");
    if repair {
        let outcome = maintenance::workspaces::forget_all_gone(call, project);
        finding.done(outcome.map(|()| "forgotten".to_owned()));
    }
    Ok(())
}

/// A task that cannot be read does not say which slot it has. A slot whose holder is not known may be its own.
fn unreadable_holder(damaged: &[Listed], holder: Option<&Task>) -> Option<String> {
    let found = match holder {
        Some(task) => damaged.iter().find(|row| row.id == task.id),
        None => damaged.first(),
    };
    found.map(|row| row.folder.clone())
}

/// Whether another process is at work on a task.
enum Held {
    ByAnother,
    /// With its lock; None where it never had one: a check writes nothing.
    Free(Option<TaskLock>),
}

fn hold(folder: &Path) -> Result<Held> {
    let lock = folder.join(LOCK_FILE);
    if !lock.exists() {
        return Ok(Held::Free(None));
    }
    match TaskLock::try_acquire(folder) {
        Ok(Some(lock)) => Ok(Held::Free(Some(lock))),
        // A task that was just moved or deleted is another process's doing too.
        Ok(None) | Err(LockError::Busy { .. } | LockError::Gone) => Ok(Held::ByAnother),
        Err(LockError::Io(error)) => Err(Error::io("lock", &lock, &error)),
    }
}

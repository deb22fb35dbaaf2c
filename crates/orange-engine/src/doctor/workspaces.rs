//! What the pool's file, the tasks, git's own list and the disk say of the slots, where they disagree.

use super::Report;
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::git::state::{self, Head};
use crate::git::worktree;
use crate::index::list::{Filter, Listed};
use crate::projects::Project;
use crate::store::lock::{LOCK_FILE, LockError, TaskLock};
use crate::workspaces::{Pool, Slot, SlotLock, slot_number};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::{Path, PathBuf};

impl Engine {
    pub(super) fn check_workspaces(&self, report: &mut Report, repair: bool) -> Result<()> {
        self.check_pool_file(report, repair);
        let Ok(projects) = self.projects() else {
            return Ok(());
        };
        // Before the folders: what is moved back is looked at there.
        self.check_leaving(&projects, report, repair)?;
        let checks = [
            Engine::check_holders,
            Engine::check_claims,
            Engine::check_folders,
            Engine::check_git_list,
        ];
        for project in projects.iter().filter(|project| project.path.is_dir()) {
            for check in checks {
                if let Err(error) = check(self, project, report, repair) {
                    report.add_unchecked(format!("the slots of {}", project.name), &error);
                }
            }
        }
        let pool = self.pool()?;
        let in_use = pool.workspaces.values().filter(|slot| !slot.is_free());
        let (all, in_use) = (pool.workspaces.len(), in_use.count());
        match all {
            _ if !report.is_clean() => {}
            0 => report.fine("no slots yet"),
            all => report.fine(format!("{}, {in_use} in use", counted(all, "slot"))),
        }
        Ok(())
    }

    fn check_pool_file(&self, report: &mut Report, repair: bool) {
        let Some(damage) = Pool::damage(&self.store) else {
            return;
        };
        let finding = report.add("workspaces/.pool.json", format!("cannot be read: {damage}"));
        finding.repair("keeps the file under another name and makes it anew from the tasks");
        if repair {
            let outcome = self.change_pool(|_, _| Ok(()));
            finding.done(outcome.map(|()| "made anew from the tasks".to_owned()));
        }
    }

    /// Slots that are held by nobody who would know of it.
    fn check_holders(&self, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
        let pool = self.pool()?;
        let damaged = self.damaged_tasks(project)?;
        for (name, slot) in pool.held(&project.name) {
            let holder = self.task_of_slot(project, name, slot)?;
            // One that is on its way to its slot, or gives it back just now, is as it should be.
            let held = match &holder {
                Some(task) => hold(&self.task_folder(task)),
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
            if self.pool()?.workspaces.get(name) != Some(slot) {
                continue;
            }
            let holder = self.task_of_slot(project, name, slot)?;
            let problem = match &holder {
                None => "is held by a task that does not exist".to_owned(),
                Some(task) if task.workspace.as_deref() != Some(name) => {
                    format!("is held by {}, which does not know of it", task.label())
                }
                Some(task) => {
                    self.check_held(project, name, task, lock, report, repair);
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
                finding.done(self.free_slot(project, name, slot, &owner));
            }
        }
        Ok(())
    }

    fn task_folder(&self, task: &Task) -> PathBuf {
        let found = self.find(&task.id, Some(&task.project));
        found.map_or_else(|_| PathBuf::new(), |place| place.path)
    }

    /// Tasks of a project whose TASK.md cannot be read.
    fn damaged_tasks(&self, project: &Project) -> Result<Vec<Listed>> {
        let filter = Filter {
            projects: vec![project.name.clone()],
            all: true,
            ..Filter::default()
        };
        let mut rows = self.index()?.list(&filter, &|_, _| None)?.rows;
        rows.retain(|row| row.damaged.is_some());
        Ok(rows)
    }

    /// The task that the pool says has a slot.
    fn task_of_slot(&self, project: &Project, name: &str, slot: &Slot) -> Result<Option<Task>> {
        let index = self.index()?;
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
        Ok(found.map(|row| self.store.survey(&row.folder).task))
    }

    /// A slot and its task know of each other; is the worktree what they think?
    fn check_held(
        &self,
        project: &Project,
        name: &str,
        task: &Task,
        lock: Option<TaskLock>,
        report: &mut Report,
        repair: bool,
    ) {
        let folder = self.slot_folder(name);
        let label = task.label();
        if task.status.is_terminal() {
            report
                .add(name, format!("{label} is {} and still has it", task.status))
                .by_hand(Action::retry_hooks(label));
            return;
        }
        let is_there = folder.is_dir();
        let belongs = match is_there {
            true => worktree::belongs(&folder, &project.path),
            false => Ok(false),
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
                let problem = match self.unfinished_slot(task, name) {
                    Ok(Some(problem)) => problem,
                    Ok(None) => return self.check_detached(project, task, &folder, name, report),
                    Err(error) => return report.add_unchecked(name, &error),
                };
                let finding = report.add(name, problem);
                finding.repair("saves what is in it and checks its branch out");
                drop(lock);
                if repair {
                    let outcome = self.check_out_again(task, name);
                    finding.done(outcome.map(|()| format!("{} is checked out", task.branch)));
                }
            }
            return;
        }
        let problem = match is_there {
            true => format!(
                "the folder of {label} is no worktree of {}",
                project.path.display()
            ),
            false => format!("the worktree of {label} is gone"),
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
            let outcome = self.check_out_again(task, name);
            finding.done(outcome.map(|()| format!("{} is checked out again", task.branch)));
        }
    }

    /// What is missing in a slot that could not be made ready.
    fn unfinished_slot(&self, task: &Task, slot: &str) -> Result<Option<String>> {
        if !self.lacks_link(task, slot)? {
            return Ok(None);
        }
        let label = task.label();
        Ok(Some(match self.is_unready(task, slot)? {
            true => format!("is {label}'s, but {} is not checked out", task.branch),
            false => format!("is {label}'s, but has no link to its TASK.md"),
        }))
    }

    /// Commits on a detached HEAD are on no branch, so that no merge has them. In the middle of a rebase that is as it should
    /// be.
    fn check_detached(
        &self,
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
        match self.work_beside_branch(task, project) {
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

    fn check_out_again(&self, task: &Task, slot: &str) -> Result<()> {
        let place = self.find(&task.id, Some(&task.project))?;
        let tx = self.lock_task(place)?;
        self.change_pool(|_, pool| {
            if let Some(slot) = pool.workspaces.get_mut(slot) {
                slot.prepared = 0;
                // The next command would put the link into a slot that is not on its branch.
                slot.link = None;
            }
            Ok(())
        })?;
        let acquired = self.acquire(&tx.task, &tx.place);
        acquired.map(drop).map_err(|trouble| trouble.error)
    }

    /// Tasks that say they have a slot which the pool does not give them.
    fn check_claims(&self, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
        for row in self.index()?.slot_holders(&project.name)? {
            let task = self.store.survey(&row.folder).task;
            let Some(slot) = task.workspace.clone() else {
                continue;
            };
            let has_it = |pool: &Pool, task: &Task| {
                pool.lease_of(task).is_some_and(|lease| lease.slot == slot)
            };
            if has_it(&self.pool()?, &task) {
                continue;
            }
            // One that gives it back just now does not know yet that it has: its lock is held.
            let Held::Free(lock) = hold(&self.task_folder(&task))? else {
                continue;
            };
            let task = self.store.survey(&row.folder).task;
            let pool = self.pool()?;
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
            finding.repair(match ours && free {
                true => "gives it the slot",
                false => "takes that out of the task",
            });
            if !repair {
                continue;
            }
            let outcome = match ours && free {
                true => self
                    .give_slot(&slot, &task)
                    .map(|()| format!("{slot} is its own")),
                false => self.forget_slot(&task).map(|()| "it has none".to_owned()),
            };
            finding.done(outcome);
        }
        Ok(())
    }

    /// The task's branch is in the slot afterwards, or the next check finds that it is not.
    fn give_slot(&self, slot: &str, task: &Task) -> Result<()> {
        self.bind_slot(slot, task)?;
        match !self.slot_folder(slot).is_dir() || self.is_unready(task, slot)? {
            true => self.check_out_again(task, slot),
            false => Ok(()),
        }
    }

    fn forget_slot(&self, task: &Task) -> Result<()> {
        let place = self.find(&task.id, Some(&task.project))?;
        let mut tx = self.lock_task(place)?;
        tx.forget_workspace()?;
        tx.commit(Vec::new()).map(drop)
    }

    /// Folders of the pool that no entry speaks of, and free slots that are not clean.
    fn check_folders(&self, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
        if let Some(name) = self.verify_folder(&project.name)
            && let Some(_lock) = SlotLock::if_free(&self.store, &name)?
            && self.slot_folder(&name).is_dir()
            && !worktree::belongs(&self.slot_folder(&name), &project.path)?
        {
            let folder = self.slot_folder(&name);
            report
                .add(
                    &name,
                    format!("is no worktree of {}", project.path.display()),
                )
                .by_hand(format!("move {} away", folder.display()));
        }
        for name in self.slot_folders(&project.name) {
            let folder = self.slot_folder(&name);
            // A process that makes, cleans or removes a slot has its lock; who is to get it stands in the pool before.
            let lock = match SlotLock::if_free(&self.store, &name) {
                Ok(Some(lock)) => lock,
                Ok(None) => continue,
                Err(error) => {
                    report.add_unchecked(&name, &error);
                    continue;
                }
            };
            let pool = self.pool()?;
            if !folder.is_dir() {
                continue;
            }
            let entry = pool.workspaces.get(&name);
            let retired = entry.filter(|slot| slot.is_retired());
            if retired.is_none() && entry.is_some_and(|slot| !slot.is_free()) {
                continue;
            }
            if !worktree::belongs(&folder, &project.path)? {
                let problem = match worktree::is_led_astray(&folder) {
                    true => worktree::astray(&folder),
                    false => format!("is no worktree of {}", project.path.display()),
                };
                report
                    .add(&name, problem)
                    .by_hand(format!("move {} away", folder.display()));
                continue;
            }
            let is_clean = self.untidy(&folder)?.is_none();
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
            finding.repair(match is_clean && retired.is_none() {
                true => "takes it into the pool, as free",
                false => "saves what is in it and makes it a clean, free slot",
            });
            if repair {
                let owner = pool
                    .workspaces
                    .get(&name)
                    .and_then(|slot| slot.last_task.clone());
                let owner = owner.unwrap_or_else(|| name.clone());
                finding.done(self.park_slot(project, &name, &owner));
            }
        }
        Ok(())
    }

    /// Worktrees that git remembers and that are not there.
    fn check_git_list(&self, project: &Project, report: &mut Report, repair: bool) -> Result<()> {
        let gone: Vec<String> = self
            .gone_slots(project)?
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
            let outcome = self.forget_all_gone(project);
            finding.done(outcome.map(|()| "forgotten".to_owned()));
        }
        Ok(())
    }
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

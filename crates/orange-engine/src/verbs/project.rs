//! Registering repositories.

use crate::call::{self, Call};
use crate::effects::stop_agent;
use crate::error::{Result, err, plain};
use crate::field_checks::check_branch_name;
use crate::index::list::{ListedTask, TaskFilter};
use crate::maintenance::doctor::workspaces::forget_slot;
use crate::projects::{self, Project};
use crate::runs;
use crate::verbs::{start, trust};
use crate::views::list;
use crate::workspaces::{self, link, verify_slot};
use crate::{access, git, maintenance, settings, tx};
use orange_core::config::Permissions;
use orange_core::id::{Key, Prefix};
use orange_core::naming::counted;
use orange_core::workflow::Role;
use orange_core::{Action, Parameter, text};
use serde_json::Map;
use std::path::PathBuf;

#[derive(Debug, Clone, Default)]
pub struct AddProject {
    pub path: PathBuf,
    pub name: Option<String>,
    pub default_branch: Option<String>,
    pub pool_size: Option<u32>,
    /// How its keys begin.
    pub prefix: Option<Prefix>,
    pub permissions: Option<Permissions>,
}

/// The entry, and whether it is new.
#[derive(Debug, Clone)]
pub struct AddedProject {
    pub project: Project,
    pub new: bool,
}

#[derive(Debug, Clone, Default)]
pub struct UpdateProject {
    pub path: Option<PathBuf>,
    pub default_branch: Option<String>,
    pub pool_size: Option<u32>,
    /// How the keys of new tasks begin.
    pub prefix: Option<Prefix>,
    pub permissions: Option<Permissions>,
}

pub fn add_project(call: &Call, add: &AddProject) -> Result<AddedProject> {
    access::people_only(call, "register a project")?;
    let repository = repository_at(&add.path)?;
    let name = match &add.name {
        Some(name) => name.clone(),
        None => projects::name_for(&repository),
    };
    projects::check_name(&name)?;
    let default_branch = match &add.default_branch {
        Some(branch) => check_branch(branch)?,
        None => git::default_branch(&repository)?,
    };
    let pool_size = settings::config(call)?.pool.size;
    let added = projects::change(&call.store, |all| {
        if let Some(known) = projects::at(all, &repository) {
            if add.name.as_ref().is_some_and(|name| *name != known.name) {
                return Err(err!(
                    Conflict,
                    "{} is registered already, as {}",
                    repository.display(),
                    known.name
                )
                .hint(text!(
                    "use that name, or remove it: {}",
                    Action::remove_project(&known.name)
                )));
            }
            if let Some(prefix) = add.prefix.filter(|prefix| *prefix != known.prefix) {
                return Err(err!(
                    Conflict,
                    "{} is registered already, as {}, and its keys begin with {}",
                    repository.display(),
                    known.name,
                    known.prefix
                )
                .hint(text!(
                    "change that for new tasks: {}",
                    Action::set_prefix(&known.name, prefix.to_string())
                )));
            }
            return Ok(AddedProject {
                project: known.clone(),
                new: false,
            });
        }
        let name = free_name(all, &name, add.name.is_some())?;
        let project = Project {
            name,
            path: repository.clone(),
            default_branch: default_branch.clone(),
            pool_size: add.pool_size.unwrap_or(pool_size),
            prefix: add.prefix.unwrap_or_default(),
            permissions: add.permissions,
            permissions_stated: false,
            other: Map::new(),
        };
        all.push(project.clone());
        Ok(AddedProject { project, new: true })
    })?;
    if added.new {
        tracing::info!(project = added.project.name, "project registered");
        note_earlier_tasks(call, &added.project.name)?;
        note_same_prefix(call, &added.project)?;
        let others = call.projects()?.into_iter();
        for other in others.filter(|other| !other.path.is_dir()) {
            let (name, path) = (&other.name, other.path.display());
            call.notice(text!(
                    "the repository of project {name} is not at {path} any more; if this is it: {}, then {}",
                    Action::remove_project(&added.project.name),
                    Action::move_project(name)
                ));
        }
    }
    Ok(added)
}

/// Tasks belong to a project by its name, also those that were there before it.
fn note_earlier_tasks(call: &Call, name: &str) -> Result<()> {
    if !call.store.tasks().join(name).is_dir() {
        return Ok(());
    }
    let filter = TaskFilter {
        projects: vec![name.to_owned()],
        all: true,
        ..TaskFilter::default()
    };
    let count = list::list(call, &filter)?.len();
    if count > 0 {
        call.notice(text!(
            "{} of an earlier project called {name} belong to it now; if that is another repository, remove it and add it again with {}",
            counted(count, "task"),
            Parameter::Name
        ));
    }
    Ok(())
}

/// Where two projects have it, a key alone tells no project any more. The default does so nowhere.
fn note_same_prefix(call: &Call, project: &Project) -> Result<()> {
    let prefix = project.prefix;
    if prefix.is_default() {
        return Ok(());
    }
    let others = call.projects()?.into_iter();
    let others = others.filter(|other| other.name != project.name && other.prefix == prefix);
    let names: Vec<String> = others.map(|other| other.name).collect();
    if !names.is_empty() {
        let key = Key { number: 1, prefix };
        call.notice(format!(
            "the prefix {prefix} is also that of {}: outside of a project a key alone is ambiguous, so write {}:{key}",
            names.join(", "),
            project.name
        ));
    }
    Ok(())
}

pub fn update_project(call: &Call, name: &str, update: &UpdateProject) -> Result<Project> {
    access::people_only(call, "change a project")?;
    let path = update.path.as_deref().map(repository_at).transpose()?;
    let default_branch = update.default_branch.as_deref().map(check_branch);
    let default_branch = default_branch.transpose()?;
    if let (Some(path), Some(known)) = (&path, call.project_of(name))
        && known.path != *path
    {
        // It may be another repository, with other scripts behind the same commands.
        trust::forget_repository(call, name)?;
    }
    let project = projects::change(&call.store, |all| {
        projects::named(all, name)?;
        if let Some(path) = &path
            && let Some(other) = projects::at(all, path)
            && other.name != name
        {
            return Err(err!(
                Conflict,
                "{} is registered already, as {}",
                path.display(),
                other.name
            )
            .hint("one repository is one project"));
        }
        let project = all.iter_mut().find(|project| project.name == name);
        let project = project.ok_or_else(|| err!(NotFound, "there is no project {name:?}"))?;
        if let Some(path) = &path {
            project.path.clone_from(path);
        }
        if let Some(branch) = &default_branch {
            project.default_branch.clone_from(branch);
        }
        project.pool_size = update.pool_size.unwrap_or(project.pool_size);
        project.prefix = update.prefix.unwrap_or(project.prefix);
        project.permissions = update.permissions.or(project.permissions);
        Ok(project.clone())
    })?;
    if update.prefix.is_some() {
        note_same_prefix(call, &project)?;
    }
    if path.is_some() {
        follow_repository(call, &project);
    }
    // There may be room now for what waits.
    if update.pool_size.is_some() && start::has_queued(call)? {
        call::request_queue_run(call)?;
    }
    Ok(project)
}

/// A repository that was moved and its worktrees are told of each other.
fn follow_repository(call: &Call, project: &Project) {
    let slots: Vec<PathBuf> = workspaces::slot_folders(call, &project.name)
        .iter()
        .chain(&verify_slot::verify_folder(call, &project.name))
        .map(|slot| workspaces::slot_folder(call, slot))
        .collect();
    if slots.is_empty() {
        return;
    }
    if let Err(error) = git::worktree::repair(&call.site(&project.path), &slots) {
        call.notice(text!(
            "its workspaces do not belong to that repository ({error}); {} says more",
            Action::check()
        ));
    }
}

/// Forgets a repository. Its tasks stay where they are and come back when it is added again.
pub fn remove_project(call: &Call, name: &str, force: bool) -> Result<Project> {
    access::people_only(call, "remove a project")?;
    let registry = call.projects()?;
    projects::named(&registry, name)?;
    let filter = TaskFilter {
        projects: vec![name.to_owned()],
        ..TaskFilter::default()
    };
    let live = list::list(call, &filter)?;
    if !live.is_empty() && !force {
        let name_of = |task: &ListedTask| task.key.map_or(task.id.clone(), |key| key.to_string());
        let keys: Vec<String> = live.iter().take(5).map(name_of).collect();
        return Err(err!(ConditionUnmet, "project {name} has {}: {}", counted(live.len(), "open task"), keys.join(", "))
            .hint(text!(
                "end them first, or add {}: the tasks stay on disk and come back when the project is added again",
                Parameter::Force
            )));
    }
    if projects::named(&registry, name)?.path.is_dir() {
        no_slots_left(call, name)?;
    } else {
        for task in &live {
            if let Err(error) = end_agents(call, &task.folder) {
                call.notice(format!("{}: {error}", task.folder));
            }
        }
        // Of tasks that cannot be read too.
        for run in runs::all(call.store.home()) {
            if run
                .spec()
                .is_some_and(|spec| call.store.place(&spec.folder).project == name)
            {
                stop_agent::stop(call, &run.id())?;
            }
        }
        maintenance::workspaces::set_slots_aside(call, name)?;
        // Not before: a task that does not know of its slot gives it back.
        for task in &live {
            if let Err(error) = forget_slot(call, call.store.place(&task.folder)) {
                tracing::warn!(%error, task = task.folder, "still names its slot");
            }
        }
    }
    let project = projects::change(&call.store, |all| {
        let project = projects::named(all, name)?.clone();
        // First, and under the lock: a repository that gets the name later must not inherit them.
        trust::forget_repository(call, name)?;
        all.retain(|known| known.name != name);
        Ok(project)
    })?;
    if project.path.is_dir() {
        link::unexclude(&project.path)?;
    }
    Ok(project)
}

/// Ends what works for a task that loses its slot.
fn end_agents(call: &Call, folder: &str) -> Result<()> {
    let tx = tx::lock_task(call, call.store.place(folder))?;
    let stopped = stop_agent::stop_runs(&tx, Role::ALL)?;
    stop_agent::close_session(call, &tx.task)?;
    tx.commit(stopped).map(drop)
}

/// A project takes its free slots with it; one that a task has stays, and so does the project.
fn no_slots_left(call: &Call, name: &str) -> Result<()> {
    let collected = maintenance::workspaces::collect_slots(call, Some(name), true)?;
    match collected.kept.first() {
        None => Ok(()),
        Some(kept) => Err(err!(
            ConditionUnmet,
            "{} is still in use: {}",
            kept.slot,
            kept.reason
        )
        .hint("cancel or finish the task, or leave the folder; then remove the project")),
    }
}

fn repository_at(path: &std::path::Path) -> Result<PathBuf> {
    let real = path.canonicalize().map_err(|error| {
        err!(
            NotFound,
            "there is no folder {}: {}",
            path.display(),
            plain(&error)
        )
        .hint("give the path of a git repository")
        .because(error)
    })?;
    let repository = git::repository_of(&real)?.ok_or_else(|| {
        err!(
            NotFound,
            "{} is not inside a git repository",
            real.display()
        )
        .hint("make a repository there first, or give the path of one")
    })?;
    if let Some(outer) = git::bare::outer_repository(&repository)? {
        let (inner, outer) = (repository.display(), outer.display());
        return Err(err!(ConditionUnmet, "{inner} is a bare repository inside the repository {outer}, so its settings may be somebody else's commands").hint(format!(
            "give the path {outer}, or move the bare repository out of it if it is yours"
        )));
    }
    // Made readable, such a name leads nowhere.
    if !repository.exists() && real.to_str().is_none() {
        return Err(err!(
            ConditionUnmet,
            "the path of the repository is not UTF-8 text, so it cannot be registered: {}",
            repository.display()
        )
        .hint("give that folder another name"));
    }
    Ok(repository)
}

fn check_branch(branch: &str) -> Result<String> {
    let hint = "give the name of the branch that work starts from, such as main";
    check_branch_name(branch, hint).map(|()| branch.to_owned())
}

/// A second repository with the same folder name gets a number; a name that was asked for does not.
fn free_name(all: &[Project], wanted: &str, asked_for: bool) -> Result<String> {
    let taken = |name: &str| all.iter().find(|project| project.name == name);
    let Some(other) = taken(wanted) else {
        return Ok(wanted.to_owned());
    };
    if asked_for {
        return Err(err!(
            Conflict,
            "there is a project {wanted} already, at {}",
            other.path.display()
        )
        .hint(text!("choose another {}", Parameter::Name)));
    }
    let free = (2..1000)
        .map(|number| format!("{wanted}-{number}"))
        .find(|name| taken(name).is_none());
    free.ok_or_else(|| err!(Conflict, "no free name like {wanted}"))
}

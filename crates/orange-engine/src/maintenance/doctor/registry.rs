//! projects.json: repositories that moved away, and a file that cannot be read or is gone. Which projects there were is
//! found out again from what can still be read of it, and from the slots, which know the repositories they belong to.

pub mod remains;

use crate::call::Call;
use crate::error::{IoContext, Result};
use crate::git::{self, state, worktree};
use crate::index::list::TaskFilter;
use crate::maintenance::doctor::registry::remains::RegistryEntry;
use crate::maintenance::doctor::{folders_in, set_aside, without_path};
use crate::projects::{self, DEFAULT_POOL_SIZE, Project};
use crate::store::locks::Lock;
use crate::store::replace;
use crate::views::doctor::DoctorReport;
use crate::views::list;
use orange_core::config::Permissions;
use orange_core::id::{Prefix, valid_project_name};
use orange_core::naming::counted;
use orange_core::{Action, Text, text};
use orange_sys::listing;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How the name of a file begins that was set aside.
const ASIDE: &str = "projects.json.damaged-";

/// What is known of the projects that there were.
#[derive(Default)]
struct FoundProjects {
    projects: Vec<Project>,
    /// What of their settings is not as it was.
    changed: Vec<Text>,
    /// Entries that name a project and no repository of it.
    lost: Vec<String>,
}

/// The slots of one project.
#[derive(Default)]
struct ProjectSlots {
    highest: u32,
    repository: Option<PathBuf>,
}

pub(crate) fn check_projects(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let problem = match call.projects() {
        Ok(known) => {
            report.projects = known.len();
            for project in known.iter().filter(|project| !project.path.is_dir()) {
                report.by_hand(
                    format!("project {}", project.name),
                    format!("its repository {} is not there", project.path.display()),
                    Action::move_project(&project.name),
                );
            }
            registry_is_gone(call).then(|| "is gone, though there are tasks or slots".to_owned())
        }
        Err(error) => Some(without_path(&error.message, &call.store.projects_file())),
    };
    if let Some(problem) = problem {
        let how = if registry_is_gone(call) {
            "registers again what is known from the slots and from a file that was set aside"
        } else {
            "sets the file aside and registers again what is known from it and from the slots"
        };
        report.repair("projects.json", problem, how, || rebuild_registry(call));
        report.projects = call.projects().map_or(0, |known| known.len());
    }
    Ok(())
}

/// A new home has no such file; one in which something was done has.
fn registry_is_gone(call: &Call) -> bool {
    if fs::symlink_metadata(call.store.projects_file()).is_ok() {
        return false;
    }
    !names_of_tasks(call).is_empty() || !slot_folders_by_name(call).is_empty()
}

/// The damaged file is copied aside and then replaced in one step: whenever this ends early, what was known before is
/// still there, and the next repair begins anew.
fn rebuild_registry(call: &Call) -> Result<Text> {
    let _lock = call.store.lock(Lock::Projects)?;
    let path = call.store.projects_file();
    let stamp = call.file_stamp();
    let is_there = fs::symlink_metadata(&path).is_ok();
    let (text, said) = match fs::read(&path) {
        // As a power cut leaves it: as good as gone.
        Ok(text) if text.trim_ascii().is_empty() => newest_aside(call),
        Ok(text) => {
            let name = format!("{ASIDE}{stamp}");
            let aside = path.with_file_name(&name);
            replace::write_atomic(&aside, &text).doing("write", &aside)?;
            (text, format!("set aside as {name}"))
        }
        // Nothing of it can be known: a folder, or a file of somebody else's.
        Err(_) if is_there => {
            let aside = set_aside(&path, &stamp)?;
            (Vec::new(), format!("set aside as {aside}"))
        }
        Err(_) => newest_aside(call),
    };
    let mut found = projects_found(call, &String::from_utf8_lossy(&text));
    projects::write(&call.store, &found.projects)?;
    let again: Vec<String> = found
        .projects
        .iter()
        .map(|project| format!("{} at {}", project.name, project.path.display()))
        .collect();
    let mut said = Text::from(said);
    if !again.is_empty() {
        said = text!("{}; registered again: {}", said, again.join(", "));
    }
    for changed in &found.changed {
        said = text!("{}; {}", said, changed.clone());
    }
    // Those that have tasks are a finding of their own.
    let lost = without_trace(call, &mut found);
    Ok(match (lost.first(), again.is_empty()) {
        (Some(first), _) => text!(
            "{}; where the repository of {} is cannot be told: {}",
            said,
            lost.join(", "),
            Action::add_project(None, first.clone())
        ),
        (None, true) => text!(
            "{}; register projects again with {}",
            said,
            Action::add_project(None, None)
        ),
        (None, false) => said,
    })
}

/// Projects that have open tasks and no repository: nothing can be done for those. What is over needs none.
pub(crate) fn check_unregistered(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let Ok(known) = call.projects() else {
        // That the registry cannot be read has been said.
        return Ok(());
    };
    let mut lost: BTreeMap<String, usize> = BTreeMap::new();
    for task in list::listed(call, &TaskFilter::default())? {
        if !known.iter().any(|project| project.name == task.project) {
            *lost.entry(task.project).or_default() += 1;
        }
    }
    for (name, tasks) in lost {
        let tasks = counted(tasks, "open task");
        report.by_hand(
            format!("project {name}"),
            format!("is not registered, and has {tasks}: where its repository is cannot be told"),
            Action::add_project(None, name),
        );
    }
    Ok(())
}

/// The text of the file that was set aside last, whose name ends with the time, and what to say of it.
fn newest_aside(call: &Call) -> (Vec<u8>, String) {
    let names = listing::names(call.store.home());
    let newest = names.filter(|name| name.starts_with(ASIDE)).max();
    let read = |name: String| Some((fs::read(call.store.home().join(&name)).ok()?, name));
    match newest.and_then(read) {
        Some((text, name)) => (text, format!("made anew from {name}")),
        None => (Vec::new(), "made anew".to_owned()),
    }
}

/// Entries of the damaged file, then projects that have slots.
fn projects_found(call: &Call, text: &str) -> FoundProjects {
    let slots = slots_of_projects(call);
    let mut found = FoundProjects::default();
    for entry in remains::entries(text) {
        take_entry(call, entry, &slots, &mut found);
    }
    for (name, slots) in &slots {
        let Some(path) = &slots.repository else {
            continue;
        };
        if found.has(name) || projects::at(&found.projects, path).is_some() {
            continue;
        }
        let project = Project {
            name: name.clone(),
            path: path.clone(),
            default_branch: default_branch(path),
            pool_size: slots.highest.max(DEFAULT_POOL_SIZE),
            prefix: Prefix::default(),
            permissions: None,
            permissions_stated: false,
            other: serde_json::Map::new(),
        };
        let (branch, size) = (&project.default_branch, project.pool_size);
        let prefix = project.prefix;
        found.changed.push(text!(
                "{name} is known from its slots only: its default branch is {branch} now, its pool size {size}, new keys begin with {prefix}, and its permissions are not set"
            ));
        found.projects.push(project);
    }
    found
}

/// Registers what an entry is about, if that can be told. A repository that is away just now stays registered; a
/// broken entry must lead to one that is there.
fn take_entry(
    call: &Call,
    entry: RegistryEntry,
    slots: &BTreeMap<String, ProjectSlots>,
    found: &mut FoundProjects,
) {
    let is_at = |slots: &ProjectSlots| entry.path.is_some() && slots.repository == entry.path;
    let by_path = slots.iter().find(|(_, slots)| is_at(slots));
    let name = entry.name.clone().filter(|name| valid_project_name(name));
    let name = name.or_else(|| by_path.map(|(name, _)| name.clone()));
    let Some(name) = name else {
        let add = |path: PathBuf| Action::add_project(path.display().to_string(), None);
        let said = |action| text!("an entry without a name is left out: {}", action);
        found.changed.extend(entry.path.map(add).map(said));
        return;
    };
    if found.has(&name) {
        return;
    }
    let own = slots.get(&name);
    let says_all = entry.default_branch.is_some() || entry.lost("default_branch");
    let is_trusted = entry.is_whole && says_all;
    let said = entry.path.clone().filter(|path| {
        path.is_absolute() && !is_in_pool(call, path) && (is_trusted || is_repository(path))
    });
    let path = said.or_else(|| own.and_then(|slots| slots.repository.clone()));
    let path = path.filter(|path| projects::at(&found.projects, path).is_none());
    let Some(path) = path else {
        found.lost.push(name);
        return;
    };
    let highest = own.map_or(0, |slots| slots.highest);
    let branch = entry.default_branch.clone();
    let project = Project {
        pool_size: entry.pool_size.unwrap_or(highest.max(DEFAULT_POOL_SIZE)),
        default_branch: branch.unwrap_or_else(|| default_branch(&path)),
        prefix: entry.prefix.unwrap_or_default(),
        // Whoever limited what agents may do must not find them free to do everything.
        permissions: if entry.lost("permissions") {
            Some(Permissions::Ask)
        } else {
            entry.permissions
        },
        permissions_stated: entry.permissions_stated,
        name,
        path,
        other: entry.other.clone(),
    };
    found.changed.extend(changes(&entry, &project));
    found.projects.push(project);
}

/// `shop--2` → shop, with the numbers and folders of all its slots.
fn slot_folders_by_name(call: &Call) -> BTreeMap<String, Vec<(u32, PathBuf)>> {
    let mut slots: BTreeMap<String, Vec<(u32, PathBuf)>> = BTreeMap::new();
    for folder in folders_in(&call.store.workspaces()) {
        let name = folder.file_name().and_then(|name| name.to_str());
        if let Some((project, number)) = name.and_then(|name| name.rsplit_once("--"))
            && let Ok(number) = number.parse()
            && valid_project_name(project)
        {
            let of_project = slots.entry(project.to_owned()).or_default();
            of_project.push((number, folder));
        }
    }
    slots
}

fn slots_of_projects(call: &Call) -> BTreeMap<String, ProjectSlots> {
    let slots = |(name, mut folders): (String, Vec<(u32, PathBuf)>)| {
        folders.sort();
        let mut repositories = folders.iter();
        let slots = ProjectSlots {
            repository: repositories.find_map(|(_, folder)| repository_of_slot(call, folder)),
            highest: folders.last().map_or(0, |(number, _)| *number),
        };
        (name, slots)
    };
    slot_folders_by_name(call).into_iter().map(slots).collect()
}

/// The repository that a folder of the pool is a worktree of. One that is not would be reset and cleaned as a slot, and
/// for a folder without a `.git` of its own git answers with a repository further up.
fn repository_of_slot(call: &Call, folder: &Path) -> Option<PathBuf> {
    let link = fs::symlink_metadata(folder.join(".git")).ok()?;
    let own = state::git_folder(folder).ok()?.canonicalize().ok()?;
    if !link.is_file() || own.parent()?.file_name()? != "worktrees" {
        return None;
    }
    let main = worktree::list(folder).ok()?.into_iter().next()?.path;
    let is_one = !is_in_pool(call, &main)
        && is_repository(&main)
        && worktree::belongs(folder, &main).unwrap_or(false);
    is_one.then_some(main)
}

fn is_in_pool(call: &Call, path: &Path) -> bool {
    let pool = call.store.workspaces();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.starts_with(&pool) || real(path).starts_with(real(&pool))
}

/// Names under which there are tasks.
fn names_of_tasks(call: &Call) -> Vec<String> {
    let folders = folders_in(call.store.tasks()).into_iter();
    let folders = folders.filter(|folder| !folders_in(folder).is_empty());
    let names = folders.filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
    names.filter(|name| valid_project_name(name)).collect()
}

/// Names under which there were entries, but neither tasks nor a repository any more.
fn without_trace(call: &Call, found: &mut FoundProjects) -> Vec<String> {
    let mut lost: BTreeSet<String> = std::mem::take(&mut found.lost).into_iter().collect();
    let with_tasks = names_of_tasks(call);
    lost.retain(|name| !found.has(name) && !with_tasks.contains(name));
    lost.into_iter().collect()
}

impl FoundProjects {
    fn has(&self, name: &str) -> bool {
        self.projects.iter().any(|project| project.name == name)
    }
}

/// What a project has now in place of what could not be read.
fn changes(entry: &RegistryEntry, project: &Project) -> Vec<Text> {
    let name = &project.name;
    let mut said = Vec::new();
    if entry.lost("permissions") {
        said.push(text!(
            "the permissions of {name} could not be read and are `ask` now: {} changes that",
            Action::set_permissions(name, None)
        ));
    }
    if entry.default_branch.is_none() {
        let branch = &project.default_branch;
        said.push(
            format!("the default branch of {name} could not be read and is {branch} now").into(),
        );
    }
    if entry.pool_size.is_none() && (entry.lost("pool_size") || !entry.is_whole) {
        let size = project.pool_size;
        said.push(format!("the pool size of {name} could not be read and is {size} now").into());
    }
    if entry.lost("prefix") {
        let prefix = project.prefix;
        said.push(text!(
            "the prefix of {name} could not be read, so new keys begin with {prefix} now: {} changes that",
            Action::set_prefix(name, None)
        ));
    }
    said
}

fn default_branch(repository: &Path) -> String {
    git::default_branch(repository).unwrap_or_else(|_| "main".to_owned())
}

/// Does git know this folder, and not only one above it?
fn is_repository(path: &Path) -> bool {
    let known = git::repository_of(path).ok().flatten();
    path.is_dir() && known.is_some_and(|known| worktree::same_folder(&known, path))
}

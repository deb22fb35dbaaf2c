//! What is left in the repositories: locks of gits that were killed, branches and rescues of tasks that are gone. None of it
//! is removed here: a branch may be somebody's only copy, and a lock may be in use. The locks of Orange's own gits are gone
//! by now: every command removes them first.

use crate::call::Call;
use crate::error::Result;
use crate::git::branches::refs_below;
use crate::git::rescue::refs::ROOT;
use crate::git::{checkpoint, locks, worktree};
use crate::maintenance::doctor::some_of;
use crate::maintenance::every_task;
use crate::projects::Project;
use crate::views::doctor::DoctorReport;
use crate::workspaces::{slot_number, verify_slot};
use crate::{rescue, trash};
use orange_core::naming::counted;
use orange_core::{Action, text};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Git holds a lock on an index for as long as a large checkout takes.
const LONG: Duration = Duration::from_secs(10 * 60);

/// How refs begin that Orange names.
const REFS: [&str; 3] = [
    "refs/heads/orange/",
    "refs/heads/orange-tasks/",
    "refs/orange/",
];

/// What the tasks of this home are called, deleted ones too.
#[derive(Default)]
struct KnownTasks {
    ids: HashSet<String>,
    /// Project and branch.
    branches: HashSet<(String, String)>,
}

pub(crate) fn check_git_leftovers(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let known = known_tasks(call)?;
    for project in call.projects().unwrap_or_default() {
        if !project.path.is_dir() {
            continue;
        }
        let subject = format!("project {}", project.name);
        let common = worktree::common_dir_of(&project.path);
        if let Some(Some(common)) = report.checked(&subject, common) {
            check_locks(&common, report);
        }
        if let Some(refs) = report.checked(&subject, refs_below(&project.path, &REFS)) {
            tell_of_refs(&project, &refs, &known, report);
        }
    }
    if report.is_clean() {
        report.fine("nothing was left behind");
    }
    Ok(())
}

fn known_tasks(call: &Call) -> Result<KnownTasks> {
    let mut known = KnownTasks::default();
    for task in every_task(call)? {
        known.ids.insert(task.id);
        known.branches.insert((task.project, task.branch));
    }
    for (place, task) in trash::trashed(call) {
        known.ids.insert(task.id);
        known.branches.insert((place.project, task.branch));
    }
    Ok(known)
}

fn check_locks(common: &Path, report: &mut DoctorReport) {
    for path in locks::all_in(common) {
        let is_index = path.file_name() == Some(OsStr::new("index.lock"));
        let timeout = if is_index { LONG } else { locks::MOMENT };
        let age = locks::age_of(&path);
        let Some(age) = age.filter(|age| *age > timeout || locks::is_abandoned(&path)) else {
            continue;
        };
        let old = locks::age_in_words(age);
        report.by_hand(
            path.display().to_string(),
            format!("is a lock that a git process left {old} ago; other git commands wait for it"),
            "if no git is at work there, delete that file",
        );
    }
}

fn tell_of_refs(project: &Project, refs: &[String], known: &KnownTasks, report: &mut DoctorReport) {
    let name = &project.name;
    let (mut branches, mut rescues, mut foreign) = (Vec::new(), HashSet::new(), Vec::new());
    let mut checkpoints = BTreeSet::new();
    for reference in refs {
        if let Some(branch) = reference.strip_prefix("refs/heads/") {
            if !known.branches.contains(&(name.clone(), branch.to_owned())) {
                branches.push(branch.to_owned());
            }
        } else if let Some((task, _)) = rescue::read_reference(reference) {
            let of_slot = slot_number(name, &task).is_some() || task == verify_slot(name);
            if !of_slot && !known.ids.contains(&task) {
                rescues.insert(task);
            }
        } else if let Some(task) = checkpoint::task_of(reference) {
            if !known.ids.contains(task) {
                checkpoints.insert(task.to_owned());
            }
        } else if !reference.starts_with(ROOT) {
            foreign.push(reference.clone());
        }
    }
    if !branches.is_empty() {
        let count = match branches.len() {
            1 => "1 branch".to_owned(),
            count => format!("{count} branches"),
        };
        report.note(text!(
            "project {name}: {count} of tasks that are gone: {}; {} removes one that is merged",
            some_of(&branches),
            Action::remove_branch()
        ));
    }
    if !rescues.is_empty() {
        let mut tasks: Vec<String> = rescues.into_iter().collect();
        tasks.sort();
        report.note(text!(
            "project {name}: rescues of {} that are gone: {}; {} removes them when their time is over",
            counted(tasks.len(), "task"),
            some_of(&tasks),
            Action::clean_up()
        ));
    }
    if !checkpoints.is_empty() {
        let tasks: Vec<String> = checkpoints.into_iter().collect();
        let root = checkpoint::ROOT;
        report.note(format!(
            "project {name}: checkpoints of {} that are gone, below {root}: {}; where no other home has these tasks, git update-ref -d removes each",
            counted(tasks.len(), "task"),
            some_of(&tasks),
        ));
    }
    if !foreign.is_empty() {
        report.note(format!(
            "project {name}: not made by this Orange, and left alone: {}",
            some_of(&foreign)
        ));
    }
}

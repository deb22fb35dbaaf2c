//! Quick reads for completions: what is known without waiting or writing. Returns empty results on any error.

use crate::call::Call;
use crate::execution;
use crate::git::branches::Branches;
use crate::index::list::{ListedTask, TaskFilter, as_it_is};
use crate::rescue::{self, Rescue};
use orange_core::workflow::PhaseStatus;
use std::time::Duration;

/// A person waits with a finger on the Tab key.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Every task that index.db knows, those that need a person first and those that are over last.
pub fn quick_tasks(call: &Call) -> Vec<ListedTask> {
    let all = TaskFilter {
        all: true,
        ..TaskFilter::default()
    };
    as_it_is(&call.store, &all)
}

/// The branches of a project's repository.
pub fn quick_branches(call: &Call, project: &str) -> Vec<String> {
    match call.project_of(project) {
        Some(project) => Branches::of(&project.path, TIMEOUT).local(),
        None => Vec::new(),
    }
}

/// What was saved of a task, the newest first.
pub fn quick_rescues(call: &Call, project: &str, task_id: &str) -> Vec<Rescue> {
    let repository = call.project_of(project).map(|project| project.path);
    let rescues = repository.and_then(|path| rescue::list(&path, Some(task_id)).ok());
    let mut rescues = rescues.unwrap_or_default();
    rescues.reverse();
    rescues
}

/// The phases of a task's plan, each with where it stands.
pub fn quick_phases(call: &Call, project: &str, task_id: &str) -> Vec<(String, PhaseStatus)> {
    let place = call.store.place(&format!("{project}/{task_id}"));
    let task = call.store.survey(&place.folder()).task;
    let Ok(Some(plan)) = execution::plan(call, &task) else {
        return Vec::new();
    };
    let execution = execution::execution(call, &task).unwrap_or_default();
    let phases = plan.phases.into_iter();
    phases
        .map(|phase| {
            let status = execution.status(&phase.name);
            (phase.name, status)
        })
        .collect()
}

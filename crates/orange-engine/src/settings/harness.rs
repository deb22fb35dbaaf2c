//! Which harness a task's worker or reviewer is.

use crate::call::Call;
use crate::error::Result;
use crate::harness::{self, Harness};
use crate::settings;
use orange_core::task::Task;
use orange_core::workflow::Role;

/// A harness by its name; None for the one that starts nothing.
pub(crate) fn find_harness(call: &Call, name: &str) -> Result<Option<Harness>> {
    harness::find(name, settings::config(call)?, &call.orange)
}

/// The worker of a task that names none: the setting's, or the first that is installed.
pub fn usual_worker(call: &Call) -> Result<String> {
    match &settings::config(call)?.agents.harness {
        Some(name) => Ok(name.clone()),
        None => first_installed(call)?.ok_or_else(harness::none_installed),
    }
}

/// What is chosen where nobody names a harness; None: nothing is installed.
pub fn first_installed(call: &Call) -> Result<Option<String>> {
    let config = settings::config(call)?;
    let found = harness::first_installed(config, &call.orange, call.search_path.as_deref());
    Ok(found.map(|harness| harness.name))
}

/// The harness that a task is to keep, because nobody named one: another that is installed later changes nothing. None if it or
/// the setting names one, or nothing is installed.
pub(crate) fn to_be_kept(call: &Call, task: &Task) -> Result<Option<String>> {
    if task.harness.is_some() || settings::config(call)?.agents.harness.is_some() {
        return Ok(None);
    }
    first_installed(call)
}

/// The name of a task's worker.
pub(crate) fn worker_of(call: &Call, task: &Task) -> Result<String> {
    match &task.harness {
        Some(name) => Ok(name.clone()),
        None => usual_worker(call),
    }
}

/// Which harness a task's role uses; None where no agent is wanted.
pub(crate) fn harness_for(call: &Call, task: &Task, role: Role) -> Result<Option<Harness>> {
    if role != Role::Reviewer {
        return find_harness(call, &worker_of(call, task)?);
    }
    let agents = &settings::config(call)?.agents;
    let named = task.review_harness.as_ref();
    if let Some(named) = named.or(agents.review_harness.as_ref()) {
        return find_harness(call, named);
    }
    let usual = find_harness(call, harness::REVIEWER)?;
    let there = |found: &Harness| found.is_installed(call.search_path.as_deref());
    if usual.as_ref().is_some_and(there) {
        return Ok(usual);
    }
    let worker = worker_of(call, task)?;
    if worker != harness::REVIEWER {
        call.notice(format!(
                "{} is not installed; {worker} reviews (`agents.review_harness` in config.yaml says otherwise)",
                harness::REVIEWER
            ));
    }
    find_harness(call, &worker)
}

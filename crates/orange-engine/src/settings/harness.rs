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

/// Which harness a task's role uses; None where no agent is wanted.
pub(crate) fn harness_for(call: &Call, task: &Task, role: Role) -> Result<Option<Harness>> {
    let agents = &settings::config(call)?.agents;
    let worker = task.harness.as_ref().unwrap_or(&agents.harness);
    if role != Role::Reviewer {
        return find_harness(call, worker);
    }
    let named = task.review_harness.as_ref();
    if let Some(named) = named.or(agents.review_harness.as_ref()) {
        return find_harness(call, named);
    }
    let usual = find_harness(call, harness::REVIEWER)?;
    let there = |found: &Harness| found.is_installed(call.search_path.as_deref());
    if usual.as_ref().is_some_and(there) {
        return Ok(usual);
    }
    if worker != harness::REVIEWER {
        call.notice(format!(
                "{} is not installed; {worker} reviews (`agents.review_harness` in config.yaml says otherwise)",
                harness::REVIEWER
            ));
    }
    find_harness(call, worker)
}

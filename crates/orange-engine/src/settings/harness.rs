//! Which harness a task's worker or reviewer is.

use crate::call::Call;
use crate::error::Result;
use crate::harness::{self, Harness};
use crate::settings;
use orange_core::task::Task;
use orange_core::workflow::Role;

/// Which harness a task's role uses; None where no agent is wanted.
pub(crate) fn harness_for(call: &Call, task: &Task, role: Role) -> Result<Option<Harness>> {
    let orange = call.orange.clone();
    let config = settings::config(call)?.clone();
    let worker = task
        .harness
        .clone()
        .unwrap_or(config.agents.harness.clone());
    if role != Role::Reviewer {
        return harness::find(&worker, &config, &orange);
    }
    let named = task
        .review_harness
        .clone()
        .or_else(|| config.agents.review_harness.clone());
    if let Some(named) = named {
        return harness::find(&named, &config, &orange);
    }
    let usual = harness::find(harness::REVIEWER, &config, &orange)?;
    let search_path = call.search_path.clone();
    let there = |found: &Harness| found.is_installed(search_path.as_deref());
    if usual.as_ref().is_some_and(there) {
        return Ok(usual);
    }
    if worker != harness::REVIEWER {
        call.notice(format!(
                "{} is not installed; {worker} reviews (`agents.review_harness` in config.yaml says otherwise)",
                harness::REVIEWER
            ));
    }
    harness::find(&worker, &config, &orange)
}

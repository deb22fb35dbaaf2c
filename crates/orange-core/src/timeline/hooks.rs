//! What hooks are called where people read of them; their names are for journals and tables.

use super::plain;
use crate::workflow::Hook;

/// What it is there for: `take a slot`.
pub fn aim(name: &str) -> String {
    match Hook::from_name(name) {
        Some(hook) => both(hook).0.to_owned(),
        None => format!("carry out {}", plain(name)),
    }
}

/// What holds once it is completed, also where there was nothing to do.
pub(super) fn done(name: &str) -> String {
    match Hook::from_name(name) {
        Some(hook) => both(hook).1.to_owned(),
        None => format!("carried out {}", plain(name)),
    }
}

/// `could not take a slot`.
pub fn failed(name: &str) -> String {
    format!("could not {}", aim(name))
}

fn both(hook: Hook) -> (&'static str, &'static str) {
    match hook {
        Hook::AcquireWorkspace => ("take a slot", "took a slot"),
        Hook::ReleaseWorkspace => ("give the slot back", "left it without a slot"),
        Hook::SpawnAgent(_) => ("start the worker", "made sure that a worker runs"),
        Hook::EnsureFixer => ("get the worker to help", "made sure that the worker knows"),
        Hook::SpawnReviewer => ("start the reviewer", "made sure that a reviewer runs"),
        Hook::KillReviewer => ("stop the reviewer", "made sure that no reviewer runs"),
        Hook::KillSession => ("end its agents", "made sure that no agent runs"),
        Hook::NotifyWorker => ("tell the worker", "made sure that the worker knows"),
        Hook::IncrementReviewRound => ("count the review round", "counted the review round"),
        Hook::ResetReviewRound => ("count review rounds anew", "counted review rounds anew"),
        Hook::ArchiveReview => ("archive the review", "archived the review"),
        Hook::ArchiveHandoff => ("archive the handoff", "archived the handoff"),
        Hook::SpawnNext => ("look at the queue", "asked for a look at the queue"),
        Hook::DeleteRemoteBranch => (
            "see to its branch on the remote",
            "looked at its branch on the remote",
        ),
        Hook::Classify => ("weigh the task", "weighed the task"),
        Hook::WritePlan => ("write the plan", "wrote the plan"),
        Hook::StartExecutor => ("start the executor", "started the executor"),
        Hook::StopExecutor => ("stop the executor", "stopped the executor"),
        Hook::CommitWip => ("commit what is unfinished", "committed what was unfinished"),
        Hook::StartFinalize => ("begin to finalize", "began to finalize"),
        Hook::Verify => ("have the work checked", "looked whether a check is due"),
    }
}

//! The side effects that a row of a table lists. The engine carries them out.

use super::{Actor, Role, Who};
use crate::choice;

choice! {
    /// Which opening prompt an agent gets.
    pub enum Prompt ("prompt") {
        Worker = "worker", Clarify = "clarify", WorkerWait = "worker-wait", Respawn = "respawn",
    }
}

/// A side effect of a transition, by name. The engine carries it out; the table only lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    AcquireWorkspace,
    ReleaseWorkspace,
    SpawnAgent(Prompt),
    EnsureFixer,
    SpawnReviewer,
    KillReviewer,
    KillSession,
    NotifyWorker,
    IncrementReviewRound,
    ResetReviewRound,
    ArchiveReview,
    ArchiveHandoff,
    SpawnNext,
    DeleteRemoteBranch,
    Classify,
    WritePlan,
    StartExecutor,
    StopExecutor,
    CommitWip,
    StartFinalize,
    Verify,
}

impl Hook {
    /// The word in journals, tables and JSON.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    /// What it is there for: `take a slot`.
    pub fn aim(self) -> &'static str {
        self.texts().1
    }

    /// What holds once it is completed, also where there was nothing to do.
    pub fn result(self) -> &'static str {
        self.texts().2
    }

    /// Its name, its aim and its result.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Hook::AcquireWorkspace => ("acquire_workspace", "take a slot", "took a slot"),
            Hook::ReleaseWorkspace => (
                "release_workspace",
                "give the slot back",
                "left it without a slot",
            ),
            Hook::EnsureFixer => (
                "ensure_fixer",
                "get the worker to help",
                "made sure that the worker knows",
            ),
            Hook::SpawnReviewer => (
                "spawn_reviewer",
                "start the reviewer",
                "made sure that a reviewer runs",
            ),
            Hook::KillReviewer => (
                "kill_reviewer",
                "stop the reviewer",
                "made sure that no reviewer runs",
            ),
            Hook::KillSession => (
                "kill_session",
                "end its agents",
                "made sure that no agent runs",
            ),
            Hook::NotifyWorker => (
                "notify_worker",
                "tell the worker",
                "made sure that the worker knows",
            ),
            Hook::IncrementReviewRound => (
                "increment_review_round",
                "count the review round",
                "counted the review round",
            ),
            Hook::ResetReviewRound => (
                "reset_review_round",
                "count review rounds anew",
                "counted review rounds anew",
            ),
            Hook::ArchiveReview => (
                "archive_review",
                "archive the review",
                "archived the review",
            ),
            Hook::ArchiveHandoff => (
                "archive_handoff",
                "archive the handoff",
                "archived the handoff",
            ),
            Hook::SpawnNext => (
                "spawn_next",
                "look at the queue",
                "asked for a look at the queue",
            ),
            Hook::DeleteRemoteBranch => (
                "delete_remote_branch",
                "see to its branch on the remote",
                "looked at its branch on the remote",
            ),
            Hook::Classify => ("classify", "weigh the task", "weighed the task"),
            Hook::WritePlan => ("write_plan", "write the plan", "wrote the plan"),
            Hook::StartExecutor => (
                "start_executor",
                "start the executor",
                "started the executor",
            ),
            Hook::StopExecutor => ("stop_executor", "stop the executor", "stopped the executor"),
            Hook::CommitWip => (
                "commit_wip",
                "commit what is unfinished",
                "committed what was unfinished",
            ),
            Hook::StartFinalize => ("start_finalize", "begin to finalize", "began to finalize"),
            Hook::Verify => (
                "verify",
                "have the work checked",
                "looked whether a check is due",
            ),
            Hook::SpawnAgent(prompt) => (
                match prompt {
                    Prompt::Worker => "spawn_agent(worker)",
                    Prompt::Clarify => "spawn_agent(clarify)",
                    Prompt::WorkerWait => "spawn_agent(worker-wait)",
                    Prompt::Respawn => "spawn_agent(respawn)",
                },
                "start the worker",
                "made sure that a worker runs",
            ),
        }
    }

    /// The hook of that word, should this program know it.
    pub fn from_name(name: &str) -> Option<Hook> {
        Hook::all().find(|hook| hook.name() == name)
    }

    pub fn all() -> impl Iterator<Item = Hook> {
        let prompts = Prompt::ALL.iter().map(|prompt| Hook::SpawnAgent(*prompt));
        Hook::PLAIN.iter().copied().chain(prompts)
    }

    /// Every hook that takes nothing along.
    const PLAIN: &'static [Hook] = &[
        Hook::AcquireWorkspace,
        Hook::ReleaseWorkspace,
        Hook::EnsureFixer,
        Hook::SpawnReviewer,
        Hook::KillReviewer,
        Hook::KillSession,
        Hook::NotifyWorker,
        Hook::IncrementReviewRound,
        Hook::ResetReviewRound,
        Hook::ArchiveReview,
        Hook::ArchiveHandoff,
        Hook::SpawnNext,
        Hook::DeleteRemoteBranch,
        Hook::Classify,
        Hook::WritePlan,
        Hook::StartExecutor,
        Hook::StopExecutor,
        Hook::CommitWip,
        Hook::StartFinalize,
        Hook::Verify,
    ];

    /// Part of the task's own state, so it is written together with the status and needs no later step.
    pub fn is_state_change(self) -> bool {
        matches!(
            self,
            Hook::IncrementReviewRound
                | Hook::ResetReviewRound
                | Hook::ArchiveReview
                | Hook::ArchiveHandoff
        )
    }
}

/// One entry of the "hooks" column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEntry {
    pub hook: Hook,
    /// Listed as "if a human did it".
    pub only_by: Option<Who>,
}

pub const fn run(hook: Hook) -> HookEntry {
    HookEntry {
        hook,
        only_by: None,
    }
}

pub const fn run_if_by(hook: Hook, who: Who) -> HookEntry {
    HookEntry {
        hook,
        only_by: Some(who),
    }
}

/// Leaves out what is listed for another actor.
pub fn hooks_for(entries: &[HookEntry], actor: Actor) -> Vec<Hook> {
    entries
        .iter()
        .filter(|entry| match entry.only_by {
            None => true,
            Some(Who::Human) => actor == Actor::Human,
            Some(Who::Engine) => actor == Actor::Engine,
            Some(Who::Agent) => actor == Actor::Agent(Role::Worker),
            Some(Who::Reviewer) => actor == Actor::Agent(Role::Reviewer),
        })
        .map(|entry| entry.hook)
        .collect()
}

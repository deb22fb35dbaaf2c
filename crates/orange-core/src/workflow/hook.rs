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
    /// The word in journals, tables and JSON; people read [`crate::timeline::hooks`].
    pub fn name(self) -> &'static str {
        match self {
            Hook::AcquireWorkspace => "acquire_workspace",
            Hook::ReleaseWorkspace => "release_workspace",
            Hook::SpawnAgent(Prompt::Worker) => "spawn_agent(worker)",
            Hook::SpawnAgent(Prompt::Clarify) => "spawn_agent(clarify)",
            Hook::SpawnAgent(Prompt::WorkerWait) => "spawn_agent(worker-wait)",
            Hook::SpawnAgent(Prompt::Respawn) => "spawn_agent(respawn)",
            Hook::EnsureFixer => "ensure_fixer",
            Hook::SpawnReviewer => "spawn_reviewer",
            Hook::KillReviewer => "kill_reviewer",
            Hook::KillSession => "kill_session",
            Hook::NotifyWorker => "notify_worker",
            Hook::IncrementReviewRound => "increment_review_round",
            Hook::ResetReviewRound => "reset_review_round",
            Hook::ArchiveReview => "archive_review",
            Hook::ArchiveHandoff => "archive_handoff",
            Hook::SpawnNext => "spawn_next",
            Hook::DeleteRemoteBranch => "delete_remote_branch",
            Hook::Classify => "classify",
            Hook::WritePlan => "write_plan",
            Hook::StartExecutor => "start_executor",
            Hook::StopExecutor => "stop_executor",
            Hook::CommitWip => "commit_wip",
            Hook::StartFinalize => "start_finalize",
            Hook::Verify => "verify",
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

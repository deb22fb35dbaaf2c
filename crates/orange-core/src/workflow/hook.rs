//! The side effects that a row of a table lists. The engine carries them out.

use super::{Actor, Who};
use crate::choice;

choice! {
    /// Which opening prompt an agent gets.
    pub enum Prompt ("prompt") {
        Worker = "worker", Clarify = "clarify", WorkerWait = "worker-wait", Respawn = "respawn",
    }
}

choice! {
    /// What kept a hook from being carried out, where a person can remove it.
    pub enum Obstacle ("obstacle") {
        DiskFull = "disk_full",
        /// A file or folder that this user may not write.
        NotWritable = "not_writable",
        /// The lock file of a git that is at work, or was killed.
        GitLock = "git_lock",
    }
}

/// Declares the hooks. A row: the word in journals, tables and JSON; what it is there for; what holds once it is completed,
/// also where there was nothing to do.
macro_rules! declare {
    ($($hook:ident: $name:literal, $aim:literal, $result:literal;)+) => {
        /// A side effect of a transition, by name. The engine carries it out; the table only lists it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Hook {
            $($hook,)+
            SpawnAgent(Prompt),
        }

        impl Hook {
            /// Every hook that takes nothing along.
            const PLAIN: &'static [Hook] = &[$(Hook::$hook),+];

            /// Its name, its aim and its result.
            fn texts(self) -> (&'static str, &'static str, &'static str) {
                let name = match self {
                    $(Hook::$hook => return ($name, $aim, $result),)+
                    Hook::SpawnAgent(Prompt::Worker) => "spawn_agent(worker)",
                    Hook::SpawnAgent(Prompt::Clarify) => "spawn_agent(clarify)",
                    Hook::SpawnAgent(Prompt::WorkerWait) => "spawn_agent(worker-wait)",
                    Hook::SpawnAgent(Prompt::Respawn) => "spawn_agent(respawn)",
                };
                (name, "start the worker", "made sure that a worker runs")
            }
        }
    };
}

declare! {
    AcquireWorkspace: "acquire_workspace", "take a slot", "took a slot";
    ReleaseWorkspace: "release_workspace", "give the slot back", "left it without a slot";
    EnsureFixer: "ensure_fixer", "get the worker to help", "made sure that the worker knows";
    SpawnReviewer: "spawn_reviewer", "start the reviewer", "made sure that a reviewer runs";
    KillReviewer: "kill_reviewer", "stop the reviewer", "made sure that no reviewer runs";
    KillSession: "kill_session", "end its agents", "made sure that no agent runs";
    NotifyWorker: "notify_worker", "tell the worker", "made sure that the worker knows";
    IncrementReviewRound: "increment_review_round", "count the review round", "counted the review round";
    ResetReviewRound: "reset_review_round", "count review rounds anew", "counted review rounds anew";
    ArchiveReview: "archive_review", "archive the review", "archived the review";
    ArchiveHandoff: "archive_handoff", "archive the handoff", "archived the handoff";
    SpawnNext: "spawn_next", "look at the queue", "asked for a look at the queue";
    DeleteRemoteBranch: "delete_remote_branch", "see to its branch, here and on the remote", "looked at its branch, here and on the remote";
    Classify: "classify", "weigh the task", "weighed the task";
    WritePlan: "write_plan", "write the plan", "wrote the plan";
    StartExecutor: "start_executor", "start the executor", "started the executor";
    StopExecutor: "stop_executor", "stop the executor", "stopped the executor";
    CommitWip: "commit_wip", "commit what is unfinished", "committed what was unfinished";
    StartFinalize: "start_finalize", "begin to finalize", "began to finalize";
    Verify: "verify", "have the work checked", "looked whether a check is due";
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

    /// The hook of that word, should this program know it.
    pub fn from_name(name: &str) -> Option<Hook> {
        Hook::all().find(|hook| hook.name() == name)
    }

    pub fn all() -> impl Iterator<Item = Hook> {
        let prompts = Prompt::ALL.iter().map(|prompt| Hook::SpawnAgent(*prompt));
        Hook::PLAIN.iter().copied().chain(prompts)
    }

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

    /// Only asks for something that may be asked for any number of times. Where a move has no other hooks, it is over once it is
    /// journalled.
    pub fn only_asks(self) -> bool {
        self == Hook::SpawnNext
    }
}

/// One entry of the "hooks" column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEntry {
    pub hook: Hook,
    /// Listed as "if a human did it".
    pub only_by: Option<Who>,
}

/// Leaves out what is listed for another actor.
pub fn hooks_for(entries: &[HookEntry], actor: Actor) -> Vec<Hook> {
    let is_its = |who: Who| who.as_str() == actor.name();
    let entries = entries
        .iter()
        .filter(|entry| entry.only_by.is_none_or(is_its));
    entries.map(|entry| entry.hook).collect()
}

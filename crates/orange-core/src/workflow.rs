//! What a workflow is: statuses, transitions, gates and hooks as data. Engine, CLI, docs and tests read it.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod interactive;

use crate::choice;
use crate::gate::Gate;
use crate::task::{BlockedReason, Status, WorkflowName, is_active};

choice! {
    /// What an agent process was started as.
    pub enum Role ("role") { Worker = "worker", Reviewer = "reviewer", Executor = "executor" }
}

choice! {
    /// Who a row of the table belongs to.
    pub enum Who ("actor") {
        Agent = "agent", Reviewer = "reviewer", Human = "human", Engine = "engine",
    }
}

/// Who is asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    Human,
    Agent(Role),
    Engine,
}

impl Actor {
    pub fn name(self) -> &'static str {
        match self {
            Actor::Human => "human",
            Actor::Engine => "engine",
            Actor::Agent(Role::Reviewer) => "reviewer",
            Actor::Agent(Role::Worker | Role::Executor) => "agent",
        }
    }

    /// A person may take every row of an agent: a hung reviewer must not trap a task.
    pub fn may_take(self, who: Who) -> bool {
        match self {
            Actor::Human => matches!(who, Who::Human | Who::Agent | Who::Reviewer),
            Actor::Engine => who == Who::Engine,
            Actor::Agent(Role::Worker) => who == Who::Agent,
            Actor::Agent(Role::Reviewer) => who == Who::Reviewer,
            Actor::Agent(Role::Executor) => false,
        }
    }
}

/// What must have happened, or been said, for a row to apply: `force`, `PR merged`, `approve`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigger(pub &'static str);

impl Trigger {
    pub const FORCE: Trigger = Trigger("force");
    pub const CRASH_LIMIT: Trigger = Trigger("crash limit");
    pub const CHECK_FAILED: Trigger = Trigger("check newly failed");
    pub const PR_MERGED: Trigger = Trigger("PR merged");
    pub const PR_CLOSED: Trigger = Trigger("PR closed");
}

/// One entry of the "who" column: an actor, and what it must come with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By {
    pub who: Who,
    pub when: Option<Trigger>,
}

pub const fn by(who: Who) -> By {
    By { who, when: None }
}

pub const fn by_when(who: Who, when: Trigger) -> By {
    By {
        who,
        when: Some(when),
    }
}

choice! {
    /// What must be true of the task and its surroundings, apart from artifacts.
    pub enum Condition ("condition") {
        SummaryGiven = "summary not empty",
        SummaryMissing = "summary empty",
        DependenciesOver = "dependencies over",
        DependenciesOpen = "dependencies open",
        SlotFree = "a slot free",
        CrashLimit = "crash limit",
        ChildrenOpen = "open children",
        ChildrenOver = "every child over",
        WorktreeClean = "worktree clean",
        RoundBelowMax = "round < max",
        RoundAtMax = "round ≥ max",
        Merged = "merged",
        OwnCommits = "commits of its own",
        NoOwnCommits = "no commits of its own",
        WeightKnown = "weight known",
        WeightUnknown = "no weight",
        VerifyOver = "verify over",
        CheckReturns = "verify.on_failure: return",
        ReviewersOwn = "written by its reviewer",
    }
}

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
    ReleaseExecutor,
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
            Hook::ReleaseExecutor => "release_executor",
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
        Hook::ReleaseExecutor,
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

/// Where a row starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Statuses(&'static [Status]),
    /// `blocked`, for this reason only.
    BlockedOn(BlockedReason),
    AnyActive,
    AnyNotTerminal,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    pub from: Origin,
    pub to: Status,
    /// Set when `to` is `blocked`.
    pub to_reason: Option<BlockedReason>,
    pub who: &'static [By],
    pub conditions: &'static [Condition],
    pub gate: Option<Gate>,
    pub hooks: &'static [HookEntry],
}

/// A status in which a task may be born, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Creation {
    pub status: Status,
    /// The branch must be there already: its work is what gets reviewed.
    pub existing_branch: bool,
    pub hooks: &'static [HookEntry],
}

/// A status as this workflow shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusInfo {
    pub status: Status,
    pub meaning: &'static str,
}

/// A whole workflow.
#[derive(Debug, Clone, Copy)]
pub struct Workflow {
    pub name: WorkflowName,
    pub statuses: &'static [StatusInfo],
    pub creations: &'static [Creation],
    pub transitions: &'static [Transition],
    /// Two crashes in one status and the task is stuck.
    pub crash_limit: u32,
}

impl Workflow {
    pub fn named(name: WorkflowName) -> &'static Workflow {
        match name {
            WorkflowName::Interactive => &interactive::INTERACTIVE,
        }
    }

    pub fn has(&self, status: Status) -> bool {
        self.statuses.iter().any(|info| info.status == status)
    }

    /// The words of this workflow's statuses, for messages.
    pub fn words(&self) -> Vec<&'static str> {
        self.statuses
            .iter()
            .map(|info| info.status.as_str())
            .collect()
    }

    /// The rows that start where a task stands.
    pub fn rows_from(
        &self,
        status: Status,
        reason: Option<BlockedReason>,
    ) -> impl Iterator<Item = &Transition> {
        self.transitions
            .iter()
            .filter(move |row| row.starts_at(status, reason))
    }

    pub fn creation(&self, status: Status) -> Option<&Creation> {
        self.creations.iter().find(|row| row.status == status)
    }
}

impl Transition {
    pub fn starts_at(&self, status: Status, reason: Option<BlockedReason>) -> bool {
        match self.from {
            Origin::Statuses(statuses) => statuses.contains(&status),
            Origin::BlockedOn(wanted) => status == Status::Blocked && reason == Some(wanted),
            Origin::AnyActive => is_active(status),
            Origin::AnyNotTerminal => !status.is_terminal(),
        }
    }

    /// The entries of the "who" column that this actor may use.
    pub fn entries_for(&self, actor: Actor) -> impl Iterator<Item = &By> {
        self.who.iter().filter(move |by| actor.may_take(by.who))
    }

    /// The hooks that run when this actor takes the row.
    pub fn hooks_for(&self, actor: Actor) -> Vec<Hook> {
        hooks_for(self.hooks, actor)
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

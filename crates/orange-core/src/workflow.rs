//! What a workflow is: a table of statuses, transitions, gates and hooks as data. Engine, CLI, docs and tests read it, and
//! no code outside this folder names a status. This file says what a table is; `interactive/` and `phased.rs` are the two
//! tables, with what depends on one of them alone.

#![warn(clippy::wildcard_enum_match_arm)]

/// A row of a table. `from` is a list of statuses, `(blocked REASON)` with or without `or STATUSES`, or `(any active)`,
/// `(any open)` or `(any open but REASON)`; what a row does not have is left out.
macro_rules! row {
    (@from [$($status:ident),+]) => { $crate::workflow::RowOrigin::Statuses(&[$($crate::workflow::Status::$status),+]) };
    (@from (blocked $reason:ident $(or $($status:ident),+)?)) => {
        $crate::workflow::RowOrigin::BlockedOn(
            $crate::workflow::BlockedReason::$reason, &[$($($crate::workflow::Status::$status),+)?])
    };
    (@from (any active)) => { $crate::workflow::RowOrigin::AnyActive };
    (@from (any open)) => { $crate::workflow::RowOrigin::AnyNotTerminal };
    (@from (any open but $reason:ident)) => {
        $crate::workflow::RowOrigin::AnyNotTerminalBut($crate::workflow::BlockedReason::$reason)
    };
    (@to (blocked $reason:ident)) => {
        ($crate::workflow::Status::Blocked, Some($crate::workflow::BlockedReason::$reason))
    };
    (@to $status:ident) => { ($crate::workflow::Status::$status, None::<$crate::workflow::BlockedReason>) };
    (
        $from:tt => $to:tt, by [$($by:expr),+] $(, verb $intent:ident)? $(, notes_head: $notes:literal)?
        $(, asks: $asks:literal)?
        $(, if [$($condition:ident),+])? $(, gate $gate:ident)? $(, then $hooks:tt)?
    ) => {
        $crate::workflow::Transition {
            from: row!(@from $from),
            to: row!(@to $to).0,
            to_reason: row!(@to $to).1,
            who: &[$($by),+],
            $(intent: Some($crate::workflow::Intent::$intent),)?
            $(notes_head: $notes,)?
            $(asks: Some($asks),)?
            $(conditions: &[$($crate::workflow::Condition::$condition),+],)?
            $(gate: Some($crate::gate::Gate::$gate),)?
            $(hooks: hooks!($hooks),)?
            ..$crate::workflow::ROW
        }
    };
}

/// The hooks of a row: a list, in which `by WHO` stands behind one that runs only if they did it, or a constant.
macro_rules! hooks {
    ([$($hook:ident $(($prompt:ident))? $(by $who:ident)?),+]) => {
        &[$($crate::workflow::HookEntry {
            hook: $crate::workflow::Hook::$hook $(($crate::workflow::Prompt::$prompt))?,
            only_by: [$(Some($crate::workflow::Who::$who),)? None][0],
        }),+]
    };
    ($shared:ident) => { $shared };
}

/// A status: what it means, its kind and whose turn it is, its rank, icon and tone, then what else it has.
macro_rules! status {
    ($status:ident, $meaning:literal, $whose:expr, ($rank:literal, $icon:literal, $tone:ident) $(, $column:ident: $value:expr)*) => {
        $crate::workflow::StatusInfo {
            $($column: $value,)*
            ..$crate::workflow::StatusInfo::new(
                $crate::workflow::Status::$status, $meaning, $whose, ($rank, $icon, $crate::workflow::Tone::$tone))
        }
    };
}

mod hook;
pub mod interactive;
mod phase_status;
pub mod phased;
mod status;

use crate::choice;
use crate::gate::Gate;
use crate::task::{Task, WorkflowName};
pub use hook::{Hook, HookEntry, Obstacle, Prompt, hooks_for};
pub use phase_status::{AnswerStatus, IterationOutcome, PhaseStatus};
pub use status::{
    BlockedReason, BoardColumn, Status, StatusInfo, StatusKind, Tone, WaitsFor, info_for,
};

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

choice! {
    /// What a verb is after. The table knows the status that it leads to.
    pub enum Intent ("intent") {
        Start = "start",
        Submit = "submit",
        Help = "ask for help",
        Answer = "answer",
        RequestChanges = "request changes",
        Merge = "merge",
        Cancel = "cancel",
        TakeBack = "take back",
    }
}

/// What must have happened, or been said, for a row to apply: `force`, `PR merged`, `approve`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigger(pub &'static str);

impl Trigger {
    pub const FORCE: Trigger = Trigger("force");
    /// What people say about a phased task.
    pub const RUN: Trigger = Trigger("run");
    pub const RUN_FORCE: Trigger = Trigger("run by force");
    pub const RESUME: Trigger = Trigger("resume");
    pub const RETRY: Trigger = Trigger("retry");
    pub const PAUSE: Trigger = Trigger("pause");
    pub const APPROVE: Trigger = Trigger("approve");
    pub const REJECT: Trigger = Trigger("reject");
    pub const REWIND: Trigger = Trigger("rewind");
    /// It counts as done without a merge.
    pub const RESOLVE: Trigger = Trigger("resolve");
    pub const NEW_WEIGHT: Trigger = Trigger("new weight");
    /// What the engine sees of a phased task.
    pub const DEPENDENCIES_OVER: Trigger = Trigger("last dependency over or removed");
    pub const HUMAN_GATE: Trigger = Trigger("a human phase gate");
    pub const UNDECIDED_GATE: Trigger = Trigger("an ai gate that cannot decide");
    pub const NEEDS_ANSWER: Trigger = Trigger("the agent needs an answer");
    pub const ORPHAN: Trigger = Trigger("orphan");
    pub const SIGTERM: Trigger = Trigger("SIGTERM");
    pub const BUDGET_SPENT: Trigger = Trigger("budget spent");
    pub const PHASE_ALONE: Trigger = Trigger("a single phase is over");
    pub const START_FAILED: Trigger = Trigger("start failed");
    pub const NO_HARNESS: Trigger = Trigger("harness missing or logged out");
    pub const NO_CHECK: Trigger = Trigger("a check that cannot run");
    pub const PHASE_FAILED: Trigger = Trigger("a phase failed beyond its retries");
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
        Asked = "asked",
        AgentFree = "agents.limit free",
        BudgetFree = "budget free",
        PhasesOver = "every phase but finalize completed or skipped",
        DecisionStored = "decision stored",
        RetriesLeft = "retries left",
        RetriesSpent = "no retries left",
        MergeNotBegun = "merge not begun",
    }
}

/// Where a row starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrigin {
    Statuses(&'static [Status]),
    /// `blocked` for this reason only, or one of these statuses.
    BlockedOn(BlockedReason, &'static [Status]),
    AnyActive,
    AnyNotTerminal,
    /// The same without `blocked` for this reason.
    AnyNotTerminalBut(BlockedReason),
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    pub from: RowOrigin,
    pub to: Status,
    /// Set when `to` is `blocked`.
    pub to_reason: Option<BlockedReason>,
    pub who: &'static [By],
    /// The verb that takes this row.
    pub intent: Option<Intent>,
    pub conditions: &'static [Condition],
    pub gate: Option<Gate>,
    /// The move speaks of the work as it is at a commit, which its event notes.
    pub notes_head: bool,
    /// Whether the task is to go on by itself as soon as it can, or no more. None: a task that was to start and does not begin
    /// with this move is still to.
    pub asks: Option<bool>,
    pub hooks: &'static [HookEntry],
}

/// A row without conditions, gate and hooks; the tables fill in what a row has.
const ROW: Transition = Transition {
    from: RowOrigin::AnyActive,
    to: Status::Cancelled,
    to_reason: None,
    who: &[],
    intent: None,
    conditions: &[],
    gate: None,
    notes_head: false,
    asks: None,
    hooks: &[],
};

/// The hooks of a task whose work is merged.
const ENDING: &[HookEntry] = hooks!([KillSession, ReleaseWorkspace, DeleteRemoteBranch, SpawnNext]);

/// A status in which a task may be born, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Creation {
    pub status: Status,
    /// The branch must be there already: its work is what gets reviewed.
    pub existing_branch: bool,
    pub hooks: &'static [HookEntry],
}

impl Creation {
    const fn new(status: Status, existing_branch: bool, hooks: &'static [HookEntry]) -> Creation {
        Creation {
            status,
            existing_branch,
            hooks,
        }
    }
}

/// A whole workflow.
#[derive(Debug, Clone, Copy)]
pub struct Workflow {
    pub name: &'static str,
    pub statuses: &'static [StatusInfo],
    pub creations: &'static [Creation],
    pub transitions: &'static [Transition],
    /// Two crashes in one status and the task is stuck. 0 where no row asks for a number of crashes.
    pub crash_limit: u32,
    /// Its tasks are executed by a plan of phases.
    pub has_plans: bool,
}

impl Workflow {
    pub const NAMES: &[&str] = &[interactive::NAME, phased::NAME];

    /// Both tables.
    pub fn all() -> [&'static Workflow; 2] {
        [&interactive::INTERACTIVE, &phased::PHASED]
    }

    pub fn named(name: WorkflowName) -> &'static Workflow {
        match name {
            WorkflowName::Interactive => &interactive::INTERACTIVE,
            WorkflowName::Phased => &phased::PHASED,
        }
    }

    /// The tables of workflows that a task can have.
    pub fn in_use() -> impl Iterator<Item = &'static Workflow> {
        WorkflowName::ALL.iter().map(|name| Workflow::named(*name))
    }

    /// The statuses of those, each once.
    pub fn statuses_in_use() -> Vec<&'static StatusInfo> {
        let mut found: Vec<&StatusInfo> = Vec::new();
        for info in Workflow::in_use().flat_map(|table| table.statuses) {
            if !found.iter().any(|known| known.status == info.status) {
                found.push(info);
            }
        }
        found
    }

    /// Whether a task can have this status.
    pub fn is_in_use(status: Status) -> bool {
        Workflow::in_use().any(|table| table.has(status))
    }

    pub fn has(&self, status: Status) -> bool {
        self.statuses.iter().any(|info| info.status == status)
    }

    /// The words of this workflow's statuses, for messages.
    pub fn words(&self) -> Vec<&'static str> {
        let words = self.statuses.iter().map(|info| info.status.as_str());
        let mut words: Vec<&str> = words.collect();
        words.dedup();
        words
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

    /// The status of a task that is created without saying another.
    pub fn begins_as(&self) -> Status {
        self.creations
            .first()
            .map(|row| row.status)
            .unwrap_or_default()
    }

    pub fn creation(&self, status: Status) -> Option<&Creation> {
        self.creations.iter().find(|row| row.status == status)
    }
}

impl Task {
    /// The rows that start where it stands.
    pub fn rows(&self) -> impl Iterator<Item = &'static Transition> {
        Workflow::named(self.workflow).rows_from(self.status, self.blocked_reason)
    }

    /// Whether a person can do this where it stands, without --force and without another word for it.
    pub fn offers(&self, intent: Intent) -> bool {
        let is_plain =
            |by: &By| by.when != Some(Trigger::FORCE) && by.when != Some(Trigger::RESOLVE);
        self.rows().any(|row| {
            let mut entries = row.entries_for(Actor::Human);
            row.intent == Some(intent) && entries.any(is_plain)
        })
    }

    /// A task that stands there, in the workflow that has this status, and of which nothing else is known.
    pub fn standing_at(status: Status, blocked_reason: Option<BlockedReason>) -> Task {
        let mut workflows = WorkflowName::ALL.iter().copied();
        let workflow = workflows.find(|name| Workflow::named(*name).has(status));
        let task = Task::default();
        Task {
            status,
            blocked_reason,
            workflow: workflow.unwrap_or(task.workflow),
            ..task
        }
    }

    /// Whether it moves on by itself when its children are over.
    pub fn waits_for_children(&self) -> bool {
        self.rows()
            .any(|row| row.conditions.contains(&Condition::ChildrenOver))
    }
}

impl Transition {
    pub fn starts_at(&self, status: Status, reason: Option<BlockedReason>) -> bool {
        match self.from {
            RowOrigin::Statuses(statuses) => statuses.contains(&status),
            RowOrigin::BlockedOn(wanted, or) => {
                status == Status::Blocked && reason == Some(wanted) || or.contains(&status)
            }
            RowOrigin::AnyActive => status.is_active(),
            RowOrigin::AnyNotTerminal => !status.is_terminal(),
            RowOrigin::AnyNotTerminalBut(but) => {
                !(status.is_terminal() || status == Status::Blocked && reason == Some(but))
            }
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

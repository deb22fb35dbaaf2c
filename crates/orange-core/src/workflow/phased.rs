//! The phased workflow's table: a plan of phases, executed without a terminal.

pub mod reason;
pub mod why;

use super::status::CANCELLED;
use super::{
    BlockedReason as B, By, Creation, ENDING, HookEntry, Role, Status as S, StatusInfo, StatusKind,
    Trigger, WaitsFor, Who, Workflow, by, by_when,
};

const HUMAN: By = by(Who::Human);
const ENGINE: By = by(Who::Engine);

/// A verb that a person uses.
const fn says(verb: Trigger) -> By {
    by_when(Who::Human, verb)
}

/// Something that the engine has seen happen.
const fn sees(what: Trigger) -> By {
    by_when(Who::Engine, what)
}

/// The moves that belong to finalizing.
const FINALIZE: Trigger = Trigger("finalize");
const PR_APPROVED: Trigger = Trigger("PR approved and so configured");
const PLAN_FINALIZES: Trigger = Trigger("once, when a plan with a finalize phase completes");
const MERGE_GATE: Trigger = Trigger("everything passed, merge gate human");
const CONFLICT: Trigger = Trigger("conflict");
const TESTS_FAILED: Trigger = Trigger("tests failed");
const REFUSED: Trigger = Trigger("refused");
const NOT_LANDED: Trigger = Trigger("orphan whose merge did not land");

/// The executor is gone and the slot is free afterwards; what was not committed is on the branch.
const STOP: &[HookEntry] = hooks!([StopExecutor, CommitWip, ReleaseWorkspace, SpawnNext]);
const SPAWN_NEXT: &[HookEntry] = hooks!([SpawnNext]);
const START_FINALIZE: &[HookEntry] = hooks!([StartFinalize]);

const BY_ENGINE: (StatusKind, WaitsFor) = (StatusKind::Active, WaitsFor::Engine);
const BY_PERSON: (StatusKind, WaitsFor) = (StatusKind::Active, WaitsFor::Person);

pub const NAME: &str = "phased";

pub const STATUSES: &[StatusInfo] = &[
    status!(
        Created,
        "created, its plan is not written",
        (StatusKind::Waiting, WaitsFor::Nobody),
        (7, "·", Plain)
    ),
    status!(
        Classifying,
        "its weight is being found",
        BY_ENGINE,
        (5, "✎", Progress)
    ),
    status!(
        Planned,
        "has a plan, waits to be executed",
        (StatusKind::Waiting, WaitsFor::Engine),
        (6, "·", Plain)
    ),
    status!(Running, "its phases are executed", (StatusKind::Active, WaitsFor::Agent), (4, "▶", Work),
        expects: Some(Role::Executor)),
    // First of the blocked ones: what all reasons but one share.
    status!(Blocked, "a person decides about a phase", BY_PERSON, (1, "★", Decision), reason: Some(B::Gate),
        phrase: Some("waits at a phase gate"), notifies: Some("waits at a phase gate for your decision")),
    status!(Blocked, "the agent waits for an answer", BY_PERSON, (1, "?", Question), reason: Some(B::Input),
        phrase: Some("waits for an answer"), notifies: Some("asks a question")),
    status!(Blocked, "a person decides about the merge", BY_PERSON, (2, "★", Decision), reason: Some(B::Merge),
        phrase: Some("waits at the merge gate"), notifies: Some("waits at the merge gate for your decision")),
    status!(Blocked, "waits for other tasks", (StatusKind::Waiting, WaitsFor::Engine), (6, "⧗", Progress),
        reason: Some(B::Dependencies), phrase: Some("waits for other tasks")),
    status!(Paused, "stopped, goes on when a person resumes it", BY_PERSON, (3, "∥", Trouble),
        notifies: Some("is paused and waits for you")),
    status!(Completed, "every phase is over, a person decides", BY_PERSON, (2, "★", Decision),
        phrase: Some("has completed its phases"), notifies: Some("has completed its phases and waits for you")),
    status!(
        Finalizing,
        "brought up to date, tested and merged",
        BY_ENGINE,
        (3, "▶", Progress)
    ),
    status!(Failed, "a phase failed, needs a person's help", BY_PERSON, (0, "!", Trouble),
        phrase: Some("has failed"), notifies: Some("has failed and needs your help")),
    status!(Finished, "merged", (StatusKind::Over, WaitsFor::Nobody), (8, "✓", Success), success: true),
    CANCELLED,
];

pub static PHASED: Workflow = Workflow {
    name: NAME,
    crash_limit: 0,
    has_plans: true,
    statuses: STATUSES,
    creations: &[Creation::new(S::Created, false, &[])],
    transitions: &[
        row!([Created] => Classifying, by [HUMAN, ENGINE], verb Start, asks: true,
            if [WeightUnknown], then [Classify]),
        row!([Created, Classifying] => Planned, by [ENGINE], if [WeightKnown], then [WritePlan]),
        row!([Planned] => Running, by [HUMAN, ENGINE], verb Start,
            if [Asked, DependenciesOver, SlotFree, AgentFree, BudgetFree],
            then [AcquireWorkspace, StartExecutor]),
        row!([Planned] => (blocked Dependencies), by [HUMAN, ENGINE], if [Asked, DependenciesOpen]),
        row!((blocked Dependencies) => Planned,
            by [sees(Trigger::DEPENDENCIES_OVER), says(Trigger::RUN_FORCE)], then SPAWN_NEXT),
        row!((blocked Dependencies) => Planned, by [says(Trigger::PAUSE)], asks: false, then SPAWN_NEXT),
        row!([Running] => (blocked Gate), by [sees(Trigger::HUMAN_GATE), sees(Trigger::UNDECIDED_GATE)], then STOP),
        row!([Running] => (blocked Input), by [sees(Trigger::NEEDS_ANSWER)], then STOP),
        row!((blocked Gate) => Planned, by [says(Trigger::APPROVE)], asks: true, if [DecisionStored],
            then SPAWN_NEXT),
        row!((blocked Gate) => Planned, by [says(Trigger::REJECT)], asks: true,
            if [DecisionStored, RetriesLeft], then SPAWN_NEXT),
        row!((blocked Gate) => Failed, by [says(Trigger::REJECT)], if [DecisionStored, RetriesSpent]),
        row!((blocked Input) => Planned, by [HUMAN], verb Answer, asks: true, then SPAWN_NEXT),
        row!([Running] => Paused, by [says(Trigger::PAUSE), sees(Trigger::ORPHAN), sees(Trigger::SIGTERM),
            sees(Trigger::BUDGET_SPENT), sees(Trigger::PHASE_ALONE),
            sees(Trigger::START_FAILED), sees(Trigger::NO_HARNESS), sees(Trigger::NO_CHECK)], then STOP),
        row!([Running] => Completed, by [ENGINE], if [PhasesOver], then STOP),
        row!([Running] => Failed, by [sees(Trigger::PHASE_FAILED)], then STOP),
        row!([Paused, Failed] => Planned, by [says(Trigger::RUN), says(Trigger::RESUME), says(Trigger::RETRY)],
            asks: true, then SPAWN_NEXT),
        row!((blocked Merge or Paused, Failed, Completed) => Planned, by [says(Trigger("request changes"))],
            verb RequestChanges, asks: true, then SPAWN_NEXT),
        row!((blocked Merge or Paused, Failed, Completed) => Planned, by [says(Trigger::REWIND)], asks: false),
        row!((blocked Merge or Paused, Failed, Completed) => Planned, by [says(Trigger::NEW_WEIGHT)],
            then [WritePlan, SpawnNext]),
        row!([Completed] => Finalizing, by [says(FINALIZE), sees(PR_APPROVED), sees(PLAN_FINALIZES)],
            if [OwnCommits], then START_FINALIZE),
        row!([Failed] => Finalizing, by [says(FINALIZE)], if [PhasesOver, OwnCommits],
            then START_FINALIZE),
        row!([Finalizing] => (blocked Merge), by [sees(MERGE_GATE)], then STOP),
        row!((blocked Merge) => Finalizing, by [says(Trigger::APPROVE)], then START_FINALIZE),
        row!((blocked Merge) => Completed, by [says(Trigger::REJECT)]),
        row!([Finalizing] => Completed, by [says(Trigger::PAUSE), sees(Trigger::SIGTERM)], if [MergeNotBegun],
            then STOP),
        row!([Finalizing] => Failed, by [sees(CONFLICT), sees(TESTS_FAILED), sees(REFUSED), sees(NOT_LANDED)],
            then STOP),
        row!([Finalizing] => Finished, by [ENGINE], if [Merged], then ENDING),
        row!((blocked Merge or Completed) => Finished, by [HUMAN], verb Merge, if [Merged],
            then ENDING),
        // At a gate a person decides about the phase first. Work that a pull request brought in leaves nothing to decide.
        row!((any open but Gate) => Finished, by [says(Trigger::RESOLVE), by_when(Who::Human, Trigger::FORCE)],
            verb Merge, if [Merged], then ENDING),
        row!((any open) => Finished, by [by_when(Who::Engine, Trigger::PR_MERGED)], verb Merge, if [Merged],
            then ENDING),
        row!((any open) => Cancelled, by [HUMAN, by_when(Who::Engine, Trigger::PR_CLOSED)],
            verb Cancel, then [KillSession, ReleaseWorkspace]),
    ],
};

//! The phased workflow's table: a plan of phases, executed without a terminal. No task can have this workflow yet, because
//! nothing executes phases; `orange workflow show phased` prints the table, and the property tests run over it.

use super::status::CANCELLED;
use super::{
    BlockedReason as B, By, Creation, ENDING, HookEntry, Kind, Role, Status as S, StatusInfo,
    Trigger, WaitsFor, Who, Workflow, by, by_when,
};

const HUMAN: By = by(Who::Human);
const ENGINE: By = by(Who::Engine);

/// A verb that a person uses.
const fn says(verb: &'static str) -> By {
    by_when(Who::Human, Trigger(verb))
}

/// Something that the engine has seen happen.
const fn sees(what: &'static str) -> By {
    by_when(Who::Engine, Trigger(what))
}

/// The executor is gone and the slot is free afterwards; what was not committed is on the branch.
const STOP: &[HookEntry] = hooks!([StopExecutor, CommitWip, ReleaseWorkspace, SpawnNext]);
const SPAWN_NEXT: &[HookEntry] = hooks!([SpawnNext]);
const START_FINALIZE: &[HookEntry] = hooks!([StartFinalize]);

const BY_ENGINE: (Kind, WaitsFor) = (Kind::Active, WaitsFor::Engine);
const BY_PERSON: (Kind, WaitsFor) = (Kind::Active, WaitsFor::Person);

pub const NAME: &str = "phased";

pub const STATUSES: &[StatusInfo] = &[
    status!(
        Created,
        "created, not started",
        (Kind::Waiting, WaitsFor::Nobody),
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
        BY_ENGINE,
        (5, "✎", Progress)
    ),
    status!(Running, "its phases are executed", (Kind::Active, WaitsFor::Agent), (4, "▶", Work),
        expects: Some(Role::Executor)),
    status!(Blocked, "waits for other tasks", BY_ENGINE, (6, "⇉", Progress), reason: Some(B::Dependencies)),
    status!(Blocked, "a person decides about a phase", BY_PERSON, (1, "⇉", Progress), reason: Some(B::Gate)),
    status!(Blocked, "the agent waits for an answer", BY_PERSON, (1, "⇉", Progress), reason: Some(B::Input)),
    status!(Blocked, "a person decides about the merge", BY_PERSON, (2, "⇉", Progress), reason: Some(B::Merge)),
    status!(
        Paused,
        "stopped, goes on when a person resumes it",
        BY_PERSON,
        (3, "⇉", Progress)
    ),
    status!(
        Completed,
        "every phase is over, a person decides",
        BY_PERSON,
        (2, "★", Decision)
    ),
    status!(
        Finalizing,
        "brought up to date, tested and merged",
        BY_ENGINE,
        (3, "◎", Progress)
    ),
    status!(
        Failed,
        "a phase failed, needs a person's help",
        BY_PERSON,
        (0, "!", Trouble)
    ),
    status!(Finished, "merged", (Kind::Over, WaitsFor::Nobody), (8, "✓", Success), success: true),
    CANCELLED,
];

pub static PHASED: Workflow = Workflow {
    name: NAME,
    crash_limit: 0,
    statuses: STATUSES,
    creations: &[Creation::new(S::Created, false, &[])],
    transitions: &[
        row!([Created] => Classifying, by [says("run"), sees("run --ready")], verb Start,
            if [WeightUnknown], then [Classify]),
        row!([Created, Classifying] => Planned, by [ENGINE], if [WeightKnown], then [WritePlan]),
        row!([Planned] => Running, by [HUMAN, ENGINE],
            if [Asked, DependenciesOver, SlotFree, AgentFree, BudgetFree],
            then [AcquireWorkspace, StartExecutor]),
        row!([Planned] => (blocked Dependencies), by [HUMAN, ENGINE], if [Asked, DependenciesOpen]),
        row!((blocked Dependencies) => Planned,
            by [sees("last dependency over or removed"), says("run --force"), says("pause")], then SPAWN_NEXT),
        row!([Running] => (blocked Gate),
            by [sees("a human phase gate"), sees("an ai gate that cannot decide")], then STOP),
        row!([Running] => (blocked Input), by [sees("the agent needs an answer")], then STOP),
        row!((blocked Gate) => Planned, by [says("approve")], if [DecisionStored], then SPAWN_NEXT),
        row!((blocked Gate) => Planned, by [says("reject")], if [DecisionStored, RetriesLeft],
            then SPAWN_NEXT),
        row!((blocked Gate) => Failed, by [says("reject")], if [DecisionStored, RetriesSpent]),
        row!((blocked Input) => Planned, by [says("answer")], verb Answer, then SPAWN_NEXT),
        row!([Running] => Paused, by [says("pause"), sees("orphan"), sees("SIGTERM"), sees("budget spent"),
            sees("start failed"), sees("harness missing or logged out")], then STOP),
        row!([Running] => Completed, by [ENGINE], if [PhasesOver], then STOP),
        row!([Running] => Failed, by [sees("a phase failed beyond its retries")], then STOP),
        row!([Paused, Failed] => Planned, by [says("run"), says("resume"), says("retry")],
            then SPAWN_NEXT),
        row!((blocked Merge or Paused, Failed, Completed) => Planned, by [says("request changes")],
            verb RequestChanges, then SPAWN_NEXT),
        row!((blocked Merge or Paused, Failed, Completed) => Planned, by [says("rewind")]),
        row!((blocked Merge or Paused, Failed, Completed) => Planned, by [says("new weight")],
            then [WritePlan, SpawnNext]),
        row!([Completed] => Finalizing, by [says("finalize"), sees("PR approved and so configured"),
            sees("once, when a plan with a finalize phase completes")], if [OwnCommits], then START_FINALIZE),
        row!([Failed] => Finalizing, by [says("finalize")], if [PhasesOver, OwnCommits],
            then START_FINALIZE),
        row!([Finalizing] => (blocked Merge), by [sees("everything passed, merge gate human")],
            then STOP),
        row!((blocked Merge) => Finalizing, by [says("approve")], then START_FINALIZE),
        row!((blocked Merge) => Completed, by [says("reject")]),
        row!([Finalizing] => Completed, by [says("pause"), sees("SIGTERM")], if [MergeNotBegun],
            then STOP),
        row!([Finalizing] => Failed, by [sees("conflict"), sees("tests failed"), sees("refused"),
            sees("orphan whose merge did not land")], then STOP),
        row!([Finalizing] => Finished, by [ENGINE], if [Merged], then ENDING),
        row!((blocked Merge or Completed) => Finished, by [says("merge")], verb Merge, if [Merged],
            then ENDING),
        row!((any open) => Finished, by [by_when(Who::Human, Trigger::FORCE),
            by_when(Who::Engine, Trigger::PR_MERGED)], verb Merge, if [Merged], then ENDING),
        row!((any open) => Finished, by [says("resolve")], then ENDING),
        row!((any open) => Cancelled, by [says("cancel"), by_when(Who::Engine, Trigger::PR_CLOSED)],
            verb Cancel, then [KillSession, ReleaseWorkspace]),
    ],
};

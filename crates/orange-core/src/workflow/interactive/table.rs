//! The interactive workflow's table: a worker agent in tmux, an agent reviewer, a human merge.

use super::prompt::PromptName as P;
use crate::gate::Gate;
use crate::workflow::status::CANCELLED;
use crate::workflow::{
    By, Creation, ENDING, Role, Status as S, StatusInfo, StatusKind, Trigger, WaitsFor, Who,
    Workflow, by, by_when,
};

const AGENT: By = by(Who::Agent);
const REVIEWER: By = by(Who::Reviewer);
const HUMAN: By = by(Who::Human);
const ENGINE: By = by(Who::Engine);

const BY_AGENT: (StatusKind, WaitsFor) = (StatusKind::Active, WaitsFor::Agent);
const BY_PERSON: (StatusKind, WaitsFor) = (StatusKind::Active, WaitsFor::Person);

pub const NAME: &str = "interactive";

pub const STATUSES: &[StatusInfo] = &[
    status!(
        Pending,
        "created, not started",
        (StatusKind::Waiting, WaitsFor::Nobody),
        (7, "·", Plain)
    ),
    status!(Planning, "an agent reads the task and writes its plan", BY_AGENT, (5, "✎", Progress),
        expects: Some(Role::Worker), owes: Some(Gate::Plan), respawn: Some(P::RespawnPlanning)),
    status!(Clarification, "the agent waits for an answer", BY_PERSON, (1, "?", Question),
        phrase: Some("needs clarification"), notifies: Some("asks a question"),
        respawn: Some(P::RespawnClarification), told_on_leaving: Some(P::Answered)),
    status!(Working, "the agent implements", BY_AGENT, (4, "▶", Work), expects: Some(Role::Worker),
        owes: Some(Gate::Handoff), respawn: Some(P::RespawnWorking)),
    status!(AgentReview, "a second agent reviews", BY_AGENT, (3, "◎", Progress),
        expects: Some(Role::Reviewer), owes: Some(Gate::ReviewPass),
        respawn: Some(P::RespawnAgentReview), told_on_leaving: Some(P::ReviewFailed)),
    status!(Reviewing, "the review passed, a person decides", BY_PERSON, (2, "★", Decision),
        notifies: Some("passed its review and waits for you"), respawn: Some(P::RespawnReviewing),
        told_on_leaving: Some(P::ChangesRequested)),
    status!(Stuck, "needs a person's help", BY_PERSON, (0, "!", Trouble),
        notifies: Some("is stuck and needs your help"), respawn: Some(P::RespawnStuck),
        told_on_leaving: Some(P::Answered)),
    status!(
        Delegated,
        "split into children, waits for them",
        (StatusKind::Active, WaitsFor::Engine),
        (6, "⇉", Progress)
    ),
    status!(Done, "merged", (StatusKind::Over, WaitsFor::Nobody), (8, "✓", Success), success: true),
    CANCELLED,
];

pub static INTERACTIVE: Workflow = Workflow {
    name: NAME,
    crash_limit: 2,
    has_plans: false,
    statuses: STATUSES,
    creations: &[
        Creation::new(S::Pending, false, &[]),
        Creation::new(
            S::AgentReview,
            true,
            hooks!([
                AcquireWorkspace,
                SpawnAgent(WorkerWait),
                IncrementReviewRound,
                SpawnReviewer,
                Verify
            ]),
        ),
        Creation::new(S::Reviewing, true, &[]),
    ],
    transitions: &[
        row!([Pending] => Planning, by [HUMAN, ENGINE], verb Start,
            if [SummaryGiven, DependenciesOver, SlotFree],
            then [AcquireWorkspace, SpawnAgent(Worker)]),
        row!([Pending] => Clarification, by [HUMAN, ENGINE], verb Start,
            if [SummaryMissing, DependenciesOver, SlotFree],
            then [AcquireWorkspace, SpawnAgent(Clarify)]),
        row!([Planning] => Working, by [AGENT, ENGINE], gate Plan),
        row!([Planning] => Clarification, by [AGENT]),
        row!([Planning] => Stuck, by [by_when(Who::Engine, Trigger::CRASH_LIMIT)], if [CrashLimit],
            then [EnsureFixer]),
        row!([Clarification] => Planning, by [AGENT, HUMAN], verb Answer,
            then [NotifyWorker by Human]),
        row!([Clarification] => Working, by [AGENT, HUMAN], verb Answer, gate Plan,
            then [NotifyWorker by Human]),
        row!([Working] => AgentReview, by [AGENT, ENGINE], verb Submit, notes_head: true, gate Handoff,
            then [IncrementReviewRound, ArchiveReview, SpawnReviewer, Verify]),
        row!([Working] => Clarification, by [AGENT]),
        row!([Working] => Stuck, by [AGENT, ENGINE], verb Help, then [EnsureFixer]),
        row!([Working] => Delegated, by [AGENT], if [ChildrenOpen, WorktreeClean],
            then [KillSession, ReleaseWorkspace, SpawnNext]),
        row!([AgentReview] => Reviewing, by [REVIEWER, ENGINE], notes_head: true,
            if [VerifyOver, ReviewersOwn], gate ReviewPass, then [KillReviewer]),
        row!([AgentReview] => Working, by [REVIEWER, ENGINE], if [RoundBelowMax, ReviewersOwn],
            gate ReviewFail, then [ArchiveHandoff, KillReviewer, NotifyWorker]),
        row!([AgentReview] => Stuck, by [REVIEWER, ENGINE], if [RoundAtMax, ReviewersOwn],
            gate ReviewFail, then [KillReviewer, EnsureFixer]),
        row!([AgentReview] => Stuck, by [by_when(Who::Engine, Trigger::CRASH_LIMIT)],
            if [CrashLimit], then [KillReviewer, EnsureFixer]),
        row!([AgentReview] => Working, by [by_when(Who::Engine, Trigger::CHECK_FAILED)],
            if [RoundBelowMax, CheckReturns], then [ArchiveHandoff, KillReviewer, NotifyWorker]),
        row!([AgentReview] => Stuck, by [by_when(Who::Engine, Trigger::CHECK_FAILED)],
            if [RoundAtMax, CheckReturns], then [KillReviewer, EnsureFixer]),
        row!([Reviewing] => Working, by [HUMAN], verb RequestChanges,
            then [ResetReviewRound, ArchiveHandoff, NotifyWorker]),
        row!([Reviewing] => Done, by [HUMAN, ENGINE], verb Merge, if [Merged], then ENDING),
        row!([Stuck] => Reviewing, by [HUMAN, AGENT], notes_head: true),
        row!([Stuck] => Working, by [HUMAN], verb RequestChanges, then [NotifyWorker]),
        row!([Delegated] => Done, by [ENGINE], if [ChildrenOver, NoOwnCommits], then [SpawnNext]),
        row!([Delegated] => Reviewing, by [ENGINE], notes_head: true, if [ChildrenOver, OwnCommits]),
        row!([Delegated] => Working, by [HUMAN], verb TakeBack, if [SlotFree],
            then [AcquireWorkspace, SpawnAgent(Respawn)]),
        row!((any active) => Done, by [by_when(Who::Human, Trigger::FORCE),
            by_when(Who::Engine, Trigger::PR_MERGED)], verb Merge, if [Merged], then ENDING),
        row!((any open) => Cancelled, by [HUMAN, by_when(Who::Engine, Trigger::PR_CLOSED)],
            verb Cancel, then [KillReviewer, KillSession, ReleaseWorkspace]),
    ],
};

//! The interactive workflow's table: a worker agent in tmux, an agent reviewer, a human merge.

use super::prompt::PromptName as P;
use crate::gate::Gate;
use crate::workflow::status::CANCELLED;
use crate::workflow::{
    By, Condition as C, Creation, ENDING, Hook as H, Intent, Kind, Origin, Prompt, ROW, Role,
    Status as S, StatusInfo, Tone, Transition, Trigger, WaitsFor, Who, Workflow, by, by_when, run,
    run_if_by,
};

const AGENT: By = by(Who::Agent);
const REVIEWER: By = by(Who::Reviewer);
const HUMAN: By = by(Who::Human);
const ENGINE: By = by(Who::Engine);

const BY_AGENT: (Kind, WaitsFor) = (Kind::Active, WaitsFor::Agent);
const BY_PERSON: (Kind, WaitsFor) = (Kind::Active, WaitsFor::Person);

pub const NAME: &str = "interactive";

pub const STATUSES: &[StatusInfo] = &[
    StatusInfo::new(
        S::Pending,
        "created, not started",
        (Kind::Waiting, WaitsFor::Nobody),
        (7, "·", Tone::Plain),
    ),
    StatusInfo {
        expects: Some(Role::Worker),
        owes: Some(Gate::Plan),
        respawn: Some(P::RespawnPlanning),
        ..StatusInfo::new(
            S::Planning,
            "an agent reads the task and writes its plan",
            BY_AGENT,
            (5, "✎", Tone::Progress),
        )
    },
    StatusInfo {
        phrase: Some("needs clarification"),
        notifies: Some("asks a question"),
        respawn: Some(P::RespawnClarification),
        told_on_leaving: Some(P::Answered),
        ..StatusInfo::new(
            S::Clarification,
            "the agent waits for an answer",
            BY_PERSON,
            (1, "?", Tone::Question),
        )
    },
    StatusInfo {
        expects: Some(Role::Worker),
        owes: Some(Gate::Handoff),
        respawn: Some(P::RespawnWorking),
        ..StatusInfo::new(
            S::Working,
            "the agent implements",
            BY_AGENT,
            (4, "▶", Tone::Work),
        )
    },
    StatusInfo {
        expects: Some(Role::Reviewer),
        owes: Some(Gate::ReviewPass),
        respawn: Some(P::RespawnAgentReview),
        told_on_leaving: Some(P::ReviewFailed),
        ..StatusInfo::new(
            S::AgentReview,
            "a second agent reviews",
            BY_AGENT,
            (3, "◎", Tone::Progress),
        )
    },
    StatusInfo {
        notifies: Some("passed its review and waits for you"),
        respawn: Some(P::RespawnReviewing),
        told_on_leaving: Some(P::ChangesRequested),
        ..StatusInfo::new(
            S::Reviewing,
            "the review passed, a person decides",
            BY_PERSON,
            (2, "★", Tone::Decision),
        )
    },
    StatusInfo {
        notifies: Some("is stuck and needs your help"),
        respawn: Some(P::RespawnStuck),
        told_on_leaving: Some(P::Answered),
        ..StatusInfo::new(
            S::Stuck,
            "needs a person's help",
            BY_PERSON,
            (0, "!", Tone::Trouble),
        )
    },
    StatusInfo::new(
        S::Delegated,
        "split into children, waits for them",
        (Kind::Active, WaitsFor::Engine),
        (6, "⇉", Tone::Progress),
    ),
    StatusInfo {
        success: true,
        ..StatusInfo::new(
            S::Done,
            "merged",
            (Kind::Over, WaitsFor::Nobody),
            (8, "✓", Tone::Success),
        )
    },
    CANCELLED,
];

pub static INTERACTIVE: Workflow = Workflow {
    name: NAME,
    crash_limit: 2,
    statuses: STATUSES,
    creations: &[
        Creation {
            status: S::Pending,
            existing_branch: false,
            hooks: &[],
        },
        Creation {
            status: S::AgentReview,
            existing_branch: true,
            hooks: &[
                run(H::AcquireWorkspace),
                run(H::SpawnAgent(Prompt::WorkerWait)),
                run(H::IncrementReviewRound),
                run(H::SpawnReviewer),
                run(H::Verify),
            ],
        },
        Creation {
            status: S::Reviewing,
            existing_branch: true,
            hooks: &[],
        },
    ],
    transitions: &[
        Transition {
            from: from(&[S::Pending]),
            to: S::Planning,
            who: &[HUMAN, ENGINE],
            intent: Some(Intent::Start),
            conditions: &[C::SummaryGiven, C::DependenciesOver, C::SlotFree],
            hooks: &[run(H::AcquireWorkspace), run(H::SpawnAgent(Prompt::Worker))],
            ..ROW
        },
        Transition {
            from: from(&[S::Pending]),
            to: S::Clarification,
            who: &[HUMAN, ENGINE],
            intent: Some(Intent::Start),
            conditions: &[C::SummaryMissing, C::DependenciesOver, C::SlotFree],
            hooks: &[
                run(H::AcquireWorkspace),
                run(H::SpawnAgent(Prompt::Clarify)),
            ],
            ..ROW
        },
        Transition {
            from: from(&[S::Planning]),
            to: S::Working,
            who: &[AGENT, ENGINE],
            gate: Some(Gate::Plan),
            ..ROW
        },
        Transition {
            from: from(&[S::Planning]),
            to: S::Clarification,
            who: &[AGENT],
            ..ROW
        },
        Transition {
            from: from(&[S::Planning]),
            to: S::Stuck,
            who: &[by_when(Who::Engine, Trigger::CRASH_LIMIT)],
            conditions: &[C::CrashLimit],
            hooks: &[run(H::EnsureFixer)],
            ..ROW
        },
        Transition {
            from: from(&[S::Clarification]),
            to: S::Planning,
            who: &[AGENT, HUMAN],
            intent: Some(Intent::Answer),
            hooks: &[run_if_by(H::NotifyWorker, Who::Human)],
            ..ROW
        },
        Transition {
            from: from(&[S::Clarification]),
            to: S::Working,
            who: &[AGENT, HUMAN],
            intent: Some(Intent::Answer),
            gate: Some(Gate::Plan),
            hooks: &[run_if_by(H::NotifyWorker, Who::Human)],
            ..ROW
        },
        Transition {
            from: from(&[S::Working]),
            to: S::AgentReview,
            who: &[AGENT, ENGINE],
            intent: Some(Intent::Submit),
            notes_head: true,
            gate: Some(Gate::Handoff),
            hooks: &[
                run(H::IncrementReviewRound),
                run(H::ArchiveReview),
                run(H::SpawnReviewer),
                run(H::Verify),
            ],
            ..ROW
        },
        Transition {
            from: from(&[S::Working]),
            to: S::Clarification,
            who: &[AGENT],
            ..ROW
        },
        Transition {
            from: from(&[S::Working]),
            to: S::Stuck,
            who: &[AGENT, ENGINE],
            intent: Some(Intent::Help),
            hooks: &[run(H::EnsureFixer)],
            ..ROW
        },
        Transition {
            from: from(&[S::Working]),
            to: S::Delegated,
            who: &[AGENT],
            conditions: &[C::ChildrenOpen, C::WorktreeClean],
            hooks: &[
                run(H::KillSession),
                run(H::ReleaseWorkspace),
                run(H::SpawnNext),
            ],
            ..ROW
        },
        Transition {
            from: from(&[S::AgentReview]),
            to: S::Reviewing,
            who: &[REVIEWER, ENGINE],
            notes_head: true,
            conditions: &[C::VerifyOver, C::ReviewersOwn],
            gate: Some(Gate::ReviewPass),
            hooks: &[run(H::KillReviewer)],
            ..ROW
        },
        Transition {
            from: from(&[S::AgentReview]),
            to: S::Working,
            who: &[REVIEWER, ENGINE],
            conditions: &[C::RoundBelowMax, C::ReviewersOwn],
            gate: Some(Gate::ReviewFail),
            hooks: &[
                run(H::ArchiveHandoff),
                run(H::KillReviewer),
                run(H::NotifyWorker),
            ],
            ..ROW
        },
        Transition {
            from: from(&[S::AgentReview]),
            to: S::Stuck,
            who: &[REVIEWER, ENGINE],
            conditions: &[C::RoundAtMax, C::ReviewersOwn],
            gate: Some(Gate::ReviewFail),
            hooks: &[run(H::KillReviewer), run(H::EnsureFixer)],
            ..ROW
        },
        Transition {
            from: from(&[S::AgentReview]),
            to: S::Stuck,
            who: &[by_when(Who::Engine, Trigger::CRASH_LIMIT)],
            conditions: &[C::CrashLimit],
            hooks: &[run(H::KillReviewer), run(H::EnsureFixer)],
            ..ROW
        },
        Transition {
            from: from(&[S::AgentReview]),
            to: S::Working,
            who: &[by_when(Who::Engine, Trigger::CHECK_FAILED)],
            conditions: &[C::RoundBelowMax, C::CheckReturns],
            hooks: &[
                run(H::ArchiveHandoff),
                run(H::KillReviewer),
                run(H::NotifyWorker),
            ],
            ..ROW
        },
        Transition {
            from: from(&[S::AgentReview]),
            to: S::Stuck,
            who: &[by_when(Who::Engine, Trigger::CHECK_FAILED)],
            conditions: &[C::RoundAtMax, C::CheckReturns],
            hooks: &[run(H::KillReviewer), run(H::EnsureFixer)],
            ..ROW
        },
        Transition {
            from: from(&[S::Reviewing]),
            to: S::Working,
            who: &[HUMAN],
            intent: Some(Intent::RequestChanges),
            hooks: &[
                run(H::ResetReviewRound),
                run(H::ArchiveHandoff),
                run(H::NotifyWorker),
            ],
            ..ROW
        },
        Transition {
            from: from(&[S::Reviewing]),
            to: S::Done,
            who: &[HUMAN, ENGINE],
            intent: Some(Intent::Merge),
            conditions: &[C::Merged],
            hooks: ENDING,
            ..ROW
        },
        Transition {
            from: from(&[S::Stuck]),
            to: S::Reviewing,
            who: &[HUMAN, AGENT],
            notes_head: true,
            ..ROW
        },
        Transition {
            from: from(&[S::Stuck]),
            to: S::Working,
            who: &[HUMAN],
            intent: Some(Intent::RequestChanges),
            hooks: &[run(H::NotifyWorker)],
            ..ROW
        },
        Transition {
            from: from(&[S::Delegated]),
            to: S::Done,
            who: &[ENGINE],
            conditions: &[C::ChildrenOver, C::NoOwnCommits],
            hooks: &[run(H::SpawnNext)],
            ..ROW
        },
        Transition {
            from: from(&[S::Delegated]),
            to: S::Reviewing,
            who: &[ENGINE],
            notes_head: true,
            conditions: &[C::ChildrenOver, C::OwnCommits],
            ..ROW
        },
        Transition {
            from: from(&[S::Delegated]),
            to: S::Working,
            who: &[HUMAN],
            intent: Some(Intent::TakeBack),
            conditions: &[C::SlotFree],
            hooks: &[
                run(H::AcquireWorkspace),
                run(H::SpawnAgent(Prompt::Respawn)),
            ],
            ..ROW
        },
        Transition {
            from: Origin::AnyActive,
            to: S::Done,
            who: &[
                by_when(Who::Human, Trigger::FORCE),
                by_when(Who::Engine, Trigger::PR_MERGED),
            ],
            intent: Some(Intent::Merge),
            conditions: &[C::Merged],
            hooks: ENDING,
            ..ROW
        },
        Transition {
            from: Origin::AnyNotTerminal,
            to: S::Cancelled,
            who: &[HUMAN, by_when(Who::Engine, Trigger::PR_CLOSED)],
            intent: Some(Intent::Cancel),
            hooks: &[
                run(H::KillReviewer),
                run(H::KillSession),
                run(H::ReleaseWorkspace),
            ],
            ..ROW
        },
    ],
};

const fn from(statuses: &'static [S]) -> Origin {
    Origin::Statuses(statuses)
}

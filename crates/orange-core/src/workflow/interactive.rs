//! The interactive workflow's table: a worker agent in tmux, an agent reviewer, a human merge.

use super::{
    Condition as C, Creation, Hook as H, HookEntry, Origin, Prompt, StatusInfo, Transition,
    Trigger, Who, Workflow, by, by_when, run, run_if_by,
};
use crate::gate::Gate;
use crate::task::{Status as S, WorkflowName};

const AGENT: super::By = by(Who::Agent);
const REVIEWER: super::By = by(Who::Reviewer);
const HUMAN: super::By = by(Who::Human);
const ENGINE: super::By = by(Who::Engine);

const ENDING: &[HookEntry] = &[
    run(H::KillSession),
    run(H::ReleaseWorkspace),
    run(H::DeleteRemoteBranch),
    run(H::SpawnNext),
];

/// A row without conditions, gate and hooks; the table fills in what a row has.
const ROW: Transition = Transition {
    from: Origin::AnyActive,
    to: S::Pending,
    to_reason: None,
    who: &[],
    conditions: &[],
    gate: None,
    hooks: &[],
};

pub static INTERACTIVE: Workflow = Workflow {
    name: WorkflowName::Interactive,
    crash_limit: 2,
    statuses: &[
        info(S::Pending, "created, not started"),
        info(S::Planning, "an agent reads the task and writes its plan"),
        info(S::Clarification, "the agent waits for an answer"),
        info(S::Working, "the agent implements"),
        info(S::AgentReview, "a second agent reviews"),
        info(S::Reviewing, "the review passed, a person decides"),
        info(S::Stuck, "needs a person's help"),
        info(S::Delegated, "split into children, waits for them"),
        info(S::Done, "merged"),
        info(S::Cancelled, "given up"),
    ],
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
            conditions: &[C::SummaryGiven, C::DependenciesOver, C::SlotFree],
            hooks: &[run(H::AcquireWorkspace), run(H::SpawnAgent(Prompt::Worker))],
            ..ROW
        },
        Transition {
            from: from(&[S::Pending]),
            to: S::Clarification,
            who: &[HUMAN, ENGINE],
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
            hooks: &[run_if_by(H::NotifyWorker, Who::Human)],
            ..ROW
        },
        Transition {
            from: from(&[S::Clarification]),
            to: S::Working,
            who: &[AGENT, HUMAN],
            gate: Some(Gate::Plan),
            hooks: &[run_if_by(H::NotifyWorker, Who::Human)],
            ..ROW
        },
        Transition {
            from: from(&[S::Working]),
            to: S::AgentReview,
            who: &[AGENT, ENGINE],
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
            conditions: &[C::Merged],
            hooks: ENDING,
            ..ROW
        },
        Transition {
            from: from(&[S::Stuck]),
            to: S::Reviewing,
            who: &[HUMAN, AGENT],
            ..ROW
        },
        Transition {
            from: from(&[S::Stuck]),
            to: S::Working,
            who: &[HUMAN],
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
            conditions: &[C::ChildrenOver, C::OwnCommits],
            ..ROW
        },
        Transition {
            from: from(&[S::Delegated]),
            to: S::Working,
            who: &[HUMAN],
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
            conditions: &[C::Merged],
            hooks: ENDING,
            ..ROW
        },
        Transition {
            from: Origin::AnyNotTerminal,
            to: S::Cancelled,
            who: &[HUMAN, by_when(Who::Engine, Trigger::PR_CLOSED)],
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

const fn info(status: S, meaning: &'static str) -> StatusInfo {
    StatusInfo { status, meaning }
}

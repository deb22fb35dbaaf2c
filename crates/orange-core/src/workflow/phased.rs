//! The phased workflow's table: a plan of phases, executed without a terminal. No task can have this workflow yet, because
//! nothing executes phases; `orange workflow show phased` prints the table, and the property tests run over it.

use super::status::CANCELLED;
use super::{
    BlockedReason as B, By, Condition as C, Creation, ENDING, Hook as H, HookEntry, Intent, Kind,
    Origin, ROW, Role, Status as S, StatusInfo, Tone, Transition, Trigger, WaitsFor, Who, Workflow,
    by, by_when, run,
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
const STOP: &[HookEntry] = &[
    run(H::StopExecutor),
    run(H::CommitWip),
    run(H::ReleaseWorkspace),
    run(H::SpawnNext),
];
const SPAWN_NEXT: &[HookEntry] = &[run(H::SpawnNext)];
const START_FINALIZE: &[HookEntry] = &[run(H::StartFinalize)];

const BY_ENGINE: (Kind, WaitsFor) = (Kind::Active, WaitsFor::Engine);
const BY_PERSON: (Kind, WaitsFor) = (Kind::Active, WaitsFor::Person);

pub const NAME: &str = "phased";

pub const STATUSES: &[StatusInfo] = &[
    StatusInfo::new(
        S::Created,
        "created, not started",
        (Kind::Waiting, WaitsFor::Nobody),
        (7, "·", Tone::Plain),
    ),
    StatusInfo::new(
        S::Classifying,
        "its weight is being found",
        BY_ENGINE,
        (5, "✎", Tone::Progress),
    ),
    StatusInfo::new(
        S::Planned,
        "has a plan, waits to be executed",
        BY_ENGINE,
        (5, "✎", Tone::Progress),
    ),
    StatusInfo {
        expects: Some(Role::Executor),
        ..StatusInfo::new(
            S::Running,
            "its phases are executed",
            (Kind::Active, WaitsFor::Agent),
            (4, "▶", Tone::Work),
        )
    },
    blocked(B::Dependencies, "waits for other tasks", BY_ENGINE, 6),
    blocked(B::Gate, "a person decides about a phase", BY_PERSON, 1),
    blocked(B::Input, "the agent waits for an answer", BY_PERSON, 1),
    blocked(B::Merge, "a person decides about the merge", BY_PERSON, 2),
    StatusInfo::new(
        S::Paused,
        "stopped, goes on when a person resumes it",
        BY_PERSON,
        (3, "⇉", Tone::Progress),
    ),
    StatusInfo::new(
        S::Completed,
        "every phase is over, a person decides",
        BY_PERSON,
        (2, "★", Tone::Decision),
    ),
    StatusInfo::new(
        S::Finalizing,
        "brought up to date, tested and merged",
        BY_ENGINE,
        (3, "◎", Tone::Progress),
    ),
    StatusInfo::new(
        S::Failed,
        "a phase failed, needs a person's help",
        BY_PERSON,
        (0, "!", Tone::Trouble),
    ),
    StatusInfo {
        success: true,
        ..StatusInfo::new(
            S::Finished,
            "merged",
            (Kind::Over, WaitsFor::Nobody),
            (8, "✓", Tone::Success),
        )
    },
    CANCELLED,
];

pub static PHASED: Workflow = Workflow {
    name: NAME,
    crash_limit: 0,
    statuses: STATUSES,
    creations: &[Creation {
        status: S::Created,
        existing_branch: false,
        hooks: &[],
    }],
    transitions: &[
        Transition {
            who: &[says("run"), sees("run --ready")],
            intent: Some(Intent::Start),
            conditions: &[C::WeightUnknown],
            hooks: &[run(H::Classify)],
            ..moves(&[S::Created], S::Classifying)
        },
        Transition {
            who: &[ENGINE],
            conditions: &[C::WeightKnown],
            hooks: &[run(H::WritePlan)],
            ..moves(&[S::Created, S::Classifying], S::Planned)
        },
        Transition {
            who: &[HUMAN, ENGINE],
            conditions: &[
                C::Asked,
                C::DependenciesOver,
                C::SlotFree,
                C::AgentFree,
                C::BudgetFree,
            ],
            hooks: &[run(H::AcquireWorkspace), run(H::StartExecutor)],
            ..moves(&[S::Planned], S::Running)
        },
        Transition {
            who: &[HUMAN, ENGINE],
            conditions: &[C::Asked, C::DependenciesOpen],
            ..blocks(&[S::Planned], B::Dependencies)
        },
        Transition {
            who: &[
                sees("last dependency over or removed"),
                says("run --force"),
                says("pause"),
            ],
            hooks: SPAWN_NEXT,
            ..leaves(B::Dependencies, S::Planned)
        },
        Transition {
            who: &[
                sees("a human phase gate"),
                sees("an ai gate that cannot decide"),
            ],
            hooks: STOP,
            ..blocks(&[S::Running], B::Gate)
        },
        Transition {
            who: &[sees("the agent needs an answer")],
            hooks: STOP,
            ..blocks(&[S::Running], B::Input)
        },
        Transition {
            who: &[says("approve")],
            conditions: &[C::DecisionStored],
            hooks: SPAWN_NEXT,
            ..leaves(B::Gate, S::Planned)
        },
        Transition {
            who: &[says("reject")],
            conditions: &[C::DecisionStored, C::RetriesLeft],
            hooks: SPAWN_NEXT,
            ..leaves(B::Gate, S::Planned)
        },
        Transition {
            who: &[says("reject")],
            conditions: &[C::DecisionStored, C::RetriesSpent],
            ..leaves(B::Gate, S::Failed)
        },
        Transition {
            who: &[says("answer")],
            intent: Some(Intent::Answer),
            hooks: SPAWN_NEXT,
            ..leaves(B::Input, S::Planned)
        },
        Transition {
            who: &[
                says("pause"),
                sees("orphan"),
                sees("SIGTERM"),
                sees("budget spent"),
                sees("start failed"),
                sees("harness missing or logged out"),
            ],
            hooks: STOP,
            ..moves(&[S::Running], S::Paused)
        },
        Transition {
            who: &[ENGINE],
            conditions: &[C::PhasesOver],
            hooks: STOP,
            ..moves(&[S::Running], S::Completed)
        },
        Transition {
            who: &[sees("a phase failed beyond its retries")],
            hooks: STOP,
            ..moves(&[S::Running], S::Failed)
        },
        Transition {
            who: &[says("run"), says("resume"), says("retry")],
            hooks: SPAWN_NEXT,
            ..moves(&[S::Paused, S::Failed], S::Planned)
        },
        Transition {
            who: &[says("request changes")],
            intent: Some(Intent::RequestChanges),
            hooks: SPAWN_NEXT,
            ..leaves_or(B::Merge, &[S::Paused, S::Failed, S::Completed], S::Planned)
        },
        Transition {
            who: &[says("rewind")],
            ..leaves_or(B::Merge, &[S::Paused, S::Failed, S::Completed], S::Planned)
        },
        Transition {
            who: &[says("new weight")],
            hooks: &[run(H::WritePlan), run(H::SpawnNext)],
            ..leaves_or(B::Merge, &[S::Paused, S::Failed, S::Completed], S::Planned)
        },
        Transition {
            who: &[
                says("finalize"),
                sees("PR approved and so configured"),
                sees("once, when a plan with a finalize phase completes"),
            ],
            conditions: &[C::OwnCommits],
            hooks: START_FINALIZE,
            ..moves(&[S::Completed], S::Finalizing)
        },
        Transition {
            who: &[says("finalize")],
            conditions: &[C::PhasesOver, C::OwnCommits],
            hooks: START_FINALIZE,
            ..moves(&[S::Failed], S::Finalizing)
        },
        Transition {
            who: &[sees("everything passed, merge gate human")],
            hooks: STOP,
            ..blocks(&[S::Finalizing], B::Merge)
        },
        Transition {
            who: &[says("approve")],
            hooks: START_FINALIZE,
            ..leaves(B::Merge, S::Finalizing)
        },
        Transition {
            who: &[says("reject")],
            ..leaves(B::Merge, S::Completed)
        },
        Transition {
            who: &[says("pause"), sees("SIGTERM")],
            conditions: &[C::MergeNotBegun],
            hooks: STOP,
            ..moves(&[S::Finalizing], S::Completed)
        },
        Transition {
            who: &[
                sees("conflict"),
                sees("tests failed"),
                sees("refused"),
                sees("orphan whose merge did not land"),
            ],
            hooks: STOP,
            ..moves(&[S::Finalizing], S::Failed)
        },
        Transition {
            who: &[ENGINE],
            conditions: &[C::Merged],
            hooks: ENDING,
            ..moves(&[S::Finalizing], S::Finished)
        },
        Transition {
            who: &[says("merge")],
            intent: Some(Intent::Merge),
            conditions: &[C::Merged],
            hooks: ENDING,
            ..leaves_or(B::Merge, &[S::Completed], S::Finished)
        },
        Transition {
            from: Origin::AnyNotTerminal,
            to: S::Finished,
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
            to: S::Finished,
            who: &[says("resolve")],
            hooks: ENDING,
            ..ROW
        },
        Transition {
            from: Origin::AnyNotTerminal,
            to: S::Cancelled,
            who: &[says("cancel"), by_when(Who::Engine, Trigger::PR_CLOSED)],
            intent: Some(Intent::Cancel),
            hooks: &[run(H::KillSession), run(H::ReleaseWorkspace)],
            ..ROW
        },
    ],
};

const fn blocked(
    reason: B,
    meaning: &'static str,
    whose: (Kind, WaitsFor),
    rank: u8,
) -> StatusInfo {
    StatusInfo {
        reason: Some(reason),
        ..StatusInfo::new(S::Blocked, meaning, whose, (rank, "⇉", Tone::Progress))
    }
}

const fn moves(from: &'static [S], to: S) -> Transition {
    Transition {
        from: Origin::Statuses(from),
        to,
        ..ROW
    }
}

const fn blocks(from: &'static [S], reason: B) -> Transition {
    Transition {
        to_reason: Some(reason),
        ..moves(from, S::Blocked)
    }
}

const fn leaves(reason: B, to: S) -> Transition {
    leaves_or(reason, &[], to)
}

const fn leaves_or(reason: B, or: &'static [S], to: S) -> Transition {
    Transition {
        from: Origin::BlockedOn(reason, or),
        to,
        ..ROW
    }
}

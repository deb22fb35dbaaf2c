//! The table type carries the phased workflow: its unusual rows, played through the same machine.

#![allow(clippy::unwrap_used, reason = "tests")]

use orange_core::Timestamp;
use orange_core::machine::{self, Facts, Move, Refusal, Situation, Slots};
use orange_core::task::{BlockedReason, Status, Task, WorkflowName};
use orange_core::workflow::{
    Actor, Condition, Hook, Origin, StatusInfo, Transition, Trigger, Who, Workflow, by, by_when,
    run,
};

const fn status(status: Status) -> StatusInfo {
    StatusInfo {
        status,
        meaning: "",
    }
}

/// Some of the phased workflow's rows, the unusual ones: several origins, a reason for being blocked,
/// verbs as triggers, hooks of its own.
static PHASED: Workflow = Workflow {
    name: WorkflowName::Interactive,
    crash_limit: 2,
    statuses: &[
        status(Status::Created),
        status(Status::Planned),
        status(Status::Running),
        status(Status::Blocked),
        status(Status::Paused),
        status(Status::Completed),
        status(Status::Finished),
        status(Status::Failed),
        status(Status::Cancelled),
    ],
    creations: &[],
    transitions: &[
        Transition {
            from: Origin::Statuses(&[Status::Planned, Status::Paused, Status::Failed]),
            to: Status::Running,
            to_reason: None,
            who: &[by(Who::Human), by(Who::Engine)],
            conditions: &[Condition::DependenciesOver, Condition::SlotFree],
            gate: None,
            hooks: &[run(Hook::AcquireWorkspace), run(Hook::StartExecutor)],
        },
        Transition {
            from: Origin::Statuses(&[Status::Planned]),
            to: Status::Blocked,
            to_reason: Some(BlockedReason::Dependencies),
            who: &[by(Who::Engine)],
            conditions: &[Condition::DependenciesOpen],
            gate: None,
            hooks: &[],
        },
        Transition {
            from: Origin::Statuses(&[Status::Running]),
            to: Status::Blocked,
            to_reason: Some(BlockedReason::Gate),
            who: &[by_when(Who::Engine, Trigger("a human gate waits"))],
            conditions: &[],
            gate: None,
            hooks: &[run(Hook::ReleaseExecutor)],
        },
        Transition {
            from: Origin::BlockedOn(BlockedReason::Gate),
            to: Status::Running,
            to_reason: None,
            who: &[by_when(Who::Human, Trigger("approve"))],
            conditions: &[],
            gate: None,
            hooks: &[run(Hook::StartExecutor)],
        },
        Transition {
            from: Origin::AnyNotTerminal,
            to: Status::Finished,
            to_reason: None,
            who: &[
                by_when(Who::Engine, Trigger::PR_MERGED),
                by_when(Who::Human, Trigger("resolve")),
            ],
            conditions: &[],
            gate: None,
            hooks: &[run(Hook::KillSession), run(Hook::SpawnNext)],
        },
    ],
};

#[test]
fn the_table_type_carries_the_phased_workflow() {
    let facts = Facts {
        slots: Slots {
            size: 1,
            holders: vec![],
        },
        ..Facts::default()
    };
    let mut task = Task {
        status: Status::Running,
        ..Task::default()
    };
    let go = |task: &mut Task, actor, to, trigger: Option<&'static str>| {
        let situation = Situation {
            task,
            body: "",
            facts: &facts,
            max_rounds: 2,
            now: Timestamp::UNIX_EPOCH,
        };
        let wish = Move {
            trigger: trigger.map(Trigger),
            ..Move::to(to)
        };
        let decision = machine::decide(&PHASED, situation, actor, wish)?;
        machine::apply(task, &decision.event).unwrap();
        Ok::<_, Refusal>(decision.hooks)
    };
    let waits = Some("a human gate waits");
    assert_eq!(
        go(&mut task, Actor::Engine, Status::Blocked, waits),
        Ok(vec![Hook::ReleaseExecutor])
    );
    assert_eq!(task.blocked_reason, Some(BlockedReason::Gate));
    // Only the matching answer leads out of a gate.
    assert!(go(&mut task, Actor::Human, Status::Running, None).is_err());
    assert!(go(&mut task, Actor::Engine, Status::Running, Some("approve")).is_err());
    assert_eq!(
        go(&mut task, Actor::Human, Status::Running, Some("approve")),
        Ok(vec![Hook::StartExecutor])
    );
    assert_eq!(task.blocked_reason, None);
    assert!(go(&mut task, Actor::Human, Status::Finished, Some("resolve")).is_ok());
    assert!(go(&mut task, Actor::Human, Status::Finished, Some("resolve")).is_err());
}

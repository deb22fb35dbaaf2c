//! What a test says of a move: where to, on which way, and by which agent.

use crate::task::TestTask;
use orange_core::task::Status;
use orange_core::workflow::Role;
use orange_engine::Caller;
use orange_engine::verbs::change::Change;

/// A move to this status, and nothing else.
pub(crate) fn to(status: &str) -> Change {
    let status: Status = status.parse().unwrap();
    Change {
        status: Some(status),
        ..Change::default()
    }
}

/// The agent of a task.
pub(crate) fn agent(task: &TestTask, role: Role) -> Caller {
    Caller::Agent {
        task: task.id.clone(),
        role,
        run: None,
    }
}

/// The statuses on the way to one.
pub(super) fn way_to(status: &str) -> &'static [&'static str] {
    match status {
        "pending" => &[],
        "planning" => &["planning"],
        "clarification" => &["planning", "clarification"],
        "working" => &["planning", "working"],
        "stuck" => &["planning", "working", "stuck"],
        "agent-review" => &["planning", "working", "agent-review"],
        "reviewing" => &["planning", "working", "agent-review", "reviewing"],
        "cancelled" => &["cancelled"],
        other => panic!("no way to {other}"),
    }
}

//! What a task's table says of its phases: whether it has any, and what a person may do with them where it stands.

use super::Task;
use crate::workflow::{Condition, StatusKind, Trigger, WaitsFor, Workflow};

impl Task {
    /// Whether its workflow executes it by a plan of phases.
    pub fn has_plan(&self) -> bool {
        Workflow::named(self.workflow).has_plans
    }

    /// Whether a person decides about one of its phases.
    pub fn is_at_phase_gate(&self) -> bool {
        self.rows()
            .any(|row| row.conditions.contains(&Condition::DecisionStored))
    }

    /// Whether its plan may change and phases may be skipped: not under an executor, nor while a person is asked about what is
    /// there.
    pub fn may_change_plan(&self) -> bool {
        let info = self.status_info();
        let is_worked_on = info.kind == StatusKind::Active && info.waits_for != WaitsFor::Person;
        let is_asked = self.can_hear(Trigger::APPROVE);
        self.has_plan() && !self.status.is_terminal() && !is_worked_on && !is_asked
    }

    /// Whether it may go back to an earlier phase: before its start, and where a row of its table says so.
    pub fn may_rewind(&self) -> bool {
        self.has_plan() && (!self.has_started() || self.can_hear(Trigger::REWIND))
    }

    fn can_hear(&self, trigger: Trigger) -> bool {
        self.rows()
            .any(|row| row.who.iter().any(|by| by.when == Some(trigger)))
    }
}

#[cfg(test)]
mod tests {
    use crate::task::{BlockedReason, Status, Task};

    #[test]
    fn phases_change_where_nobody_is_at_them() {
        use BlockedReason as B;
        for (status, reason, may_change_plan, may_rewind) in [
            (Status::Created, None, true, true),
            (Status::Classifying, None, false, false),
            (Status::Planned, None, true, true),
            (Status::Running, None, false, false),
            (Status::Blocked, Some(B::Dependencies), true, true),
            (Status::Blocked, Some(B::Gate), false, false),
            (Status::Blocked, Some(B::Input), true, false),
            (Status::Blocked, Some(B::Merge), false, true),
            (Status::Paused, None, true, true),
            (Status::Failed, None, true, true),
            (Status::Completed, None, true, true),
            (Status::Finalizing, None, false, false),
            (Status::Finished, None, false, false),
            (Status::Pending, None, false, false),
            (Status::Working, None, false, false),
        ] {
            let task = Task::standing_at(status, reason);
            let found = (task.may_change_plan(), task.may_rewind());
            assert_eq!(found, (may_change_plan, may_rewind), "{status} {reason:?}");
            let is_gate = reason == Some(B::Gate);
            assert_eq!(task.is_at_phase_gate(), is_gate, "{status} {reason:?}");
        }
    }
}

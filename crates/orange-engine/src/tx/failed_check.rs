//! A check that newly failed: the task goes back to its worker, or is stuck after its last round. The process that sees
//! the check's end makes the move; if it dies before, the next one that locks the task does.

use crate::checks;
use crate::error::Result;
use crate::tx::{TaskTx, handover};
use orange_core::history::payload::StatusMoved;
use orange_core::machine::{self, Facts};
use orange_core::workflow::{Condition, Trigger, Workflow};
use orange_sys::crash_points::crash_point;

impl TaskTx<'_> {
    /// Moves a task in review whose check newly failed. A verdict that is there too does not count.
    pub(crate) fn take_failed_check(&mut self) -> Result<()> {
        if !self.task.status.is_in_review() {
            return Ok(());
        }
        let Some(told) = checks::check_that_returns(self.call, &self.task, self.history())? else {
            return Ok(());
        };
        if handover::sits_in_session_of(self.call, &self.task.id) {
            // The hooks would end this process. The process that carries out the check, or the next one, moves the task.
            return Ok(());
        }
        let facts = Facts {
            check_returns: true,
            ..Facts::default()
        };
        let situation = self.situation(&facts)?;
        let workflow = Workflow::named(self.task.workflow);
        let (returns, failed) = (Condition::CheckReturns, Some(Trigger::CHECK_FAILED));
        let Some(decision) = machine::decide_on(workflow, situation, returns, failed) else {
            return Ok(());
        };
        let why = format!("its check newly failed: {}", told.words());
        let event = decision.event.because(why).with(StatusMoved {
            check: Some("newly failed"),
            head: told.said.head.as_deref(),
            ..StatusMoved::default()
        });
        self.write(vec![event])?;
        crash_point("verify.returned");
        self.finish_hooks()
    }
}

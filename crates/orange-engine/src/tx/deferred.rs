//! What follows the end of a check: a verdict that waited for it is carried out, once; a task whose check newly failed goes
//! back to its worker, or is stuck after its last round. Whoever sees the end makes the move, or else the next one that locks
//! the task.

use crate::effects::messages;
use crate::error::Result;
use crate::tx::TaskTx;
use crate::{checks, seal_checks};
use orange_core::history::payload::{AttentionNote, StatusMoved};
use orange_core::history::{Event, Payload};
use orange_core::machine::{self, Facts, Move, Refusal};
use orange_core::task::Status;
use orange_core::verification::deferred;
use orange_core::workflow::{Actor, Condition, Role, Trigger, Workflow};
use orange_sys::crash_points::crash_point;

impl TaskTx<'_> {
    /// Notes a move that waits, unless that was noted before.
    pub(crate) fn defer(&mut self, actor: Actor, to: Status, running: &str) -> Result<()> {
        match self.deferral(actor, to, running) {
            Some(event) => self.note(vec![event]),
            None => Ok(()),
        }
    }

    pub(super) fn deferral(&self, actor: Actor, to: Status, running: &str) -> Option<Event> {
        if deferred(self.history()).is_some() {
            return None;
        }
        let wanted = StatusMoved {
            wish: Some(to),
            ..StatusMoved::default()
        };
        let event = Event::of(Payload::StatusDeferred(wanted), self.call.now())
            .by(actor.name())
            .because(format!("to {to}, when the check is over: {running}"));
        Some(self.with_verdict(event))
    }

    pub(super) fn check_to_wait_for(&self) -> Result<Option<String>> {
        checks::check_to_wait_for(self.call, &self.task, &self.place, self.history())
    }

    /// Makes the move that waited for a check which is over. Attributed to the original actor and to the commit that they
    /// reviewed.
    pub(crate) fn make_deferred_move(&mut self) -> Result<()> {
        if !self.task.status.is_in_review() {
            return Ok(());
        }
        let Some(noted) = deferred(self.history()) else {
            return Ok(());
        };
        // Its hooks may end this process; then whoever carries out the check, or comes next, does it.
        if self.check_to_wait_for()?.is_some() || self.sits_in_own_session() {
            return Ok(());
        }
        let sealed = seal_checks::check_seals(self.call, &self.task.id, self.history());
        if sealed.unreadable.is_some() {
            return Ok(());
        }
        let Some(wish) = deferred(&sealed.without_forged(self.history())) else {
            let why = "history.jsonl says that its review passed, and Orange cannot confirm it";
            return self.withdraw(noted.to, why.to_owned());
        };
        let actor = match wish.by.as_str() {
            "human" => Actor::Human,
            "reviewer" => Actor::Agent(Role::Reviewer),
            _ => Actor::Engine,
        };
        let facts = Facts {
            review_problem: self.review_problem(None, None),
            ..Facts::default()
        };
        let situation = self.situation(&facts)?;
        let workflow = Workflow::named(self.task.workflow);
        match machine::decide(workflow, situation, actor, Move::to(wish.to)) {
            Ok(decision) => {
                let told = sealed.evidence(self.history()).verify;
                let why = match told {
                    Some(told) => format!("the check is over: {}", told.words()),
                    None => "the check is over".to_owned(),
                };
                let decision = if actor == Actor::Engine {
                    decision.by_exit_rule()
                } else {
                    decision
                };
                let event = self.with_verdict(decision.event.because(why));
                let event = match wish.head {
                    Some(head) => event.with_head(&head),
                    None => event,
                };
                self.write(vec![event])?;
                self.finish_hooks()
            }
            Err(refusal) => {
                let why = match refusal {
                    Refusal::Unmet {
                        condition: Condition::ReviewersOwn,
                        detail,
                    } => detail,
                    _ => "its Review section does not say so any more".to_owned(),
                };
                self.withdraw(wish.to, format!("its review passed, but {why}"))
            }
        }
    }

    /// Journals that a move which waited is not made, and why.
    fn withdraw(&mut self, to: Status, why: String) -> Result<()> {
        let note = AttentionNote {
            wish: Some(to),
            ..AttentionNote::default()
        };
        self.note(vec![messages::attention_event(self.call, note, why)])
    }

    /// Moves a task in review whose check newly failed. A verdict that is there too does not count.
    pub(crate) fn take_failed_check(&mut self) -> Result<()> {
        if !self.task.status.is_in_review() {
            return Ok(());
        }
        let Some(told) = checks::check_that_returns(self.call, &self.task, self.history())? else {
            return Ok(());
        };
        if self.sits_in_own_session() {
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

//! A verdict that waits for the end of a check: noted when it is given, carried out once when the check is over.

use crate::effects::messages;
use crate::error::Result;
use crate::tx::{TaskTx, handover};
use crate::{checks, facts, testimony};
use orange_core::history::payload::{AttentionNote, StatusMoved};
use orange_core::history::{Event, Payload};
use orange_core::machine::{self, Facts, Move, Refusal};
use orange_core::task::Status;
use orange_core::verification::deferred;
use orange_core::workflow::{Actor, Condition, Role, Workflow};

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
        Some(facts::with_verdict(
            self.call,
            &self.task,
            self.history(),
            &self.body,
            event,
        ))
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
        if checks::check_to_wait_for(self.call, &self.task, &self.place, self.history())?.is_some()
        {
            return Ok(());
        }
        if handover::sits_in_session_of(self.call, &self.task.id) {
            // Its hooks would end this process; whoever carries out the check, or comes next, does it.
            return Ok(());
        }
        let testimony = testimony::testimony(self.call, &self.task.id, self.history());
        if testimony.unreadable.is_some() {
            return Ok(());
        }
        let Some(wish) = deferred(&testimony.without_forged(self.history())) else {
            let why = "history.jsonl says that its review passed, and Orange cannot confirm it";
            return self.withdraw(noted.to, why.to_owned());
        };
        let actor = match wish.by.as_str() {
            "human" => Actor::Human,
            "reviewer" => Actor::Agent(Role::Reviewer),
            _ => Actor::Engine,
        };
        let facts = Facts {
            review_problem: facts::review_problem(
                self.call,
                &self.task,
                self.history(),
                &self.body,
                None,
                None,
            ),
            ..Facts::default()
        };
        let situation = self.situation(&facts)?;
        let workflow = Workflow::named(self.task.workflow);
        match machine::decide(workflow, situation, actor, Move::to(wish.to)) {
            Ok(decision) => {
                let told = testimony.evidence(self.history()).verify;
                let why = match told {
                    Some(told) => format!("the check is over: {}", told.words()),
                    None => "the check is over".to_owned(),
                };
                let mut event = decision.event.because(why);
                event =
                    facts::with_verdict(self.call, &self.task, self.history(), &self.body, event);
                event = match wish.head {
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
}

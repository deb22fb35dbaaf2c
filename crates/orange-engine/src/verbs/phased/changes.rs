//! `request-changes` on a phased task: implementing begins anew with a person's words. At a phase gate it is a rejection.

use crate::access;
use crate::call::Call;
use crate::error::{Result, err};
use crate::execution;
use crate::store::Place;
use crate::tx;
use crate::tx::commit::Committed;
use crate::verbs::phased::{gate, is_phased, not_while_executed};
use orange_core::history::payload::StatusMoved;
use orange_core::machine::Move;
use orange_core::workflow::{Actor, Intent};
use orange_sys::crash_points::crash_point;

/// Has implementing and what follows it begin anew, on the same branch; the next agent is told what is to be different.
pub fn request_changes(call: &Call, place: Place, text: &str) -> Result<Committed> {
    access::people_only(call, "ask for changes")?;
    let text = text.trim();
    if text.is_empty() {
        return Err(err!(Usage, "what should be changed?")
            .hint("say it: the agent gets it as what it has to do differently"));
    }
    let mut tx = tx::lock_task(call, place.clone())?;
    is_phased(&tx.task)?;
    let wish = Move::for_intent(&tx.task, Intent::RequestChanges)
        .filter(|_| tx.task.offers(Intent::RequestChanges));
    let Some(wish) = wish else {
        let execution = execution::execution(call, &tx.task)?;
        let plan = execution::plan(call, &tx.task)?;
        let stands_at_gate = plan.is_some_and(|plan| execution.gate(&plan).is_some());
        if stands_at_gate && gate::is_decided_here(&tx.task) {
            drop(tx);
            return gate::reject(call, place, text);
        }
        return Err(not_while_executed(call, &tx.task, "ask for changes to"));
    };
    let plan = execution::required_plan(call, &tx.task)?;
    let execution = execution::execution(call, &tx.task)?;
    tx.mark()?;
    execution::store(call, &tx.task, &execution.request_changes(&plan, text))?;
    crash_point("changes.stored");
    let event = tx.decide_as(Actor::Human, wish)?.with(StatusMoved {
        message: Some(text),
        ..StatusMoved::default()
    });
    tx.commit_with_rows(event, None)
}

//! The hook that asks for a check.

use crate::call::Call;
use crate::checks::request::CheckRequest;
use crate::effects::{completed, spoken};
use crate::error::Result;
use crate::rules::Rules;
use crate::tx::TaskTx;
use crate::{checks, facts, seal_checks};
use orange_core::evidence::Evidence;
use orange_core::history::payload::VerifyStarted;
use orange_core::history::{Event, Payload};
use orange_core::verification::{CheckResult, Verified};

/// The hook: has the commit that was handed over checked, if its repository says how and its user agreed.
pub(crate) fn begin(tx: &mut TaskTx<'_>) -> Result<Vec<Event>> {
    let call = tx.call;
    if !tx.task.status.is_in_review() {
        return Ok(vec![completed(call)]);
    }
    // What was handed over, whatever has been committed since.
    let sealed = seal_checks::check_seals(call, &tx.task.id, tx.history());
    let handoff = Evidence::of(&sealed.trusted(tx.history())).handoff;
    let head = handoff
        .and_then(|handoff| handoff.head)
        .or_else(|| facts::head_of(call, &tx.task));
    let refused = match (checks::plan_of_check(call, &tx.task), &head) {
        (Ok(Some(plan)), Some(head)) => {
            let request = CheckRequest {
                folder: tx.place.folder(),
                head: head.clone(),
                by_hand: false,
                again: false,
            };
            checks::ask_for_check(call, &request)?;
            return Ok(vec![started(call, head, &plan.rules), completed(call)]);
        }
        (Ok(Some(_)), None) => format!("there is no commit on {}", tx.task.branch),
        (Ok(None), _) => return Ok(vec![completed(call)]),
        (Err(error), _) => spoken(call, &error),
    };
    let result = CheckResult::not_run(refused);
    let refused = Verified::event(head.as_deref(), &result, call.now());
    Ok(vec![refused, completed(call)])
}

pub(crate) fn started(call: &Call, head: &str, rules: &Rules) -> Event {
    let command = rules.verify.last().map_or("", String::as_str);
    let check = VerifyStarted {
        head: Some(head),
        command: Some(command),
    };
    Event::of(Payload::VerifyStarted(check), call.now()).by("engine")
}

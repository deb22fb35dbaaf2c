//! The hook that asks for a check.

use crate::call::Call;
use crate::checks::request::Request;
use crate::effects::spoken;
use crate::rules::Rules;
use crate::tx::TaskTx;
use crate::{checks, facts, testimony};
use orange_core::evidence::Evidence;
use orange_core::history::payload::VerifyStarted;
use orange_core::history::{Event, EventType, Payload};
use orange_core::verification::{CheckResult, Verified};

/// The hook: has the commit that was handed over checked, if its repository says how and its user agreed.
pub(crate) fn begin(call: &Call, tx: &mut TaskTx<'_>) -> Vec<Event> {
    let completed = Event::new(EventType::HookCompleted, call.now());
    if !tx.task.status.is_in_review() {
        return vec![completed];
    }
    // What was handed over, whatever has been committed since.
    let testimony = testimony::testimony(call, &tx.task.id, tx.history());
    let handoff = Evidence::of(&testimony.trusted(tx.history())).handoff;
    let head = handoff
        .and_then(|handoff| handoff.head)
        .or_else(|| facts::head_of(call, &tx.task));
    let refused = |call: &Call, why: String| {
        let result = CheckResult::not_run(why);
        Verified::event(head.as_deref(), &result, call.now())
    };
    let plan = match checks::plan_of_check(call, &tx.task) {
        Ok(Some(plan)) => plan,
        Ok(None) => return vec![completed],
        Err(error) => return vec![refused(call, spoken(call, &error)), completed],
    };
    let Some(head) = &head else {
        let why = format!("there is no commit on {}", tx.task.branch);
        return vec![refused(call, why), completed];
    };
    let request = Request {
        folder: tx.place.folder(),
        head: head.clone(),
        by_hand: false,
        again: false,
    };
    match checks::ask_for_check(call, &request) {
        Ok(()) => vec![started(call, head, &plan.rules), completed],
        Err(error) => {
            vec![Event::new(EventType::HookFailed, call.now()).because(spoken(call, &error))]
        }
    }
}

pub(crate) fn started(call: &Call, head: &str, rules: &Rules) -> Event {
    let command = rules.verify.last().map_or("", String::as_str);
    let check = VerifyStarted {
        head: Some(head),
        command: Some(command),
    };
    Event::of(Payload::VerifyStarted(check), call.now()).by("engine")
}

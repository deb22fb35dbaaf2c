//! Refusals in words: where a task stands, what this caller may do, what is missing, and what helps.

use crate::access::with_article;
use crate::call::Call;
use crate::error::{Error, err};
use crate::facts;
use crate::store::Place;
use crate::store::lock::LockError;
use orange_core::machine::{self, Move, Refusal};
use orange_core::task::{Status, Task};
use orange_core::workflow::{Actor, Condition, Intent, Trigger, Workflow};
use orange_core::{Action, Parameter, Text, text};
use std::collections::HashSet;

/// Where a person finds the task's text.
fn file_of(call: &Call, task: &Task) -> String {
    match facts::place_of(call, task) {
        Ok(Some(place)) => place.task_file().display().to_string(),
        Ok(None) | Err(_) => "its TASK.md".to_owned(),
    }
}

/// A refusal in words: where the task stands, what this caller may do, what is missing.
pub(crate) fn explain(call: &Call, task: &Task, wish: Move, refusal: Refusal) -> Error {
    let workflow = Workflow::named(task.workflow);
    let actor = call.caller.actor();
    let label = task.label();
    let (from, to) = (task.status, wish.to);
    let allowed: Vec<&str> = machine::reachable(workflow, task, actor)
        .into_iter()
        .map(Status::as_str)
        .collect();
    let caller = with_article(actor.name());
    let way_out = if from.is_terminal() && actor == Actor::Human {
        text!(
            "it stays so; a new task starts again from it: {}",
            Action::create_from(task.name(), false, None)
        )
    } else if allowed.is_empty() {
        text!("from {from} there is no transition for {caller}")
    } else {
        text!("from {from} {caller} can go to: {}", allowed.join(", "))
    };
    let no_way = matches!(refusal, Refusal::NoRow | Refusal::NotYours { .. });
    if no_way && actor == Actor::Human && task.is_at_phase_gate() {
        return undecided(task, &format!("cannot move {label} to {to}"));
    }
    match refusal {
        Refusal::NoRow if from == to => {
            err!(IllegalTransition, "{label} is {from} already").hint(way_out)
        }
        Refusal::NoRow => err!(
            IllegalTransition,
            "cannot move {label} from {from} to {to}: the {} workflow has no such transition",
            task.workflow
        )
        .hint(way_out),
        Refusal::NotYours { belongs_to } => {
            let mut owners: Vec<&str> = belongs_to.iter().map(|by| by.who.as_str()).collect();
            let mut seen = HashSet::new();
            owners.retain(|owner| seen.insert(*owner));
            err!(NotAllowed, "cannot move {label} from {from} to {to}: that is for the {} to do, not for {caller}", owners.join(" or the "))
                .hint(way_out)
        }
        Refusal::NeedsTrigger { triggers } => {
            if triggers.contains(&Trigger::FORCE) {
                err!(
                    ConditionUnmet,
                    "cannot move {label} from {from} to {to}: it has not been reviewed"
                )
                .hint(text!("add {} to do it anyway", Parameter::Force))
            } else {
                let by: Vec<&str> = triggers.iter().map(|trigger| trigger.0).collect();
                err!(
                    ConditionUnmet,
                    "cannot move {label} from {from} to {to} by its name: it moves there by {}",
                    by.join(", or by ")
                )
                .hint(way_out)
            }
        }
        Refusal::Unmet { condition, detail } => {
            err!(ConditionUnmet, "cannot move {label} to {to}: {detail}")
                .hint(unmet_hint(condition, task, way_out))
        }
        Refusal::Gate(problem) => err!(
            GateUnmet,
            "cannot move {label} to {to}: {}",
            problem.message()
        )
        .hint(format!("{}, in {}", problem.hint(), file_of(call, task))),
    }
}

/// The refusal of something that has to wait for that decision.
pub(crate) fn undecided(task: &Task, what: &str) -> Error {
    err!(
        IllegalTransition,
        "{what}: it waits for your decision about a phase"
    )
    .hint(text!(
        "decide first: {}, or {}",
        Action::approve(task.name()),
        Action::reject(task.name())
    ))
}

fn unmet_hint(condition: Condition, task: &Task, way_out: Text) -> Text {
    match condition {
        Condition::DependenciesOver => {
            text!("wait until that is over, or add {}", Parameter::Force)
        }
        Condition::SlotFree => text!(
            "end one of them, or raise the limit: {}",
            Action::enlarge_pool(&task.project, None)
        ),
        Condition::SummaryGiven => text!(
            "give it one: {}, or {}",
            Action::set_summary(task.name()),
            start_of(task)
        ),
        Condition::SummaryMissing => start_of(task),
        Condition::Merged => text!(
            "merge it first; if it was squashed or rebased, say so: {}",
            Action::resolve(task.name())
        ),
        Condition::RoundBelowMax => row_with(Condition::RoundAtMax, task, way_out),
        Condition::RoundAtMax => row_with(Condition::RoundBelowMax, task, way_out),
        Condition::WorktreeClean => "commit the changes first".into(),
        Condition::ChildrenOpen => text!("create the children first: {}", Action::create_child()),
        Condition::VerifyOver => text!("wait for it, or add {}", Parameter::Force),
        Condition::ReviewersOwn => {
            "the reviewer writes its own `## Review` in place of that one, then tries again".into()
        }
        _ => way_out,
    }
}

/// How the task starts as it is.
fn start_of(task: &Task) -> Text {
    let start = machine::destination(task, Intent::Start).unwrap_or_default();
    text!("start it with {}", Parameter::Status.given(start.as_str()))
}

/// The move that the table has for the opposite condition.
fn row_with(condition: Condition, task: &Task, way_out: Text) -> Text {
    let mut rows = task.rows();
    let row = rows.find(|row| row.conditions.contains(&condition));
    row.map_or(way_out, |row| Action::move_to(task.name(), row.to).into())
}

/// Why the lock of a task could not be had.
pub(crate) fn explain_lock(place: &Place, error: LockError) -> Error {
    match error {
        LockError::Busy { holder } => {
            let who = holder.unwrap_or_else(|| "another orange process".into());
            err!(Busy, "{} is being changed by {who}", place.folder())
                .hint("try again when that process has finished")
        }
        LockError::Gone => err!(NotFound, "{} is not there any more", place.folder()).hint(text!(
            "{} brings a deleted task back",
            Action::list_deleted()
        )),
        LockError::Io(error) => Error::io("lock", &place.path, &error),
    }
}

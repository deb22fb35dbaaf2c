//! `restore`: brings a deleted task back.

use crate::call::{self, Call};
use crate::error::{Code, Error, IoContext, Result, err};
use crate::facts::branch;
use crate::find;
use crate::store::locks::Lock;
use crate::store::{Place, journal};
use crate::trash::{self, find_among};
use crate::{access, event_log, tx};
use orange_core::history::{Event, EventType};
use orange_core::task::Task;
use orange_sys::crash_points::crash_point;

/// Brings deleted tasks back, as they were; each once, by however many names it is called.
pub fn restore(
    call: &Call,
    texts: &[String],
    current_project: Option<&str>,
) -> Result<Vec<Result<Task>>> {
    access::people_only(call, "restore a task")?;
    let trashed = trash::trashed(call);
    let mut seen: Vec<Place> = Vec::new();
    let mut outcomes = Vec::new();
    for text in texts {
        match find_among(call, &trashed, text, current_project) {
            Ok((place, _)) if seen.contains(&place) => {}
            Ok((place, task)) => {
                seen.push(place.clone());
                outcomes.push(restore_one(call, place, &task));
            }
            Err(error) => {
                outcomes.push(Err(explain_not_deleted(call, text, current_project, error)))
            }
        }
    }
    Ok(outcomes)
}

/// The error for a task that is not in the trash: it may be there, restored by another command for instance.
fn explain_not_deleted(
    call: &Call,
    text: &str,
    current_project: Option<&str>,
    error: Error,
) -> Error {
    match find::find(call, text, current_project) {
        Ok(place) if error.code == Code::NotFound => {
            let task = call.store.survey(&place.folder()).task;
            err!(
                Conflict,
                "{} is not deleted: it is {}; there is nothing to restore",
                task.label(),
                task.status
            )
        }
        Ok(_) | Err(_) => error,
    }
}

fn restore_one(call: &Call, place: Place, task: &Task) -> Result<Task> {
    let _project = call.store.lock(Lock::Project(&place.project))?;
    if !trash::trash_place(call, &place).is_dir() {
        let label = task.label();
        let what = if place.path.exists() {
            "restored by another command"
        } else {
            "removed from the trash by another command"
        };
        return Err(err!(
            Conflict,
            "{label} was {what}; there is nothing left to do"
        ));
    }
    if place.path.exists() {
        return Err(err!(Conflict, "{} is in the way", place.path.display())
            .hint("move that folder out of tasks/ first"));
    }
    if let Some(key) = task.key
        && let Some(other) = call.index()?.by_number(&place.project, key.number)?
    {
        return Err(err!(
            Conflict,
            "{key} cannot be restored: {} has its number now ({})",
            other.label(),
            other.folder
        )
        .hint("move that folder out of tasks/ first"));
    }
    if !task.status.is_terminal() {
        branch::branch_is_free(call, &place.project, &task.branch, Some(&task.id))?;
    }
    call.store.mark(&place)?;
    let event = Event::new(EventType::TaskRestored, call.now()).by(&call.caller_name());
    let journal = trash::trash_place(call, &place).join("history.jsonl");
    journal::append(&journal, &[event.to_line()]).doing("write", &journal)?;
    event_log::tell(call.spell, task, std::slice::from_ref(&event));
    crash_point("restore.journalled");
    trash::move_from_trash(call, &place)?;
    let task = tx::lock_marked(call, place)?.task.clone();
    if task.is_queued() {
        call::request_queue_run(call)?;
    }
    Ok(task)
}

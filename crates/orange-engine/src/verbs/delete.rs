//! `delete`: moves a task to the trash.

use crate::call::Call;
use crate::effects::delegation;
use crate::error::{Result, err};
use crate::maintenance::gc;
use crate::store::Place;
use crate::verbs::cancel;
use crate::{access, trash, tx};
use orange_core::history::{Event, EventType};
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;

/// Whether a task could be deleted, before a person is asked. `named` are those that are deleted with it.
pub fn check_delete(call: &Call, task: &Task, named: &[Place]) -> Result<()> {
    access::people_only(call, "delete a task")?;
    is_deletable(task)?;
    cancel::no_open_children(call, task, named)
}

/// Moves a task's folder to trash/. One that still runs must be cancelled first.
pub fn delete(call: &Call, place: Place) -> Result<Task> {
    access::people_only(call, "delete a task")?;
    let mut tx = tx::lock_task(call, place)?;
    let task = tx.task.clone();
    is_deletable(&task)?;
    cancel::no_open_children(call, &task, &[])?;
    note_waiting_tasks(call, &task)?;
    let event = Event::new(EventType::TaskDeleted, call.now()).by(&call.caller_name());
    tx.write(vec![event])?;
    crash_point("delete.journalled");
    trash::move_to_trash(call, &tx.place)?;
    delegation::advance_parent(call, &task)?;
    tx.unmark();
    drop(tx);
    gc::trash::empty_old_trash(call);
    Ok(task)
}

/// Warns about tasks that wait for the deleted one, unless its work is in.
fn note_waiting_tasks(call: &Call, task: &Task) -> Result<()> {
    let Some(key) = task.key.filter(|_| !task.status.is_over()) else {
        return Ok(());
    };
    for waiting in call.index()?.waiting_for(&task.project, key.number)? {
        if waiting.is_live() {
            let name = waiting.label();
            call.notice(format!("{name} waits for {key}, which is deleted now"));
        }
    }
    Ok(())
}

/// Refuses what still runs, and what still has a slot.
fn is_deletable(task: &Task) -> Result<()> {
    if task.status.is_active() {
        return Err(err!(
            ConditionUnmet,
            "{} is {} and cannot be deleted",
            task.label(),
            task.status
        )
        .hint(text!(
            "cancel it first: {}",
            Action::cancel(task.name(), false)
        )));
    }
    if let Some(slot) = &task.workspace {
        return Err(err!(
            ConditionUnmet,
            "{} still has {slot}, because giving it back failed",
            task.label()
        )
        .hint(text!(
            "{} says why; then {}",
            Action::show(task.name(), false),
            Action::retry_hooks(task.name())
        )));
    }
    Ok(())
}

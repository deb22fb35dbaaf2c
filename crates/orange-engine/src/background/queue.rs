//! The queue: whoever waits in it starts when there is room, and a person hears who starts or could start.

use crate::call::{Call, Caller, WANTED};
use crate::effects::start_agent;
use crate::error::Result;
use crate::settings;
use crate::store::locks::Lock;
use crate::verbs::start;
use crate::workspaces::{acquire, base};
use crate::{budget, errand, facts, home_record, rules};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, Text, text};
use std::collections::HashMap;
use std::fs;

/// Starts what waits in the queue, if somebody asked for a look.
pub fn serve_queue(call: &Call) -> Result<usize> {
    let wanted = call.store.home().join(WANTED);
    if !wanted.exists() {
        return Ok(0);
    }
    let Some(_lock) = call.store.try_lock(Lock::Queue)? else {
        // Whoever has it looks again before letting go.
        return Ok(0);
    };
    let mut count = 0;
    let this = call.as_engine();
    while let Ok(asked) = fs::read(&wanted) {
        count += start::start_each(&this, start::queued(&this)?, |_, _| Ok(false))?.len();
        // Asked for again meanwhile: look again.
        if fs::read(&wanted).is_ok_and(|now| now == asked) {
            let _ = fs::remove_file(&wanted);
        }
    }
    Ok(count)
}

/// Has somebody look at the queue if that was asked for, without waiting for it.
pub fn leave_queue_to_errand(call: &Call) {
    if home_record::copied_from(call).is_none()
        && call.store.home().join(WANTED).exists()
        && let Err(error) = errand::start(&call.orange, call.store.home(), &["queue"])
    {
        tracing::warn!(%error, "nobody looks at the queue");
    }
}

/// What a person should hear of the queue when their command is done: who starts because of it, or who could.
/// `made_room`: a task gave up what others may wait for.
pub fn queue_news(call: &Call, made_room: bool) -> Option<Text> {
    if call.caller != Caller::Human {
        return None;
    }
    let starts = call.store.home().join(WANTED).exists();
    // Whoever starts them will not while settings are wrong.
    if !starts && !made_room || settings::has_lenient_config(call) {
        return None;
    }
    let next = next_in_queue(call).ok()?;
    let names: Vec<String> = next.iter().map(Task::label).collect();
    let first = names.first()?;
    let spawn = || Some(Action::spawn(next.first()?.name(), false));
    Some(match (starts, names.as_slice()) {
        (true, [_]) => text!("{first}, which had been waiting, starts now"),
        (true, _) => text!("{}, which had been waiting, start now", names.join(", ")),
        (false, [_]) => text!("{first} is waiting and could start now: {}", spawn()?),
        (false, _) => text!(
            "{} are waiting and could start now: {}",
            counted(names.len(), "task"),
            Action::start_ready()
        ),
    })
}

/// The tasks of the queue that start when it is looked at.
fn next_in_queue(call: &Call) -> Result<Vec<Task>> {
    let limit = settings::config(call)?.agents.limit as usize;
    let mut room = limit.saturating_sub(facts::running_workers(call));
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut next = Vec::new();
    for (_, task) in start::queued(call)? {
        if room == 0 {
            break;
        }
        let before = taken.entry(task.project.clone()).or_default();
        if has_room_for(call, &task, *before)? {
            *before += 1;
            room -= 1;
            next.push(task);
        }
    }
    Ok(next)
}

/// Could it start after so many others of its project have? Everything is asked that its start would ask.
fn has_room_for(call: &Call, task: &Task, others: usize) -> Result<bool> {
    let Some(project) = call.project_of(&task.project) else {
        return Ok(false);
    };
    let (facts, unmet) = start::conditions_of_a_start(call, task)?;
    let slots = facts.slots.size as usize;
    Ok(unmet.is_none()
        && budget::why_not_start(call, task)?.is_none()
        && facts.slots.holders.len() + others < slots
        && base::start_of(call, &project, task, false).is_ok()
        && acquire::branch_elsewhere(call, &project, task).is_ok_and(|place| place.is_none())
        && acquire::check_can_acquire(call, &project, task).is_ok()
        && rules::parking_place(call, &project).is_ok()
        && start_agent::check_can_spawn(call, task).is_ok())
}

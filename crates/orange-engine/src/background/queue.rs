//! The queue: whoever waits in it starts when there is room, and a person hears who starts or could start.

use crate::call::{Call, Caller, TAKEN, WANTED};
use crate::effects::start_agent;
use crate::error::{Error, IoContext, Result};
use crate::settings;
use crate::store::locks::Lock;
use crate::store::private;
use crate::verbs::start;
use crate::workspaces::{acquire, base};
use crate::{errand, execution, facts, home_record, rules};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, Text, text};
use orange_sys::crash_points::crash_point;
use std::collections::HashMap;
use std::{fs, io};

/// Starts what waits in the queue, if somebody asked for a look.
pub fn serve_queue(call: &Call) -> Result<usize> {
    let [wanted, taken] = [WANTED, TAKEN].map(|name| call.store.home().join(name));
    let mut count = 0;
    let this = call.as_engine();
    while is_wanted(call) {
        let Some(_lock) = call.store.try_lock(Lock::Queue)? else {
            // Whoever has it looks again after letting go.
            break;
        };
        // Who asks from now on is not served by this look: that would miss what they have not written yet.
        if let Err(error) = fs::rename(&wanted, &taken)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(Error::io("rename", &wanted, &error));
        }
        crash_point("queue.taken");
        count += start::start_each(&this, start::queued(&this)?, |_, _| Ok(false))?.len();
        private::unless_gone(fs::remove_file(&taken)).doing("remove", &taken)?;
    }
    Ok(count)
}

/// Whether a look at the queue was asked for that nobody has finished.
fn is_wanted(call: &Call) -> bool {
    let home = call.store.home();
    home.join(WANTED).exists() || home.join(TAKEN).exists()
}

/// Has somebody look at the queue if that was asked for, without waiting for it.
pub fn leave_queue_to_errand(call: &Call) {
    if home_record::copied_from(call).is_none()
        && is_wanted(call)
        && let Err(error) = errand::start(&call.orange, call.store.home(), &["queue"])
    {
        tracing::warn!(%error, "the queue process cannot be started");
    }
}

/// What a person should hear of the queue when their command is done: who starts because of it, or who could.
/// `made_room`: a task gave up what others may wait for.
pub fn queue_news(call: &Call, made_room: bool) -> Option<Text> {
    if call.caller != Caller::Human {
        return None;
    }
    let starts = is_wanted(call);
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
        && execution::why_over_budget(call, task)?.is_none()
        && facts.slots.holders.len() + others < slots
        && base::start_of(call, &project, task, false).is_ok()
        && acquire::branch_elsewhere(call, &project, task).is_ok_and(|place| place.is_none())
        && acquire::check_can_acquire(call, &project, task).is_ok()
        && rules::parking_place(call, &project).is_ok()
        && start_agent::check_can_spawn(call, task).is_ok())
}

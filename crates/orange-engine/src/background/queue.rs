//! Whose turn it is: a new task goes behind those that wait, and a person hears who of them starts or could start.

use crate::call::{Call, Caller, WANTED};
use crate::effects::start_agent;
use crate::error::Result;
use crate::settings::{self, lenient_config};
use crate::store::Place;
use crate::verbs::start::{self, StartOutcome, turn};
use crate::workspaces::{acquire, base};
use crate::{facts, rules};
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, Text, text};
use std::collections::HashMap;

/// Starts a new task in its turn: who waits in the queue and can start now goes first. Also gives who did.
pub fn start_in_turn(call: &Call, place: Place) -> Result<(StartOutcome, Vec<Task>)> {
    let mut others = Vec::new();
    if start::has_queued(call)? {
        let own = call.store.survey(&place.folder()).task;
        // They were to start by themselves; nobody asks for them now.
        others = start_before(&call.as_engine(), &own)?;
    }
    let task = call.store.survey(&place.folder()).task;
    match StartOutcome::by_another(&task) {
        Some(outcome) => Ok((outcome, others)),
        None => Ok((start::start(call, place, false)?, others)),
    }
}

/// Starts those of the queue whose turn it is before this one, as long as there is room for it too: it would take
/// it away from them.
fn start_before(call: &Call, own: &Task) -> Result<Vec<Task>> {
    let mut started = Vec::new();
    if start::why_not_now(call, own)?.is_some() {
        return Ok(started);
    }
    for (place, task) in queued(call)? {
        if turn(&task) >= turn(own) || start::why_not_now(call, own)?.is_some() {
            break;
        }
        if start::why_not_now(call, &task)?.is_some() {
            continue;
        }
        match start::start(call, place, false) {
            Ok(StartOutcome::Started(changed)) => started.push(changed.done.task),
            Ok(StartOutcome::Queued(..)) => {}
            Err(error) => call.notice(format!("{} was not started: {error}", task.label())),
        }
    }
    Ok(started)
}

/// Who waits, in the order in which they start.
fn queued(call: &Call) -> Result<Vec<(Place, Task)>> {
    let folders = call.index()?.queued()?.into_iter();
    let mut queued: Vec<(Place, Task)> = folders
        .map(|folder| (call.store.survey(&folder), call.store.place(&folder)))
        .filter(|(found, _)| found.damaged.is_none())
        .map(|(found, place)| (place, found.task))
        .filter(|(_, task)| !task.status.has_started() && task.queued_at.is_some())
        .collect();
    queued.sort_by_key(|(_, task)| turn(task));
    Ok(queued)
}

/// What a person should hear of the queue when their command is done: who starts because of it, or who could.
/// `made_room`: a task gave up what others may wait for.
pub fn queue_news(call: &Call, made_room: bool) -> Option<Text> {
    if call.caller != Caller::Human {
        return None;
    }
    let starts = call.store.home().join(WANTED).exists();
    // Whoever starts them will not while settings are wrong.
    if !starts && !made_room || lenient_config::has_lenient_config(call) {
        return None;
    }
    let next = next_in_queue(call).ok()?;
    let names: Vec<String> = next.iter().map(Task::label).collect();
    let first = names.first()?;
    Some(match (starts, names.as_slice()) {
        (true, [_]) => text!("{first}, which had been waiting, starts now"),
        (true, _) => text!("{}, which had been waiting, start now", names.join(", ")),
        (false, [_]) => text!(
            "{first} is waiting and could start now: {}",
            Action::spawn(first, false)
        ),
        (false, _) => text!(
            "{} are waiting and could start now: {}",
            counted(names.len(), "task"),
            Action::start_ready()
        ),
    })
}

/// Who of the queue starts when somebody looks at it.
fn next_in_queue(call: &Call) -> Result<Vec<Task>> {
    let limit = settings::config(call)?.agents.limit as usize;
    let mut room = limit.saturating_sub(facts::running_workers(call));
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut next = Vec::new();
    for (_, task) in queued(call)? {
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
        && facts.slots.holders.len() + others < slots
        && base::start_of(call, &project, task, false).is_ok()
        && acquire::check_can_acquire(call, &project, task).is_ok()
        && rules::parking_place(call, &project).is_ok()
        && start_agent::check_can_spawn(call, task).is_ok())
}

//! Whose turn it is: a new task goes behind those that wait, and a person hears who of them starts or could start.

use super::{Caller, Engine, StartOutcome};
use crate::engine::start::{WANTED, turn};
use crate::error::Result;
use crate::store::Place;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, Text, text};
use std::collections::HashMap;

impl Engine {
    /// Starts a new task in its turn: who waits in the queue and can start now goes first. Also gives who did.
    pub fn start_in_turn(&self, place: Place) -> Result<(StartOutcome, Vec<Task>)> {
        let mut others = Vec::new();
        if self.has_queued()? {
            let own = self.store.survey(&place.folder()).task;
            // They were to start by themselves; nobody asks for them now.
            others = self.as_engine().start_before(&own)?;
        }
        let task = self.store.survey(&place.folder()).task;
        match StartOutcome::by_another(&task) {
            Some(outcome) => Ok((outcome, others)),
            None => Ok((self.start(place, false)?, others)),
        }
    }

    /// Starts those of the queue whose turn it is before this one, as long as there is room for it too: it would take
    /// it away from them.
    fn start_before(&self, own: &Task) -> Result<Vec<Task>> {
        let mut started = Vec::new();
        if self.why_not_now(own)?.is_some() {
            return Ok(started);
        }
        for (place, task) in self.queued()? {
            if turn(&task) >= turn(own) || self.why_not_now(own)?.is_some() {
                break;
            }
            if self.why_not_now(&task)?.is_some() {
                continue;
            }
            match self.start(place, false) {
                Ok(StartOutcome::Started(changed)) => started.push(changed.done.task),
                Ok(StartOutcome::Queued(..)) => {}
                Err(error) => self.notice(format!("{} was not started: {error}", task.label())),
            }
        }
        Ok(started)
    }

    /// Who waits, in the order in which they start.
    fn queued(&self) -> Result<Vec<(Place, Task)>> {
        let folders = self.index()?.queued()?.into_iter();
        let mut queued: Vec<(Place, Task)> = folders
            .map(|folder| (self.store.survey(&folder), self.store.place(&folder)))
            .filter(|(found, _)| found.damaged.is_none())
            .map(|(found, place)| (place, found.task))
            .filter(|(_, task)| !task.status.has_started() && task.queued_at.is_some())
            .collect();
        queued.sort_by_key(|(_, task)| turn(task));
        Ok(queued)
    }

    /// What a person should hear of the queue when their command is done: who starts because of it, or who could.
    /// `made_room`: a task gave up what others may wait for.
    pub fn queue_news(&self, made_room: bool) -> Option<Text> {
        if self.caller != Caller::Human {
            return None;
        }
        let starts = self.store.home().join(WANTED).exists();
        // Whoever starts them will not while settings are wrong.
        if !starts && !made_room || self.has_lenient_config() {
            return None;
        }
        let next = self.next_in_queue().ok()?;
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
    fn next_in_queue(&self) -> Result<Vec<Task>> {
        let limit = self.config()?.agents.limit as usize;
        let mut room = limit.saturating_sub(self.running_workers());
        let mut taken: HashMap<String, usize> = HashMap::new();
        let mut next = Vec::new();
        for (_, task) in self.queued()? {
            if room == 0 {
                break;
            }
            let before = taken.entry(task.project.clone()).or_default();
            if self.has_room_for(&task, *before)? {
                *before += 1;
                room -= 1;
                next.push(task);
            }
        }
        Ok(next)
    }

    /// Could it start after so many others of its project have? Everything is asked that its start would ask.
    fn has_room_for(&self, task: &Task, others: usize) -> Result<bool> {
        let Some(project) = self.project_of(&task.project) else {
            return Ok(false);
        };
        let (facts, unmet) = self.conditions_of_a_start(task)?;
        let slots = facts.slots.size as usize;
        Ok(unmet.is_none()
            && facts.slots.holders.len() + others < slots
            && self.start_of(&project, task, false).is_ok()
            && self.could_acquire(&project, task).is_ok()
            && self.parking_place(&project).is_ok()
            && self.could_spawn(task).is_ok())
    }
}

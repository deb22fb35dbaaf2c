//! Starting tasks, and the queue of those that could not start yet: by priority, then by age, as far as slots,
//! dependencies and the limit of running agents allow.

use super::{Caller, Change, Changed, Engine};
use crate::effects::spoken;
use crate::errand;
use crate::error::{Code, Error, Result};
use crate::index::list::{Filter, Listed};
use crate::runs;
use crate::store::locks::{Lock, LockFile, STARTING};
use crate::store::{Place, private};
use orange_core::id::Key;
use orange_core::machine::{self, Facts, Situation};
use orange_core::task::{Field, FieldMap, Priority, Queue, Status, Task};
use orange_core::workflow::{Actor, Condition, Intent, Role};
use orange_core::{Action, Timestamp, text};
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::Path;

/// Says that somebody should look whether a task of the queue can start.
pub(super) const WANTED: &str = "queue.wanted";

/// Whether a task may be started.
enum Claim {
    Got(LockFile),
    LimitReached(String),
    /// Another process starts the same task.
    Another,
}

/// What came of a start.
#[derive(Debug)]
pub enum StartOutcome {
    Started(Box<Changed>),
    /// It waits; for what.
    Queued(Box<Task>, String),
}

impl StartOutcome {
    /// For a task that another command started at the same moment; None if it still waits.
    pub fn by_another(task: &Task) -> Option<StartOutcome> {
        let how = started_by_another(task)?;
        Some(StartOutcome::Queued(Box::new(task.clone()), how))
    }
}

impl Engine {
    /// Starts a pending task, or puts it into the queue. `force` overrides dependencies and the limit.
    pub fn start(&self, place: Place, force: bool) -> Result<StartOutcome> {
        let task = self.store.survey(&place.folder()).task;
        if task.status.has_started() {
            let label = task.label();
            return Err(Error::new(
                Code::IllegalTransition,
                format!("{label} was started before: it is {}", task.status),
            )
            .hint(text!("{} says what it waits for", Action::explain(label))));
        }
        if self.caller != Caller::Engine {
            self.note_started_by(&task.id);
        }
        if !force && let Some(why) = self.why_not_now(&task)? {
            return self.queue(place, why);
        }
        // Held until its agent runs, so that others count it.
        let claim = match force {
            true => None,
            false => match self.claim_start_after_others(&place)? {
                Claim::Got(claim) => Some(claim),
                Claim::LimitReached(why) => return self.queue(place, why),
                Claim::Another => return self.queue(place, "it is being started".to_owned()),
            },
        };
        if let Some(outcome) = StartOutcome::by_another(&self.store.survey(&place.folder()).task) {
            return Ok(outcome);
        }
        let change = Change {
            intent: Some(Intent::Start),
            force: force && self.caller == Caller::Human,
            ..Change::default()
        };
        // An agent may create children; starting them is the engine's doing.
        let outcome = match self.caller {
            Caller::Agent { .. } => self.as_engine().change(place.clone(), &change),
            Caller::Human | Caller::Engine => self.change(place.clone(), &change),
        };
        drop(claim);
        if outcome.is_err() && self.caller != Caller::Engine {
            // Somebody else may have waited because of it. Who serves the queue goes on by itself.
            self.want_queue()?;
        }
        match outcome {
            Ok(changed) => Ok(StartOutcome::Started(Box::new(changed))),
            // Somebody was quicker.
            Err(error) if error.code == Code::ConditionUnmet && !force => {
                self.queue(place, spoken(&error))
            }
            Err(error) => Err(error),
        }
    }

    /// What a pending task waits for.
    pub(crate) fn why_not_now(&self, task: &Task) -> Result<Option<String>> {
        let (_, unmet) = self.conditions_of_a_start(task)?;
        match unmet {
            Some(why) => Ok(Some(why)),
            None => self.limit_reached(),
        }
    }

    /// The facts that a start depends on, and what of it is not met.
    pub(super) fn conditions_of_a_start(&self, task: &Task) -> Result<(Facts, Option<String>)> {
        let conditions = [Condition::DependenciesOver, Condition::SlotFree];
        let facts = self.facts(task, &conditions)?;
        let situation = Situation {
            task,
            body: "",
            facts: &facts,
            max_rounds: 0,
            now: self.now(),
        };
        let mut unmet = conditions
            .into_iter()
            .filter_map(|condition| machine::meets(condition, situation).err());
        let unmet = unmet.next();
        Ok((facts, unmet))
    }

    /// Why no agent more may run.
    pub(crate) fn limit_reached(&self) -> Result<Option<String>> {
        let limit = self.config()?.agents.limit as usize;
        let running = self.running_workers();
        Ok((running >= limit)
            .then(|| format!("{running} agents are running, and `agents.limit` allows {limit}")))
    }

    /// Workers alive or about to be, over all projects.
    pub fn running_workers(&self) -> usize {
        let workers = runs::all(self.store.home()).into_iter().filter_map(|run| {
            let spec = run.spec().filter(|spec| spec.role == Role::Worker)?;
            run.is_alive().then(|| self.store.place(&spec.folder).name)
        });
        let tasks: HashSet<String> = workers.chain(self.starting(true)).collect();
        tasks.len()
    }

    /// The same, but waits for another process that starts the same task: only when that has let go does the task tell what
    /// became of it.
    fn claim_start_after_others(&self, place: &Place) -> Result<Claim> {
        match self.claim_start(place)? {
            Claim::Another => {}
            claim => return Ok(claim),
        }
        match self.store.lock(Lock::Starting(&place.name)) {
            Ok(ended) => drop(ended),
            Err(error) if error.code == Code::Busy => return Ok(Claim::Another),
            Err(error) => return Err(error),
        }
        self.claim_start(place)
    }

    /// Takes a place among the workers that `agents.limit` allows. It is given back with the file.
    fn claim_start(&self, place: &Place) -> Result<Claim> {
        let _lock = self.store.lock(Lock::Start)?;
        for name in self.starting(false) {
            let _ = fs::remove_file(self.store.home().join(STARTING).join(name));
        }
        if let Some(why) = self.limit_reached()? {
            return Ok(Claim::LimitReached(why));
        }
        let claim = self.store.try_lock(Lock::Starting(&place.name))?;
        Ok(claim.map_or(Claim::Another, Claim::Got))
    }

    /// Tasks that a process is starting right now; or those whose process has ended.
    fn starting(&self, now: bool) -> Vec<String> {
        let entries = fs::read_dir(self.store.home().join(STARTING));
        let entries = entries.into_iter().flatten().flatten();
        let held = |path: &Path| {
            let file = File::open(path).ok()?;
            Some(matches!(
                file.try_lock_shared(),
                Err(TryLockError::WouldBlock)
            ))
        };
        entries
            .filter(|entry| held(&entry.path()) == Some(now))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Notes that a task is to start as soon as it can.
    fn queue(&self, place: Place, why: String) -> Result<StartOutcome> {
        let tx = self.lock_task(place)?;
        if !tx.task.status.has_started() && tx.task.queued_at.is_none() {
            let now = Value::from(self.now().to_string());
            let changes = FieldMap::from_iter([(Field::QueuedAt.name().to_owned(), now)]);
            let event = machine::update(&tx.task, changes, Actor::Engine, self.now())
                .map_err(super::bad_value)?;
            let events = event.into_iter().map(|event| event.because(why.clone()));
            let events = events.collect();
            let task = tx.commit(events)?.task;
            return Ok(StartOutcome::Queued(Box::new(task), why));
        }
        let why = started_by_another(&tx.task).unwrap_or(why);
        Ok(StartOutcome::Queued(Box::new(tx.task.clone()), why))
    }

    /// Starts pending tasks that nothing holds back, whether or not they were queued. Gives what became of each.
    pub fn run_ready(&self, projects: &[String], max: Option<usize>) -> Result<Vec<StartOutcome>> {
        self.people_only("start tasks")?;
        self.start_pending(projects, max, |task| task.queue == Queue::Active)
    }

    /// Starts what waits in the queue, if somebody asked for a look.
    pub fn serve_queue(&self) -> Result<usize> {
        let wanted = self.store.home().join(WANTED);
        if !wanted.exists() {
            return Ok(0);
        }
        let Some(_lock) = self.store.try_lock(Lock::Queue)? else {
            // Whoever has it looks again before letting go.
            return Ok(0);
        };
        let mut count = 0;
        let this = self.as_engine();
        while let Ok(asked) = fs::read(&wanted) {
            let started = this.start_pending(&[], None, |task| task.queued_at.is_some())?;
            count += started.len();
            // Asked for again meanwhile: look again.
            if fs::read(&wanted).is_ok_and(|now| now == asked) {
                let _ = fs::remove_file(&wanted);
            }
        }
        Ok(count)
    }

    /// Does a task wait in the queue?
    pub(crate) fn has_queued(&self) -> Result<bool> {
        Ok(!self.index()?.queued()?.is_empty())
    }

    /// Asks for a look at the queue once this command is done.
    pub(crate) fn want_queue(&self) -> Result<()> {
        let path = self.store.home().join(WANTED);
        let stamp = self.file_stamp();
        private::write(&path, stamp).map_err(|error| Error::io("write", &path, &error))
    }

    /// Has somebody look at the queue if that was asked for, without waiting for it.
    pub fn leave_queue_to_errand(&self) {
        if self.copied_from().is_none()
            && self.store.home().join(WANTED).exists()
            && let Err(error) = errand::start(&self.orange, self.store.home(), &["queue"])
        {
            tracing::warn!(%error, "nobody looks at the queue");
        }
    }

    fn start_pending(
        &self,
        projects: &[String],
        max: Option<usize>,
        wanted: impl Fn(&Task) -> bool,
    ) -> Result<Vec<StartOutcome>> {
        let filter = Filter {
            statuses: not_started(),
            projects: projects.to_vec(),
            ..Filter::default()
        };
        let mut pending: Vec<(Listed, Task)> = Vec::new();
        for row in self.list(&filter)? {
            let task = self.store.survey(&row.folder).task;
            if row.damaged.is_none() && wanted(&task) {
                pending.push((row, task));
            }
        }
        pending.sort_by_key(|(_, task)| turn(task));
        let mut outcomes = Vec::new();
        for (row, task) in pending {
            if max.is_some_and(|max| outcomes.len() >= max) {
                break;
            }
            if self.why_not_now(&task)?.is_some() {
                continue;
            }
            let place = self.store.place(&row.folder);
            match self.start(place, false) {
                Ok(started @ StartOutcome::Started(_)) => outcomes.push(started),
                Ok(StartOutcome::Queued(..)) => {}
                // Another command was quicker.
                Err(_) if self.store.survey(&row.folder).task.status.has_started() => {}
                Err(error) => self.notice(format!("{} was not started: {error}", task.label())),
            }
        }
        Ok(outcomes)
    }
}

/// The statuses of tasks that have not been started.
fn not_started() -> Vec<String> {
    let statuses = Status::ALL.iter().filter(|status| !status.has_started());
    statuses.map(|status| status.as_str().to_owned()).collect()
}

/// What to say of a task that another command started at the same moment; None if it still waits.
fn started_by_another(task: &Task) -> Option<String> {
    task.status
        .has_started()
        .then(|| format!("another command started it: it is {}", task.status))
}

/// Who comes first: the more urgent, then who has waited longer.
pub(super) fn turn(task: &Task) -> (Priority, Timestamp, Option<Key>) {
    let since = task.queued_at.unwrap_or(task.created_at);
    (task.priority, since, task.key)
}

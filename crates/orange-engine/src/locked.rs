//! One task under its lock: brought into order first, then changed by events. Journal, TASK.md, witness and
//! index are written in that order; a process killed in between leaves a mark that the next one follows.

mod settle;

pub use settle::written_fields;

use crate::effects;
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::store::faults::crash_point;
use crate::store::lock::{LockError, TaskLock, Witness};
use crate::store::{PATIENCE, Place, Snapshot, journal};
use orange_core::artifact;
use orange_core::history::{Event, EventType};
use orange_core::machine;
use orange_core::reconcile::Broken;
use orange_core::task::Task;

/// A task that no other Orange process can change right now.
pub struct LockedTask {
    lock: TaskLock,
    pub place: Place,
    pub task: Task,
    /// The body as last read. Never written back: every write takes the body from the file anew.
    pub body: String,
    /// The files as last read or written.
    snapshot: Snapshot,
    marked: bool,
    /// Something was written that the index does not know yet.
    unindexed: bool,
    /// Somebody still writes to a file that was swapped out: the next command has to look again.
    writer_open: bool,
    /// Rebuild what a command alone would not touch (`doctor --repair`).
    repair: bool,
}

impl Engine {
    /// Locks a task, puts its files in order and finishes what a dead process began.
    pub fn lock_task(&mut self, place: Place) -> Result<LockedTask> {
        let lock = TaskLock::acquire(&place.path, PATIENCE)
            .map_err(|error| explain_lock(&place, error))?;
        self.opened(place, lock, false, false)
    }

    /// As [`Engine::lock_task`], for a task that this process has listed as changing.
    pub(crate) fn lock_marked(&mut self, place: Place) -> Result<LockedTask> {
        let lock = TaskLock::acquire(&place.path, PATIENCE)
            .map_err(|error| explain_lock(&place, error))?;
        self.opened(place, lock, false, true)
    }

    /// Finishes a task that somebody listed as changing; false when a live process has it.
    pub(crate) fn finish_marked(&mut self, place: &Place) -> Result<bool> {
        let lock = match TaskLock::try_acquire(&place.path) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(false),
            Err(error) => return Err(explain_lock(place, error)),
        };
        if self.history_at(&place.path)?.is_deleted() {
            self.move_to_trash(place)?;
            self.store.unmark(place);
            return Ok(true);
        }
        self.opened(place.clone(), lock, false, true)?;
        Ok(true)
    }

    /// Locks a damaged task and rebuilds it from what is left.
    pub fn lock_for_repair(&mut self, place: Place) -> Result<LockedTask> {
        let lock = TaskLock::acquire(&place.path, PATIENCE)
            .map_err(|error| explain_lock(&place, error))?;
        self.opened(place, lock, true, false)
    }

    fn opened(
        &mut self,
        place: Place,
        lock: TaskLock,
        repair: bool,
        marked: bool,
    ) -> Result<LockedTask> {
        let snapshot = self.store.read(&place)?;
        let torn = snapshot.torn;
        let mut locked = LockedTask {
            lock,
            task: Task::default(),
            body: String::new(),
            snapshot,
            marked,
            // Of what an earlier step left undone the index may be all.
            unindexed: marked,
            writer_open: false,
            repair,
            place,
        };
        if torn {
            self.notice(format!(
                "{}: the last line of history.jsonl was cut short; it is set aside",
                locked.place.folder()
            ));
        }
        locked.merge_leftovers(self)?;
        locked.settle(self)?;
        locked.note_changed_context(self)?;
        locked.finish_hooks(self)?;
        locked.index(self)?;
        locked.conclude(self);
        Ok(locked)
    }
}

impl LockedTask {
    /// Journals events and writes TASK.md accordingly. The index does not know of it yet, and the mark stays
    /// until [`LockedTask::unmark`].
    pub fn commit(&mut self, engine: &mut Engine, events: Vec<Event>) -> Result<()> {
        self.mark(engine)?;
        self.append(events)?;
        crash_point("commit.journalled");
        self.settle(engine).map_err(|error| self.happened(error))?;
        crash_point("commit.written");
        Ok(())
    }

    /// Once journalled, a change has happened, whatever goes wrong afterwards. It must not sound undone.
    fn happened(&self, error: Error) -> Error {
        Error::new(
            error.code,
            format!(
                "{} is {} now, and that is journalled; but {error}",
                self.task.label(),
                self.task.status
            ),
        )
        .hint(match error.code {
            Code::Storage => {
                "free some disk space, or see to what it says; then the next command, whichever it is, finishes this one: do not repeat it"
            }
            _ => "the next command, whichever it is, finishes this one: do not repeat it",
        })
    }

    /// Runs the hooks of the last transition that are still open, and closes it.
    pub fn finish_hooks(&mut self, engine: &mut Engine) -> Result<()> {
        let Some(state) = self.snapshot.history.last_transition() else {
            return Ok(());
        };
        if state.finished {
            return Ok(());
        }
        let Some(transition) = state.opening.transition.clone() else {
            return Ok(());
        };
        let open: Vec<String> = state
            .hooks
            .iter()
            .filter(|hook| hook.outcome == orange_core::history::HookOutcome::Open)
            .map(|hook| hook.name.clone())
            .collect();
        self.mark(engine)?;
        let now = engine.now();
        let mut events = Vec::new();
        for hook in open {
            crash_point("hook.before");
            events.push(effects::carry_out(&hook, &transition, now));
            crash_point("hook.after");
        }
        events.push(machine::finish_transition(&self.task, &transition, now));
        let changes_fields = events.iter().any(|event| event.revision.is_some());
        self.append(events).map_err(|error| self.happened(error))?;
        crash_point("hooks.journalled");
        self.unindexed = true;
        match changes_fields {
            true => self.settle(engine),
            false => Ok(()),
        }
    }

    /// The end of a change: what follows from it elsewhere is seen to while the task is still listed.
    pub(crate) fn conclude(&mut self, engine: &mut Engine) {
        if self.marked
            && self.task.status.is_terminal()
            && let Err(error) = engine.advance_parent(&self.task)
        {
            engine.notice(format!("its parent could not be looked at: {error}"));
            return;
        }
        self.unmark(engine);
    }

    pub fn unmark(&mut self, engine: &Engine) {
        if self.writer_open {
            // Listed on purpose, so that the next command looks for what they write.
            if let Err(error) = self.mark(engine) {
                tracing::warn!(%error, "a slow writer may be noticed late");
            }
            return;
        }
        if self.marked {
            crash_point("unmark.before");
            engine.store.unmark(&self.place);
            self.marked = false;
        }
    }

    fn mark(&mut self, engine: &Engine) -> Result<()> {
        if !self.marked {
            engine.store.mark(&self.place)?;
            self.marked = true;
            crash_point("marked");
        }
        Ok(())
    }

    fn append(&mut self, events: Vec<Event>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        for event in &events {
            machine::apply(&mut self.task, event)
                .map_err(|error| Error::new(Code::Failed, error.to_string()))?;
        }
        self.journal(events)
    }

    /// Writes events to the journal, durably; `task` already knows what they say.
    fn journal(&mut self, events: Vec<Event>) -> Result<()> {
        let path = self.place.journal();
        let lines: Vec<String> = events.iter().map(Event::to_line).collect();
        self.snapshot.journal_bytes =
            journal::append(&path, &lines).map_err(|error| Error::io("write", &path, &error))?;
        self.snapshot.history.events.extend(events);
        Ok(())
    }

    /// The Context is the person's word to the agent: a change to it is kept but flagged.
    fn note_changed_context(&mut self, engine: &mut Engine) -> Result<()> {
        let seen = self
            .snapshot
            .history
            .own()
            .iter()
            .rev()
            .find_map(|event| event.details.get("context")?.as_str().map(str::to_owned));
        let current = context_mark(&self.body);
        match seen {
            Some(seen) if seen != current => {
                let event = Event::new(EventType::ContextChanged, engine.now())
                    .by(&engine.caller_name())
                    .detail("context", current);
                engine.notice(format!("{}: its Context was changed", self.task.label()));
                self.append(vec![event])
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The index and the witness follow what was written, once all of it is: the mark leads here whoever
    /// comes after a process that died before.
    pub(crate) fn index(&mut self, engine: &mut Engine) -> Result<()> {
        if !self.unindexed {
            return Ok(());
        }
        let witness = Witness {
            revision: self.task.revision,
            journal_bytes: self.snapshot.journal_bytes,
            front: self.snapshot.front_mark(),
        };
        if let Err(error) = self.lock.set_witness(witness) {
            tracing::warn!(%error, "the lock file could not be written");
        }
        let entry = self.snapshot.entry_of(&self.place, self.task.clone());
        engine.index()?.store(&[entry], &[]);
        self.unindexed = false;
        Ok(())
    }
}

/// A short name for the content of `## Context`.
pub fn context_mark(body: &str) -> String {
    use sha2::Digest;
    let content = artifact::section(body, "Context")
        .and_then(|section| body.get(section.content))
        .unwrap_or_default();
    let digest = sha2::Sha256::digest(content.trim().as_bytes());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub(crate) fn explain_lock(place: &Place, error: LockError) -> Error {
    match error {
        LockError::Busy { holder } => {
            let who = holder.unwrap_or_else(|| "another orange process".into());
            Error::new(
                Code::Busy,
                format!("{} is being changed by {who}", place.folder()),
            )
            .hint("try again when that process has finished")
        }
        LockError::Gone => Error::new(
            Code::NotFound,
            format!("{} is not there any more", place.folder()),
        )
        .hint("`orange task restore` brings a deleted task back"),
        LockError::Io(error) => Error::io("lock", &place.path, &error),
    }
}

pub fn damaged(place: &Place, broken: &Broken) -> Error {
    let message = format!("{}: {broken}", place.task_file().display());
    let error = Error::new(Code::Damaged, message);
    match broken {
        Broken::Value { .. } => error.hint(
            "correct the line, or run `orange doctor --repair` to put back the last good value",
        ),
        Broken::File(_)
        | Broken::Missing
        | Broken::NotAFile
        | Broken::Unreadable(_)
        | Broken::Journal(_) => error.hint(
            "run `orange doctor` to see what can be repaired, `orange doctor --repair` to do it",
        ),
    }
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests;

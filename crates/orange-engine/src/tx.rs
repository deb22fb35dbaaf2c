//! One task under its lock: brought into order first, then changed by events. Journal, TASK.md, witness and
//! index are written in that order; a process killed in between leaves a mark that the next one follows.

mod agents;
mod commit;
mod deferred;
mod failed_check;
mod racing;
mod retry;
mod taken_out;
mod write_reconciled;

pub use commit::Committed;
pub(crate) use commit::Given;
pub use orange_agents::marks::context_mark;
pub(crate) use orange_agents::marks::review_mark;
pub(crate) use racing::kept_texts;
pub use write_reconciled::written_fields;

use crate::effects;
use crate::engine::{Engine, Sealing};
use crate::error::{Code, Error, Result};
use crate::event_log;
use crate::notify::{self, Notification};
use crate::seal::SealedJournal;
use crate::store::lock::{LockError, TaskLock, Witness};
use crate::store::locks::Rank;
use crate::store::{PATIENCE, Place, Snapshot, journal};
use crate::workspaces::Lease;
use orange_core::artifact;
use orange_core::history::payload::{ContextChanged, HookEnded};
use orange_core::history::{Event, EventType, HookOutcome, Payload};
use orange_core::machine::{self, Facts, Situation};
use orange_core::reconcile::Broken;
use orange_core::task::{Field, Status, Task};
use orange_core::workflow::Actor;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

/// A task that no other Orange process can change right now.
pub struct TaskTx<'a> {
    pub(crate) engine: &'a Engine,
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
    /// What the person is to hear of.
    untold: Vec<Notification>,
    /// Rebuild what a command alone would not touch (`doctor --repair`).
    repair: bool,
    /// Lines of the journal, by their place, that Orange did not write; `snapshot` is without them.
    foreign: Vec<usize>,
    /// The seals of the journal, up to its last event.
    seals: SealedJournal,
    /// Where the task was once its files were in order.
    from: Status,
    /// What hooks gave it.
    pub(crate) given: Given,
}

impl Engine {
    /// Locks a task, puts its files in order and finishes what a dead process began.
    pub fn lock_task(&self, place: Place) -> Result<TaskTx<'_>> {
        let lock = self.wait_for_lock(&place, Rank::Task)?;
        self.opened(place, lock, false, false)
    }

    /// As [`Engine::lock_task`], for a task without a key that another task names, whose lock may be held.
    pub(crate) fn lock_to_adopt(&self, place: Place) -> Result<TaskTx<'_>> {
        let lock = self.wait_for_lock(&place, Rank::AdoptedTask)?;
        self.opened(place, lock, false, false)
    }

    /// As [`Engine::lock_task`], for the parent of a task whose lock may be held.
    pub(crate) fn lock_parent(&self, place: Place) -> Result<TaskTx<'_>> {
        let lock = self.wait_for_lock(&place, Rank::ParentTask)?;
        self.opened(place, lock, false, false)
    }

    /// Waits for the lock; reports the holder after a while.
    fn wait_for_lock(&self, place: &Place, rank: Rank) -> Result<TaskLock> {
        let tell = |busy: &LockError| (self.say)(&format!("waits: {}: {busy}", place.folder()));
        TaskLock::acquire_telling(&place.path, rank, PATIENCE, tell).map_err(|error| {
            let gone = match error {
                LockError::Gone => self.gone_meanwhile(place),
                LockError::Busy { .. } | LockError::Io(_) => None,
            };
            gone.unwrap_or_else(|| explain_lock(place, error))
        })
    }

    /// As [`Engine::lock_task`], for a task that this process has listed as changing.
    pub(crate) fn lock_marked(&self, place: Place) -> Result<TaskTx<'_>> {
        let lock = self.wait_for_lock(&place, Rank::Task)?;
        self.opened(place, lock, false, true)
    }

    /// Finishes a task that somebody listed as changing; false when a live process has it.
    pub(crate) fn finish_marked(&self, place: &Place) -> Result<bool> {
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
    pub fn lock_for_repair(&self, place: Place) -> Result<TaskTx<'_>> {
        let lock = self.wait_for_lock(&place, Rank::Task)?;
        self.opened(place, lock, true, false)
    }

    fn opened(
        &self,
        place: Place,
        lock: TaskLock,
        repair: bool,
        marked: bool,
    ) -> Result<TaskTx<'_>> {
        self.refuse_copy()?;
        let mut snapshot = self.store.read(&place)?;
        let Sealing { seals, foreign, .. } = self.set_foreign_aside(&mut snapshot.history);
        let torn = snapshot.torn;
        let was_missing = snapshot.file.as_ref().err() == Some(&Broken::Missing);
        let mut tx = TaskTx {
            engine: self,
            lock,
            task: Task::default(),
            body: String::new(),
            snapshot,
            marked,
            // Of what an earlier step left undone the index may be all.
            unindexed: marked,
            writer_open: false,
            untold: Vec::new(),
            repair,
            place,
            foreign,
            seals,
            from: Task::default().status,
            given: Given::default(),
        };
        if torn {
            self.notice(format!(
                "{}: the last line of history.jsonl was cut short; it is set aside",
                tx.place.folder()
            ));
        }
        tx.merge_leftovers()?;
        tx.settle()?;
        if marked {
            tx.untold = tx.perhaps_untold();
        }
        tx.note_changed_context(was_missing)?;
        tx.look_into_slot()?;
        tx.note_kept_texts()?;
        if tx.finish_merge()? && tx.ends_itself() {
            return self.lock_task(tx.leave_to_errand()?);
        }
        tx.finish_hooks()?;
        tx.take_failed_check()?;
        tx.settle_runs()?;
        tx.take_deferred()?;
        tx.index()?;
        tx.conclude();
        tx.from = tx.task.status;
        Ok(tx)
    }
}

impl TaskTx<'_> {
    /// What the table is asked about: the task as it is, and these facts.
    fn situation<'a>(&'a self, facts: &'a Facts) -> Result<Situation<'a>> {
        Ok(Situation {
            task: &self.task,
            body: &self.body,
            facts,
            max_rounds: self.engine.max_rounds(&self.task)?,
            now: self.engine.now(),
        })
    }

    /// Journals events and writes TASK.md accordingly. The index does not know of it yet, and the mark stays
    /// until [`TaskTx::unmark`].
    pub(crate) fn write(&mut self, events: Vec<Event>) -> Result<()> {
        self.mark()?;
        self.append(events)?;
        crash_point("commit.journalled");
        self.settle().map_err(|error| self.happened(error))?;
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
        .because(error)
    }

    /// Runs the hooks of the last transition that are still open, and closes it.
    pub(crate) fn finish_hooks(&mut self) -> Result<()> {
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
            .filter(|hook| hook.outcome == HookOutcome::Open)
            .map(|hook| hook.name.clone())
            .collect();
        let superseded = state.superseded;
        // Whoever journalled it may not have lived to tell of it; the same thing is told once.
        self.untold.extend(notify::worth_telling(
            &self.task,
            std::slice::from_ref(state.opening),
        ));
        self.mark()?;
        let mut events = Vec::new();
        for hook in open {
            crash_point("hook.before");
            let outcome = match superseded {
                true => effects::superseded(self.engine, &hook),
                false => effects::carry_out(self, &hook),
            };
            let acted = effects::acted(&hook, &outcome);
            events.extend(outcome.into_iter().map(|mut event| {
                event.transition = Some(transition.clone());
                event
            }));
            if acted {
                // What was done outside is journalled at once; the rest can wait for each other.
                self.outcome(std::mem::take(&mut events))?;
            }
            crash_point("hook.after");
        }
        events.push(machine::finish_transition(
            &self.task,
            &transition,
            self.engine.now(),
        ));
        self.outcome(events)
    }

    /// Makes sure of a slot before the task is said to have started. The task is listed as changing first, so
    /// that a reservation of a process that dies is found and given back.
    pub(crate) fn reserve(&mut self, task: &Task) -> Result<()> {
        self.mark()?;
        match self.engine.reserve_for(task) {
            Ok(_) => {
                crash_point("reserved");
                Ok(())
            }
            Err(error) => {
                self.unmark();
                Err(error)
            }
        }
    }

    /// Journals what became of hooks.
    fn outcome(&mut self, events: Vec<Event>) -> Result<()> {
        let changes_fields = events.iter().any(|event| event.revision.is_some());
        self.append(events).map_err(|error| self.happened(error))?;
        crash_point("hooks.journalled");
        self.unindexed = true;
        match changes_fields {
            true => self.settle(),
            false => Ok(()),
        }
    }

    /// Takes TASK.md as it is now, after something was written into it.
    pub(crate) fn reread(&mut self) -> Result<()> {
        self.mark()?;
        self.unindexed = true;
        self.settle()
    }

    /// The branch has another name now.
    pub(crate) fn rename_to(&mut self, branch: &str) -> Result<()> {
        self.correct(Field::Branch, branch.into(), "renamed in its worktree")?;
        self.follow_session();
        Ok(())
    }

    /// The tmux session is called as the branch is. A help for people, so nothing fails for it.
    pub(crate) fn follow_session(&mut self) {
        let renamed = self
            .engine
            .rename_session(&self.task)
            .and_then(|name| match name {
                Some(name) => {
                    self.correct(Field::TmuxSession, name.into(), "named after the branch")
                }
                None => Ok(()),
            });
        if let Err(error) = renamed {
            tracing::warn!(%error, "the session keeps its old name");
        }
    }

    /// The task has no slot, whatever it says.
    pub(crate) fn forget_workspace(&mut self) -> Result<()> {
        self.correct(Field::Workspace, Value::Null, "the slot is not its own")
    }

    /// Changes a field that only the engine may change.
    fn correct(&mut self, field: Field, value: Value, why: &str) -> Result<()> {
        let changes = std::iter::once((field.name().to_owned(), value)).collect();
        let event = machine::update(&self.task, changes, Actor::Engine, self.engine.now())
            .map_err(crate::engine::bad_value)?;
        match event {
            Some(event) => self.write(vec![event.because(why)]),
            None => Ok(()),
        }
    }

    /// The lease that the journal knows of.
    pub(crate) fn noted_lease(&self) -> Option<Lease> {
        let slot = self.task.workspace.clone()?;
        let mut events = self.snapshot.history.events.iter().rev();
        let epoch = events.find_map(|event| {
            let hook = HookEnded::of(event)?;
            hook.epoch.filter(|_| hook.slot == Some(&slot))
        })?;
        Some(Lease { slot, epoch })
    }

    /// The end of a change: what follows from it elsewhere is seen to while the task is still listed.
    pub(crate) fn conclude(&mut self) {
        if self.marked
            && let Err(error) = self.engine.drop_reservation(&self.task)
        {
            self.engine
                .notice(format!("a slot is still reserved for it: {error}"));
            return;
        }
        if self.marked
            && self.task.status.is_terminal()
            && let Err(error) = self.engine.advance_parent(&self.task)
        {
            self.engine
                .notice(format!("its parent could not be looked at: {error}"));
            return;
        }
        if self.marked && self.task.status.is_terminal() {
            self.engine.forget_environment(&self.task.id);
        }
        let untold = std::mem::take(&mut self.untold);
        self.engine.tell_person(&self.task, untold);
        self.unmark();
    }

    /// What a process that died may not have told the person any more; nothing is told twice.
    fn perhaps_untold(&self) -> Vec<Notification> {
        let events = &self.snapshot.history.events;
        let last = events
            .iter()
            .rposition(|event| event.kind == EventType::StatusChanged)
            .unwrap_or(0);
        notify::worth_telling(&self.task, events.get(last..).unwrap_or_default())
    }

    /// Gives the lock back while the task stays listed as changing: another process goes on with it.
    pub(crate) fn let_go(&mut self) {
        self.lock.release();
    }

    pub(crate) fn unmark(&mut self) {
        if self.writer_open {
            // Listed on purpose, so that the next command looks for what they write.
            if let Err(error) = self.mark() {
                tracing::warn!(%error, "a slow writer may be noticed late");
            }
            return;
        }
        if self.marked {
            crash_point("unmark.before");
            self.engine.store.unmark(&self.place);
            self.marked = false;
        }
    }

    fn mark(&mut self) -> Result<()> {
        if !self.marked {
            self.engine.store.mark(&self.place)?;
            self.marked = true;
            crash_point("marked");
        }
        Ok(())
    }

    pub(super) fn append(&mut self, mut events: Vec<Event>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        for event in &mut events {
            if event.kind == EventType::StatusChanged && event.transition.is_none() {
                event.transition = Some(transition_id());
            }
            machine::apply(&mut self.task, event)
                .map_err(|error| Error::new(Code::Failed, error.to_string()).because(error))?;
        }
        self.journal(events)
    }

    /// Writes events to the journal, durably; `task` already knows what they say.
    fn journal(&mut self, mut events: Vec<Event>) -> Result<()> {
        let path = self.place.journal();
        let mut seals = self.seals.clone();
        self.engine.seal(&self.task.id, &mut seals, &mut events)?;
        let lines: Vec<String> = events.iter().map(Event::to_line).collect();
        self.snapshot.journal_bytes =
            journal::append(&path, &lines).map_err(|error| Error::io("write", &path, &error))?;
        self.engine.remember_seals(&self.task.id, &seals, &events);
        self.seals = seals;
        event_log::tell(&self.task, &events);
        self.untold
            .extend(notify::worth_telling(&self.task, &events));
        self.snapshot.history.events.extend(events);
        Ok(())
    }

    /// The Context is the person's word to the agent: a change to it is kept but flagged.
    /// What went with a TASK.md that was missing was changed by nobody: it is lost.
    fn note_changed_context(&mut self, was_missing: bool) -> Result<()> {
        let seen = self
            .snapshot
            .history
            .own()
            .iter()
            .rev()
            .find_map(|event| event.context().map(str::to_owned));
        let current = context_mark(&self.body);
        match seen {
            Some(seen) if seen != current => {
                let gone = artifact::section(&self.body, "Context").is_none();
                let change = ContextChanged {
                    context: Some(&current),
                    gone: gone.then_some(true),
                };
                let mut event = Event::of(Payload::ContextChanged(change), self.engine.now())
                    .by(&self.engine.caller_name());
                if was_missing {
                    event = event.by("engine").because("TASK.md was missing");
                }
                let what = match (was_missing, gone) {
                    (true, _) => "its Context is lost, it went with TASK.md",
                    (false, true) => "its Context is gone from TASK.md",
                    (false, false) => "its Context was changed",
                };
                self.engine.notice(format!("{}: {what}", self.task.label()));
                self.append(vec![event])
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The index and the witness follow what was written, once all of it is: the mark leads here whoever
    /// comes after a process that died before.
    pub(crate) fn index(&mut self) -> Result<()> {
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
        self.engine.index()?.store(&[entry], &[]);
        self.unindexed = false;
        Ok(())
    }
}

/// Names a transition: its hooks and the runs that they start are known by it.
pub(crate) fn transition_id() -> String {
    nanoid::nanoid!(12, &orange_core::id::ID_ALPHABET)
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
        .hint(text!(
            "{} brings a deleted task back",
            Action::list_deleted()
        )),
        LockError::Io(error) => Error::io("lock", &place.path, &error),
    }
}

/// As [`damaged`], for a task without a journal that could tell more.
pub fn damaged_for_good(place: &Place, broken: &Broken) -> Error {
    let error = damaged(place, broken);
    match broken {
        Broken::Value { .. } => {
            error.hint("correct the line: there is no journal that has its last good value")
        }
        Broken::File(_)
        | Broken::Missing
        | Broken::NotAFile
        | Broken::Unreadable(_)
        | Broken::Journal(_) => error,
    }
}

pub fn damaged(place: &Place, broken: &Broken) -> Error {
    let message = format!("{}: {broken}", place.task_file().display());
    let error = Error::new(Code::Damaged, message);
    match broken {
        Broken::Value { .. } => error.hint(text!(
            "correct the line; or run {}, which puts back the last good value and keeps your file beside it",
            Action::repair()
        )),
        Broken::File(_)
        | Broken::Missing
        | Broken::NotAFile
        | Broken::Unreadable(_)
        | Broken::Journal(_) => error.hint(text!(
            "run {} to see what can be repaired, {} to do it",
            Action::check(),
            Action::repair()
        )),
    }
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests;

//! The unit of work: one task under its lock, brought into order first, then changed by events. Journal, TASK.md, witness and
//! index are written in that order; a process killed in between leaves a mark that the next one follows. Only verbs, views that
//! judge ended agents, recovery and `background/` open one. Read `tx/commit.rs` and `tx/decide.rs` next.

pub(crate) mod agents;
pub(crate) mod commit;
pub(crate) mod decide;
pub(crate) mod deferred;
pub(crate) mod execution;
pub(crate) mod racing;
pub(crate) mod refusal;
pub(crate) mod retry;
pub(crate) mod slot_drift;
pub(crate) mod taken_out;
pub(crate) mod write_reconciled;

use crate::call::{self, Call};
use crate::database::Mark;
use crate::effects::notify::{self, Notification};
use crate::effects::{self, delegation};
use crate::error::{Code, Error, IoContext, Result, err};
use crate::seal::SealedJournal;
use crate::seal_checks::{self, SealCheck};
use crate::store::lock::{LockError, TaskLock, Witness};
use crate::store::locks::Rank;
use crate::store::{LOCK_TIMEOUT, Place, Snapshot, feed, journal};
pub use crate::tx::commit::Committed;
pub use crate::tx::commit::FailedHook;
pub(crate) use crate::tx::refusal::explain_lock;
pub use crate::tx::write_reconciled::written_fields;
use crate::workspaces::acquire::Acquired;
use crate::workspaces::{self, Lease, acquire};
use crate::{
    allow_rules, event_log, facts, field_checks, home_record, sessions, started_by, trash,
};
pub use orange_agents::marks::context_mark;
pub(crate) use orange_agents::marks::review_mark;
use orange_core::history::payload::{ContextChanged, HookEnded};
use orange_core::history::{Event, EventType, HookOutcome, Payload};
use orange_core::machine::{self, Facts, Situation};
use orange_core::reconcile::Broken;
use orange_core::review::{self, ReviewerEnd};
use orange_core::task::{Field, Status, Task};
use orange_core::workflow::Actor;
use orange_core::{Action, artifact, text};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

/// A task that no other Orange process can change right now.
pub struct TaskTx<'a> {
    pub(crate) call: &'a Call,
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
    /// What was journalled and is not in the feed yet.
    untold: Vec<EventType>,
    /// The queue is to be looked at once the index has this change.
    asks_for_queue: bool,
    /// What the person is to hear of.
    unsent: Vec<Notification>,
    /// Rebuild what a command alone would not touch (`doctor --repair`).
    repair: bool,
    /// The seals of the journal as it was read, with lines that Orange did not write; `snapshot` is without them.
    sealed: SealCheck,
    /// The seals of the journal, up to its last event.
    seals: SealedJournal,
    /// Where the task was once its files were in order.
    from: Status,
    /// Rows of orange.db that the events journalled next tell of.
    told_rows: Vec<Mark>,
    /// How many events its journal had when it was locked.
    opened_at: usize,
    /// The slot that it got.
    pub(crate) acquired: Option<Acquired>,
}

/// Locks a task, puts its files in order and finishes what a dead process began.
pub fn lock_task(call: &Call, place: Place) -> Result<TaskTx<'_>> {
    let lock = wait_for_lock(call, &place, Rank::Task)?;
    opened(call, place, lock, false, false)
}

/// As [`lock_task`], for a task without a key that another task names, whose lock may be held.
pub(crate) fn lock_to_adopt(call: &Call, place: Place) -> Result<TaskTx<'_>> {
    let lock = wait_for_lock(call, &place, Rank::AdoptedTask)?;
    opened(call, place, lock, false, false)
}

/// As [`lock_task`], for the parent of a task whose lock may be held.
pub(crate) fn lock_parent(call: &Call, place: Place) -> Result<TaskTx<'_>> {
    let lock = wait_for_lock(call, &place, Rank::ParentTask)?;
    opened(call, place, lock, false, false)
}

/// Waits for the lock; reports the holder after a while.
fn wait_for_lock(call: &Call, place: &Place, rank: Rank) -> Result<TaskLock> {
    let tell = |busy: &LockError| (call.say)(&format!("waits: {}: {busy}", place.folder()));
    TaskLock::acquire_telling(&place.path, rank, LOCK_TIMEOUT, tell).map_err(|error| {
        let gone = match error {
            LockError::Gone => trash::explain_gone(call, place),
            LockError::Busy { .. } | LockError::Io(_) => None,
        };
        gone.unwrap_or_else(|| explain_lock(place, error))
    })
}

/// As [`lock_task`], for a task that this process has listed as changing.
pub(crate) fn lock_marked(call: &Call, place: Place) -> Result<TaskTx<'_>> {
    let lock = wait_for_lock(call, &place, Rank::Task)?;
    opened(call, place, lock, false, true)
}

/// Locks a damaged task and rebuilds it from what is left.
pub fn lock_for_repair(call: &Call, place: Place) -> Result<TaskTx<'_>> {
    let lock = wait_for_lock(call, &place, Rank::Task)?;
    opened(call, place, lock, true, false)
}

pub(crate) fn opened(
    call: &Call,
    place: Place,
    lock: TaskLock,
    repair: bool,
    marked: bool,
) -> Result<TaskTx<'_>> {
    home_record::refuse_copy(call)?;
    // Under the lock it is the mark of somebody who did not come to the end of a change.
    let was_left = call.store.is_marked(&place);
    let mut snapshot = call.store.read(&place)?;
    // Of what an earlier step left undone the feed may be all, too.
    let untold = snapshot.history.events.last().filter(|_| marked);
    let untold = untold.map(|event| event.kind.clone());
    let sealed = seal_checks::drop_unsealed(call, &mut snapshot.history);
    let torn = snapshot.torn;
    let was_missing = snapshot.file.as_ref().err() == Some(&Broken::Missing);
    let opened_at = snapshot.history.events.len();
    let mut tx = TaskTx {
        call,
        lock,
        task: Task::default(),
        body: String::new(),
        snapshot,
        marked,
        // Of what an earlier step left undone the index may be all.
        unindexed: marked,
        writer_open: false,
        untold: untold.into_iter().collect(),
        asks_for_queue: false,
        unsent: Vec::new(),
        repair,
        place,
        seals: sealed.seals.clone(),
        sealed,
        from: Task::default().status,
        told_rows: Vec::new(),
        opened_at,
        acquired: None,
    };
    if torn {
        call.notice(format!(
            "{}: the last line of history.jsonl was cut short; it is set aside",
            tx.place.folder()
        ));
    }
    tx.merge_leftovers()?;
    tx.write_reconciled()?;
    if marked {
        tx.unsent = tx.unsent_notifications();
    }
    tx.note_changed_context(was_missing)?;
    tx.check_slot()?;
    tx.note_kept_texts()?;
    if tx.finish_merge()? && tx.ends_itself() {
        let (from, opened_at) = (tx.from, tx.opened_at);
        let mut again = lock_task(call, tx.leave_to_errand()?)?;
        (again.from, again.opened_at) = (from, opened_at);
        return Ok(again);
    }
    tx.finish_hooks()?;
    tx.journal_rules()?;
    tx.journal_execution()?;
    tx.drop_staged_imports();
    tx.take_failed_check()?;
    tx.judge_ended_runs()?;
    tx.make_deferred_move()?;
    tx.follow_execution()?;
    tx.index()?;
    // Whoever queued it, or brought somebody their turn, may not have lived to say so.
    tx.asks_for_queue |= was_left && (tx.task.is_queued() || tx.asked_for_queue());
    tx.conclude();
    tx.from = tx.task.status;
    Ok(tx)
}

impl TaskTx<'_> {
    /// What the table is asked about: the task as it is, and these facts.
    pub(crate) fn situation<'a>(&'a self, facts: &'a Facts) -> Result<Situation<'a>> {
        facts::situation(self.call, &self.task, &self.body, facts)
    }

    fn review_problem(&self, by: Option<&str>, left: Option<ReviewerEnd<'_>>) -> Option<String> {
        facts::review_problem(self.call, &self.task, self.history(), &self.body, by, left)
    }

    fn with_verdict(&self, event: Event) -> Event {
        facts::with_verdict(self.call, &self.task, self.history(), &self.body, event)
    }

    /// Journals events and writes TASK.md accordingly. The index does not know of it yet, and the mark stays
    /// until [`TaskTx::unmark`].
    pub(crate) fn write(&mut self, events: Vec<Event>) -> Result<()> {
        self.mark()?;
        self.append(events)?;
        crash_point("commit.journalled");
        self.write_reconciled()
            .map_err(|error| self.happened(error))?;
        crash_point("commit.written");
        Ok(())
    }

    /// Once journalled, a change has happened, whatever goes wrong afterwards. It must not sound undone.
    fn happened(&self, error: Error) -> Error {
        let (label, status) = (self.task.label(), self.task.status);
        let message = format!("{label} is {status} now, and that is journalled; but {error}");
        let first = match error.code {
            Code::Storage => "free some disk space, or see to what it says; then ",
            _ => "",
        };
        let hint = format!(
            "{first}the next command, whichever it is, finishes this one: do not repeat it"
        );
        Error::new(error.code, message).hint(hint).because(error)
    }

    /// Journals what orange.db says of the task's rules and the journal does not: a process died in between.
    fn journal_rules(&mut self) -> Result<()> {
        for stored in allow_rules::unjournalled(self.call, &self.task.id) {
            if !allow_rules::is_journalled(self.history(), &stored) {
                self.note(vec![allow_rules::event(&stored)])?;
            }
            allow_rules::note_journalled(self.call, &stored)?;
        }
        Ok(())
    }

    /// Runs the hooks of the last transition that are still open, and closes it.
    pub(crate) fn finish_hooks(&mut self) -> Result<()> {
        let state = self.snapshot.history.last_transition();
        let Some(state) = state.filter(|state| !state.finished) else {
            return Ok(());
        };
        let Some(transition) = state.opening.transition.clone() else {
            return Ok(());
        };
        let hooks = state.hooks.iter();
        let open = hooks.filter(|hook| hook.outcome == HookOutcome::Open);
        let open: Vec<String> = open.map(|hook| hook.name.clone()).collect();
        let superseded = state.superseded;
        // Whoever journalled it may not have lived to tell of it; the same thing is told once.
        self.unsent.extend(notify::worth_telling(
            &self.task,
            &self.body,
            std::slice::from_ref(state.opening),
        ));
        self.mark()?;
        if !open.is_empty() {
            // Hooks may take minutes.
            self.tell_feed();
        }
        let mut events = Vec::new();
        for hook in open {
            crash_point("hook.before");
            let outcome = if superseded {
                effects::superseded(self.call, &hook)
            } else {
                effects::carry_out(self, &hook)
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
            self.call.now(),
        ));
        self.outcome(events)
    }

    /// Makes sure of a slot before the task is said to have started. The task is listed as changing first, so
    /// that a reservation of a process that dies is found and given back.
    pub(crate) fn reserve(&mut self, task: &Task) -> Result<()> {
        self.mark()?;
        if let Err(error) = acquire::reserve_for(self.call, task) {
            self.unmark();
            return Err(error);
        }
        crash_point("reserved");
        Ok(())
    }

    /// Journals what became of hooks.
    fn outcome(&mut self, events: Vec<Event>) -> Result<()> {
        let changes_fields = events.iter().any(|event| event.revision.is_some());
        self.append(events).map_err(|error| self.happened(error))?;
        crash_point("hooks.journalled");
        self.unindexed = true;
        if changes_fields {
            self.write_reconciled()
        } else {
            Ok(())
        }
    }

    /// Has the queue looked at when this change is over.
    pub(crate) fn ask_for_queue(&mut self) {
        self.asks_for_queue = true;
    }

    /// Takes TASK.md as it is now, after something was written into it.
    pub(crate) fn reread(&mut self) -> Result<()> {
        self.mark()?;
        self.unindexed = true;
        self.write_reconciled()
    }

    /// The tmux session is called as the branch is. A help for people, so nothing fails for it.
    pub(crate) fn follow_session(&mut self) {
        let renamed = sessions::rename_session(self.call, &self.task).and_then(|name| match name {
            Some(name) => self.correct(Field::TmuxSession, name.into(), "named after the branch"),
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
    pub(super) fn correct(&mut self, field: Field, value: Value, why: &str) -> Result<()> {
        match self.correction(field, value, why)? {
            Some(event) => self.write(vec![event]),
            None => Ok(()),
        }
    }

    pub(crate) fn correction(
        &self,
        field: Field,
        value: Value,
        why: &str,
    ) -> Result<Option<Event>> {
        let changes = std::iter::once((field.name().to_owned(), value)).collect();
        let event = machine::update(&self.task, changes, Actor::Engine, self.call.now())
            .map_err(field_checks::bad_value)?;
        Ok(event.map(|event| event.because(why)))
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
        let (call, task) = (self.call, &self.task);
        if self.asks_for_queue
            && let Err(error) = call::request_queue_run(call)
        {
            return call.notice(format!("nobody was asked to look at the queue: {error}"));
        }
        self.asks_for_queue = false;
        if self.marked
            && let Err(error) = workspaces::drop_reservation(call, task)
        {
            return call.notice(format!("a slot is still reserved for it: {error}"));
        }
        if self.marked && task.status.is_terminal() {
            if let Err(error) = delegation::advance_parent(call, task) {
                return call.notice(format!("its parent could not be looked at: {error}"));
            }
            started_by::forget_environment(call, &task.id);
        }
        let unsent = std::mem::take(&mut self.unsent);
        notify::notify_person(self.call, &self.task, unsent);
        self.unmark();
    }

    /// What a process that died may not have told the person any more; nothing is told twice.
    fn unsent_notifications(&self) -> Vec<Notification> {
        let events = &self.snapshot.history.events;
        let last = events
            .iter()
            .rposition(|event| event.is_move())
            .unwrap_or(0);
        notify::worth_telling(
            &self.task,
            &self.body,
            events.get(last..).unwrap_or_default(),
        )
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
            self.call.store.unmark(&self.place);
            self.marked = false;
        }
    }

    /// Lists the task as changing: should this process die, the next command, whichever it is, finishes what it began.
    pub(crate) fn mark(&mut self) -> Result<()> {
        if !self.marked {
            self.call.store.mark(&self.place)?;
            self.marked = true;
            crash_point("marked");
        }
        Ok(())
    }

    pub(super) fn append(&mut self, events: Vec<Event>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let mut all = Vec::with_capacity(events.len());
        for mut event in events {
            if event.is_move() && event.transition.is_none() {
                event.transition = Some(transition_id());
            }
            machine::apply(&mut self.task, &event)
                .map_err(|error| Error::new(Code::Failed, error.to_string()).because(error))?;
            // In the same write as the move.
            let review = review::noted_beside(&event, &self.task);
            let over = machine::over_at_once(&self.task, &event, self.call.now());
            all.push(event);
            all.extend(review);
            self.asks_for_queue |= over.is_some();
            all.extend(over.into_iter().flatten());
        }
        self.journal(all)
    }

    /// Writes events to the journal, durably; `task` already knows what they say.
    fn journal(&mut self, mut events: Vec<Event>) -> Result<()> {
        let path = self.place.journal();
        let mut seals = self.seals.clone();
        seal_checks::seal(self.call, &self.task.id, &mut seals, &mut events)?;
        let lines: Vec<String> = events.iter().map(Event::to_line).collect();
        self.snapshot.journal_bytes = journal::append(&path, &lines).doing("write", &path)?;
        let marks = std::mem::take(&mut self.told_rows);
        seal_checks::note_journalled(self.call, &self.task.id, &seals, &events, &marks);
        self.seals = seals;
        event_log::tell(self.call.spell, &self.task, &events);
        let kinds = events.iter().map(|event| event.kind.clone());
        self.untold.extend(kinds);
        self.unsent
            .extend(notify::worth_telling(&self.task, &self.body, &events));
        self.snapshot.history.events.extend(events);
        Ok(())
    }

    /// The Context is the person's word to the agent: a change to it is kept but flagged.
    /// What went with a TASK.md that was missing was changed by nobody: it is lost.
    fn note_changed_context(&mut self, was_missing: bool) -> Result<()> {
        let mut newest_first = self.history().own().iter().rev();
        let seen = newest_first.find_map(Event::context);
        let current = context_mark(&self.body);
        if seen.is_none_or(|seen| seen == current) {
            return Ok(());
        }
        let gone = artifact::section(&self.body, "Context").is_none();
        let change = ContextChanged {
            context: Some(&current),
            gone: gone.then_some(true),
        };
        let mut event = Event::of(Payload::ContextChanged(change), self.call.now())
            .by(&self.call.caller_name());
        if was_missing {
            event = event.by("engine").because("TASK.md was missing");
        }
        let what = match (was_missing, gone) {
            (true, _) => "its Context is lost, it went with TASK.md",
            (false, true) => "its Context is gone from TASK.md",
            (false, false) => "its Context was changed",
        };
        self.call.notice(format!("{}: {what}", self.task.label()));
        self.append(vec![event])
    }

    /// The index and the witness follow what was written, once all of it is: the mark leads here whoever
    /// comes after a process that died before.
    pub(crate) fn index(&mut self) -> Result<()> {
        if !self.unindexed {
            return Ok(());
        }
        let entry = self.snapshot.entry_of(&self.place, self.task.clone());
        let witness = Witness {
            revision: self.task.revision,
            journal_bytes: self.snapshot.journal_bytes,
            front: self.snapshot.front_mark(&entry.noted),
        };
        if let Err(error) = self.lock.set_witness(witness) {
            tracing::warn!(%error, "the lock file could not be written");
        }
        self.call.index()?.store(&[entry], &[]);
        self.unindexed = false;
        self.tell_feed();
        Ok(())
    }

    /// Tells other processes that the task has changed. They read its files and the index.
    fn tell_feed(&mut self) {
        self.call.store.append_to_feed(&feed::FeedLine {
            time: self.call.now(),
            folder: self.place.folder(),
            revision: self.task.revision,
            events: std::mem::take(&mut self.untold),
        });
    }
}

/// Names a transition: its hooks and the runs that they start are known by it.
pub(crate) fn transition_id() -> String {
    nanoid::nanoid!(12, &orange_core::id::ID_ALPHABET)
}

/// As [`damaged`], for a task without a journal that could tell more.
pub fn damaged_for_good(place: &Place, broken: &Broken) -> Error {
    let error = damaged(place, broken);
    if matches!(broken, Broken::Value { .. }) {
        return error.hint("correct the line: there is no journal that has its last good value");
    }
    error
}

pub fn damaged(place: &Place, broken: &Broken) -> Error {
    let repair = Action::repair();
    let hint = if matches!(broken, Broken::Value { .. }) {
        text!(
            "correct the line; or run {}, which puts back the last good value and keeps your file beside it",
            repair
        )
    } else {
        text!(
            "run {} to see what can be repaired, {} to do it",
            Action::check(),
            repair
        )
    };
    err!(Damaged, "{}: {broken}", place.task_file().display()).hint(hint)
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests;

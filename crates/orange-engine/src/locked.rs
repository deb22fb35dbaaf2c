//! One task under its lock: brought into order first, then changed by events. Journal, TASK.md, witness and
//! index are written in that order; a process killed in between leaves a mark that the next one follows.

use crate::effects;
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::index::Entry;
use crate::store::faults::crash_point;
use crate::store::lock::{LockError, TaskLock, Witness};
use crate::store::replace::{self, Outcome, Theirs};
use crate::store::{self, PATIENCE, Place, Snapshot, journal, nanoseconds};
use orange_core::Timestamp;
use orange_core::artifact;
use orange_core::history::{Event, EventType, History};
use orange_core::machine;
use orange_core::reconcile::{Broken, Reconciled, differing_fields};
use orange_core::task::{Field, Task};
use orange_core::task_file::{TaskFile, salvage_body};
use serde_json::Value;

/// Racing writers are merged one after the other; after so many the next command goes on.
const MOST_MERGES: usize = 32;

/// A task that no other Orange process can change right now.
pub struct LockedTask {
    lock: TaskLock,
    pub place: Place,
    pub task: Task,
    pub history: History,
    /// The body as last read. Never written back: every write takes the body from the file anew.
    pub body: String,
    journal_bytes: u64,
    /// When TASK.md was last read: nanoseconds since 1970.
    read_at: i64,
    marked: bool,
    /// Rebuild what a command alone would not touch (`doctor --repair`).
    repair: bool,
}

impl Engine {
    /// Locks a task, puts its files in order and finishes what a dead process began.
    pub fn lock_task(&mut self, place: Place) -> Result<LockedTask> {
        let lock = TaskLock::acquire(&place.path, PATIENCE)
            .map_err(|error| explain_lock(&place, error))?;
        self.opened(place, lock, false)
    }

    /// As [`Engine::lock_task`], but None when another process has it.
    pub fn try_lock_task(&mut self, place: Place) -> Result<Option<LockedTask>> {
        match TaskLock::try_acquire(&place.path) {
            Ok(Some(lock)) => self.opened(place, lock, false).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(explain_lock(&place, error)),
        }
    }

    /// Locks a damaged task and rebuilds it from what is left.
    pub fn lock_for_repair(&mut self, place: Place) -> Result<LockedTask> {
        let lock = TaskLock::acquire(&place.path, PATIENCE)
            .map_err(|error| explain_lock(&place, error))?;
        self.opened(place, lock, true)
    }

    fn opened(&mut self, place: Place, lock: TaskLock, repair: bool) -> Result<LockedTask> {
        let snapshot = self.store.read(&place)?;
        let mut locked = LockedTask {
            lock,
            task: Task::default(),
            body: snapshot.body().to_owned(),
            history: snapshot.history,
            journal_bytes: snapshot.journal_bytes,
            read_at: snapshot.read_at,
            marked: false,
            repair,
            place,
        };
        if snapshot.torn {
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
        locked.unmark(self);
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
        self.settle(engine)?;
        crash_point("commit.written");
        Ok(())
    }

    /// Runs the hooks of the last transition that are still open, and closes it.
    pub fn finish_hooks(&mut self, engine: &mut Engine) -> Result<()> {
        let Some(state) = self.history.last_transition() else {
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
        self.append(events)?;
        crash_point("hooks.journalled");
        if changes_fields {
            self.settle(engine)?;
        }
        Ok(())
    }

    pub fn unmark(&mut self, engine: &Engine) {
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
        let path = self.place.journal();
        let lines: Vec<String> = events.iter().map(Event::to_line).collect();
        self.journal_bytes =
            journal::append(&path, &lines).map_err(|error| Error::io("write", &path, &error))?;
        for event in events {
            machine::apply(&mut self.task, &event)
                .map_err(|error| Error::new(Code::Failed, error.to_string()))?;
            self.history.events.push(event);
        }
        Ok(())
    }

    /// Makes TASK.md say what the journal says, and the journal what people wrote into TASK.md.
    fn settle(&mut self, engine: &mut Engine) -> Result<()> {
        let target = self.place.task_file();
        self.read_at = nanoseconds(Timestamp::now());
        let mut in_place = self.content()?;
        let mut found = in_place.clone();
        let mut merged: Vec<Theirs> = Vec::new();
        for _ in 0..MOST_MERGES {
            let mut snapshot = engine.store.snapshot(
                &self.place,
                found.as_deref(),
                self.journal_bytes,
                self.read_at,
            );
            let truth = self.truth(engine, &mut snapshot)?;
            if !truth.events.is_empty() {
                self.mark(engine)?;
            }
            let rewrite = truth.rewrite;
            let file = self.rendered(engine, &snapshot, found.as_deref(), truth)?;
            self.body = file.body().to_owned();
            if !rewrite && in_place.as_deref() == Some(file.text().as_bytes()) {
                break;
            }
            self.mark(engine)?;
            let new = file.text().as_bytes().to_vec();
            let outcome = replace::replace(&target, in_place.as_deref(), &new)
                .map_err(|error| Error::io("write", &target, &error))?;
            match outcome {
                Outcome::Done | Outcome::WriterOpen => break,
                Outcome::Stale => {
                    in_place = self.content()?;
                    found = in_place.clone();
                }
                Outcome::Overtaken(theirs) => {
                    found = Some(theirs.bytes().to_vec());
                    in_place = Some(new);
                    merged.push(theirs);
                }
            }
        }
        discard(merged);
        Ok(())
    }

    fn content(&self) -> Result<Option<Vec<u8>>> {
        let target = self.place.task_file();
        if rustix::fs::lstat(&target)
            .is_ok_and(|stat| !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file())
        {
            return Ok(None);
        }
        Ok(replace::read(&target)
            .map_err(|error| Error::io("read", &target, &error))?
            .map(|content| content.bytes))
    }

    /// Reconciles file and journal, journals what comes out of it, and refuses what a person must mend.
    fn truth(&mut self, engine: &mut Engine, snapshot: &mut Snapshot) -> Result<Reconciled> {
        let now = engine.now();
        let witness = self.lock.witness();
        let place = self.place.clone();
        let mut turned_down = Vec::new();
        std::mem::swap(&mut snapshot.history, &mut self.history);
        let verdict = {
            let mut refuse = |field: Field, task: &Task| {
                let reason = engine.refuses(&place, field, task);
                turned_down.extend(reason.clone());
                reason
            };
            snapshot.reconcile(&place, &|| witness, now, &mut refuse)
        };
        std::mem::swap(&mut snapshot.history, &mut self.history);
        let mut truth = match verdict {
            Ok(truth) => truth,
            Err(broken) if self.repair => self.last_resort(engine, &broken)?,
            Err(broken) => return Err(damaged(&self.place, &broken)),
        };
        if let Some(broken) = &truth.broken {
            if self.repair {
                if let Broken::Value { .. } = broken {
                    truth.rewrite = true;
                }
            } else if !broken.is_rebuilt_by_commands() {
                return Err(damaged(&self.place, broken));
            }
        }
        if truth.unadopted && truth.task.key.is_none() {
            let key = engine.key_for_adopted(&truth.task)?;
            truth.task.key = Some(key);
            for event in &mut truth.events {
                event
                    .fields
                    .insert(Field::Key.name().into(), Value::from(key.to_string()));
            }
        }
        self.report(engine, &truth);
        if !truth.events.is_empty() {
            self.mark(engine)?;
            let path = self.place.journal();
            let lines: Vec<String> = truth.events.iter().map(Event::to_line).collect();
            self.journal_bytes = journal::append(&path, &lines)
                .map_err(|error| Error::io("write", &path, &error))?;
            self.history.events.append(&mut truth.events.clone());
            crash_point("reconciled.journalled");
        }
        self.task = truth.task.clone();
        Ok(truth)
    }

    /// No journal of ours and no usable file: what the folder itself still tells.
    fn last_resort(&self, engine: &Engine, broken: &Broken) -> Result<Reconciled> {
        let now = engine.now();
        let mut task = Task {
            id: self.place.name.replace('/', "-"),
            project: self.place.project.clone(),
            branch: self.place.name.clone(),
            created_at: now,
            updated_at: now,
            revision: 1,
            ..Task::default()
        };
        if task.branch == task.id {
            task.branch = format!("orange-tasks/{}", task.id);
        }
        let mut event = Event::new(EventType::TaskAdopted, now)
            .by("engine")
            .because(broken.to_string());
        event.revision = Some(1);
        event.fields = task.to_fields();
        Ok(Reconciled {
            task,
            events: vec![event],
            archive: Vec::new(),
            rewrite: true,
            broken: Some(broken.clone()),
            unadopted: true,
        })
    }

    /// The new TASK.md: only what differs is changed, the body only by the headings events renamed.
    fn rendered(
        &self,
        engine: &mut Engine,
        snapshot: &Snapshot,
        found: Option<&[u8]>,
        truth: Reconciled,
    ) -> Result<TaskFile> {
        let usable = match (&truth.broken, &snapshot.file) {
            (None | Some(Broken::Value { .. }), Ok(file)) => Some(file.clone()),
            (_, Ok(_) | Err(_)) => None,
        };
        let Some(mut file) = usable else {
            self.set_aside(engine, found)?;
            let body = found.map(salvage_body).unwrap_or_default();
            return Ok(TaskFile::create(&written_fields(&self.task), &body));
        };
        let changes: Vec<(&str, Option<Value>)> = differing_fields(&file, &self.task)
            .into_iter()
            .map(|field| (field.name(), Some(self.task.get(field))))
            .collect();
        file.edit(&changes).map_err(|error| {
            Error::new(
                Code::Damaged,
                format!("cannot edit {}: {error}", self.place.task_file().display()),
            )
        })?;
        for step in &truth.archive {
            if let Some(body) = artifact::archive(file.body(), &step.section, step.round) {
                file.set_body(&body);
            }
        }
        Ok(file)
    }

    /// Keeps what cannot be read under another name, so that rebuilding loses nothing.
    fn set_aside(&self, engine: &mut Engine, found: Option<&[u8]>) -> Result<()> {
        let target = self.place.task_file();
        let name = format!("TASK.md.damaged-{}", engine.file_stamp());
        let aside = self.place.path.join(&name);
        let kept = match found {
            Some(bytes) => replace::write_atomic(&aside, bytes),
            None if rustix::fs::lstat(&target).is_ok() => std::fs::rename(&target, &aside),
            None => return Ok(()),
        };
        kept.map_err(|error| Error::io("set aside", &target, &error))?;
        engine.notice(format!(
            "{}: TASK.md was rebuilt from its journal; the damaged file is kept as {name}",
            self.task.label()
        ));
        Ok(())
    }

    /// Writes of people that an earlier, interrupted replacement had swapped out.
    fn merge_leftovers(&mut self, engine: &mut Engine) -> Result<()> {
        let target = self.place.task_file();
        if !target.is_file() {
            return Ok(());
        }
        let left = replace::settle_leftovers(&target)
            .map_err(|error| Error::io("read", &target, &error))?;
        for theirs in left.written {
            let current = self.content()?.unwrap_or_default();
            if theirs.was_replaced_by(&current) {
                let outcome = replace::replace(&target, Some(&current), theirs.bytes())
                    .map_err(|error| Error::io("write", &target, &error))?;
                if matches!(outcome, Outcome::Done) {
                    discard(vec![theirs]);
                }
                continue;
            }
            let name = format!("TASK.md.conflict-{}", engine.file_stamp());
            replace::write_atomic(&self.place.path.join(&name), theirs.bytes())
                .map_err(|error| Error::io("write", &target, &error))?;
            engine.notice(format!(
                "{}: two writers changed TASK.md at once; the older text is kept as {name}",
                self.place.folder()
            ));
            discard(vec![theirs]);
        }
        Ok(())
    }

    /// The Context is the person's word to the agent: a change to it is kept but flagged.
    fn note_changed_context(&mut self, engine: &mut Engine) -> Result<()> {
        let seen = self
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

    fn report(&self, engine: &mut Engine, truth: &Reconciled) {
        let label = truth.task.label();
        for event in &truth.events {
            let names: Vec<&str> = event.fields.keys().map(String::as_str).collect();
            if event.kind == EventType::FieldsRestored {
                let found = event.details.get("found");
                let described: Vec<String> = found
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| {
                        format!(
                            "{name} {} → {}",
                            plain(value),
                            plain(&field_of(truth, name))
                        )
                    })
                    .collect();
                let why = match &event.reason {
                    Some(reason) => format!(" ({reason})"),
                    None => String::new(),
                };
                engine.notice(format!(
                    "{label}: TASK.md was edited by hand; put back: {}{why}",
                    described.join(", ")
                ));
            } else if event.kind == EventType::TaskUpdated {
                engine.notice(format!(
                    "{label}: taken over from TASK.md: {}",
                    names.join(", ")
                ));
            } else if event.kind == EventType::JournalRecovered {
                engine.notice(format!(
                    "{label}: history.jsonl had lost events; TASK.md is taken as it is"
                ));
            }
        }
    }

    /// The index and the witness follow what was written, once all of it is.
    pub(crate) fn index(&mut self, engine: &mut Engine) -> Result<()> {
        let witness = Witness {
            revision: self.task.revision,
            journal_bytes: self.journal_bytes,
        };
        if let Err(error) = self.lock.set_witness(witness) {
            tracing::warn!(%error, "the lock file could not be written");
        }
        let folder = self.place.folder();
        let stamp = store::stamp(&self.place);
        if !self.marked && engine.index()?.is_current(&folder, stamp) {
            return Ok(());
        }
        // Whatever somebody writes meanwhile is younger than `read_at`: the next refresh reads it.
        let entry = Entry {
            folder,
            task: self.task.clone(),
            damaged: None,
            attention: store::attention(&self.history),
            mentions: store::mentions(&self.task, &self.body),
            stamp,
            read_at: self.read_at,
        };
        engine.index()?.store(&[entry], &[]);
        Ok(())
    }
}

fn field_of(truth: &Reconciled, name: &str) -> Value {
    Field::from_name(name).map_or(Value::Null, |field| truth.task.get(field))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn discard(merged: Vec<Theirs>) {
    for theirs in merged {
        if let Err(error) = theirs.discard() {
            tracing::warn!(%error, "a swapped-out TASK.md could not be removed");
        }
    }
}

/// Fields as a new TASK.md shows them: what is empty is left out.
pub fn written_fields(task: &Task) -> Vec<(&'static str, Value)> {
    Field::ALL
        .iter()
        .map(|field| (field.name(), task.get(*field)))
        .filter(|(name, value)| *name == Field::Summary.name() || !is_empty(value))
        .collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
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

fn explain_lock(place: &Place, error: LockError) -> Error {
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
        Broken::File(_) | Broken::Missing | Broken::NotAFile | Broken::Journal(_) => error.hint(
            "run `orange doctor` to see what can be repaired, `orange doctor --repair` to do it",
        ),
    }
}

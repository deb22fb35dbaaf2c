//! TASK.md and its journal made to say the same, while people and agents may be writing TASK.md.

use crate::call;
use crate::error::{Error, IoContext, Result, err};
use crate::field_checks::{self, bad_value};
use crate::keys;
use crate::store::replace::{self, Replacement, Theirs};
use crate::store::{nanoseconds, stamp_at};
use crate::tx::racing::{Race, discard_all};
use crate::tx::{TaskTx, context_mark, damaged, damaged_for_good};
use orange_core::history::payload::{Details as _, FieldsRestored, TaskFound};
use orange_core::history::{AppendSection, ArchiveSection, Event, EventType, History};
use orange_core::reconcile::{Broken, Reconciled, begins_anew, differing_fields, last_resort};
use orange_core::task::{Field, Task};
use orange_core::task_file::{TaskFile, salvage_body};
use orange_core::{Action, TaskName, artifact, gate, machine, text};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

/// Racing writers are merged one after the other; after so many the next command goes on.
pub(crate) const MOST_MERGES: usize = 32;

/// How often a command looks at a TASK.md that is half written; each look waits a tenth of a second.
const HALF_WRITTEN_LOOKS: usize = 20;

impl TaskTx<'_> {
    /// Makes TASK.md say what the journal says, and the journal what people wrote into TASK.md.
    pub(super) fn write_reconciled(&mut self) -> Result<()> {
        let target = self.place.task_file();
        let mut wrote = false;
        let mut in_place = self.content()?;
        let mut found = in_place.clone();
        // Texts of other writers that are in `found`, and still in files that were swapped out.
        let mut pending: Vec<Theirs> = Vec::new();
        for round in 0..=MOST_MERGES {
            if let Some(bytes) = &found {
                self.snapshot.file = TaskFile::parse(bytes).map_err(Broken::File);
            }
            let events = self.snapshot.history.events.len();
            let truth = self.truth(found.as_deref())?;
            wrote |= self.snapshot.history.events.len() > events;
            let file = self.rendered(found.as_deref(), truth)?;
            let new = file.text().as_bytes().to_vec();
            self.body = file.body().to_owned();
            self.snapshot.file = Ok(file);
            if in_place.as_deref() == Some(new.as_slice()) {
                discard_all(&mut pending);
                break;
            }
            if round == MOST_MERGES {
                // What is pending stays on disk for the next command.
                self.writer_open = true;
                break;
            }
            self.mark()?;
            wrote = true;
            for theirs in &mut pending {
                theirs.note_merge(&new).doing("write", &target)?;
            }
            let outcome =
                replace::replace(&target, in_place.as_deref(), &new).doing("write", &target)?;
            let race = Race {
                in_place: in_place.as_deref(),
                found: found.as_deref(),
                new: &new,
            };
            match outcome {
                Replacement::Done => {
                    discard_all(&mut pending);
                    break;
                }
                Replacement::WriterOpen => {
                    discard_all(&mut pending);
                    self.writer_open = true;
                    break;
                }
                Replacement::Stale => {
                    let now = self.content()?;
                    let merged = self.merge_stale(&race, now.as_deref())?;
                    if merged.is_none() {
                        // They are in a file beside TASK.md, if anything of them would be missing.
                        discard_all(&mut pending);
                    }
                    found = merged.or_else(|| now.clone());
                    in_place = now;
                }
                Replacement::Overtaken(theirs) => {
                    discard_all(&mut pending);
                    let merged = self.merge_overtaken(&race, &theirs)?;
                    found = Some(merged.unwrap_or_else(|| new.clone()));
                    pending.push(theirs);
                    in_place = Some(new);
                }
            }
        }
        if wrote {
            // Somebody who writes between our reading and this look is newer than `read_at`: read again then.
            self.snapshot.stamp = stamp_at(&target);
            self.unindexed = true;
        }
        Ok(())
    }

    /// TASK.md as it is now; None when there is none, or something that is no file. One that somebody is in the
    /// middle of writing is not mistaken for a damaged one.
    pub(super) fn content(&mut self) -> Result<Option<Vec<u8>>> {
        let target = self.place.task_file();
        self.snapshot.read_at = nanoseconds(self.call.now());
        let stat = rustix::fs::lstat(&target);
        let is_file = |mode| rustix::fs::FileType::from_raw_mode(mode).is_file();
        match stat {
            Ok(stat) if !is_file(stat.st_mode) => {
                self.snapshot.file = Err(Broken::NotAFile);
                return Ok(None);
            }
            Ok(_) => {}
            Err(rustix::io::Errno::NOENT) => {
                self.snapshot.file = Err(Broken::Missing);
                return Ok(None);
            }
            Err(error) => return Err(Error::io("read", &target, &error.into())),
        }
        for _ in 0..HALF_WRITTEN_LOOKS {
            let content = replace::read(&target).doing("read", &target)?;
            let Some(content) = content else {
                return Ok(None);
            };
            let half = content.writer_open && TaskFile::parse(&content.bytes).is_err();
            if !half || self.repair {
                return Ok(Some(content.bytes));
            }
        }
        Err(err!(
            Busy,
            "{} is being written by another program",
            target.display()
        )
        .hint(text!(
            "run the command again when it is saved; {} rebuilds it as it is",
            Action::repair()
        )))
    }

    /// Reconciles file and journal, journals what comes out of it, and refuses what a person must mend.
    fn truth(&mut self, found: Option<&[u8]>) -> Result<Reconciled> {
        let now = self.call.now();
        let witness = self.lock.witness();
        let place = self.place.clone();
        let mut put_back = None;
        let verdict = loop {
            let mut refuse =
                |field: Field, task: &Task| field_checks::refuses(self.call, &place, field, task);
            let verdict = self
                .snapshot
                .reconcile(&place, &|| witness, now, &mut refuse);
            match self.bad_field(&verdict) {
                // Only that value goes back to what it was; the other edits in the file stay.
                Some((broken, field, value)) => {
                    let name = field.name();
                    if let Ok(file) = &mut self.snapshot.file {
                        file.edit(&[(name, Some(value))]).map_err(|error| {
                            err!(Damaged, "{name} cannot be put back: {error}").because(error)
                        })?;
                    }
                    put_back.get_or_insert(broken);
                }
                None => break verdict,
            }
        };
        let mut truth = match verdict {
            Ok(truth) => truth,
            Err(broken) if self.repair => self.last_resort(found, broken)?,
            Err(broken) => return Err(damaged_for_good(&self.place, &broken)),
        };
        truth.broken = truth.broken.or(put_back);
        if let Some(broken) = &truth.broken {
            if !self.repair && !broken.is_rebuilt_by_commands() {
                return Err(damaged(&self.place, broken));
            }
            if matches!(broken, Broken::Value { .. }) && !truth.unadopted {
                let event = Event::new(EventType::FrontmatterRebuilt, now)
                    .by("engine")
                    .because(broken.to_string());
                let event = machine::number(event, &truth.task);
                machine::apply(&mut truth.task, &event).map_err(bad_value)?;
                truth.events.push(event);
            }
        }
        let unadopted = truth.unadopted;
        if unadopted && truth.task.key.is_none() {
            let key = keys::key_for_adopted(self.call, &truth.task)?;
            truth.task.key = Some(key);
            for event in &mut truth.events {
                event
                    .fields
                    .insert(Field::Key.name().into(), Value::from(key.to_string()));
            }
        }
        if unadopted {
            let context = context_mark(self.snapshot.body());
            // What a review of the older program came to is what the file says now; later it can be edited.
            let verdict = gate::verdict(self.snapshot.body());
            for event in &mut truth.events {
                let found = TaskFound {
                    verdict: verdict.filter(|_| event.kind == EventType::TaskAdopted),
                    context: Some(&context),
                    ..TaskFound::default()
                };
                found.write(event);
            }
        }
        self.report(&truth);
        self.task = truth.task.clone();
        if !truth.events.is_empty() {
            self.mark()?;
            // Out of the backlog, or without what it waited for: whoever edits a file looks at no queue.
            if self.task.is_queued()
                && truth
                    .events
                    .iter()
                    .any(|event| event.kind == EventType::TaskUpdated)
            {
                call::request_queue_run(self.call)?;
            }
            self.journal(std::mem::take(&mut truth.events))?;
            crash_point("reconciled.journalled");
        }
        Ok(truth)
    }

    /// For `doctor --repair`: a value that cannot be used, and what the journal has instead.
    fn bad_field(
        &self,
        verdict: &std::result::Result<Reconciled, Broken>,
    ) -> Option<(Broken, Field, Value)> {
        let truth = verdict.as_ref().ok();
        let truth = truth.filter(|truth| self.repair && !truth.unadopted)?;
        let broken = truth.broken.as_ref()?;
        let Broken::Value { problem, .. } = broken else {
            return None;
        };
        let field = problem.field;
        Some((broken.clone(), field, truth.task.get(field)))
    }

    /// For `doctor --repair`: no usable journal, or no usable file either.
    fn last_resort(&self, found: Option<&[u8]>, broken: Broken) -> Result<Reconciled> {
        let now = self.call.now();
        if let (Broken::Journal(_), Ok(_)) = (&broken, &self.snapshot.file) {
            let mut without_journal = self.snapshot.clone();
            without_journal.history = History::default();
            let outcome = without_journal.reconcile(&self.place, &|| None, now, &mut |_, _| None);
            return outcome.map_err(|broken| damaged_for_good(&self.place, &broken));
        }
        if self.snapshot.file.is_ok() {
            // A value that cannot be used, and no journal that has another.
            return Err(damaged_for_good(&self.place, &broken));
        }
        let folder = self.snapshot.folder(&self.place, &|| None);
        let outcome = last_resort(found.unwrap_or_default(), broken, folder, now);
        outcome.map_err(|unknown| {
            err!(
                Damaged,
                "{}, and there is no journal to rebuild it from; correct {} by hand",
                unknown.missing.join("; "),
                self.place.task_file().display()
            )
            .hint(text!(
                "{} moves the task to the trash",
                Action::delete(TaskName::new("", None, &self.place.name))
            ))
        })
    }

    /// The new TASK.md: only what differs is changed, the body only by the headings events renamed.
    fn rendered(&self, found: Option<&[u8]>, truth: Reconciled) -> Result<TaskFile> {
        let mut file = match (&truth.broken, &self.snapshot.file) {
            (None | Some(Broken::Value { .. }), Ok(file)) => file.clone(),
            (_, Ok(_) | Err(_)) => {
                let body = found.map(salvage_body).unwrap_or_default();
                TaskFile::create(&written_fields(&self.task), &body)
            }
        };
        if truth.broken.is_some() || self.snapshot.file.is_err() {
            self.set_aside(found)?;
        }
        let differing = differing_fields(&file, &self.task).into_iter();
        let changes = differing.map(|field| (field.name(), Some(self.task.get(field))));
        let changes: Vec<(&str, Option<Value>)> = changes.collect();
        file.edit(&changes).map_err(|error| {
            let path = self.place.task_file();
            err!(Damaged, "cannot edit {}: {error}", path.display())
                .hint(text!("run {}", Action::check()))
                .because(error)
        })?;
        archive(&mut file, &truth.archive);
        append(&mut file, &truth.append);
        Ok(file)
    }

    /// Keeps what cannot be read under another name, so that rebuilding loses nothing.
    fn set_aside(&self, found: Option<&[u8]>) -> Result<()> {
        let target = self.place.task_file();
        let name = format!("TASK.md.damaged-{}", self.call.file_stamp());
        let aside = self.place.path.join(&name);
        let kept = match found {
            Some(bytes) => replace::write_atomic(&aside, bytes),
            None if rustix::fs::lstat(&target).is_ok() => std::fs::rename(&target, &aside),
            None => return Ok(()),
        };
        kept.doing("set aside", &target)?;
        self.call.notice(format!(
            "{}: TASK.md was rebuilt from its journal; the damaged file is kept as {name}",
            self.task.label()
        ));
        Ok(())
    }

    /// Tells the person what was put right.
    fn report(&self, truth: &Reconciled) {
        let label = truth.task.label();
        for event in &truth.events {
            let names: Vec<&str> = event.fields.keys().map(String::as_str).collect();
            if event.kind == EventType::FieldsRestored {
                let restored = FieldsRestored::of(event).unwrap_or_default();
                let changed = restored.found.iter().flat_map(|found| found.iter());
                let described = changed.map(|(name, value)| {
                    let field = Field::from_name(name);
                    let now = field.map_or(Value::Null, |field| truth.task.get(field));
                    format!("{name} {} → {}", plain(value), plain(&now))
                });
                let described: Vec<String> = described.collect();
                let why = event.reason.as_ref();
                let why = why.map_or(String::new(), |reason| format!(" ({reason})"));
                self.call.notice(format!(
                    "{label}: TASK.md was edited by hand; put back: {}{why}",
                    described.join(", ")
                ));
            } else if event.kind == EventType::TaskUpdated {
                self.call.notice(format!(
                    "{label}: taken over from TASK.md: {}",
                    names.join(", ")
                ));
            } else if event.kind == EventType::JournalRecovered {
                let what = if begins_anew(event) {
                    "history.jsonl was lost, and with it what happened before"
                } else {
                    "history.jsonl had lost events"
                };
                self.call
                    .notice(format!("{label}: {what}; TASK.md is taken as it is"));
            }
        }
    }
}

fn plain(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

/// Renames the headings that the journal says are of an earlier round, unless that was done before.
fn archive(file: &mut TaskFile, steps: &[ArchiveSection]) {
    for step in steps {
        if artifact::section(file.body(), &step.heading()).is_none()
            && let Some(body) = artifact::archive(file.body(), &step.section, &step.note())
        {
            file.set_body(&body);
        }
    }
}

/// Adds the sections that the journal says belong here, unless they are there.
fn append(file: &mut TaskFile, steps: &[AppendSection]) {
    for step in steps {
        let section = artifact::embedded_section(&step.section, &step.text);
        if !file.body().contains(&section) {
            file.set_body(&artifact::append_section(file.body(), &section));
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

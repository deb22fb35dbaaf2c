//! TASK.md against its journal: which side is right for each field, and which events say so.
//! Lists use the answer without writing; commands write it down first.

mod filed;
mod salvage;

use crate::Timestamp;
use crate::history::payload::{FieldsRestored, HookEnded, TaskFound};
use crate::history::{
    AppendSection, ArchiveSection, Event, EventType, HIGHEST_REVISION, History, Payload,
};
use crate::machine::{self, number};
use crate::task::{BadValue, Field, Guard, Status, Task, ValueShape, WorkflowName};
use crate::task_file::{Damage, TaskFile};
use crate::workflow::Workflow;
use crate::workflow::interactive::former_status;
use crate::yaml::Node;
pub use filed::Filed;
pub use salvage::{Unknown, last_resort};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;

/// What is known of a task's folder besides its two files.
#[derive(Clone, Copy)]
pub struct TaskFolder<'a> {
    /// Relative to the project's folder; older homes nest by branch.
    pub name: &'a str,
    pub project: &'a str,
    pub modified: Timestamp,
    /// Is the journal shorter than it once was? None: nobody noted that there was one. Only asked when TASK.md is ahead
    /// of it, or when it has nothing to tell.
    pub journal_shrunk: &'a dyn Fn() -> Option<bool>,
}

/// Why a TASK.md cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("{0}")]
    File(Damage),
    #[error("TASK.md is missing")]
    Missing,
    #[error("TASK.md is not a regular file")]
    NotAFile,
    #[error("TASK.md cannot be read: {0}")]
    Unreadable(String),
    #[error("line {line}: {problem}")]
    Value { line: usize, problem: BadValue },
    #[error("history.jsonl: {0}")]
    Journal(BadValue),
}

impl Broken {
    /// The journal can rebuild this without losing anything a person wrote.
    pub fn is_rebuilt_by_commands(&self) -> bool {
        match self {
            Broken::File(Damage::NotUtf8 { .. } | Damage::TooLarge { .. }) => false,
            Broken::File(_) => true,
            _ => false,
        }
    }
}

/// The truth about a task, and what has to be written so that both files say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconciled {
    pub task: Task,
    /// To be journalled, in order; already applied to `task`.
    pub events: Vec<Event>,
    /// Headings that journalled events renamed and this file does not show yet.
    pub archive: Vec<ArchiveSection>,
    /// Sections that journalled events added and this file may not have yet.
    pub append: Vec<AppendSection>,
    /// The frontmatter does not say what `task` says.
    pub rewrite: bool,
    /// The file as it is cannot be used; `task` is what the journal knows.
    pub broken: Option<Broken>,
    /// The task comes from another program or from a copied folder and has no event of ours yet.
    pub unadopted: bool,
}

impl Reconciled {
    /// Both files say what the task says.
    fn settled(task: Task) -> Reconciled {
        Reconciled {
            task,
            events: Vec::new(),
            archive: Vec::new(),
            append: Vec::new(),
            rewrite: false,
            broken: None,
            unadopted: false,
        }
    }

    /// The journal told of another event.
    fn journal(&mut self, event: Event) -> Result<(), Broken> {
        machine::apply(&mut self.task, &event).map_err(Broken::Journal)?;
        self.events.push(event);
        self.rewrite = true;
        Ok(())
    }
}

/// A field of the file that cannot be used, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldProblem {
    line: usize,
    error: BadValue,
}

impl From<FieldProblem> for Broken {
    fn from(FieldProblem { line, error }: FieldProblem) -> Broken {
        Broken::Value {
            line,
            problem: error,
        }
    }
}

/// Decides what is true. `refuse` may turn down a hand-made change for reasons outside the file.
pub fn reconcile(
    file: Result<&TaskFile, Broken>,
    history: &History,
    folder: TaskFolder<'_>,
    now: Timestamp,
    refuse: &mut dyn FnMut(Field, &Task) -> Option<String>,
) -> Result<Reconciled, Broken> {
    let own = history.own();
    if own.is_empty() {
        // A length is noted only after a first write, so there was a journal.
        let was_there = (folder.journal_shrunk)().is_some();
        return adopt(file?, folder, was_there, now);
    }
    let latest = machine::fold(own, u64::MAX).map_err(Broken::Journal)?;
    if let Some(error) = foreign_status(&latest).or_else(|| no_project(&latest)) {
        return Err(Broken::Journal(error));
    }
    let file = match file {
        Ok(file) => file,
        Err(broken) => return rebuilt(own, latest, broken, now),
    };
    let (found, problems) = read_fields(file, folder.project);
    let ahead = believed(found.revision) > latest.revision;
    // Without a note nothing speaks against a journal that lost its end.
    let is_cut = || ahead && (folder.journal_shrunk)().unwrap_or(true);
    let lost = gap(own).or_else(|| {
        let ends = format!("history.jsonl ends at revision {}", latest.revision);
        is_cut().then_some(ends)
    });
    if let Some(lost) = lost.filter(|_| problems.is_empty()) {
        return journal_lost(found, latest.revision, &lost, now);
    }
    merge(file, &found, &problems, own, latest, now, refuse)
}

/// Events that are missing, in words: the part that counts begins with all fields, so every later one must follow on.
fn gap(own: &[Event]) -> Option<String> {
    let revisions = || own.iter().filter_map(|event| event.revision);
    let (before, after) = revisions()
        .zip(revisions().skip(1))
        .find(|(before, after)| *after != before + 1)?;
    let (first, last) = (before + 1, after.saturating_sub(1));
    Some(match first.cmp(&last) {
        Ordering::Less => format!("history.jsonl has no revisions {first} to {last}"),
        Ordering::Equal => format!("history.jsonl has no revision {first}"),
        // Only a hand can have done that.
        Ordering::Greater => format!("history.jsonl has revision {after} after {before}"),
    })
}

/// A file may claim any revision; one that could not be counted on from says nothing.
fn believed(revision: u64) -> u64 {
    if revision < HIGHEST_REVISION / 2 {
        revision
    } else {
        0
    }
}

/// A task without an event of ours: it comes from elsewhere, or its journal is lost.
fn adopt(
    file: &TaskFile,
    folder: TaskFolder<'_>,
    had_journal: bool,
    now: Timestamp,
) -> Result<Reconciled, Broken> {
    let (mut task, problems) = read_fields(file, folder.project);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem.into());
    }
    fill_adopted(&mut task, file, folder);
    if had_journal {
        let event = recovery(&task, 0, JOURNAL_GONE, now).with(TaskFound {
            lost: Some(LOST_ALL),
            ..TaskFound::default()
        });
        return whole(event, true);
    }
    whole(adoption(&task, now), true)
}

/// Why an edit of a field that is settled at the start is put back.
const SETTLED: &str = "settled when the task started; only a command can change it now";

const JOURNAL_GONE: &str = "history.jsonl was lost, and with it what happened before";

/// What a recovery says of a journal of which everything was lost.
const LOST_ALL: &str = "all";

/// Whether this event begins a journal anew, because the one before it was lost.
pub fn begins_anew(event: &Event) -> bool {
    let is_recovery = event.kind == EventType::JournalRecovered;
    is_recovery && TaskFound::of(event).and_then(|found| found.lost) == Some(LOST_ALL)
}

/// The event that makes a task ours, with all it has.
fn adoption(task: &Task, now: Timestamp) -> Event {
    let found = TaskFound {
        format: Some(crate::history::FORMAT),
        ..TaskFound::default()
    };
    let mut event = Event::of(Payload::TaskAdopted(found), now).by("engine");
    event.fields = task.to_fields();
    event.revision = Some(believed(task.revision) + 1);
    event
}

/// What older programs left out.
fn fill_adopted(task: &mut Task, file: &TaskFile, folder: TaskFolder<'_>) {
    if file.get(Field::Summary.name()).is_none() {
        let first = file
            .body()
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty());
        task.summary = first
            .unwrap_or_default()
            .trim_start_matches('#')
            .trim()
            .to_owned();
    }
    if task.id.is_empty() {
        task.id = folder.name.replace('/', "-");
    }
    if task.branch.is_empty() {
        task.branch = folder.name.to_owned();
    }
    if file.get(Field::CreatedAt.name()).is_none() {
        task.created_at = folder.modified;
    }
    if file.get(Field::UpdatedAt.name()).is_none() {
        task.updated_at = task.created_at.max(folder.modified);
    }
    task.project = folder.project.to_owned();
    task.align_pr();
}

fn rebuilt(
    own: &[Event],
    latest: Task,
    broken: Broken,
    now: Timestamp,
) -> Result<Reconciled, Broken> {
    let mut truth = Reconciled {
        archive: archived_since(own, 0),
        append: appended_since(own, 0),
        rewrite: true,
        ..Reconciled::settled(latest)
    };
    // Said once: a process may have died between journalling this and writing the file.
    if own.last().map(|event| &event.kind) != Some(&EventType::FrontmatterRebuilt) {
        let event = Event::new(EventType::FrontmatterRebuilt, now)
            .by("engine")
            .because(broken.to_string());
        truth.journal(number(event, &truth.task))?;
    }
    truth.broken = Some(broken);
    Ok(truth)
}

/// The journal is behind the file: the file is right, and the journal is told everything.
fn journal_lost(
    found: Task,
    latest: u64,
    lost: &str,
    now: Timestamp,
) -> Result<Reconciled, Broken> {
    let why = format!("{lost}, TASK.md was at {}", found.revision);
    whole(recovery(&found, latest, &why, now), false)
}

/// The event that tells the journal everything, after the revision it has come to.
fn recovery(task: &Task, latest: u64, why: &str, now: Timestamp) -> Event {
    let mut event = Event::new(EventType::JournalRecovered, now)
        .by("engine")
        .because(why);
    event.revision = Some(believed(task.revision).max(latest) + 1);
    event.fields = task.to_fields();
    event
}

/// The task that an event with every field describes.
fn whole(event: Event, unadopted: bool) -> Result<Reconciled, Broken> {
    let mut truth = Reconciled {
        unadopted,
        ..Reconciled::settled(Task::default())
    };
    truth.journal(event)?;
    Ok(truth)
}

fn merge(
    file: &TaskFile,
    found: &Task,
    problems: &[FieldProblem],
    own: &[Event],
    latest: Task,
    now: Timestamp,
    refuse: &mut dyn FnMut(Field, &Task) -> Option<String>,
) -> Result<Reconciled, Broken> {
    let base = if found.revision > 0 && found.revision < latest.revision {
        machine::fold(own, found.revision).map_err(Broken::Journal)?
    } else {
        latest.clone()
    };
    let bad = |field: Field| problems.iter().find(|problem| problem.error.field == field);
    let unusable = |problem: &&FieldProblem| problem.error.field.is_editable(latest.status);
    if let Some(problem) = problems.iter().find(unusable).cloned() {
        return Ok(Reconciled {
            broken: Some(problem.into()),
            ..Reconciled::settled(latest)
        });
    }

    let mut restored = Event::new(EventType::FieldsRestored, now).by("engine");
    let by_hand = HookEnded {
        source: Some("file"),
        ..HookEnded::default()
    };
    let mut adopted = Event::of(Payload::TaskUpdated(by_hand), now).by("file");
    let mut was = serde_json::Map::new();
    for field in Field::ALL.iter().copied() {
        let changed =
            bad(field).is_some() || (!found.same(&base, field) && !found.same(&latest, field));
        // A file without our revision was never written by us: what it lacks, it never had.
        let never_had = found.revision == 0 && file.get(field.name()).is_none();
        let behind = field == Field::Revision && found.revision < latest.revision;
        if !changed || never_had || behind || restored_before(own, found.revision, file, field) {
            continue;
        }
        let turned_down = match field.guard() {
            Guard::Guarded => Some(None),
            Guard::UntilStart if !field.is_editable(latest.status) => Some(Some(SETTLED.into())),
            Guard::UntilStart | Guard::Descriptive => refuse(field, found).map(Some),
        };
        match turned_down {
            None => {
                adopted.set(field, found.get(field));
            }
            Some(reason) => {
                if reason.is_some() {
                    restored.reason = reason;
                }
                was.insert(field.name().into(), as_written(file, field));
                if field != Field::Revision {
                    restored.set(field, latest.get(field));
                }
            }
        }
    }

    let mut truth = Reconciled {
        archive: archived_since(own, found.revision),
        append: appended_since(own, found.revision),
        rewrite: found.revision != latest.revision,
        ..Reconciled::settled(latest)
    };
    if !was.is_empty() {
        let found = Some(Cow::Owned(was));
        let restored = restored.with(FieldsRestored { found });
        truth.journal(number(restored, &truth.task))?;
    }
    if !adopted.fields.is_empty() {
        truth.journal(number(adopted, &truth.task))?;
    }
    Ok(truth)
}

/// The events after a revision.
fn later(own: &[Event], revision: u64) -> impl Iterator<Item = &Event> {
    let is_later = move |event: &&Event| event.revision.is_some_and(|later| later > revision);
    own.iter().filter(is_later)
}

/// A process may die between journalling that a field was put back and writing the file.
fn restored_before(own: &[Event], revision: u64, file: &TaskFile, field: Field) -> bool {
    let found = as_written(file, field);
    later(own, revision)
        .filter_map(|event| FieldsRestored::of(event)?.found)
        .any(|before| before.get(field.name()) == Some(&found))
}

/// The headings that events after a revision renamed. Whoever applies them skips those already renamed.
fn archived_since(own: &[Event], revision: u64) -> Vec<ArchiveSection> {
    let sections = later(own, revision).flat_map(|event| &event.archive);
    sections.cloned().collect()
}

/// The sections that events after a revision added. Whoever adds them skips those that are there.
fn appended_since(own: &[Event], revision: u64) -> Vec<AppendSection> {
    let sections = later(own, revision).flat_map(|event| &event.append);
    sections.cloned().collect()
}

fn as_written(file: &TaskFile, field: Field) -> Value {
    file.get(field.name())
        .map_or(Value::Null, |(node, _)| node_value(node, field.shape()))
}

/// Reads every known field of a frontmatter; what cannot be used is reported with its line.
fn read_fields(file: &TaskFile, project: &str) -> (Task, Vec<FieldProblem>) {
    let mut task = Task::default();
    let mut problems = Vec::new();
    for (name, node, line) in file.entries() {
        let Some(field) = Field::from_name(name) else {
            continue;
        };
        let mut value = node_value(node, field.shape());
        if field == Field::Status {
            value = older_status(value, file);
        }
        if let Err(error) = task.set(field, value) {
            problems.push(FieldProblem { line, error });
        }
    }
    if let Some(error) = foreign_status(&task) {
        let line = file.get(Field::Status.name()).map_or(1, |(_, line)| line);
        problems.push(FieldProblem { line, error });
    }
    if task.project.is_empty() {
        task.project = project.to_owned();
    }
    (task, problems)
}

/// A status that the task's own workflow does not have.
fn foreign_status(task: &Task) -> Option<BadValue> {
    let workflow = Workflow::named(task.workflow);
    (!workflow.has(task.status)).then(|| BadValue {
        field: Field::Status,
        reason: format!(
            "{:?} is not a status of the {} workflow; allowed: {}",
            task.status.as_str(),
            task.workflow,
            workflow.words().join(", ")
        ),
    })
}

/// A file may leave out its project, the folder tells; a journal that does would never agree with any file.
fn no_project(task: &Task) -> Option<BadValue> {
    task.project.is_empty().then(|| BadValue {
        field: Field::Project,
        reason: "is missing".to_owned(),
    })
}

/// The program before this one had two statuses under other names.
fn older_status(value: Value, file: &TaskFile) -> Value {
    let interactive = file
        .get(Field::Workflow.name())
        .is_none_or(|(node, _)| node.to_json() == WorkflowName::Interactive.as_str());
    let word = value.as_str().unwrap_or_default();
    // A word that is a status too means that status in its own workflow.
    let former = former_status(word).filter(|_| interactive || word.parse::<Status>().is_err());
    former.map_or(value, |status| Value::from(status.as_str()))
}

/// YAML by the field's type: `summary: no` is text, `priority:` is nothing.
fn node_value(node: &Node, shape: ValueShape) -> Value {
    match (shape, node) {
        (ValueShape::Text, Node::Scalar { text, plain, .. }) => {
            if *plain && matches!(text.as_str(), "" | "~" | "null") {
                Value::Null
            } else {
                Value::String(text.clone())
            }
        }
        (ValueShape::TextList, Node::Sequence { items, .. }) => items
            .iter()
            .map(|item| match node_value(item, ValueShape::Text) {
                Value::Null => Value::String(String::new()),
                value => value,
            })
            .collect(),
        (ValueShape::TextList, Node::Scalar { .. }) => node_value(node, ValueShape::Text),
        (ValueShape::Text, Node::Sequence { .. } | Node::Mapping { .. })
        | (ValueShape::TextList, Node::Mapping { .. })
        | (ValueShape::Number | ValueShape::Flag | ValueShape::Object, _) => node.to_json(),
    }
}

/// The fields that a file would have to change to say what the task says.
pub fn differing_fields(file: &TaskFile, task: &Task) -> Vec<Field> {
    let (found, problems) = read_fields(file, &task.project);
    let unset = Task::default();
    Field::ALL
        .iter()
        .copied()
        .filter(|field| {
            let unreadable = problems.iter().any(|problem| problem.error.field == *field);
            match file.get(field.name()) {
                // An older program's word for the same status is not what the journal says.
                Some((node, _)) if *field == Field::Status => {
                    node_value(node, field.shape()) != task.get(*field)
                }
                Some(_) => unreadable || !found.same(task, *field),
                None => !task.same(&unset, *field),
            }
        })
        .collect()
}

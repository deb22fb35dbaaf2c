//! `orange task update`: changing fields and moving through the workflow; and what is said of a task that changed.

use super::fields::FieldArgs;
use super::status;
use crate::completion::{Wanted, branches, statuses, tasks};
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::machine::Move;
use orange_core::task::{Field, Status, Task};
use orange_core::timeline::fields::{noun, said};
use orange_core::timeline::hooks;
use orange_core::workflow::{Hook, Obstacle, Trigger};
use orange_core::{Action, text};
use orange_engine::tx::FailedHook;
use orange_engine::verbs::change::{self, Change, Changed, Edit};
use orange_engine::views::TaskResult;
use orange_engine::views::results::BranchLanding;
use orange_engine::workspaces::Acquired;
use orange_engine::{Result, err};
use serde_json::Value;
use std::fmt::Write;

/// Change a task's fields or status
#[derive(Debug, Args)]
#[command(after_help = "\
An empty value clears a field: --target-branch \"\".

Examples:
  orange update TASK-001 --status planning
  orange update TASK-001 --summary \"Add a login form\" --priority high
  orange update TASK-002 --add-blocker TASK-001
  orange update TASK-003 --weight large    a phased task gets another plan
  orange update TASK-003 --gate review=human
  orange update --status working        inside a workspace: its task")]
pub(crate) struct TaskUpdateArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
    /// Move it there, if the workflow allows it
    #[arg(long, value_parser = status, add = statuses())]
    status: Option<Status>,
    /// Start it in spite of open dependencies, or mark it done without a review
    #[arg(long, requires = "status")]
    force: bool,
    /// What is to be done, in one line
    #[arg(long, allow_hyphen_values = true)]
    summary: Option<String>,
    /// Its branch; without a name the one checked out in its workspace
    #[arg(long, value_name = "NAME", num_args = 0..=1, add = branches())]
    branch: Option<Option<String>>,
    #[command(flatten)]
    fields: FieldArgs,
    /// A task that must be over first
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    add_blocker: Vec<String>,
    /// No longer wait for this task
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    remove_blocker: Vec<String>,
    /// Add a related task
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    add_related: Vec<String>,
    /// Remove a related task
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = tasks(Wanted::Open))]
    remove_related: Vec<String>,
    /// Give it a tag
    #[arg(long, value_name = "TAG")]
    add_tag: Vec<String>,
    /// Take a tag away
    #[arg(long, value_name = "TAG")]
    remove_tag: Vec<String>,
}

impl TaskUpdateArgs {
    fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let summary = (Field::Summary, &self.summary);
        for (field, text) in [summary].into_iter().chain(self.fields.texts()) {
            edits.extend(text.clone().map(|text| Edit::Set(field, text)));
        }
        edits.extend(self.branch.clone().map(Edit::Branch));
        edits.extend(
            self.fields
                .ui_testing
                .map(|flag| Edit::SetFlag(Field::RequiresUiTesting, flag)),
        );
        let gates = self.fields.gates.iter().cloned();
        edits.extend(gates.map(|(phase, kind)| Edit::Gate(phase, kind)));
        let lists = [
            (Field::BlockedBy, &self.remove_blocker, &self.add_blocker),
            (Field::RelatedTo, &self.remove_related, &self.add_related),
            (Field::Tags, &self.remove_tag, &self.add_tag),
        ];
        for (field, removed, _) in lists {
            edits.extend(
                removed
                    .iter()
                    .cloned()
                    .map(|item| Edit::RemoveFrom(field, item)),
            );
        }
        for (field, _, added) in lists {
            edits.extend(added.iter().cloned().map(|item| Edit::AddTo(field, item)));
        }
        edits
    }
}

pub(crate) fn run(session: &Session, args: TaskUpdateArgs) -> Result<()> {
    let change = Change {
        edits: args.edits(),
        status: args.status,
        force: args.force,
        ..Change::default()
    };
    if change.edits.is_empty() && change.status.is_none() {
        return Err(err!(Usage, "nothing to change was given").hint(text!(
            "say what, for instance --status planning or --priority high; see {}",
            Action::explain_fields()
        )));
    }
    change_task(session, args.id.as_deref(), &change)
}

/// `TASK-001: reviewing → working`.
pub(crate) fn moved(changed: &Changed) -> String {
    let (from, to) = (changed.done.from, changed.done.task.status);
    format!("{}: {from} → {to}", changed.done.task.label())
}

pub(super) fn change_task(session: &Session, id: Option<&str>, change: &Change) -> Result<()> {
    let place = session.task(id)?;
    let changed = change::change(&session.call, place, change)?;
    let message = described(&changed, change);
    finish(session, &changed, &message, None)
}

/// Says what happened. A hook that failed makes the command fail, although the task has moved.
pub(crate) fn finish(
    session: &Session,
    changed: &Changed,
    message: &str,
    landing: Option<&BranchLanding>,
) -> Result<()> {
    if changed.done.made_room() {
        session.note_room();
    }
    let failed = changed.done.failed();
    if failed.is_empty() || !session.json {
        let mut text = format!("{message}\n");
        if let Some(acquired) = &changed.done.acquired {
            text.push_str(&workspace_lines(&changed.done.task, acquired));
        }
        let spawned = changed.done.spawned();
        if session.is_person() {
            text.push_str(&super::spawn::lines(&changed.done.task, &spawned));
        }
        let result = TaskResult {
            landing,
            waits_for: changed.waits.as_deref(),
            workspace: changed.done.acquired.as_ref(),
            agents: (!spawned.is_empty()).then_some(&spawned),
            ..TaskResult::new(&changed.done.task, message)
        };
        session.finish(result, || text)?;
    }
    failure(&changed.done.task, &failed)
}

pub(crate) fn failure(task: &Task, failed: &[FailedHook]) -> Result<()> {
    let Some(FailedHook {
        name: hook,
        failure,
    }) = failed.first()
    else {
        return Ok(());
    };
    let (label, why) = (task.label(), &failure.why);
    let first = match failure.obstacle {
        Some(Obstacle::DiskFull) => "free some disk space",
        Some(Obstacle::NotWritable) => "make that writable for you",
        // What is to be done about a lock stands with its name.
        Some(Obstacle::GitLock) | None => "see to that",
    };
    let what = hooks::failed(hook);
    // A start that failed has been taken back: there is no hook to try again.
    let starts = [Hook::AcquireWorkspace, Hook::StartExecutor].map(Hook::name);
    let can_resume = Move::on(task, Trigger::RESUME).is_some();
    let (but, again) = if can_resume && starts.contains(&hook.as_str()) {
        ("because", Action::resume(task.name(), false))
    } else {
        ("but", Action::retry_hooks(task.name()))
    };
    let status = task.status;
    let error = err!(
        Failed,
        "{label} is {status} now, {but} Orange {what}: {why}"
    );
    Err(error.hint(text!("{first}, then {}", again)))
}

/// As for a task that is created and started at once.
fn workspace_lines(task: &Task, acquired: &Acquired) -> String {
    let start = super::create::started(&acquired.start, "starts");
    let mut text = super::create::branch(task, &start);
    text.push_str(&super::create::slot(acquired));
    if let Some(rescue) = &acquired.brought {
        let name = rescue.rsplit('/').next().unwrap_or(rescue);
        let _ = writeln!(
            text,
            "  files    of rescue {name} are put back, uncommitted"
        );
    }
    text
}

fn described(changed: &Changed, change: &Change) -> String {
    let task = &changed.done.task;
    let mut parts = Vec::new();
    if let (Some(waits), Some(to)) = (&changed.waits, change.status) {
        parts.push(format!(
            "the review is noted; {waits}, then the task moves to {to} by itself"
        ));
    } else if change.status.is_some() || change.intent.is_some() {
        parts.push(format!("{} → {}", changed.done.from, task.status));
    }
    let fields = changed.fields.iter();
    let values = fields
        .filter_map(|name| Field::from_name(name))
        .map(|field| {
            let shown = match shown(&task.get(field)) {
                empty if empty.is_empty() => "cleared".into(),
                value => value,
            };
            format!("{} {}", noun(field.name()), clean(&shown))
        });
    let values = values.collect::<Vec<_>>().join(", ");
    parts.extend((!values.is_empty()).then_some(values));
    if parts.is_empty() {
        parts.push("nothing changed, it was so already".to_owned());
    }
    format!("{}: {}", task.label(), parts.join("; "))
}

/// A value in a sentence: text as it is, a list with commas.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(" and "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => said(value),
    }
}

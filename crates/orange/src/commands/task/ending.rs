//! `orange task cancel`, `delete` and `restore`: giving up, throwing away, and thinking better of it. Several tasks are
//! asked about once; what is refused for one of them does not keep the others.

mod each;

use super::{as_json, titled};
use crate::error::Result;
use crate::question::{asks, confirm, yes};
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use each::{Done, Each};
use orange_core::naming::counted;
use orange_core::task::{Status, Task};
use orange_engine::engine::{CancelChildren, TaskView};
use orange_engine::store::Place;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Give a task up
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange task cancel TASK-001
  orange task cancel TASK-001 TASK-002 --yes
  orange task cancel TASK-001 --with-children --yes")]
pub(crate) struct CancelArgs {
    /// The task; may be given more than once
    #[arg(required = true)]
    id: Vec<String>,
    /// Its open children too
    #[arg(long, conflicts_with = "keep_children")]
    with_children: bool,
    /// Leave its open children as they are
    #[arg(long)]
    keep_children: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Move a task to the trash
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange task delete TASK-001\n  orange task delete TASK-001 TASK-002 --yes"
)]
pub(crate) struct DeleteArgs {
    /// The task; may be given more than once
    #[arg(required = true)]
    id: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Bring a deleted task back
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange task restore            list what can be brought back\n  orange task restore TASK-001"
)]
pub(crate) struct RestoreArgs {
    /// The deleted task: its key, id, or project/branch; may be given more than once
    id: Vec<String>,
}

/// The tasks that were named, each once. One that is not there stops everything.
fn named(session: &mut Session, ids: &[String]) -> Result<Vec<Place>> {
    let mut places: Vec<Place> = Vec::new();
    for id in ids {
        let place = session.task(Some(id))?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(places)
}

/// `TASK-001 "A form"`, or as a list below a question about several.
fn listed(names: &[String]) -> String {
    match names {
        [only] => only.clone(),
        several => {
            let lines: Vec<String> = several.iter().map(|name| format!("\n  {name}")).collect();
            let tasks = counted(several.len(), "task");
            format!("these {tasks}:{}\nall of them", lines.concat())
        }
    }
}

pub(crate) fn cancel(session: &mut Session, args: &CancelArgs) -> Result<()> {
    let places = named(session, &args.id)?;
    let mut views = Vec::new();
    for place in &places {
        views.push(session.engine.view(place.clone())?);
    }
    let children = cancel_question(session, args, &views)?;
    let mut each = Each::of(places.len());
    let mut gone_too: Vec<String> = Vec::new();
    let places = match children {
        CancelChildren::Too => places,
        // Nobody is left behind who was named too.
        CancelChildren::Ask | CancelChildren::Keep => session.engine.children_first(places)?,
    };
    for place in places {
        let view = views.iter().find(|view| view.place == place);
        if view.is_some_and(|view| gone_too.contains(&view.task.id)) {
            continue;
        }
        each.note(cancel_one(session, place, children).inspect(|done| {
            let others = done.more["children"].as_array().into_iter().flatten();
            gone_too.extend(others.filter_map(|child| child["id"].as_str().map(str::to_owned)));
        }));
    }
    each.finish(session)
}

/// Asks once, and once more about children; gives what becomes of these.
fn cancel_question(
    session: &Session,
    args: &CancelArgs,
    views: &[TaskView],
) -> Result<CancelChildren> {
    let said = match (args.with_children, args.keep_children) {
        (true, _) => CancelChildren::Too,
        (false, true) => CancelChildren::Keep,
        (false, false) => CancelChildren::Ask,
    };
    let live = || views.iter().filter(|view| !view.task.status.is_terminal());
    let names: Vec<String> = live().map(|view| titled(&view.task)).collect();
    if names.is_empty() {
        return Ok(said);
    }
    let saved = match live().any(|view| view.task.workspace.is_some()) {
        true => " (files that are not committed are saved)",
        false => "",
    };
    let question = format!("cancel {}{saved}?", listed(&names));
    confirm(session, args.yes, &question)?;
    let is_open = |status: Option<Status>| status.is_some_and(|status| !status.is_terminal());
    let labels: Vec<String> = live().map(|view| view.task.label()).collect();
    let children = live().flat_map(|view| &view.children);
    let children = children.filter(|child| !labels.contains(&child.reference));
    let open = children.filter(|child| is_open(child.status)).count();
    if open == 0 || said != CancelChildren::Ask || !asks(session, args.yes) {
        return Ok(said);
    }
    let question = match open {
        1 => "cancel its open child too?".to_owned(),
        _ => format!("cancel {open} open children too?"),
    };
    Ok(match yes(&question)? {
        true => CancelChildren::Too,
        false => CancelChildren::Keep,
    })
}

fn cancel_one(session: &mut Session, place: Place, children: CancelChildren) -> Result<Done> {
    let cancelled = session.engine.cancel(place, children)?;
    let task = &cancelled.changed.task;
    let mut message = format!(
        "{}: {} → {}",
        task.label(),
        cancelled.changed.from,
        task.status
    );
    for child in &cancelled.children {
        let _ = write!(message, ", {} too", child.label());
    }
    let children: Vec<Value> = cancelled.children.iter().map(as_json).collect();
    Ok(Done {
        message,
        more: json!({"children": children}),
        failure: super::update::failure(task, &cancelled.changed.failed).err(),
        task: cancelled.changed.task,
    })
}

pub(crate) fn delete(session: &mut Session, args: &DeleteArgs) -> Result<()> {
    let places = named(session, &args.id)?;
    let mut names = Vec::new();
    for place in &places {
        let view = session.engine.view(place.clone());
        // A damaged task can be thrown away too.
        names.push(view.map_or_else(
            |_| clean(&place.folder()).into_owned(),
            |view| titled(&view.task),
        ));
    }
    let question = format!("move {} to the trash?", listed(&names));
    confirm(session, args.yes, &question)?;
    let days = session.engine.config()?.trash.keep_days;
    let mut each = Each::of(places.len());
    for place in session.engine.children_first(places)? {
        let deleted = session.engine.delete(place).map_err(Into::into);
        each.note(deleted.map(|task| {
            let label = task.label();
            let kept = counted(days as usize, "day");
            Done::new(
                format!(
                    "{label}: moved to the trash; `orange task restore {label}` brings it back within {kept}"
                ),
                task,
            )
        }));
    }
    each.finish(session)
}

pub(crate) fn restore(session: &mut Session, args: &RestoreArgs) -> Result<()> {
    if args.id.is_empty() {
        list_deleted(session);
        return Ok(());
    }
    let project = session.project(None)?;
    let mut each = Each::of(args.id.len());
    for restored in session.engine.restore(&args.id, project.as_deref())? {
        each.note(restored.map_err(Into::into).map(|task: Task| {
            let message = format!("{}: restored, it is {}", task.label(), task.status);
            Done::new(message, task)
        }));
    }
    each.finish(session)
}

fn list_deleted(session: &mut Session) {
    let trashed = session.engine.trashed();
    session.finish(
        || json!({"tasks": trashed.iter().map(|(_, task)| as_json(task)).collect::<Vec<Value>>()}),
        || {
            if trashed.is_empty() {
                return "the trash is empty\n".into();
            }
            let mut text = String::new();
            for (place, task) in &trashed {
                let summary = match task.summary.as_str() {
                    "" => "(no summary yet)".into(),
                    summary => clean(summary),
                };
                let _ = writeln!(
                    text,
                    "{}:{}  {}  {summary}",
                    place.project,
                    task.label(),
                    task.status,
                );
            }
            text
        },
    );
}

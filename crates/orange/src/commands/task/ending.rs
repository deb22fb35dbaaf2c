//! `orange task cancel`, `delete` and `restore`: giving up, throwing away, and thinking better of it.

use super::as_json;
use crate::error::Result;
use crate::question::{asks, confirm, yes};
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::naming::counted;
use orange_engine::engine::CancelChildren;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Give a task up
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange task cancel TASK-001\n  orange task cancel TASK-001 --with-children --yes"
)]
pub(crate) struct CancelArgs {
    /// The task
    id: String,
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
#[command(after_help = "Example:\n  orange task delete TASK-001")]
pub(crate) struct DeleteArgs {
    /// The task
    id: String,
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
    /// The deleted task: its key, id, or project/branch
    id: Option<String>,
}

pub(crate) fn cancel(session: &mut Session, args: &CancelArgs) -> Result<()> {
    let place = session.task(Some(&args.id))?;
    let view = session.engine.view(place.clone())?;
    let mut children = match (args.with_children, args.keep_children) {
        (true, _) => CancelChildren::Too,
        (false, true) => CancelChildren::Keep,
        (false, false) => CancelChildren::Ask,
    };
    let open = view
        .children
        .iter()
        .filter(|child| child.status.is_some_and(|status| !status.is_terminal()))
        .count();
    if !view.task.status.is_terminal() {
        let question = format!(
            "cancel {} \"{}\"?",
            view.task.label(),
            clean(&view.task.summary)
        );
        confirm(session, args.yes, &question)?;
        if open > 0 && children == CancelChildren::Ask && asks(session, args.yes) {
            children = match yes(&format!("cancel its {open} open children too?"))? {
                true => CancelChildren::Too,
                false => CancelChildren::Keep,
            };
        }
    }
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
    session.finish(
        || {
            json!({
                "task": as_json(task),
                "children": cancelled.children.iter().map(as_json).collect::<Vec<_>>(),
                "message": message,
            })
        },
        || format!("{message}\n"),
    );
    super::update::failure(task, &cancelled.changed.failed)
}

pub(crate) fn delete(session: &mut Session, args: &DeleteArgs) -> Result<()> {
    let place = session.task(Some(&args.id))?;
    let task = session.engine.view(place.clone()).map(|view| view.task);
    let name = task.map_or_else(
        // A damaged task can be thrown away too.
        |_| clean(&args.id).into_owned(),
        |task| format!("{} \"{}\"", task.label(), clean(&task.summary)),
    );
    confirm(session, args.yes, &format!("move {name} to the trash?"))?;
    let days = session.engine.config()?.trash.keep_days;
    let task = session.engine.delete(place)?;
    let message = format!(
        "{0}: moved to the trash; `orange task restore {0}` brings it back within {1}",
        task.label(),
        counted(days as usize, "day")
    );
    session.finish(
        || json!({"task": as_json(&task), "message": message}),
        || format!("{message}\n"),
    );
    Ok(())
}

pub(crate) fn restore(session: &mut Session, args: &RestoreArgs) -> Result<()> {
    let Some(id) = &args.id else {
        let trashed = session.engine.trashed();
        session.finish(
            || json!({"tasks": trashed.iter().map(|(_, task)| as_json(task)).collect::<Vec<Value>>()}),
            || {
                if trashed.is_empty() {
                    return "the trash is empty\n".into();
                }
                let mut text = String::new();
                for (place, task) in &trashed {
                    let _ = writeln!(
                        text,
                        "{}:{}  {}  {}",
                        place.project,
                        task.label(),
                        task.status,
                        clean(&task.summary)
                    );
                }
                text
            },
        );
        return Ok(());
    };
    let project = session.project(None)?;
    let task = session.engine.restore(id, project.as_deref())?;
    let message = format!("{}: restored, it is {}", task.label(), task.status);
    session.finish(
        || json!({"task": as_json(&task), "message": message}),
        || format!("{message}\n"),
    );
    Ok(())
}

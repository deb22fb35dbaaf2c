//! `orange task restore`: what was deleted, listed and brought back.

use super::several::{Done, Each};
use crate::completion::deleted_tasks;
use crate::output;
use crate::session::Session;
use clap::Args;
use orange_core::display;
use orange_core::task::Task;
use orange_engine::{Result, trash, verbs};
use std::fmt::Write as _;

/// Bring a deleted task back; without a name, list them
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange restore            list what can be brought back\n  orange restore TASK-001"
)]
pub(crate) struct RestoreArgs {
    /// The deleted task: its key, id, or project/branch; may be given more than once
    #[arg(add = deleted_tasks())]
    id: Vec<String>,
}

pub(crate) fn run(session: &Session, args: &RestoreArgs) -> Result<()> {
    if args.id.is_empty() {
        return list_deleted(session);
    }
    let project = session.project(None)?;
    let mut each = Each::of(args.id.len());
    for restored in verbs::restore::restore(&session.call, &args.id, project.as_deref())? {
        each.note(restored.map(|task: Task| {
            let message = format!("{}: restored, it is {}", task.label(), task.status);
            Done::new(message, task)
        }));
    }
    each.finish(session)
}

fn list_deleted(session: &Session) -> Result<()> {
    let trashed = trash::trashed(&session.call);
    let tasks: Vec<&Task> = trashed.iter().map(|(_, task)| task).collect();
    session.finish(output::named("tasks", tasks), || {
        if trashed.is_empty() {
            return "the trash is empty\n".into();
        }
        let mut text = String::new();
        for (place, task) in &trashed {
            let summary = display::summary(&task.summary);
            let _ = writeln!(
                text,
                "{}:{}  {}  {summary}",
                place.project,
                task.label(),
                task.status,
            );
        }
        text
    })
}

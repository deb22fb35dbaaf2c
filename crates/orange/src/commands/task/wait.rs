//! `orange task wait`: until a task is somewhere.

use super::as_json;
use crate::error::{CommandError, Result};
use crate::session::Session;
use clap::Args;
use orange_core::choice;
use orange_core::task::{Status, Task, stands};
use orange_engine::engine::TaskView;
use orange_engine::store::Place;
use orange_engine::{Code, Error};
use serde_json::json;
use std::time::{Duration, Instant};

/// How often the task's files are looked at.
const NAP: Duration = Duration::from_millis(50);

choice! {
    /// What is waited for.
    pub(crate) enum Goal ("goal") { NeedsMe = "needs-me", Reviewing = "reviewing", Done = "done" }
}

/// Wait until a task needs you, is reviewed or is done
#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 3 if the task cannot get there any more, or when the time is over.

Examples:
  orange task wait TASK-001 --for needs-me && notify-send \"TASK-001 needs you\"
  orange task wait TASK-001 --for reviewing --timeout 600")]
pub(crate) struct WaitArgs {
    /// The task; the one you are in unless given
    id: Option<String>,
    /// needs-me, reviewing or done
    #[arg(long = "for", value_name = "GOAL", value_parser = super::word::<Goal>)]
    goal: Goal,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

pub(crate) fn run(session: &mut Session, args: &WaitArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let deadline = args
        .timeout
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut stamp = None;
    loop {
        let now = looks_like(&place);
        if stamp != Some(now) {
            let is_first = stamp.replace(now).is_none();
            let view = session.engine.view(place.clone())?;
            if let Some(message) = reached(session, &view, args.goal, is_first)? {
                session.finish(
                    || json!({"task": as_json(&view.task), "message": message}),
                    || format!("{message}\n"),
                );
                return Ok(());
            }
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(CommandError(
                Error::new(
                    Code::ConditionUnmet,
                    "the time is over and it is not there yet",
                )
                .hint("`orange task why` says what it waits for"),
            ));
        }
        std::thread::sleep(NAP);
    }
}

/// What changes when anything happens to the task: lengths and times of its two files.
fn looks_like(place: &Place) -> [Option<(u64, std::time::SystemTime)>; 2] {
    [place.journal(), place.task_file()].map(|path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// None: not yet.
fn reached(
    session: &mut Session,
    view: &TaskView,
    goal: Goal,
    is_first: bool,
) -> Result<Option<String>> {
    let task = &view.task;
    let there = match goal {
        Goal::Done => task.status.is_over(),
        // It may have been there between two looks; one that was over from the start will not be there again.
        Goal::Reviewing => task.status == Status::Reviewing || (!is_first && task.status.is_over()),
        Goal::NeedsMe => {
            task.status.is_terminal()
                || view.attention.is_some()
                || session.engine.why(view)?.needs_human
        }
    };
    if there {
        return Ok(Some(said(task, view.attention.as_deref())));
    }
    if task.status.is_terminal() {
        let label = task.label();
        return Err(CommandError(
            Error::new(
                Code::ConditionUnmet,
                format!("{label} is {} and will not get to {goal}", task.status),
            )
            .hint(format!("`orange task show {label}` tells what happened")),
        ));
    }
    Ok(None)
}

fn said(task: &Task, attention: Option<&str>) -> String {
    let (label, stands) = (task.label(), stands(task.status));
    match attention {
        Some(attention) => format!("{label} {stands}; needs attention: {attention}"),
        None => format!("{label} {stands}"),
    }
}

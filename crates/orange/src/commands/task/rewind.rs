//! `orange task rewind`: a phase and those behind it begin again, on a branch that is as it was.

use crate::completion::{Wanted, phases, tasks};
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::{command, task_name};
use clap::Args;
use orange_core::Action;
use orange_core::workflow::Trigger;
use orange_engine::Result;
use orange_engine::git::short;
use orange_engine::verbs::phased::rewind::{RewindWish, Rewound, rewind};
use orange_engine::views::{RewindResult, TaskResult};
use std::fmt::Write;

/// Go back to a phase: it and those after it begin again
#[derive(Debug, Args)]
#[command(after_help = "\
The branch goes back to the last checkpoint of that phase; with --before to where the phase began. Commits that it loses are \
saved first: `orange rescue list` shows them. The task waits until you run it.

Examples:
  orange rewind TASK-001 --to implement
  orange rewind TASK-001 --to implement --before")]
pub(crate) struct RewindArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Said(Trigger::REWIND)))]
    id: Option<String>,
    /// The phase
    #[arg(long, value_name = "PHASE", add = phases())]
    to: String,
    /// Go back to where the phase began, without any of its work
    #[arg(long)]
    before: bool,
}

pub(crate) fn run(session: &Session, args: &RewindArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let wish = RewindWish {
        phase: args.to.clone(),
        before: args.before,
    };
    let done = rewind(&session.call, place, &wish)?;
    let task = &done.done.task;
    let message = format!("{}: goes back to {}", task.label(), args.to);
    let result = RewindResult {
        result: TaskResult::new(task, &message),
        phase: &args.to,
        commit: done.commit.as_deref(),
        rescue: done.rescue.as_deref(),
    };
    session.finish(result, || rewound(&message, &done))
}

fn rewound(message: &str, done: &Rewound) -> String {
    let task = &done.done.task;
    let mut text = format!("{message}\n");
    if let Some(commit) = &done.commit {
        let _ = writeln!(
            text,
            "  branch   {} at {}",
            clean(&task.branch),
            short(commit)
        );
    }
    if let Some(rescue) = &done.rescue {
        let show = format!(
            "orange rescue show {} {}",
            task_name(&task.name()),
            clean(rescue)
        );
        let _ = writeln!(text, "  saved    what it held since then: {show}");
    }
    let _ = writeln!(text, "next: {}", command(&Action::run(task.name(), false)));
    text
}

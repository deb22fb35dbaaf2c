//! `orange task pause`: nobody executes a phased task until it is resumed.

use super::update::{finish, moved};
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Trigger;
use orange_engine::Result;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::pause::pause;

/// Stop executing a task; what its agent left is committed
#[derive(Debug, Args)]
#[command(after_help = "\
A task that waits for its start is not started any more. `orange resume` goes on where it was.

Example:
  orange pause TASK-001")]
pub(crate) struct PauseArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Said(Trigger::PAUSE)))]
    id: Option<String>,
}

pub(crate) fn run(session: &Session, args: &PauseArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let changed = Changed::from(pause(&session.call, place)?);
    let task = &changed.done.task;
    let message = if task.status == changed.done.from {
        format!("{}: is not started until you run it", task.label())
    } else {
        moved(&changed)
    };
    finish(session, &changed, &message, None)
}

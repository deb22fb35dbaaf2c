//! `orange task respawn`: an agent that is gone starts again.

use super::spawn::{choose_for, lines};
use super::word;
use crate::completion::{Wanted, tasks, words};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Role;
use orange_engine::views::TaskResult;
use orange_engine::{Result, err, verbs};

/// Start an agent again that is gone
#[derive(Debug, Args)]
#[command(after_help = "\
The agent gets a prompt for the status the task is in, and what was said to it and not delivered.

Examples:
  orange respawn TASK-001
  orange respawn TASK-001 --message \"the tests need --release\"")]
pub(crate) struct RespawnArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::InSession))]
    id: Option<String>,
    /// worker or reviewer (default: the one that the status asks for)
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS))]
    role: Option<Role>,
    /// Something to tell it at once
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,
}

pub(crate) fn run(session: &Session, args: &RespawnArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let message = args.message.as_deref();
    if message.is_some_and(|text| text.trim().is_empty()) {
        return Err(err!(Usage, "--message is empty").hint("leave it out, or say something"));
    }
    choose_for(session, &place)?;
    let done = verbs::respawn::respawn(&session.call, place, args.role, message)?;
    let (spawned, task) = (done.spawned(), done.task);
    let text = format!("{} ({})", task.label(), task.status);
    let result = TaskResult {
        agents: Some(&spawned),
        ..TaskResult::new(&task, &text)
    };
    session.finish(result, || format!("{text}\n{}", lines(&task, &spawned)))
}

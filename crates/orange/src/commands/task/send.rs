//! `orange task send`: what a person says to an agent.

use super::word;
use crate::completion::{Wanted, tasks, words};
use crate::input;
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Role;
use orange_core::{Action, text};
use orange_engine::verbs::send::Sent;
use orange_engine::views::TaskResult;
use orange_engine::{Result, err, verbs};
use std::path::Path;
use std::time::Duration;

/// How long `send` waits to see whether a message is taken.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Send a message to a task's agent
#[derive(Debug, Args)]
#[command(after_help = "\
Says whether the agent took it (delivered) or will when its turn is over (queued).

Examples:
  orange send TASK-001 \"use the blue button\"
  orange send TASK-001 --interrupt \"stop, wrong file\"
  git diff | orange send TASK-001 -")]
pub(crate) struct SendArgs {
    /// The task
    #[arg(add = tasks(Wanted::InSession))]
    id: String,
    /// What to say; - is standard input, and after -- it may begin with a hyphen
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Interrupt the agent's turn to deliver the message
    #[arg(long)]
    interrupt: bool,
    /// worker or reviewer
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS), default_value = "worker")]
    role: Role,
}

pub(crate) fn run(session: &Session, args: &SendArgs) -> Result<()> {
    let text = message(&args.text)?;
    let place = session.task(Some(&args.id))?;
    let (task, sent) = verbs::send::send(
        &session.call,
        place,
        args.role,
        &text,
        args.interrupt,
        TIMEOUT,
    )?;
    let label = task.label();
    let (state, message) = match &sent {
        Sent::Delivered(how) => ("delivered", format!("{label}: delivered ({how})")),
        Sent::Queued(why) => (
            "queued",
            format!("{label}: queued, {why}; it is told when it can be"),
        ),
        Sent::Failed(why) => {
            return Err(
                err!(Failed, "the message to {label} was not delivered: {why}").hint(text!(
                    "it is kept with the task; look at the window: {}",
                    Action::attach(task.name())
                )),
            );
        }
    };
    let result = TaskResult {
        state: Some(state),
        ..TaskResult::new(&task, &message)
    };
    session.finish(result, || format!("{message}\n"))
}

/// The words as they were typed; `-` alone is standard input.
pub(super) fn message(words: &[String]) -> Result<String> {
    if words == ["-"] {
        input::text(Path::new("-"), 1)
    } else {
        Ok(words.join(" "))
    }
}

//! `orange task attach`, `send` and `request-changes`: a person and an agent.

use super::{update, word};
use crate::completion::{Wanted, tasks, words};
use crate::input;
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::command::task_name;
use clap::Args;
use orange_core::workflow::Role;
use orange_core::{Action, text};
use orange_engine::verbs::send::Sent;
use orange_engine::views::TaskResult;
use orange_engine::{Result, err, verbs};
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

/// How long `send` waits to see whether a message is taken.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Go to a task's tmux session
#[derive(Debug, Args)]
#[command(after_help = "\
Inside tmux it switches to the session, outside it attaches; the way back is shown.

Examples:
  orange attach TASK-001
  orange attach TASK-001 --role reviewer")]
pub(crate) struct AttachArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::InSession))]
    id: Option<String>,
    /// The window of the worker or of the reviewer
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS))]
    role: Option<Role>,
}

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
    /// Interrupt its turn for it
    #[arg(long)]
    interrupt: bool,
    /// worker or reviewer
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS), default_value = "worker")]
    role: Role,
}

/// Send a reviewed task back to its worker (reviewing → working)
#[derive(Debug, Args)]
#[command(after_help = "\
Your words are added to TASK.md as `## Changes requested`, and the worker is told. Rounds of review count anew.

Examples:
  orange request-changes TASK-001 \"the button is too small\"
  orange request-changes TASK-001 - < notes.md")]
pub(crate) struct RequestChangesArgs {
    /// The task
    #[arg(add = tasks(Wanted::Reviewing))]
    id: String,
    /// What should be changed; - is standard input, and after -- it may begin with a hyphen
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
}

pub(crate) fn attach(session: &Session, args: &AttachArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    session.people_only("attach")?;
    let (task, attach) = verbs::attach::attach(&session.call, place, args.role)?;
    if session.json {
        let command = attach.command();
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        return session.finish(named("command", &words), String::new);
    }
    let on_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !attach.switches && !on_terminal {
        return Err(
            err!(ConditionUnmet, "attaching needs a terminal").hint(format!(
                "look at the screen instead: `orange peek {}`",
                task_name(&task.name())
            )),
        );
    }
    output::notices(&session.call.take_notices());
    let error = attach.command().exec();
    Err(err!(Failed, "tmux cannot be started: {error}"))
}

pub(crate) fn send(session: &Session, args: &SendArgs) -> Result<()> {
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

pub(crate) fn request_changes(session: &Session, args: &RequestChangesArgs) -> Result<()> {
    let text = message(&args.text)?;
    let place = session.task(Some(&args.id))?;
    let changed = verbs::request_changes::request_changes(&session.call, place, &text)?;
    update::finish(session, &changed, &update::moved(&changed), None)
}

/// The words as they were typed; `-` alone is standard input.
pub(super) fn message(words: &[String]) -> Result<String> {
    if words == ["-"] {
        input::text(Path::new("-"), 1)
    } else {
        Ok(words.join(" "))
    }
}

//! `orange task attach`: going to the window of an agent.

use super::word;
use crate::completion::{Wanted, tasks, words};
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::command::task_name;
use clap::Args;
use orange_core::workflow::Role;
use orange_engine::{Result, err, verbs};
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;

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
    /// The window of the worker, the reviewer or the executor
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS))]
    role: Option<Role>,
}

pub(crate) fn run(session: &Session, args: &AttachArgs) -> Result<()> {
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

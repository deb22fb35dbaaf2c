//! `orange task why`: one line.

use crate::completion::{Wanted, tasks};
use crate::output::named;
use crate::session::Session;
use crate::ui::command::{command, spelled};
use crate::ui::{Extent, clean};
use clap::Args;
use orange_core::task::Status;
use orange_engine::Result;
use orange_engine::views::{Explanation, task, why};
use serde::Serialize;

/// Say in one line why a task is where it is and what moves it on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  orange task why TASK-002\n  orange task why TASK-002 --json")]
pub(crate) struct WhyArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
}

/// The answer for programs, with the command spelled out.
#[derive(Serialize)]
struct Told<'a> {
    task: &'a str,
    status: Status,
    because: String,
    next: Option<String>,
    too_early: bool,
    needs_human: bool,
}

fn because(answer: &Explanation) -> String {
    spelled(&answer.reason.text(&answer.task))
}

/// One line; where it does not fit into one, the command has a line of its own.
pub(super) fn to_text(answer: &Explanation, extent: Extent) -> String {
    let text = format!(
        "{} {}: {}",
        answer.task,
        answer.status.phrase(),
        clean(&because(answer))
    );
    let Some(command) = answer.next.as_ref().map(command) else {
        return format!("{text}\n");
    };
    let word = if answer.too_early { "then" } else { "next" };
    let line = format!("{text}; {word}: {command}\n");
    match extent {
        Extent::Columns(width) if line.chars().count() > width => {
            format!("{text}\n{word}: {command}\n")
        }
        Extent::Columns(_) | Extent::Unlimited => line,
    }
}

pub(crate) fn run(session: &Session, args: &WhyArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let view = task::view_judged(&session.call, place)?;
    let answer = why::explanation(&session.call, &view)?;
    let told = Told {
        task: &answer.task,
        status: answer.status,
        because: because(&answer),
        next: answer.next.as_ref().map(command),
        too_early: answer.too_early,
        needs_human: answer.needs_human,
    };
    session.finish(named("why", told), || to_text(&answer, Extent::stdout()))
}

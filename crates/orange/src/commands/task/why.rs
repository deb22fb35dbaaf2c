//! `orange task why`: where a task is, what it waits for and what moves it on, a line each.

use crate::completion::{Wanted, tasks};
use crate::output::named;
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::{SPELLING, command, spelled};
use clap::Args;
use orange_engine::Result;
use orange_engine::views::{Explanation, WhyView, task, why};

/// Say why a task is where it is and what moves it on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  orange why TASK-002\n  orange why TASK-002 --json")]
pub(crate) struct WhyArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
}

pub(crate) fn because(answer: &Explanation) -> String {
    spelled(&answer.reason.text(&answer.name))
}

/// Three lines: where it is, what it waits for, what to do.
pub(super) fn to_text(answer: &Explanation) -> String {
    let state = format!("{} {}", answer.task, answer.phrase);
    let mut text = format!("{state}\n{}\n", clean(&because(answer)));
    if let Some(command) = answer.next.as_ref().map(command) {
        let word = if answer.too_early { "then" } else { "next" };
        text.push_str(&format!("{word}: {command}\n"));
    }
    text
}

pub(crate) fn run(session: &Session, args: &WhyArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let view = task::view_judged(&session.call, place)?;
    let answer = why::explanation(&session.call, &view)?;
    session.finish(named("why", WhyView::of(&answer, SPELLING)), || {
        to_text(&answer)
    })
}

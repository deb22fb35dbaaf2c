//! `orange task request-changes`: back to the worker, with what a person says.

use super::run::tell_outcome;
use super::update;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_engine::{Result, verbs};

/// Send a task back to be changed, with what is to be different
#[derive(Debug, Args)]
#[command(after_help = "\
Your words are added to TASK.md as `## Changes requested`, and the worker is told. Rounds of review count anew. On a phased task that is completed, paused or has failed, implementing and what follows \
it begin again; at a phase gate it is `orange reject`.

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

pub(crate) fn run(session: &Session, args: &RequestChangesArgs) -> Result<()> {
    let text = super::send::message(&args.text)?;
    let place = session.task(Some(&args.id))?;
    let changed = verbs::request_changes::request_changes(&session.call, place, &text)?;
    let message = update::moved(&changed);
    if changed.done.task.has_plan() {
        return tell_outcome(session, &changed, &message);
    }
    update::finish(session, &changed, &message, None)
}

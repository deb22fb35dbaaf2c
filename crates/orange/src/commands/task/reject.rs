//! `orange task reject`: a person has a phase done again.

use super::run::tell_outcome;
use super::update::moved;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Trigger;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::gate;
use orange_engine::{Result, err};

/// Have a phase done again: its agent is told what is to be different
#[derive(Debug, Args)]
#[command(after_help = "\
It counts as a failed phase: design goes back to spec; review, test and validate go back to implement. After `phases.retries` the \
task fails.

Example:
  orange reject TASK-001 --reason \"the form must work without JavaScript\"")]
pub(crate) struct RejectArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Said(Trigger::REJECT)))]
    id: Option<String>,
    /// What is to be different
    #[arg(
        long,
        visible_alias = "message",
        value_name = "TEXT",
        allow_hyphen_values = true
    )]
    reason: String,
}

pub(crate) fn run(session: &Session, args: &RejectArgs) -> Result<()> {
    if args.reason.trim().is_empty() {
        return Err(
            err!(Usage, "--reason is empty").hint("say what is to be different: the agent is told")
        );
    }
    let place = session.task(args.id.as_deref())?;
    let changed = Changed::from(gate::reject(&session.call, place, &args.reason)?);
    let message = format!("{} (rejected)", moved(&changed));
    tell_outcome(session, &changed, &message)
}

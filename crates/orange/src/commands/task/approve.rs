//! `orange task approve`: a person accepts what a phase did.

use super::run::tell_outcome;
use super::update::moved;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Trigger;
use orange_engine::Result;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::gate;

/// Accept what a phase did; the task goes on
#[derive(Debug, Args)]
#[command(after_help = "\
`orange diff` and `orange transcript` show what it did.

Examples:
  orange approve TASK-001
  orange approve TASK-001 --reason \"as we discussed\"")]
pub(crate) struct ApproveArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Said(Trigger::APPROVE)))]
    id: Option<String>,
    /// Something to keep with the decision
    #[arg(
        long,
        visible_alias = "message",
        value_name = "TEXT",
        allow_hyphen_values = true
    )]
    #[arg(default_value = "", hide_default_value = true)]
    reason: String,
}

pub(crate) fn run(session: &Session, args: &ApproveArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let changed = Changed::from(gate::approve(&session.call, place, &args.reason)?);
    let message = format!("{} (approved)", moved(&changed));
    tell_outcome(session, &changed, &message)
}

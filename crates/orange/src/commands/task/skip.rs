//! `orange task skip`: a phase of the plan is left out.

use super::run::tell_outcome;
use crate::completion::{Wanted, phases, tasks};
use crate::session::Session;
use clap::Args;
use orange_engine::Result;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::skip::skip;

/// Leave a phase of the plan out
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "\
`orange rewind --to PHASE` brings it back.

Examples:
  orange skip TASK-001 review
  orange skip TASK-001 docs --reason \"there are none\""
)]
pub(crate) struct SkipArgs {
    /// The task (default: the one you are in)
    #[arg(value_name = "TASK", add = tasks(Wanted::Phased))]
    id: Option<String>,
    /// The phase
    #[arg(value_name = "PHASE", required = true, add = phases())]
    phase: String,
    /// Why the phase is skipped
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        default_value = ""
    )]
    #[arg(hide_default_value = true)]
    reason: String,
}

pub(crate) fn run(session: &Session, args: &SkipArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let done = skip(&session.call, place, &args.phase, &args.reason)?;
    let message = format!("{}: phase {} is skipped", done.task.label(), args.phase);
    tell_outcome(session, &Changed::from(done), &message)
}

//! `orange task retry`: a phase that failed for good is tried once more.

use super::run::tell_run;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Trigger;
use orange_engine::Result;
use orange_engine::verbs::phased::run::{Again, RunWish};

/// Try a phase again that has failed
#[derive(Debug, Args)]
#[command(after_help = "\
The phase is tried once more than `phases.retries` allows. Its agent is told why it failed.

Example:
  orange retry TASK-001")]
pub(crate) struct RetryArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Said(Trigger::RETRY)))]
    id: Option<String>,
    /// Ignore `agents.limit` and a spent budget
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(session: &Session, args: &RetryArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let wish = RunWish {
        phase: None,
        force: args.force,
    };
    tell_run(session, place, Again::Retry, &wish)
}

//! `orange task resume`: a phased task that was paused goes on.

use super::run::tell_run;
use crate::completion::{Wanted, phases, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Trigger;
use orange_engine::Result;
use orange_engine::verbs::phased::run::{Again, RunWish};

/// Go on executing a task that was paused
#[derive(Debug, Args)]
#[command(after_help = "\
Without a slot, or with too many agents at work, it waits in the queue.

Examples:
  orange resume TASK-001
  orange resume TASK-001 --phase implement    that phase alone, then paused")]
pub(crate) struct ResumeArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Said(Trigger::RESUME)))]
    id: Option<String>,
    /// Run only this phase, then pause the task
    #[arg(long, value_name = "PHASE", add = phases())]
    phase: Option<String>,
    /// Ignore `agents.limit` and a spent budget until the execution ends or is paused
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(session: &Session, args: &ResumeArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let wish = RunWish {
        phase: args.phase.clone(),
        force: args.force,
    };
    tell_run(session, place, Again::Resume, &wish)
}

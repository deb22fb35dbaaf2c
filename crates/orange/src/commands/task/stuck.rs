//! `orange task stuck`: asking for help.

use super::update::change_task;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Intent;
use orange_engine::Result;
use orange_engine::verbs::change::Change;

/// Ask for help (→ stuck)
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  orange stuck TASK-001 --reason \"the API key is missing\"")]
pub(crate) struct StuckArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// What is in the way
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(session: &Session, args: &StuckArgs) -> Result<()> {
    let change = Change {
        intent: Some(Intent::Help),
        reason: args.reason.clone(),
        ..Change::default()
    };
    change_task(session, args.id.as_deref(), &change)
}

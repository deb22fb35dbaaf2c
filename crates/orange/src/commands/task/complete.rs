//! `orange task complete`: the work is handed over.

use super::update::change_task;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::workflow::Intent;
use orange_engine::Result;
use orange_engine::verbs::change::Change;

/// Hand the work over for review (working → agent-review)
#[derive(Debug, Args)]
#[command(
    after_help = "Needs a `## Handoff` section in TASK.md with at least a DONE: or REMAINING: line.\n\nExample:\n  orange complete TASK-001"
)]
pub(crate) struct CompleteArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
}

pub(crate) fn run(session: &Session, args: &CompleteArgs) -> Result<()> {
    let change = Change {
        intent: Some(Intent::Submit),
        ..Change::default()
    };
    change_task(session, args.id.as_deref(), &change)
}

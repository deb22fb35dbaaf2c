//! `orange task retry-hooks`: what failed after a change is tried again.

use super::update::finish;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_core::timeline::hooks;
use orange_engine::Result;
use orange_engine::verbs::change::{self, Changed};

/// Try again what failed after the last status change
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  orange retry-hooks TASK-001      when a setup command failed, say"
)]
pub(crate) struct RetryHooksArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
}

pub(crate) fn run(session: &Session, args: &RetryHooksArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let (done, tried) = change::retry_hooks(&session.call, place)?;
    let label = done.task.label();
    let message = match tried.as_slice() {
        [] => format!("{label}: nothing failed, so there is nothing to retry"),
        tried => {
            let tried: Vec<String> = tried.iter().map(|hook| hooks::aim(hook)).collect();
            format!("{label}: tried again: {}", tried.join(", "))
        }
    };
    let changed = Changed {
        done,
        fields: Vec::new(),
        waits: None,
    };
    finish(session, &changed, &message, None)
}

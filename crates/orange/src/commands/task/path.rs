//! `orange task path`: where the work is.

use crate::completion::{Wanted, tasks};
use crate::output::{self, named};
use crate::session::Session;
use clap::Args;
use orange_engine::Result;
use orange_engine::views::workspace_state;
use std::os::unix::ffi::OsStrExt;

/// Print the folder of a task's worktree
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cd \"$(orange path TASK-001)\"\n  orange path TASK-001 --task      where its TASK.md lies"
)]
pub(crate) struct PathArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// Print the task's own folder instead, where TASK.md is
    #[arg(long)]
    task: bool,
}

pub(crate) fn run(session: &Session, args: &PathArgs) -> Result<()> {
    let id = args.id.as_deref();
    let path = if args.task {
        // Also for a task that is too damaged to be read.
        session.task(id)?.path
    } else {
        workspace_state::workspace_folder(&session.call, &session.view(id)?.task)?
    };
    if session.json {
        output::print_json(&named("path", path.to_string_lossy()));
    } else {
        output::print_piece(&[path.as_os_str().as_bytes(), b"\n"].concat());
    }
    Ok(())
}

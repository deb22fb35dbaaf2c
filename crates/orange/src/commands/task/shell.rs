//! `orange task shell`: a shell in the worktree.

use super::exec::{hand_over, worktree};
use crate::commands::program::{Program, variable};
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_engine::Result;
use std::io::{IsTerminal, Write};

/// Start a shell in a task's worktree
#[derive(Debug, Args)]
#[command(
    after_help = "The shell is SHELL, or else /bin/sh; its exit code is the command's.\n\nExample:\n  orange shell TASK-001"
)]
pub(crate) struct ShellArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
}

pub(crate) fn run(session: &Session, args: &ShellArgs) -> Result<()> {
    let (task, folder) = worktree(session, args.id.as_deref(), "shell")?;
    let shell = variable("SHELL").unwrap_or_else(|| "/bin/sh".into());
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        let line = format!(
            "{} {} in {}; `exit` leads back\n",
            task.label(),
            clean(&task.summary),
            clean(&folder.to_string_lossy())
        );
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    let program = Program::new(shell).in_folder(&folder);
    hand_over(session, program.for_a_person())
}

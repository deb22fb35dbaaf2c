//! `orange task exec`: a command in the worktree. `open` and `shell` start their programs in the same way.

use crate::commands::program::Program;
use crate::completion::{Wanted, tasks};
use crate::output::{self};
use crate::session::Session;
use clap::Args;
use orange_core::task::Task;
use orange_engine::views::workspace_state;
use orange_engine::{Result, access, err};
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a command in a task's worktree
#[derive(Debug, Args)]
#[command(
    after_help = "Its exit code is the command's own; 127 if there is no such command.\n\nExamples:\n  orange exec TASK-001 -- git log --oneline -3\n  orange exec -- make test         inside a workspace: its task"
)]
pub(crate) struct ExecArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(session: &Session, args: &ExecArgs) -> Result<()> {
    let (_, folder) = worktree(session, args.id.as_deref(), "exec")?;
    let mut words = args.command.iter();
    let mut program = Program::new(words.next().cloned().unwrap_or_default());
    for word in words {
        program = program.with(word);
    }
    hand_over(session, program.in_folder(&folder))
}

/// The task and its worktree, for a command whose output is somebody else's.
pub(super) fn worktree(session: &Session, id: Option<&str>, verb: &str) -> Result<(Task, PathBuf)> {
    if session.json {
        return Err(err!(Usage, "`task {verb}` has no JSON output")
            .hint("leave --json out; a command that is to get it needs it behind `--`"));
    }
    let task = session.view(id)?.task;
    let call = &session.call;
    access::own_task_only(call, &task, "start programs in the worktree of")?;
    let folder = workspace_state::workspace_folder(call, &task)?;
    Ok((task, folder))
}

/// Prints pending messages, then lets the program take over.
pub(super) fn hand_over(session: &Session, program: Program) -> Result<()> {
    output::notices(&session.call.take_notices());
    program.take_over()
}

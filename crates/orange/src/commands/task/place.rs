//! `orange task path`, `open`, `shell` and `exec`: going where the work is.

use orange_engine::views::workspace_state;
use orange_engine::{Result, access, err};
mod editor_line;
pub(crate) mod program;

use crate::completion::{Wanted, tasks};
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::task::Task;
use program::{Program, variable};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Print the folder of a task's worktree
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cd \"$(orange path TASK-001)\"\n  orange path TASK-001 --task      where its TASK.md lies"
)]
pub(crate) struct PathArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// The task's own folder, where TASK.md lies
    #[arg(long)]
    task: bool,
}

/// Open a task's worktree in your editor
#[derive(Debug, Args)]
#[command(
    after_help = "The editor is VISUAL, or else EDITOR; it may have arguments. Of editors that Orange does not know, \
--line is left out.\n\nExamples:\n  orange open TASK-001\n  orange open TASK-001 --with \"code -n\"\n  \
orange open TASK-001 --file README.md --line 3"
)]
pub(crate) struct OpenArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// The editor to open it with
    #[arg(long, value_name = "COMMAND")]
    with: Option<OsString>,
    /// This file of it, from its root
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// The line at which the file is shown, counted from 1
    #[arg(long, value_name = "N", requires = "file")]
    line: Option<u32>,
}

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

pub(crate) fn path(session: &Session, args: &PathArgs) -> Result<()> {
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

pub(crate) fn open(session: &Session, args: &OpenArgs) -> Result<()> {
    let (_, folder) = worktree(session, args.id.as_deref(), "open")?;
    let editor = args.with.clone().or_else(program::editor);
    let editor = editor.filter(|editor| !editor.is_empty()).ok_or_else(|| {
        err!(Usage, "there is no editor to open it with")
            .hint("set VISUAL or EDITOR, or name one: `orange open --with \"code -n\"`")
    })?;
    let shown = match &args.file {
        Some(file) => editor_line::arguments(&editor, &existing(&folder, file)?, args.line),
        None => vec![folder.clone().into()],
    };
    let program = Program::from_line(&editor);
    let program = shown.iter().fold(program, Program::with);
    hand_over(session, program.in_folder(&folder).for_a_person())
}

/// A file of a worktree.
fn existing(folder: &Path, file: &Path) -> Result<PathBuf> {
    let path = folder.join(file);
    if path.is_file() {
        return Ok(path);
    }
    Err(err!(
        NotFound,
        "there is no file {} in {}",
        file.display(),
        folder.display()
    )
    .hint("paths are those of the repository, from its root: `src/main.rs`"))
}

pub(crate) fn shell(session: &Session, args: &ShellArgs) -> Result<()> {
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

pub(crate) fn exec(session: &Session, args: &ExecArgs) -> Result<()> {
    let (_, folder) = worktree(session, args.id.as_deref(), "exec")?;
    let mut words = args.command.iter();
    let mut program = Program::new(words.next().cloned().unwrap_or_default());
    for word in words {
        program = program.with(word);
    }
    hand_over(session, program.in_folder(&folder))
}

/// The task and its worktree, for a command whose output is somebody else's.
fn worktree(session: &Session, id: Option<&str>, verb: &str) -> Result<(Task, PathBuf)> {
    if session.json {
        return Err(err!(Usage, "`task {verb}` has nothing to say in JSON")
            .hint("leave --json out; a command that is to get it needs it behind `--`"));
    }
    let task = session.view(id)?.task;
    let call = &session.call;
    access::own_task_only(call, &task, "start programs in the worktree of")?;
    let folder = workspace_state::workspace_folder(call, &task)?;
    Ok((task, folder))
}

/// Prints pending messages, then lets the program take over.
fn hand_over(session: &Session, program: Program) -> Result<()> {
    output::notices(&session.call.take_notices());
    program.take_over()
}

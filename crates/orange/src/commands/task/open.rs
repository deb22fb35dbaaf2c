//! `orange task open`: the worktree in an editor.

mod editor_line;

use super::exec::{hand_over, worktree};
use crate::commands::program::{self, Program};
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use clap::Args;
use orange_engine::{Result, err};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
    /// Open this file; the path starts at the worktree's root
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// The line at which the file is shown, counted from 1
    #[arg(long, value_name = "N", requires = "file")]
    line: Option<u32>,
}

pub(crate) fn run(session: &Session, args: &OpenArgs) -> Result<()> {
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

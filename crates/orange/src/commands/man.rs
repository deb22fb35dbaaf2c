//! `orange man`: the man pages, read or written down. The only file that starts `man`.

use crate::error::{CommandError, Result};
use crate::man::{self, Page};
use crate::output;
use clap::Args;
use orange_engine::{Code, Error};
use serde_json::json;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Args)]
#[command(after_help = "\
On a terminal the page is shown by man; anywhere else its source is printed.

Examples:
  orange man
  orange man task merge
  orange man task merge > orange-task-merge.1
  orange man --write ~/.local/share/man/man1      then: man orange-task-merge")]
pub(crate) struct ManArgs {
    /// The command; the page of the program itself unless given
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "words")]
    write: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, wants_json: bool) -> Result<()> {
    if let Some(folder) = &args.write {
        return write(folder, wants_json);
    }
    let page = man::of(&args.words)?;
    if wants_json {
        let value = json!({"page": {"file": page.file, "text": page.text}});
        output::print(&format!("{value}\n"));
    } else if !stdout().is_terminal() || !shown_by_man(&page) {
        output::print(&page.text);
    }
    Ok(())
}

/// False: there is no `man` that can do it, and nothing was shown.
fn shown_by_man(page: &Page) -> bool {
    let child = Command::new("man")
        .args(["-l", "-"])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        output::note("man cannot be started, so this is the page's source");
        return false;
    };
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(page.text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}

fn write(folder: &Path, wants_json: bool) -> Result<()> {
    let failed = |path: &Path, error: &std::io::Error| {
        let reason = orange_engine::error::plain(error);
        let message = format!("cannot write {}: {reason}", path.display());
        CommandError(Error::new(Code::Failed, message).hint("name a folder that you may write to"))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let mut written = Vec::new();
    for page in man::all() {
        let path = folder.join(&page.file);
        std::fs::write(&path, &page.text).map_err(|error| failed(&path, &error))?;
        written.push(path);
    }
    let text = match wants_json {
        true => format!("{}\n", json!({"pages": written})),
        false => format!("{} pages in {}\n", written.len(), folder.display()),
    };
    output::print(&text);
    Ok(())
}

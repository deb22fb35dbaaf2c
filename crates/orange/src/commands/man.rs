//! `orange man`: the man pages, read or written down. The only file that starts `man`.

use crate::completion::commands;
use crate::man::{self, Page};
use crate::output::{self, named};
use crate::ui::clean;
use clap::{Args, ValueHint};
use orange_engine::error::plain;
use orange_engine::{Result, err};
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Show a command's man page, or write all of them down
#[derive(Debug, Args)]
#[command(after_help = "\
The page is shown by man, or formatted by mandoc or groff; without any of them its source is printed.

Examples:
  orange man
  orange man task merge
  orange man task merge | grep -- --strategy
  orange man task merge --source > orange-task-merge.1
  orange man --write ~/.local/share/man/man1      then: man orange-task-merge")]
pub(crate) struct ManArgs {
    /// The command (default: the page of the program itself)
    #[arg(value_name = "COMMAND", add = commands())]
    words: Vec<String>,
    /// The page's source, in troff
    #[arg(long)]
    source: bool,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["words", "source"], value_hint = ValueHint::DirPath)]
    write: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, wants_json: bool) -> Result<()> {
    if let Some(folder) = &args.write {
        return write(folder, wants_json);
    }
    let page = man::of(&args.words)?;
    if wants_json {
        output::print_json(&named("page", &page));
    } else if args.source {
        output::print(&page.text);
    } else if !stdout().is_terminal() {
        match formatted(&page) {
            Some(text) => output::print(&text),
            None => {
                output::note("there is no man, mandoc or groff, so this is the page's source");
                output::print(&page.text);
            }
        }
    } else if !shown_by_man(&page) {
        output::print(&page.text);
    }
    Ok(())
}

/// Programs that format a page for a file or a pipe, the one that people know first.
const FORMATTERS: [(&str, &[&str]); 3] = [
    ("man", &["-l", "-"]),
    ("mandoc", &["-man", "-T", "utf8"]),
    ("groff", &["-K", "utf8", "-man", "-T", "utf8", "-P", "-c"]),
];

/// The page as text, as man(1) gives it where nobody looks at a terminal. None: nothing here can do that.
fn formatted(page: &Page) -> Option<String> {
    let title = page.file.trim_end_matches(".1").to_uppercase();
    FORMATTERS.iter().find_map(|(program, arguments)| {
        let text = formatted_by(program, arguments, page)?;
        // Where man pages were left out of a system, `man` may only say that.
        text.contains(&title).then_some(text)
    })
}

fn formatted_by(program: &str, arguments: &[&str], page: &Page) -> Option<String> {
    let mut child = Command::new(program)
        .args(arguments)
        // Bold letters are of no use to grep.
        .env_remove("MAN_KEEP_FORMATTING")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // A formatter reads the whole page before it writes, or at least as much as a pipe holds; a thread is safe.
    let mut pipe = child.stdin.take()?;
    let source = page.text.clone();
    let writer = std::thread::spawn(move || pipe.write_all(source.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let _ = writer.join();
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| without_overstrikes(&text))
}

/// Some write a bold letter as itself, a backspace and itself again.
fn without_overstrikes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{8}' => drop(plain.pop()),
            letter => plain.push(letter),
        }
    }
    plain
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
        err!(Failed, "cannot write {}: {}", path.display(), plain(error))
            .hint("name a folder that you may write to")
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let mut written = Vec::new();
    for page in man::all() {
        let path = folder.join(&page.file);
        std::fs::write(&path, &page.text).map_err(|error| failed(&path, &error))?;
        written.push(path);
    }
    if wants_json {
        output::print_json(&named("pages", &written));
    } else {
        let folder = folder.display().to_string();
        output::print(&format!("{} pages in {}\n", written.len(), clean(&folder)));
    }
    Ok(())
}

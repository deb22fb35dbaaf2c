//! The program's commands as its own `--help` tells them, and the examples in there.

use crate::run::program;
use std::process::Command;

/// Commands that `--help` does not list, but documents speak of.
const UNLISTED: &[&str] = &["signal"];

/// One command and its help.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// Its words after `orange`.
    pub(crate) path: Vec<String>,
    pub(crate) help: String,
}

impl Page {
    fn read(path: Vec<String>) -> Page {
        let output = Command::new(program())
            .args(&path)
            .arg("--help")
            .env_clear()
            // So wide that no line is broken.
            .env("COLUMNS", "1000")
            .output()
            .unwrap();
        assert!(output.status.success(), "orange {path:?} --help");
        let help = String::from_utf8(output.stdout).unwrap();
        Page { path, help }
    }

    /// `orange create`.
    pub(crate) fn name(&self) -> String {
        ["orange"]
            .into_iter()
            .chain(self.path.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The names under a heading such as `Commands:`.
    pub(crate) fn below(&self, heading: &str) -> Vec<&str> {
        let mut lines = self.help.lines();
        if !lines.any(|line| line == heading) {
            return Vec::new();
        }
        lines.take_while(|line| line.starts_with("  ")).collect()
    }

    /// Those below it, under whatever headings they stand.
    fn commands(&self) -> Vec<String> {
        let lines = self.help.lines();
        let mut after_usage = lines.skip_while(|line| !line.starts_with("Usage: "));
        if !after_usage
            .next()
            .is_some_and(|line| line.ends_with("[OPTIONS] <COMMAND>"))
        {
            return Vec::new();
        }
        let before_options = after_usage.take_while(|line| *line != "Options:");
        let entries = before_options.filter_map(|line| line.strip_prefix("  "));
        let names = entries.filter_map(|entry| entry.split(' ').next());
        // Every group of clap's has a `help`; only Orange's own is a command of its own.
        let real = |name: &&str| !name.is_empty() && (*name != "help" || self.path.is_empty());
        names.filter(real).map(str::to_owned).collect()
    }

    /// Its examples: what is typed, and the words beside it.
    pub(crate) fn examples(&self) -> Vec<Example> {
        let lines = [self.below("Examples:"), self.below("Example:")].concat();
        lines.into_iter().map(Example::read).collect()
    }
}

/// A line under `Examples:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Example {
    pub(crate) line: String,
    pub(crate) remark: String,
}

impl Example {
    /// Two spaces outside quotes end what is typed.
    fn read(line: &str) -> Example {
        let line = line.trim();
        let mut quote = None;
        let mut end = line.len();
        for (at, letter) in line.char_indices() {
            match quote {
                Some(open) if open == letter => quote = None,
                Some(_) => {}
                None if letter == '"' || letter == '\'' => quote = Some(letter),
                None if line[at..].starts_with("  ") => {
                    end = at;
                    break;
                }
                None => {}
            }
        }
        Example {
            line: line[..end].to_owned(),
            remark: line[end..].trim().to_owned(),
        }
    }
}

/// Every command, in the order of `--help`.
pub(crate) fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let page = Page::read(path.clone());
        let below = page.commands().into_iter().rev();
        open.extend(below.map(|name| [path.clone(), vec![name]].concat()));
        pages.push(page);
    }
    let unlisted = UNLISTED.iter().map(|name| Page::read(vec![(*name).into()]));
    pages.extend(unlisted);
    pages
}

/// Every example once: short forms have those of the command they are short for.
pub(crate) fn examples() -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    for example in pages().iter().flat_map(Page::examples) {
        if !all.iter().any(|known| known.line == example.line) {
            all.push(example);
        }
    }
    all
}

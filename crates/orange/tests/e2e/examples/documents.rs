//! The fenced blocks of the documents: what is typed in them, and what is shown below.

use std::fs;
use std::path::{Path, PathBuf};

/// A fenced block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// `README.md:40`.
    pub(crate) place: String,
    pub(crate) language: String,
    pub(crate) lines: Vec<String>,
}

/// What is typed, and what is shown below it, if anything is.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) shown: Vec<String>,
}

/// Every document that people read, by its name.
pub(crate) fn documents() -> Vec<String> {
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap().flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                folders.push(name);
            } else if name.ends_with(".md") {
                names.push(name);
            }
        }
    }
    names.sort();
    names
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn text(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Block)> = None;
    for (number, line) in text(document).lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let fence = line.trim_start().strip_prefix("```");
        match (fence, &mut open) {
            (Some(language), None) => {
                let block = Block {
                    place: format!("{document}:{}", number + 1),
                    language: language.to_owned(),
                    lines: Vec::new(),
                };
                open = Some((indent, block));
            }
            (Some(_), Some(_)) => blocks.extend(open.take().map(|(_, block)| block)),
            (None, Some((indent, block))) => {
                block
                    .lines
                    .push(line.get(*indent..).unwrap_or_default().to_owned());
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{document}: a block without an end");
    blocks
}

impl Block {
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// The commands of a block for the shell; none of any other.
    pub(crate) fn steps(&self) -> Vec<Step> {
        match self.language.as_str() {
            "console" => self.typed(),
            // A script: nobody types it line by line.
            "sh" | "bash" => vec![Step::new(&format!("set -e\n{}", self.text()))],
            _ => Vec::new(),
        }
    }

    fn typed(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step::new(command)),
                (None, Some(step)) => step.shown.push(line.clone()),
                (None, None) => panic!("{}: begins without a command", self.place),
            }
        }
        steps
    }
}

impl Step {
    fn new(command: &str) -> Step {
        Step {
            command: command.to_owned(),
            shown: Vec::new(),
        }
    }

    /// Whether it fails is told by what is shown.
    pub(crate) fn fails(&self) -> bool {
        let doctor = self.command.contains("orange doctor");
        let mut lines = self.shown.iter();
        lines.any(|line| line.starts_with("error: ") || (doctor && line.contains('✗')))
    }

    /// Whether it only looks: what it shows may take a moment to be so.
    pub(crate) fn looks(&self) -> bool {
        let words = [
            "ls", "list", "show", "why", "peek", "status", "search", "log", "inbox",
        ];
        let command = self.command.split(" #").next().unwrap_or_default();
        let mut all = command.split_whitespace();
        all.next() == Some("orange") && all.any(|word| words.contains(&word))
    }
}

/// Commands that are mentioned between backticks, in one line each.
pub(crate) fn mentioned(document: &str) -> Vec<String> {
    let text = text(document);
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let spans = prose
        .iter()
        .flat_map(|part| part.split('`').skip(1).step_by(2));
    let lines = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| line.starts_with("orange ")).collect()
}

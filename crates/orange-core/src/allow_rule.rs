//! What an agent may do without asking again: the rule that a person's answer left, and whether it allows a request. A rule
//! allows nothing that its words do not say; whatever is written in another way is asked for.

mod command;

use crate::choice;
use command::plain_words;
use serde::Serialize;
use serde_json::Value;

choice! {
    /// For whom a rule counts.
    pub enum Scope ("scope") {
        Task = "task",
        Project = "project",
    }
}

choice! {
    /// What a rule compares.
    pub enum RuleKind ("kind of rule") {
        /// The whole command.
        Command = "command",
        /// The words that a plain command begins with.
        CommandPrefix = "command-prefix",
        File = "file",
        /// Every file below a folder.
        Folder = "folder",
        /// All that the tool is given, as JSON.
        Input = "input",
    }
}

/// What an agent asks for. Paths inside the worktree are relative to it, so that they hold in another slot; others are absolute.
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionRequest {
    Command {
        command: String,
        /// The folder in the worktree where it runs; empty: the worktree itself.
        folder: String,
    },
    File {
        path: String,
    },
    Input {
        input: Value,
    },
}

/// What is allowed: a tool of a harness, and what it may be given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AllowRule {
    /// The word for how Orange hears of the agent: tools of two harnesses may have the same name.
    pub harness: String,
    pub tool: String,
    pub kind: RuleKind,
    pub pattern: String,
    /// Where a command runs, as in [`PermissionRequest`].
    pub folder: String,
}

/// Longer texts are read by nobody who says yes to them.
const LONGEST: usize = 4096;

impl AllowRule {
    /// The rule that allows this request and no other.
    pub fn exact(
        harness: &str,
        tool: &str,
        request: &PermissionRequest,
    ) -> Result<AllowRule, String> {
        let (kind, pattern, folder) = match request {
            PermissionRequest::Command { command, folder } => {
                (RuleKind::Command, command.clone(), folder.as_str())
            }
            PermissionRequest::File { path } => (RuleKind::File, path.clone(), ""),
            PermissionRequest::Input { input } => (RuleKind::Input, input.to_string(), ""),
        };
        let rule = AllowRule::new(harness, tool, kind, pattern, folder);
        if rule.pattern.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        if [tool, &rule.pattern, folder].into_iter().any(has_invisible) {
            return Err("it contains characters that are not shown".to_owned());
        }
        Ok(rule)
    }

    /// The rule of a pattern: `npm test *` for commands that begin so, `src/*` for files below a folder.
    pub fn matching(
        harness: &str,
        tool: &str,
        request: &PermissionRequest,
        pattern: &str,
    ) -> Result<AllowRule, String> {
        let rule = match request {
            PermissionRequest::Command { folder, .. } => {
                let words = command::prefix_of(pattern)?;
                let kind = RuleKind::CommandPrefix;
                AllowRule::new(harness, tool, kind, words.join(" "), folder)
            }
            PermissionRequest::File { .. } => {
                let folder = folder_of(pattern)?;
                AllowRule::new(harness, tool, RuleKind::Folder, folder, "")
            }
            PermissionRequest::Input { .. } => {
                return Err("a pattern can be given for commands and for files".to_owned());
            }
        };
        if rule.allows(harness, tool, request) {
            Ok(rule)
        } else {
            Err(rule.mismatch(request))
        }
    }

    fn new(harness: &str, tool: &str, kind: RuleKind, pattern: String, folder: &str) -> AllowRule {
        AllowRule {
            harness: harness.to_owned(),
            tool: tool.to_owned(),
            kind,
            pattern,
            folder: folder.to_owned(),
        }
    }

    pub fn allows(&self, harness: &str, tool: &str, request: &PermissionRequest) -> bool {
        self.harness == harness && self.tool == tool && self.allows_request(request)
    }

    fn allows_request(&self, request: &PermissionRequest) -> bool {
        match (self.kind, request) {
            (RuleKind::Command, PermissionRequest::Command { command, folder }) => {
                self.pattern == *command && self.folder == *folder
            }
            (RuleKind::CommandPrefix, PermissionRequest::Command { command, folder }) => {
                self.folder == *folder && begins_with(command, &self.pattern)
            }
            (RuleKind::File, PermissionRequest::File { path }) => {
                is_plain_path(path) && self.pattern == *path
            }
            (RuleKind::Folder, PermissionRequest::File { path }) => is_below(path, &self.pattern),
            (RuleKind::Input, PermissionRequest::Input { input }) => {
                serde_json::from_str::<Value>(&self.pattern).is_ok_and(|known| known == *input)
            }
            _ => false,
        }
    }

    /// Why a pattern does not fit what is asked.
    fn mismatch(&self, request: &PermissionRequest) -> String {
        match request {
            PermissionRequest::Command { command, .. } if plain_words(command).is_none() => {
                "a pattern never allows shell operators, expansions or line breaks, and what is asked has some".to_owned()
            }
            _ => "the pattern does not fit what is asked".to_owned(),
        }
    }

    /// In words: `Bash: npm test`. Texts are as the agent gave them; who shows them makes them safe.
    pub fn words(&self) -> String {
        let (tool, pattern) = (&self.tool, &self.pattern);
        let place = match self.folder.as_str() {
            "" => String::new(),
            folder => format!(" (in {folder})"),
        };
        match self.kind {
            RuleKind::CommandPrefix => {
                format!("{tool}: {pattern}, with any plain arguments{place}")
            }
            RuleKind::Folder => format!("{tool}: files below {pattern}/"),
            RuleKind::Command | RuleKind::File | RuleKind::Input => {
                format!("{tool}: {pattern}{place}")
            }
        }
    }
}

/// Whether a command is the program and the first words of a prefix, with nothing but plain words behind them.
fn begins_with(command: &str, prefix: &str) -> bool {
    let (Some(words), Some(prefix)) = (plain_words(command), plain_words(prefix)) else {
        return false;
    };
    !prefix.is_empty() && words.starts_with(&prefix)
}

/// Below a folder; as in a shell, the star does not stand for names that begin with a dot.
fn is_below(path: &str, folder: &str) -> bool {
    let inside = path
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'));
    is_plain_path(path)
        && inside.is_some_and(|rest| {
            let mut names = rest.split('/');
            names.all(|name| !name.is_empty() && !name.starts_with('.'))
        })
}

/// The folder of `src/*`.
fn folder_of(pattern: &str) -> Result<String, String> {
    let folder = pattern.strip_suffix("/*").ok_or_else(|| {
        format!("{pattern:?} names no folder: write it with /* at its end, such as src/*")
    })?;
    let folder = folder.strip_prefix("./").unwrap_or(folder);
    let folder = folder.trim_end_matches('/');
    if folder.contains(['*', '?', '[']) {
        return Err("a star stands only at the end, after the folder".to_owned());
    }
    if folder.is_empty() || folder == "." || !is_plain_path(folder) {
        return Err(format!("{pattern:?} allows too much: name a folder"));
    }
    Ok(folder.to_owned())
}

/// Whether a path means what it looks like, to a harness too: nothing that leads back up, that stands for another place, or that
/// a program may read in two ways.
pub fn is_plain_path(path: &str) -> bool {
    let is_odd = |letter: char| {
        letter.is_control() || is_invisible(letter) || letter.is_whitespace() && letter != ' '
    };
    !path.is_empty()
        && path.trim() == path
        && !path.starts_with(['~', '@'])
        && !path.contains("://")
        && !path.contains(is_odd)
        && path.split('/').all(|name| name != "..")
}

fn has_invisible(text: &str) -> bool {
    let is_odd = |letter: char| {
        letter.is_control() && !matches!(letter, '\n' | '\t') || is_invisible(letter)
    };
    text.contains(is_odd)
}

/// A character that shows nothing, or turns the direction of those that follow.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests;

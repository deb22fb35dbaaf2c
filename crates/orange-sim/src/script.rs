//! A script as values: what the agent does, for which role and which of its runs. Read by `reader.rs`.

mod reader;
#[cfg(test)]
mod tests;
mod values;
mod vocabulary;

use super::text::Text;
use orange_core::workflow::Role;
use rustix::process::Signal;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// What is played where no script is named.
pub const BUILT_IN: &str = include_str!("default.yaml");

/// All step lists of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Script {
    lists: Vec<List>,
}

/// A list of steps and the runs it is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct List {
    /// As it stands in the script: `reviewer round 2`.
    pub(super) key: String,
    role: Role,
    round: Option<u32>,
    attempt: Option<u32>,
    pub(super) steps: Vec<Step>,
}

/// Which run this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WhichRun {
    pub(super) role: Role,
    pub(super) round: u32,
    pub(super) attempt: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The word it is called by in scripts.
    pub(super) name: &'static str,
    pub(super) line: usize,
    pub(super) action: Action,
}

/// What a step does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    Say(Text),
    Pause(Duration),
    Section {
        name: Text,
        text: Text,
        how: Option<How>,
    },
    /// Fields of the frontmatter; `None` removes one.
    Frontmatter {
        fields: Vec<(String, Option<Value>)>,
        how: How,
    },
    Write {
        file: Text,
        text: Text,
        append: bool,
    },
    Fill {
        file: Text,
        bytes: u64,
    },
    Delete(Text),
    Commit {
        message: Text,
        empty: bool,
        wanted: Wanted,
    },
    Git {
        arguments: Vec<Text>,
        wanted: Wanted,
    },
    Orange {
        arguments: Vec<String>,
        wanted: Wanted,
    },
    Run {
        command: String,
        wanted: Wanted,
    },
    Child(String),
    Daemon {
        command: String,
        clear_env: bool,
    },
    WaitFor {
        condition: Condition,
        timeout: Option<Duration>,
    },
    If {
        condition: Condition,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// `None`: for ever.
    Repeat {
        times: Option<u32>,
        steps: Vec<Step>,
    },
    EndTurn,
    AskPermission {
        question: Text,
        allowed: Vec<Step>,
        denied: Vec<Step>,
    },
    /// The model's service fails, and with it the turn.
    Fail {
        text: Text,
        error: Option<String>,
        /// So long a usage limit lasts.
        limit: Option<Duration>,
    },
    LoseEnter(u32),
    Flood(Flood),
    Exit(i32),
    Crash(Signal),
    Hang {
        ignore: Vec<Signal>,
    },
    Stop,
}

/// How TASK.md is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Added at the end; nothing else is touched.
    Append,
    /// Emptied, then written anew.
    Truncate,
    /// A new file renamed over it, as many editors do: what was a link is a file then.
    Rename,
}

/// How a command is expected to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Code(i32),
    Anything,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    File(Text),
    /// One of these texts is in the message; none named: any message.
    Message(Vec<Text>),
    /// One of these.
    Status(Vec<String>),
    Command(String),
}

/// A lot of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flood {
    pub(super) bytes: u64,
    /// The length of a line; `None`: one line.
    pub(super) line: Option<usize>,
    pub(super) kind: FloodKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloodKind {
    Text,
    /// Bytes that are no UTF-8.
    Bytes,
    /// Colours, titles, cursor movements.
    Escapes,
}

/// Why a script cannot be played.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScriptError {
    pub(super) message: String,
    /// What is allowed instead.
    pub(super) hint: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Script {
    pub(super) fn read(source: &str) -> Result<Script, ScriptError> {
        reader::read(source)
    }

    /// The list for this run: of those that fit, the one that says most about it. A round says more than an attempt.
    pub(super) fn select(self, run: WhichRun) -> Option<List> {
        let fits = |list: &List| {
            list.role == run.role
                && list.round.is_none_or(|round| round == run.round)
                && list.attempt.is_none_or(|attempt| attempt == run.attempt)
        };
        let says = |list: &List| {
            let (round, attempt) = (list.round.is_some(), list.attempt.is_some());
            2 * u8::from(round) + u8::from(attempt)
        };
        self.lists.into_iter().filter(fits).max_by_key(says)
    }
}

impl List {
    /// For a role that nobody has written anything for.
    pub(super) fn empty(run: WhichRun) -> List {
        List {
            key: String::new(),
            role: run.role,
            round: None,
            attempt: None,
            steps: Vec::new(),
        }
    }
}

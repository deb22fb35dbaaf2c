//! What a shell offers when the user presses Tab. A script (`orange completions SHELL`) runs this program with
//! `ORANGE_COMPLETE` set and the words of the line behind `--`, the one to complete last; an answer is a line.
//! Nobody wants messages in the middle of a command line: whatever goes wrong, there is just nothing to offer.

mod permissions;
mod phases;
mod rescues;
mod settings;
mod tasks;
#[cfg(test)]
mod tests;
mod values;

use crate::cli;
use crate::output;
use clap::ValueEnum;
use clap_complete::CompletionCandidate;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

pub(crate) use permissions::rules;
pub(crate) use phases::{gates, phases};
pub(crate) use rescues::rescues;
pub(crate) use settings::{assignments, keys, keys_in_file, setting_values};
pub(crate) use tasks::{Wanted, tasks};
pub(crate) use values::{
    branches, commands, deleted_tasks, files, harnesses, projects, prompts, statuses, words,
};

/// Set by the scripts to the name of their shell.
pub(crate) const VARIABLE: &str = "ORANGE_COMPLETE";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// What the shell has to read once.
    pub(crate) fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("completion/orange.bash"),
            Shell::Zsh => include_str!("completion/orange.zsh"),
            Shell::Fish => include_str!("completion/orange.fish"),
        }
    }

    /// A value, and what it is where the shell shows that.
    fn line(self, candidate: &CompletionCandidate) -> String {
        let value = candidate.get_value().to_string_lossy();
        let help = candidate.get_help().map(ToString::to_string);
        let help = help.as_deref().and_then(|help| help.lines().next());
        match (self, help) {
            (Shell::Bash, _) | (Shell::Fish, None) => value.into_owned(),
            (Shell::Fish, Some(help)) => format!("{value}\t{help}"),
            (Shell::Zsh, None) => for_describe(&value),
            (Shell::Zsh, Some(help)) => format!("{}:{help}", for_describe(&value)),
        }
    }
}

/// Zsh's `_describe` takes what follows the first colon for the description.
fn for_describe(value: &str) -> String {
    value.replace('\\', "\\\\").replace(':', "\\:")
}

/// Prints what can stand in the place of the last word.
pub(crate) fn answer(shell: &OsStr, arguments: Vec<OsString>) -> ExitCode {
    silence();
    let shell = shell
        .to_str()
        .and_then(|name| Shell::from_str(name, false).ok());
    let mut words = arguments.into_iter().skip_while(|word| word != "--");
    words.next();
    let words: Vec<OsString> = words.collect();
    let (Some(shell), Some(last)) = (shell, words.len().checked_sub(1)) else {
        return ExitCode::from(2);
    };
    let has_not_begun = words.last().is_some_and(|word| word.is_empty());
    let folder = std::env::current_dir().ok();
    let mut command = cli::command();
    let found = clap_complete::engine::complete(&mut command, words, last, folder.as_deref());
    let mut found = found.unwrap_or_default();
    // Flags among tasks are in the way of who has typed nothing yet; a dash brings them.
    let is_flag = |candidate: &CompletionCandidate| {
        candidate.get_value().as_encoded_bytes().starts_with(b"-")
    };
    if has_not_begun && !found.iter().all(is_flag) {
        found.retain(|candidate| !is_flag(candidate));
    }
    let mut text = String::new();
    for candidate in found {
        let line = shell.line(&candidate);
        // A value of several lines would be taken for several, and a terminal would obey others.
        let value = candidate.get_value().to_string_lossy();
        if !value.contains(char::is_control) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    output::print(&text);
    ExitCode::SUCCESS
}

/// Messages would land in the line that the user types.
fn silence() {
    if let Ok(nowhere) = std::fs::File::create("/dev/null") {
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}

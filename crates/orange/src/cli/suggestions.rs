//! What somebody may have meant by a command, an option or a value that is not there: the nearest one by its letters, or
//! another word for it.

use crate::help::is_shown;
use crate::ui::command;
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use orange_core::suggest::nearest;
use orange_core::task::Status;
use orange_core::workflow::Workflow;
use std::ffi::OsString;

/// The error with what may have been meant, if there is something; clap's own guesses are too generous.
pub(super) fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let own = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let words: Vec<&str> = own.filter(|word| !word.starts_with('-')).collect();
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = context(&error, ContextKind::InvalidSubcommand);
            typed.and_then(|typed| of_command(typed, arguments))
        }
        ErrorKind::UnknownArgument => {
            let unknown = context(&error, ContextKind::InvalidArg);
            unknown.and_then(|unknown| {
                of_argument(&words, unknown).or_else(|| of_option(unknown, arguments))
            })
        }
        ErrorKind::MissingRequiredArgument => of_missing(&words),
        ErrorKind::InvalidValue => {
            let near = of_value(&error).map(str::to_owned);
            error.remove(ContextKind::SuggestedValue);
            if let Some(near) = near {
                error.insert(ContextKind::SuggestedValue, ContextValue::String(near));
            }
            None
        }
        _ => None,
    };
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    if let Some(tip) = tip {
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// For a command that is not there: the whole line with the one that was meant.
fn of_command(typed: &str, arguments: &[OsString]) -> Option<String> {
    let position = arguments.iter().skip(1).position(|word| word == typed)? + 1;
    let root = super::whole();
    let (path, command) = named(&root, arguments.get(1..position)?);
    let meant = match (path.as_slice(), typed) {
        ([], "init" | "add" | "register") => {
            return Some("`orange project add .` registers the repository you are in".to_owned());
        }
        ([], "version") => return Some("`orange --version` tells the version".to_owned()),
        ([] | ["task"], "start") => "spawn",
        (["config"], "list" | "ls") => "show",
        _ => {
            let known = command.get_subcommands().filter(is_shown);
            nearest(typed, known.map(Command::get_name))?
        }
    };
    Some(did_you_mean(arguments, position, meant))
}

/// For an option that is not there.
fn of_option(unknown: &str, arguments: &[OsString]) -> Option<String> {
    let typed = unknown.strip_prefix("--")?;
    let is_it = |word: &str| {
        let rest = word.strip_prefix(unknown);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let mut words = arguments.iter().skip(1);
    let position = words.position(|word| word.to_str().is_some_and(is_it))? + 1;
    let root = super::whole();
    let (_, command) = named(&root, arguments.get(1..)?);
    let known = command.get_arguments().chain(root.get_arguments());
    let known = known.filter(|known| !known.is_hide_set() || known.is_global_set());
    let near = nearest(typed, known.filter_map(|known| known.get_long()))?;
    let value = arguments.get(position)?.to_str()?.strip_prefix(unknown)?;
    Some(did_you_mean(
        arguments,
        position,
        &format!("--{near}{value}"),
    ))
}

/// For a value that is none of those that there are.
fn of_value(error: &clap::Error) -> Option<&str> {
    let typed = context(error, ContextKind::InvalidValue)?;
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => nearest(typed, known.iter().map(String::as_str)),
        _ => None,
    }
}

/// The words of the innermost command that these arguments name, and that command.
fn named<'c>(root: &'c Command, arguments: &[OsString]) -> (Vec<&'c str>, &'c Command) {
    let mut path = Vec::new();
    let mut command = root;
    for word in arguments.iter().filter_map(|word| word.to_str()) {
        if let Some(below) = command.find_subcommand(word) {
            path.push(below.get_name());
            command = below;
        }
    }
    (path, command)
}

/// The line as it can be typed, with this word in the place of another.
fn did_you_mean(arguments: &[OsString], position: usize, word: &str) -> String {
    /// What is longer is left to the one who typed it.
    const LONGEST: usize = 120;
    const MOST: usize = 20;
    let mut line = "orange".to_owned();
    for (at, argument) in arguments.iter().enumerate().skip(1).take(MOST) {
        let fits =
            |text: &&str| text.chars().count() <= LONGEST && !text.chars().any(char::is_control);
        let shown = if at == position {
            Some(word)
        } else {
            argument.to_str()
        };
        line.push(' ');
        match shown.filter(fits) {
            Some(shown) => line.push_str(&command::argument(shown)),
            None => line.push('…'),
        }
    }
    if arguments.len() > MOST + 1 {
        line.push_str(" …");
    }
    format!("did you mean `{line}`?")
}

fn of_argument(words: &[&str], unknown: &str) -> Option<String> {
    let is_flag = unknown.starts_with('-');
    match words {
        ["ls" | "list", ..] | ["task", "list", ..] => of_list(unknown),
        ["config", "show", ..] if !is_flag => Some(format!(
            "`orange config get {unknown}` shows one setting or section"
        )),
        _ => None,
    }
}

fn of_missing(words: &[&str]) -> Option<String> {
    let ["config", "set", setting] = words else {
        return None;
    };
    let (key, value) = setting.split_once('=')?;
    let value = if value.contains(|c: char| !c.is_alphanumeric() && !"-_/.".contains(c)) {
        "VALUE"
    } else {
        value
    };
    Some(format!(
        "key and value are two words: `orange config set {key} {value}`"
    ))
}

fn of_list(unknown: &str) -> Option<String> {
    let word = unknown.strip_prefix("--")?;
    let word = word.split_once('=').map_or(word, |(name, _)| name);
    match word {
        "trash" | "trashed" | "deleted" => {
            Some("`orange restore` lists deleted tasks".to_owned())
        }
        "sort" | "sort-by" | "order" | "order-by" | "reverse" => Some(
            "what needs you comes first; --status and --priority choose, and --json can be sorted as you like"
                .to_owned(),
        ),
        "closed" | "finished" | "over" | "completed" => Some(
            "--status done,cancelled shows what is over lately, with --all however long ago"
                .to_owned(),
        ),
        "open" | "active" | "running" => {
            Some("open tasks are shown anyway; --status working,planning chooses".to_owned())
        }
        word => {
            let status: Status = word.parse().ok()?;
            Workflow::is_in_use(status).then(|| if status.is_terminal() { format!("--status {status}, with --all however long ago") } else { format!("--status {status}") })
        }
    }
}

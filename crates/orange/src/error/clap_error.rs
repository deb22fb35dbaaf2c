//! What clap has against a command line, in the words of every other message: what, why, what to do.

use crate::cli;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use orange_engine::{Code, Error};
use std::error::Error as _;
use std::ffi::OsString;

pub(super) fn of(error: &clap::Error, arguments: &[OsString]) -> Error {
    let mut root = cli::command();
    root.build();
    let command = meant(&root, arguments);
    let name = command.get_bin_name().unwrap_or("orange");
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let missing = words(error, ContextKind::InvalidArg);
    let help = match error.kind() {
        // Options that go together are not told apart there.
        ErrorKind::MissingRequiredArgument if missing.iter().all(|name| usage.contains(name)) => {
            format!("`{usage}`; for more, run `{name} --help`")
        }
        ErrorKind::InvalidSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("`{name} --help` lists the commands")
        }
        _ => format!("for usage, run `{name} --help`"),
    };
    Error::new(Code::Usage, message(error)).hint(with_tip(error, help))
}

/// The innermost command that was named.
fn meant<'c>(root: &'c Command, arguments: &[OsString]) -> &'c Command {
    let mut command = root;
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        match command.find_subcommand(word) {
            Some(below) => command = below,
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    command
}

fn message(error: &clap::Error) -> String {
    let invalid = words(error, ContextKind::InvalidArg);
    let first = invalid.first().map_or("", |name| bare(name));
    let value = words(error, ContextKind::InvalidValue);
    match (error.kind(), value.first()) {
        (ErrorKind::InvalidSubcommand, _) => {
            let typed = words(error, ContextKind::InvalidSubcommand);
            format!("there is no command {:?}", typed.concat())
        }
        (ErrorKind::UnknownArgument, _) if first.starts_with('-') => {
            format!("there is no option {first}")
        }
        (ErrorKind::UnknownArgument, _) => format!("unexpected argument {first:?}"),
        (ErrorKind::InvalidValue, None | Some(&"")) => format!("{first} needs a value"),
        (ErrorKind::InvalidValue, Some(value)) => {
            let allowed = words(error, ContextKind::ValidValue).join(", ");
            format!("{}{value:?} is not one of: {allowed}", of_option(first))
        }
        (ErrorKind::ValueValidation, Some(value)) => {
            let why = error.source().map(ToString::to_string);
            let why = match why.unwrap_or_default() {
                why if why == "invalid digit found in string" => "not a whole number".to_owned(),
                why => why,
            };
            if !value.is_empty() && why.contains(*value) {
                format!("{}{why}", of_option(first))
            } else {
                format!("{}{value:?}: {why}", of_option(first))
            }
        }
        (ErrorKind::ArgumentConflict, _) => {
            let other = words(error, ContextKind::PriorArg);
            match other.first().map(|name| bare(name)) {
                Some(other) if other != first => format!("{first} cannot be used with {other}"),
                _ => format!("{first} can be given only once"),
            }
        }
        (ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _) => {
            "no command is given".to_owned()
        }
        (ErrorKind::MissingRequiredArgument, _) if !invalid.is_empty() => {
            let verb = if invalid.len() > 1 { "are" } else { "is" };
            format!("{} {verb} missing", invalid.join(" and "))
        }
        _ => {
            let text = error.render().to_string();
            let problem = text.lines().take_while(|line| !line.is_empty());
            let problem: Vec<&str> = problem.map(str::trim).collect();
            let problem = problem.join(" ");
            problem.trim_start_matches("error: ").replace('\'', "\"")
        }
    }
}

/// `--status` of `--status <STATUS>`.
fn bare(name: &str) -> &str {
    if name.starts_with('-') {
        name.split([' ', '=']).next().unwrap_or(name)
    } else {
        name
    }
}

/// What stands before the trouble with an option's value; a word without a name speaks for itself.
fn of_option(name: &str) -> String {
    if name.starts_with('-') {
        format!("{name}: ")
    } else {
        String::new()
    }
}

/// The help with what may have been meant.
fn with_tip(error: &clap::Error, help: String) -> String {
    if let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested)
        && !tips.is_empty()
    {
        let tips: Vec<String> = tips.iter().map(ToString::to_string).collect();
        let tip = tips.join("; ");
        // How a word is written that begins like an option; any other tip says all.
        return if tip.starts_with("to pass ") {
            format!("{help}; {}", tip.replace('\'', "`"))
        } else {
            tip
        };
    }
    let kinds = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let mut near = kinds.into_iter().map(|kind| words(error, kind));
    match near.find(|words| !words.is_empty()) {
        Some(near) => {
            let near: Vec<&str> = near.into_iter().map(bare).collect();
            format!("did you mean {}? {help}", near.join(" or "))
        }
        None => help,
    }
}

fn words(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word],
        Some(ContextValue::Strings(words)) => words.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

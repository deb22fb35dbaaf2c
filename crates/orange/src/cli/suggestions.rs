//! What somebody may have meant by a command or an argument that is not there, where no likeness of letters tells.

use crate::help::of_tasks;
use crate::ui::command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use orange_core::suggest::nearest;
use orange_core::task::{Status, WorkflowName};
use orange_core::workflow::Workflow;
use std::ffi::OsString;

/// The error with such a tip, if there is one.
pub(super) fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let own = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let words: Vec<&str> = own.filter(|word| !word.starts_with('-')).collect();
    let tip = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::InvalidSubcommand, _) => of_command(&words),
        (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) => {
            of_argument(&words, unknown)
        }
        (ErrorKind::MissingRequiredArgument, _) => of_missing(&words),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

fn of_command(words: &[&str]) -> Option<String> {
    let tip = match words {
        ["init" | "add" | "register", ..] => {
            "`orange project add .` registers the repository you are in"
        }
        ["version"] => "`orange --version` tells the version",
        ["list", ..] => "`orange ls` lists tasks",
        ["create", ..] => "`orange new \"what is to be done\"` creates a task",
        ["start", ..] | ["task", "start", ..] => "`orange task spawn ID` starts a task",
        ["config", "list" | "ls", ..] => "`orange config show` lists the settings",
        [typed, rest @ ..] => {
            let root = super::Cli::command();
            let known = of_tasks(&root);
            let mut near = nearest(typed, known.iter().map(String::as_str));
            // A slip in a command of its own is clap's to tell.
            if near != Some(typed)
                && nearest(typed, root.get_subcommands().map(Command::get_name)).is_some()
            {
                near = None;
            }
            // What was typed behind it, as far as it needs no quotes.
            let id = rest.first().filter(|id| command::word(id) == **id);
            let id = id.map(|id| format!(" {id}")).unwrap_or_default();
            return near.map(|near| format!("did you mean `orange task {near}{id}`?"));
        }
        [] => return None,
    };
    Some(tip.to_owned())
}

fn of_argument(words: &[&str], unknown: &str) -> Option<String> {
    let is_flag = unknown.starts_with('-');
    match words {
        ["ls", ..] | ["task", "list", ..] => of_list(unknown),
        ["run", ..] if !is_flag => Some(format!("`orange task spawn {unknown}` starts one task")),
        ["log", ..] if !is_flag => Some(format!(
            "`orange log --task {unknown}` is about one task; --grep looks for a text"
        )),
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
    let workflow = Workflow::named(WorkflowName::Interactive);
    match word {
        "trash" | "trashed" | "deleted" => {
            Some("`orange task restore` lists deleted tasks".to_owned())
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
            workflow.has(status).then(|| if status.is_terminal() { format!("--status {status}, with --all however long ago") } else { format!("--status {status}") })
        }
    }
}

//! Which values each argument takes, by the names that arguments have in all commands.

use super::tasks::Wanted;
use super::values::{Line, Values};
use crate::commands::task::wait::Goal;
use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, PathCompleter};
use orange_core::config::{Effort, Permissions};
use orange_core::merge::Strategy;
use orange_core::task::{Category, Priority, Queue, Weight, WorkflowName};
use orange_core::workflow::{Role, Workflow};
use orange_engine::event_log::COMPONENTS;
use std::sync::Arc;

/// The command with everything that can be offered for its arguments.
pub(super) fn with_values(command: Command, line: &Arc<Line>) -> Command {
    below(command, "", line)
}

fn below(command: Command, parent: &str, line: &Arc<Line>) -> Command {
    let name = command.get_name().to_owned();
    let path = match parent {
        "" => name,
        parent => format!("{parent} {name}"),
    };
    let command = command.mut_args(|arg| with_value(arg, &path, line));
    command.mut_subcommands(|command| below(command, &path, line))
}

fn with_value(arg: Arg, path: &str, line: &Arc<Line>) -> Arg {
    let values = match values(&arg, path) {
        Some(Values::File) => return arg.add(ArgValueCompleter::new(PathCompleter::any().stdio())),
        Some(Values::Folder) => return arg.value_hint(ValueHint::DirPath),
        Some(values) => values,
        None => return arg,
    };
    let line = Arc::clone(line);
    arg.add(ArgValueCompleter::new(move |word: &std::ffi::OsStr| {
        line.offers(values, word)
    }))
}

/// None for what has no list: numbers, texts, names that are new, and what clap knows by itself.
pub(super) fn values(arg: &Arg, path: &str) -> Option<Values> {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    if !takes_value || !arg.get_possible_values().is_empty() {
        return None;
    }
    let name = arg.get_value_names().and_then(|names| names.first());
    let name = name.map_or("", |name| name.as_str());
    let words = |words| Some(Values::Words(words));
    match (path, arg.get_id().as_str()) {
        ("orange task restore", "id") => Some(Values::Deleted),
        ("orange task create" | "orange new", "from") => task(Wanted::Over),
        ("orange task create" | "orange new", "branch" | "named_branch") => Some(Values::Branch),
        ("orange task update", "branch") => Some(Values::Branch),
        ("orange task rescue show" | "orange task rescue restore", "name") => Some(Values::Rescue),
        ("orange config set", "values") => Some(Values::SettingValue),
        ("orange config unset", "key") => Some(Values::KeyInFile),
        (_, "config") => Some(Values::Assignment),
        ("orange project update" | "orange project trust" | "orange project remove", "name") => {
            Some(Values::Project)
        }
        ("orange prompt show", "name") => Some(Values::Prompt),
        ("orange workflow show", "name") => words(Workflow::NAMES),
        ("orange help" | "orange man", _) => Some(Values::Help),
        ("orange headless", "resume") => None,
        ("orange log", "component") => words(COMPONENTS),
        (_, "id") => task(wanted_by(path)),
        (_, "task") => task(Wanted::Open),
        (_, "project") => Some(Values::Project),
        (_, "harness" | "review_harness") => Some(Values::Harness),
        (_, "effort" | "review_effort") => words(Effort::WORDS),
        (_, "status") => Some(Values::Status),
        (_, "workflow") => words(WorkflowName::WORDS),
        (_, "priority") => words(Priority::WORDS),
        (_, "queue") => words(Queue::WORDS),
        (_, "category") => words(Category::WORDS),
        (_, "weight") => words(Weight::WORDS),
        (_, "role") => words(Role::WORDS),
        (_, "permissions") => words(Permissions::WORDS),
        (_, "strategy") => words(Strategy::WORDS),
        (_, "goal") => words(Goal::WORDS),
        (_, "base" | "target_branch" | "default_branch" | "at") => Some(Values::Branch),
        (_, "tag" | "tags" | "add_tag" | "remove_tag") => None,
        (_, _) => match name {
            "TASK" => task(Wanted::Open),
            "KEY" => Some(Values::Key),
            "FILE" => Some(Values::File),
            "DIR" => Some(Values::Folder),
            "BOOL" => words(&["true", "false"]),
            _ => None,
        },
    }
}

fn task(wanted: Wanted) -> Option<Values> {
    Some(Values::Task(wanted))
}

/// Which tasks a command is for, by its last word: `orange merge` is `orange task merge`.
fn wanted_by(path: &str) -> Wanted {
    if path.starts_with("orange task rescue") {
        return Wanted::Any;
    }
    match path.rsplit(' ').next().unwrap_or(path) {
        "show" | "why" | "diff" | "deps" | "update" | "peek" => Wanted::Any,
        "merge" => Wanted::Mergeable,
        "request-changes" => Wanted::Reviewing,
        "spawn" => Wanted::Pending,
        "attach" | "send" | "answer" | "respawn" => Wanted::InSession,
        "delete" => Wanted::Over,
        _ => Wanted::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::help::is_shown;

    /// Of what is called so there is no list: texts, numbers, times, names that are new.
    const FREE: &[&str] = &[
        "TEXT",
        "N",
        "SECONDS",
        "TIME",
        "MODEL",
        "TAG",
        "SUMMARY",
        "COMMAND",
        "PROMPT",
        "COUNT",
        "FORMAT",
        "COMPONENT",
        "STRATEGY",
    ];

    /// And of these.
    const FREE_HERE: &[&str] = &[
        "orange headless resume",
        "orange project add name",
        "orange task answer question",
        "orange task diff files",
        "orange diff files",
        "orange task rescue restore to_branch",
    ];

    #[test]
    fn every_argument_offers_its_values_or_has_none() {
        let mut command = cli::command();
        command.build();
        let mut wrong = Vec::new();
        look(&command, "", &mut wrong);
        assert!(
            wrong.is_empty(),
            "say in completion/table.rs what these take:\n{}",
            wrong.join("\n")
        );
    }

    fn look(command: &Command, parent: &str, wrong: &mut Vec<String>) {
        let path = format!("{parent} {}", command.get_name());
        let path = path.trim();
        let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
        for arg in args.filter(|arg| arg.get_action().takes_values()) {
            let name = arg.get_value_names().and_then(|names| names.first());
            let name = name.map_or("", |name| name.as_str());
            let here = format!("{path} {}", arg.get_id());
            let known = values(arg, path).is_some()
                || !arg.get_possible_values().is_empty()
                || arg.get_value_hint() != ValueHint::Unknown
                || FREE.contains(&name)
                || FREE_HERE.contains(&here.as_str());
            if !known {
                wrong.push(format!("{here} ({name})"));
            }
        }
        for below in command.get_subcommands().filter(is_shown) {
            look(below, path, wrong);
        }
    }
}

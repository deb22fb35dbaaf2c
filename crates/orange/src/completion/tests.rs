//! Every argument says what can stand there.

use crate::cli;
use crate::help::is_shown;
use clap::{Command, ValueHint};
use clap_complete::engine::ArgValueCompleter;

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
    "PATTERN",
    "PREFIX",
];

/// And of these.
const FREE_HERE: &[&str] = &[
    "orange headless resume",
    "orange project add name",
    "orange answer question",
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
        "say with `add =` what these take:\n{}",
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
        let known = arg.get::<ArgValueCompleter>().is_some()
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

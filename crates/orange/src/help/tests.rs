//! Every command, flag, example and topic, looked at through the tree that clap parses by (`#[cfg(test)]`).

#[path = "../../tests/shared/sources.rs"]
mod sources;

use self::sources::sources;
use super::after::After;
use super::topics::{self, Topic};
use super::{groups, is_shown, variables};
use crate::cli;
use crate::commands::search::with_exclusions;
use crate::error::{EXIT_CODES, exit_code};
use clap::Command;
use clap::error::ErrorKind;
use orange_core::config::Permissions;
use orange_engine::Code;
use std::ffi::OsString;

/// What a terminal shows at least.
const COLUMNS: usize = 80;

/// Calls this with every command that is shown.
fn each(look: &mut impl FnMut(&Command)) {
    fn below(command: &Command, look: &mut impl FnMut(&Command)) {
        look(command);
        for command in command.get_subcommands().filter(is_shown) {
            below(command, look);
        }
    }
    let mut command = cli::command();
    command.build();
    below(&command, look);
}

/// The calls of orange in a line of shell: of `cd "$(orange task path)" | less` what stands in the brackets.
fn calls(line: &str) -> Vec<String> {
    // What a line does stands behind it.
    let line = line.split("   ").next().unwrap_or_default();
    let mut calls = Vec::new();
    for (start, _) in line.match_indices("orange ") {
        let before = line[..start].chars().next_back();
        if !before.is_none_or(|before| before == ' ' || before == '(' || before == '`') {
            continue;
        }
        let mut quote = None;
        let end = line[start..].find(|letter| match (quote, letter) {
            (Some(open), _) if open == letter => {
                quote = None;
                false
            }
            (Some(_), _) => false,
            (None, '"' | '\'') => {
                quote = Some(letter);
                false
            }
            (None, letter) => "|;&<>)`".contains(letter),
        });
        let end = end.map_or(line.len(), |end| start + end);
        calls.push(line[start..end].trim().to_owned());
    }
    calls
}

/// Why a line of shell is not understood. What a person has to put in (ID, NAME) is not a mistake.
fn misunderstood(line: &str) -> Option<String> {
    for call in calls(line) {
        let Some(words) = shlex::split(&call) else {
            return Some(format!("`{call}` has a quote that does not end"));
        };
        let words = words.into_iter().map(OsString::from).collect();
        if let Err(error) = cli::command().try_get_matches_from(with_exclusions(words)) {
            let asked_for = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
            if !asked_for.contains(&error.kind()) {
                return Some(format!("`{call}`: {error}"));
            }
        }
    }
    None
}

#[test]
fn a_call_ends_where_the_shell_says_so() {
    assert_eq!(
        calls("cd \"$(orange task path TASK-001)\"       go where the work is"),
        ["orange task path TASK-001"]
    );
    assert_eq!(
        calls("mkdir x && orange prompt show worker > x/y | orange ls"),
        ["orange prompt show worker", "orange ls"]
    );
    assert_eq!(
        calls("orange new \"a; b > c\" --tag x   some > thing"),
        ["orange new \"a; b > c\" --tag x"]
    );
    assert!(misunderstood("orange task mrge TASK-001").is_some());
    assert!(misunderstood("orange task merge TASK-001 --fast").is_some());
    assert!(misunderstood("orange task list --status workng").is_some());
}

#[test]
fn every_command_has_examples_that_can_be_typed() {
    let mut wrong = Vec::new();
    each(&mut |command| {
        let name = command.get_bin_name().unwrap_or("orange");
        let after = After::of(command);
        if !after.examples.iter().any(|line| !calls(line).is_empty()) {
            wrong.push(format!("{name}: no example"));
        }
        for line in &after.examples {
            wrong.extend(misunderstood(line).map(|why| format!("{name}: {why}")));
            // Clap would wrap it in the middle of a command.
            if line.chars().count() + 2 > COLUMNS {
                wrong.push(format!("{name}: longer than {COLUMNS} columns: {line}"));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_and_every_argument_says_what_it_is_for() {
    let mut wrong = Vec::new();
    each(&mut |command| {
        let name = command.get_bin_name().unwrap_or("orange");
        if command.get_about().is_none() {
            wrong.push(format!("{name}: what is it for?"));
        }
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            if arg
                .get_help()
                .is_none_or(|help| help.to_string().is_empty())
            {
                wrong.push(format!("{name}: what is {arg} for?"));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_terminal_breaks_paragraphs() {
    let mut wrong = Vec::new();
    each(&mut |command| {
        let name = command.get_bin_name().unwrap_or("orange");
        for paragraph in After::of(command).prose {
            let mut before: Option<&str> = None;
            for line in paragraph.lines() {
                let is_prose = !line.starts_with(' ');
                if is_prose && before.is_some_and(|before| !before.starts_with(' ')) {
                    wrong.push(format!("{name}: broken before: {line}"));
                }
                if !is_prose && line.chars().count() >= COLUMNS {
                    wrong.push(format!("{name}: would be broken: {line}"));
                }
                before = Some(line);
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn help_fits_into_80_columns() {
    let mut wrong = Vec::new();
    each(&mut |command| {
        let help = command
            .clone()
            .term_width(COLUMNS)
            .render_help()
            .to_string();
        for line in help.lines().filter(|line| line.chars().count() > COLUMNS) {
            wrong.push(format!(
                "{}: {line}",
                command.get_bin_name().unwrap_or("orange")
            ));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_is_in_a_group() {
    let command = cli::command();
    let groups = groups::groups(&command);
    let others = groups.iter().find(|(group, _)| *group == "More");
    let others = others.map(|(_, commands)| commands.iter().map(|command| command.get_name()));
    let others: Vec<&str> = others.into_iter().flatten().collect();
    assert!(
        others.is_empty(),
        "say in help/groups.rs where they belong: {others:?}"
    );
    let count: usize = groups.iter().map(|(_, commands)| commands.len()).sum();
    assert_eq!(count, command.get_subcommands().filter(is_shown).count());
}

#[test]
fn topics_fit_onto_the_screen_and_name_commands_that_there_are() {
    for topic in topics::ALL {
        let text = topic.text();
        assert!(
            !text.contains("{{"),
            "{}: a table is missing\n{text}",
            topic.name
        );
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{}: {line}", topic.name);
            let wrong = misunderstood(line.trim_start_matches("  $ ").trim());
            // Within a sentence a command is named, not called.
            if line.starts_with("  orange ") || line.starts_with("  $ ") {
                assert_eq!(wrong, None, "{}", topic.name);
            }
            for call in calls(line) {
                let words = call.split(' ').skip(1);
                let words: Vec<String> = words
                    .take_while(|word| {
                        word.chars()
                            .all(|letter| letter.is_ascii_lowercase() || letter == '-')
                    })
                    .map(str::to_owned)
                    .collect();
                let mut command = &cli::command();
                for word in words {
                    let below = command.find_subcommand(&word);
                    let done = !command.has_subcommands();
                    assert!(done || below.is_some(), "{}: {call}", topic.name);
                    command = below.unwrap_or(command);
                    if done {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn a_topic_has_one_name_and_perhaps_another() {
    assert_eq!(Topic::named("gates").unwrap().name, "artifacts");
    assert!(Topic::named("nothing").is_none());
    let mut names: Vec<&str> = topics::ALL.iter().map(|topic| topic.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), topics::ALL.len());
}

#[test]
fn every_error_has_an_exit_code_that_is_told() {
    for code in Code::ALL {
        let exit = exit_code(*code);
        assert!(
            EXIT_CODES.iter().any(|(told, _)| *told == exit),
            "{code}: {exit}"
        );
    }
}

#[test]
fn every_mode_is_explained() {
    let text = Topic::named("permissions").unwrap().text();
    for mode in Permissions::WORDS {
        assert!(text.contains(&format!("\n  {mode} ")), "{mode}\n{text}");
    }
}

/// Between Orange and its own processes, or for its tests.
const INTERNAL: &[&str] = &[
    "ORANGE_COMPLETE",
    "ORANGE_ANTHROPIC_API_KEY",
    "ORANGE_CRASH_AT",
    "ORANGE_PI",
    "ORANGE_HEADLESS_ID",
    "ORANGE_HEADLESS_PERMISSIONS",
];

#[test]
fn every_variable_in_the_code_is_told() {
    let text = Topic::named("environment").unwrap().text();
    let mut found: Vec<String> = sources()
        .iter()
        .flat_map(|(_, text)| variables_in(text))
        .collect();
    found.sort();
    assert!(found.iter().any(|name| name == "ORANGE_HOME"), "{found:?}");
    found.retain(|name| {
        !name.starts_with("ORANGE_TEST_")
            && !INTERNAL.contains(&name.as_str())
            && !text.contains(name.as_str())
    });
    found.dedup();
    assert!(
        found.is_empty(),
        "say in help/variables.rs what they are for: {found:?}"
    );
}

/// String literals that are a variable, outside of tests.
fn variables_in(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let literals = text.match_indices("\"ORANGE_");
    let names = literals.map(|(start, _)| text[start + 1..].split('"').next().unwrap());
    let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    names
        .filter(|name| name.chars().all(is_name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_setting_has_its_variable() {
    let text = Topic::named("environment").unwrap().text();
    for (key, variable) in variables::of_settings() {
        assert!(text.contains(&variable), "{key}");
    }
}

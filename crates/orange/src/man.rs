//! Man pages, made from the same words as `--help`: one for each command.

use crate::cli;
use crate::error::EXIT_CODES;
use crate::help::after::After;
use crate::help::files::FILES;
use crate::help::tables::entries;
use crate::help::{command_of, groups, is_shown, topics, variables};
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use orange_engine::Result;
use serde::Serialize;

/// An empty argument. The version says how old a page is.
const NO_DATE: &str = "\"\"";

#[derive(Serialize)]
pub(crate) struct Page {
    /// `orange-task-merge.1`
    pub(crate) file: String,
    /// In troff.
    pub(crate) text: String,
}

/// Every page, the one of the program first.
pub(crate) fn all() -> Vec<Page> {
    let mut pages = Vec::new();
    below(&built(), &mut pages);
    pages
}

/// The page of one command, by its words after `orange`.
pub(crate) fn of(words: &[String]) -> Result<Page> {
    Ok(page(command_of(&mut built(), words)?))
}

/// With what clap adds by itself: names of subcommands, `--help`.
fn built() -> Command {
    let mut command = cli::command();
    command.build();
    command
}

fn below(command: &Command, pages: &mut Vec<Page>) {
    pages.push(page(command));
    for command in command.get_subcommands().filter(is_shown) {
        below(command, pages);
    }
}

fn page(command: &Command) -> Page {
    let name = name_of(command);
    let is_root = name == "orange";
    let after = After::of(command);
    let mut head = Roff::new();
    let version = format!("orange {}", env!("CARGO_PKG_VERSION"));
    head.control(
        "TH",
        [&name.to_uppercase(), "1", NO_DATE, &version, "Orange"],
    );
    head.control("SH", ["NAME"]);
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    head.text([roman(format!("{name} - {about}"))]);
    head.control("SH", ["SYNOPSIS"]);
    head.text(synopsis(command));
    head.control("SH", ["DESCRIPTION"]);
    head.text([roman(sentence(&about))]);
    for paragraph in &after.prose {
        describe(&mut head, paragraph);
    }
    if command.has_subcommands() {
        subcommands(&mut head, command, is_root);
    }
    let mut tail = Roff::new();
    if !after.examples.is_empty() {
        tail.control("SH", ["EXAMPLES"]);
        unfilled(&mut tail, after.examples.iter().map(String::as_str));
    }
    if is_root {
        tables(&mut tail);
    }
    tail.control("SH", ["SEE ALSO"]);
    tail.text(see_also(command, is_root));
    let mut text = head.render().into_bytes();
    text.extend_from_slice(&arguments(&with_values_in_words(command)));
    text.extend_from_slice(tail.render().as_bytes());
    Page {
        file: format!("{name}.1"),
        text: String::from_utf8_lossy(&text).into_owned(),
    }
}

/// What stands without a name comes first, as in the usage; clap_mangen has it last, among the options.
fn arguments(command: &Command) -> Vec<u8> {
    let section = |positional: bool| {
        let hidden = |arg: Arg| {
            if arg.is_positional() == positional {
                arg
            } else {
                arg.hide(true)
            }
        };
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = Man::new(command.clone().mut_args(hidden)).render_options_section(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let mut text = String::new();
    if command.get_positionals().any(|arg| !arg.is_hide_set()) {
        text = section(true).replacen(".SH OPTIONS", ".SH ARGUMENTS", 1);
    }
    text.push_str(&section(false));
    text.into_bytes()
}

/// A list of values with bullets takes half a page; in the sentence they take a line.
fn with_values_in_words(command: &Command) -> Command {
    command.clone().mut_args(|arg| {
        let values = arg.get_possible_values();
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        if values.is_empty() || !arg.get_action().takes_values() {
            return arg;
        }
        let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        let help = format!("{help}: {}", values.join(", "));
        arg.help(help).hide_possible_values(true)
    })
}

/// `orange-task-merge`
fn name_of(command: &Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name()).to_owned()
}

/// As `--help` has it, without its first word.
fn synopsis(command: &Command) -> Vec<Inline> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let name = command.get_bin_name().unwrap_or_default();
    match usage.strip_prefix(name) {
        Some(rest) => vec![bold(name), roman(rest)],
        None => vec![roman(usage)],
    }
}

fn sentence(about: &str) -> String {
    format!("{}.", about.trim_end_matches('.'))
}

/// A paragraph that is laid out by hand stays as it is.
fn describe(roff: &mut Roff, paragraph: &str) {
    let by_hand = paragraph.lines().any(|line| line.starts_with(' '));
    roff.control("PP", []);
    if by_hand || paragraph.contains("  ") {
        unfilled(roff, paragraph.lines());
    } else {
        for line in paragraph.lines() {
            roff.text([roman(line.trim())]);
        }
    }
}

fn unfilled<'a>(roff: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

fn entry(roff: &mut Roff, name: Inline, what: &str) {
    roff.control("TP", []);
    roff.text([name]);
    roff.text([roman(what)]);
}

fn subcommands(roff: &mut Roff, command: &Command, is_root: bool) {
    roff.control("SH", ["COMMANDS"]);
    let list = |roff: &mut Roff, command: &Command| {
        let about = command.get_about().map(ToString::to_string);
        let name = format!("{}(1)", name_of(command));
        entry(roff, bold(name), &about.unwrap_or_default());
    };
    if !is_root {
        for command in command.get_subcommands().filter(is_shown) {
            list(roff, command);
        }
        return;
    }
    for (group, commands) in groups::groups(command) {
        roff.control("SS", [group]);
        for command in commands {
            list(roff, command);
        }
    }
}

fn tables(roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        entry(roff, bold(code.to_string()), meaning);
    }
    roff.control("SH", ["ENVIRONMENT"]);
    for (name, what) in entries(variables::READ) {
        entry(roff, bold(name), what);
    }
    let settings =
        "a setting can be overridden by a variable: agents.harness by ORANGE_AGENTS_HARNESS";
    entry(roff, italic("ORANGE_…"), settings);
    roff.control("SH", ["FILES"]);
    for (path, what) in entries(FILES) {
        entry(roff, italic(path), what);
    }
    roff.control("SH", ["TOPICS"]);
    for topic in topics::ALL {
        entry(
            roff,
            bold(format!("orange help {}", topic.name)),
            topic.about,
        );
    }
}

fn see_also(command: &Command, is_root: bool) -> Vec<Inline> {
    if is_root {
        return vec![roman("git(1), tmux(1)")];
    }
    let name = name_of(command);
    let mut pages = vec!["orange(1)".to_owned()];
    if let Some((parent, _)) = command
        .get_bin_name()
        .and_then(|name| name.rsplit_once(' '))
        && parent != "orange"
    {
        pages.push(format!("{}(1)", parent.replace(' ', "-")));
    }
    let below = command.get_subcommands().filter(is_shown);
    pages.extend(below.map(|below| format!("{name}-{}(1)", below.get_name())));
    vec![roman(pages.join(", "))]
}

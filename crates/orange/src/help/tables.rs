//! The tables in topics: `{{name}}` alone on a line stands for one, `{{see …}}` for commands to look at. They are made
//! from what the program does by, so that no text says otherwise.

use super::files::FILES;
use super::variables;
use crate::error::EXIT_CODES;
use crate::ui::{Extent, wrapped_prose};
use orange_core::config::Config;
use orange_core::task::{Field, Guard};
use orange_core::workflow::{RowOrigin, Workflow};
use orange_engine::{Code, harness};
use std::borrow::Borrow;
use std::fmt::Write;
use std::path::Path;

/// What fits on a line of a topic.
const WIDTH: usize = 78;

pub(super) fn filled(text: &str) -> String {
    let mut filled = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        let name = line
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"));
        match name.and_then(table) {
            Some(table) => filled.push_str(table.trim_end()),
            None => filled.push_str(line),
        }
        filled.push('\n');
    }
    filled
}

fn table(name: &str) -> Option<String> {
    Some(match name {
        "statuses" => statuses(),
        "gates" => gates(),
        "guarded" => fields(Guard::Guarded),
        "descriptive" => fields(Guard::Descriptive),
        "until-start" => fields(Guard::UntilStart),
        "harnesses" => harnesses(),
        "settings" => listed(Config::known_keys().iter().copied()),
        "exit-codes" => {
            let codes = EXIT_CODES.into_iter();
            rows(codes.map(|(code, what)| (code.to_string(), what)))
        }
        "error-codes" => listed(Code::WORDS.iter().copied()),
        "files" => pairs(FILES),
        "variables" => pairs(variables::READ),
        "variables-of-agents" => pairs(variables::OF_AGENTS),
        "variables-of-commands" => pairs(variables::OF_COMMANDS),
        "variables-of-notices" => pairs(variables::OF_NOTICES),
        "variables-of-settings" => listed(variables::of_settings().map(|(_, name)| name)),
        _ => {
            let commands = name.strip_prefix("see ")?.split(", ");
            listed(commands.map(|command| format!("`orange {command}`")))
        }
    })
}

fn pairs(table: &'static str) -> String {
    rows(entries(table).map(|(name, what)| (name.to_owned(), what)))
}

/// The lines of a table that is written with two columns.
pub(crate) fn entries(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let columns = table.lines().filter_map(|line| line.split_once("  "));
    columns.map(|(name, what)| (name, what.trim_start()))
}

/// A line each; what does not fit beside the name goes below it.
fn rows<'a>(rows: impl Iterator<Item = (String, &'a str)>) -> String {
    let rows: Vec<(String, &str)> = rows.collect();
    let widest = rows.iter().map(|(name, _)| name.chars().count()).max();
    let fits =
        |(_, what): &&(String, &str)| 4 + widest.unwrap_or(0) + what.chars().count() <= WIDTH;
    let in_line = rows.iter().all(|row| fits(&row));
    let mut text = String::new();
    for (name, what) in &rows {
        let _ = if in_line {
            writeln!(
                text,
                "  {name:<width$}  {what}",
                width = widest.unwrap_or(0)
            )
        } else {
            writeln!(text, "  {name}\n      {what}")
        };
    }
    text
}

/// Words one after the other.
fn listed<S: Borrow<str>>(words: impl Iterator<Item = S>) -> String {
    let words = words.collect::<Vec<_>>().join(", ");
    wrapped_prose(&format!("  {words}"), Extent::Columns(WIDTH)).into_owned()
}

fn statuses() -> String {
    let statuses = Workflow::statuses_in_use();
    rows(
        statuses
            .into_iter()
            .map(|info| (info.status.to_string(), info.meaning)),
    )
}

/// Which section opens which move, and what has to be in it.
fn gates() -> String {
    let transitions = Workflow::in_use().flat_map(|table| table.transitions);
    let mut text = String::new();
    for row in transitions {
        let (Some(gate), RowOrigin::Statuses(from)) = (row.gate, row.from) else {
            continue;
        };
        let from: Vec<&str> = from.iter().map(|status| status.as_str()).collect();
        let needs = match gate.verdict() {
            Some(verdict) => format!(
                "`## {}` that begins with `Verdict: {verdict}`",
                gate.section()
            ),
            None => {
                let fields = gate.fields().iter().map(|field| format!("{field}:"));
                let fields: Vec<String> = fields.collect();
                format!("`## {}` with {}", gate.section(), fields.join(" or "))
            }
        };
        let _ = writeln!(text, "  {} → {}\n      {needs}", from.join(", "), row.to);
    }
    text
}

fn fields(guard: Guard) -> String {
    let fields = Field::ALL.iter().filter(|field| field.guard() == guard);
    listed(fields.map(|field| field.name()))
}

fn harnesses() -> String {
    let config = Config::default();
    let mut text = format!(
        "  {:<10} {:<18} {:<8} HEADLESS\n",
        "NAME", "PERMISSIONS", "RESUME"
    );
    for name in harness::names(&config) {
        let Ok(Some(harness)) = harness::find(&name, &config, Path::new("orange")) else {
            continue;
        };
        let supports = harness.adapter.supports();
        let _ = writeln!(
            text,
            "  {name:<10} {:<18} {:<8} {}",
            supports.cell("permissions"),
            supports.cell("resume"),
            supports.cell("headless")
        );
    }
    text
}

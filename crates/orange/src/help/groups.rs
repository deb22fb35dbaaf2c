//! The commands in groups, for `orange --help`: one long list is read by nobody.

use crate::ui::{Extent, wrapped_prose};
use clap::Command;
use std::fmt::Write;

const GROUPS: &[(&str, &str)] = &[
    (
        "Everyday",
        "dashboard new ls inbox show why peek answer attach send diff request-changes merge cancel status cost search",
    ),
    ("Tasks", "task run wait respawn watch"),
    (
        "Phased tasks",
        "plan spec transcript test-results pause resume retry skip rewind approve reject",
    ),
    ("Projects and workspaces", "project workspace"),
    (
        "Agents",
        "harness permissions prompt workflow headless sim demo",
    ),
    ("Orange itself", "config doctor log gc help completions man"),
];

/// Those that are in no group yet.
const OTHERS: &str = "More";

/// What is left of 80 columns beside a name; a line that goes on there.
const ROOM: usize = 62;
const BELOW: &str = "\n                  ";

/// What clap makes the help of: as its own, but with groups.
pub(crate) fn template(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut text = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, commands) in groups(command) {
        let _ = write!(text, "\n{header}{group}:{header:#}\n");
        for command in commands {
            let about = command.get_about().map(ToString::to_string);
            // Clap wraps its own lists, but not what is in a template.
            let about = about.unwrap_or_default();
            let about = wrapped_prose(&about, Extent::Columns(ROOM)).replace('\n', BELOW);
            let name = command.get_name();
            let _ = writeln!(text, "  {literal}{name:<15}{literal:#} {about}");
        }
    }
    let _ = write!(
        text,
        "\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    text
}

/// Whether a command is in one of the groups.
pub(crate) fn has(name: &str) -> bool {
    let mut names = GROUPS.iter().flat_map(|(_, names)| names.split(' '));
    names.any(|named| named == name)
}

/// Every command that is shown, once.
pub(crate) fn groups(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let mut shown: Vec<&Command> = command.get_subcommands().filter(super::is_shown).collect();
    let mut groups: Vec<(&str, Vec<&Command>)> = Vec::new();
    for (group, names) in GROUPS {
        let named = names.split(' ').filter_map(|name| {
            let at = shown.iter().position(|shown| shown.get_name() == name)?;
            Some(shown.remove(at))
        });
        groups.push((group, named.collect()));
    }
    groups.push((OTHERS, shown));
    groups.retain(|(_, commands)| !commands.is_empty());
    groups
}

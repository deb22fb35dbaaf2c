//! `orange harness …`: the agent CLIs that Orange can start, and what it can do with each.

use crate::output::named;
use crate::session::Session;
use crate::ui::{Cell, Column, Style, Table, clean, clean_block};
use clap::Subcommand;
use orange_engine::harness::supports::NO;
use orange_engine::sessions::programs::ListedHarness;
use orange_engine::views::harnesses;
use orange_engine::{Result, settings};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum HarnessCommand {
    /// List the agent CLIs: which are installed, and what Orange can do with each
    #[command(
        after_help = "A dash stands for what Orange cannot do with it. `orange doctor` also says who is logged in. A terminal that is too narrow shows fewer columns; --json has all.\n\nExamples:\n  orange harness list\n  orange harness list --json"
    )]
    List,
}

pub(crate) fn run(session: &Session, command: &HarnessCommand) -> Result<()> {
    let HarnessCommand::List = command;
    let harnesses = harnesses::harnesses(&session.call)?;
    let setting = settings::config(&session.call)?.agents.harness.as_deref();
    session.finish(named("harnesses", &harnesses), || {
        let used = harnesses.iter().find(|harness| harness.used);
        let used = used.map(|harness| harness.name.as_str());
        as_text(&harnesses) + &clean_block(&new_tasks_use(setting, used))
    })
}

/// What people choose by comes first, and stays where there is little room. After name and version come capabilities.
const COLUMNS: &[Column] = &[
    Column::new("NAME"),
    Column::new("VERSION"),
    Column::new("PERMISSIONS"),
    Column::new("REMEMBERS").priority(35),
    Column::new("RESUME"),
    Column::new("HEADLESS"),
    Column::new("SIGNALS").priority(40),
    Column::new("DELIVERY").priority(30),
    Column::new("USAGE").priority(20),
    Column::new("USAGE LIMITS").priority(10),
    Column::new("MODEL").priority(9),
    Column::new("EFFORT").priority(8),
];

fn as_text(harnesses: &[ListedHarness]) -> String {
    let mut table = Table::new(COLUMNS);
    for harness in harnesses {
        let version = match (&harness.path, &harness.version) {
            (Some(_), Some(version)) => Cell::new(version.clone(), Style::Green),
            (Some(_), None) => Cell::new("installed", Style::Green),
            (None, _) => Cell::new(NO, Style::Dim),
        };
        let mut row = vec![Cell::from(harness.name.as_str()), version];
        let columns = COLUMNS.iter().skip(row.len());
        row.extend(
            columns.map(|column| Cell::from(harness.supports.cell(&column.header.to_lowercase()))),
        );
        table.row(row);
    }
    let mut text = table.to_text();
    for harness in harnesses.iter().filter(|harness| harness.path.is_none()) {
        if let Some(install) = harness.install {
            let _ = writeln!(text, "to install: {}: {install}", clean(&harness.name));
        }
    }
    text
}

/// The harness of a task that names none, and why.
fn new_tasks_use(setting: Option<&str>, used: Option<&str>) -> String {
    match (setting, used) {
        (Some(name), _) => format!("new tasks use {name}, by `agents.harness`\n"),
        (None, Some(name)) => format!("new tasks use {name}, the first that is installed\n"),
        (None, None) => {
            "no agent is installed: new tasks have to name a harness with --harness\n".to_owned()
        }
    }
}

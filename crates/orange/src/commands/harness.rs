//! `orange harness …`: the agent CLIs that Orange can start, and what it can do with each.

use crate::error::Result;
use crate::session::Session;
use crate::ui::{Cell, Column, Extent, Palette, Style, Table};
use clap::Subcommand;
use orange_engine::harness::catalogue::Listed;
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum HarnessCommand {
    /// List the agent CLIs: which are installed, and what Orange can do with each
    #[command(
        after_help = "A dash stands for what Orange cannot do with it. `orange doctor` also says who is logged in.\n\nExamples:\n  orange harness list\n  orange harness list --json"
    )]
    List,
}

pub(crate) fn run(session: &mut Session, command: &HarnessCommand) -> Result<()> {
    match command {
        HarnessCommand::List => list(session),
    }
}

fn list(session: &mut Session) -> Result<()> {
    let harnesses = session.engine.harnesses()?;
    session.finish(
        || json!({"harnesses": harnesses.iter().map(as_json).collect::<Vec<Value>>()}),
        || as_text(&harnesses),
    );
    Ok(())
}

const COLUMNS: &[Column] = &[
    Column::new("NAME"),
    Column::new("VERSION").flexible(),
    Column::new("SIGNALS").min(9).priority(70),
    Column::new("DELIVERY").min(12).priority(60),
    Column::new("RESUME").priority(50),
    Column::new("PERMISSIONS").min(11).priority(40),
    Column::new("USAGE").min(6).priority(30),
    Column::new("HEADLESS").priority(20),
    Column::new("USAGE LIMITS").priority(10),
];

fn as_text(harnesses: &[Listed]) -> String {
    let mut table = Table::new(COLUMNS);
    for harness in harnesses {
        let version = match (&harness.path, &harness.version, harness.install) {
            (Some(_), Some(version), _) => Cell::new(version.clone(), Style::Green),
            (Some(_), None, _) => Cell::new("installed", Style::Green),
            (None, _, Some(install)) => Cell::new(install, Style::Dim),
            (None, _, None) => Cell::new("not installed", Style::Yellow),
        };
        let mut row = vec![Cell::from(harness.name.as_str()), version];
        row.extend(harness.adapter.supports().cells().map(Cell::from));
        table.row(row);
    }
    let mut text = String::new();
    table.render(&mut text, Extent::stdout(), Palette::stdout());
    text
}

fn as_json(harness: &Listed) -> Value {
    json!({
        "name": harness.name,
        "installed": harness.path.is_some(),
        "path": harness.path,
        "version": harness.version,
        "install": harness.install,
        "adapter": harness.adapter,
        "supports": harness.adapter.supports(),
    })
}

//! `orange permissions …`: what agents may do without asking again, and taking it back.

use crate::completion::{Wanted, projects, rules, tasks};
use crate::output::named;
use crate::session::Session;
use crate::ui::{Cell, Column, Style, Table, ago, clean};
use clap::{Args, Subcommand};
use orange_core::Timestamp;
use orange_core::naming::counted;
use orange_engine::Result;
use orange_engine::verbs::permissions as verb;
use orange_engine::views::permissions::{self, WantedPermissions};
use orange_engine::views::task;
use orange_engine::views::{PermissionRow, RemovedRules};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PermissionsCommand {
    /// List what agents may do without asking again
    #[command(
        after_help = "`orange answer TASK --always` adds a rule. Rules of a task that is over do not count and are not listed.\n\nExamples:\n  orange permissions list\n  orange permissions list --task TASK-001\n  orange permissions list --project shop --json"
    )]
    List(PermissionListArgs),
    /// Remove rules, so that agents ask again
    #[command(
        after_help = "Examples:\n  orange permissions remove 1\n  orange permissions remove 1 2"
    )]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PermissionListArgs {
    /// Rules of this project and its tasks (default: of all)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
    /// What counts for this task: its own rules, and its project's
    #[arg(long, value_name = "ID", conflicts_with = "project", add = tasks(Wanted::Any))]
    task: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The rules, by their numbers
    #[arg(required = true, value_name = "RULE", add = rules())]
    rules: Vec<u32>,
}

pub(crate) fn run(session: &Session, command: &PermissionsCommand) -> Result<()> {
    match command {
        PermissionsCommand::List(args) => list(session, args),
        PermissionsCommand::Remove(args) => remove(session, args),
    }
}

fn list(session: &Session, args: &PermissionListArgs) -> Result<()> {
    let mut wanted = WantedPermissions::default();
    if let Some(project) = &args.project {
        wanted.project = Some(session.required_project(Some(project))?);
    }
    if let Some(named) = &args.task {
        let found = task::view(&session.call, session.task(Some(named))?)?.task;
        (wanted.project, wanted.task) = (Some(found.project), Some(found.id));
    }
    let found = permissions::permissions(&session.call, &wanted)?;
    session.finish(named("permissions", &found), || as_text(&found))
}

fn remove(session: &Session, args: &RemoveArgs) -> Result<()> {
    let mut numbers = args.rules.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let removed = verb::remove(&session.call, &numbers)?;
    let message = format!(
        "removed {}: agents ask again",
        counted(removed.len(), "rule")
    );
    let told = RemovedRules {
        permissions: &removed,
        message: &message,
    };
    session.finish(told, || {
        let mut text = String::new();
        for row in &removed {
            let _ = writeln!(
                text,
                "removed rule {} for {}: {}",
                row.number,
                whom(row),
                clean(&row.allows)
            );
        }
        text + "agents ask again\n"
    })
}

/// `TASK-001`, or `all tasks of shop`.
pub(crate) fn whom(row: &PermissionRow) -> String {
    match (&row.label, &row.task_id) {
        (Some(label), _) => label.clone(),
        (None, Some(id)) => id.clone(),
        (None, None) => format!("all tasks of {}", row.project),
    }
}

const COLUMNS: &[Column] = &[
    Column::new("RULE"),
    Column::new("FOR"),
    Column::new("AGENT").priority(30),
    Column::new("ALLOWS").min(20).max(100).flexible(),
    Column::new("ADDED").priority(20),
];

fn as_text(rows: &[PermissionRow]) -> String {
    if rows.is_empty() {
        return "no rules: agents ask as their permission mode says; `orange answer TASK --always` adds one\n".into();
    }
    let now = Timestamp::now();
    let mut table = Table::new(COLUMNS);
    for row in rows {
        let whom = match &row.label {
            Some(label) => format!("{}:{label}", row.project),
            None => whom(row),
        };
        let added = format!("{} by {}", ago(now, row.added_at), row.added_by);
        table.row([
            Cell::new(row.number.to_string(), Style::Bold),
            Cell::from(whom),
            Cell::from(row.rule.harness.as_str()),
            Cell::from(row.allows.as_str()),
            Cell::new(added, Style::Dim),
        ]);
    }
    table.to_text() + "remove one: `orange permissions remove RULE`\n"
}

//! `orange workspace …`: the pool of worktrees, what is in each slot, and the ones nobody needs.

use crate::completion::projects;
use crate::output::named;
use crate::session::Session;
use crate::ui::{Cell, Column, Style, Table, size};
use clap::{Args, Subcommand};
use orange_core::naming::counted;
use orange_engine::Result;
use orange_engine::git::short;
use orange_engine::git::state::Head;
use orange_engine::maintenance::workspaces::{self, Collected, KeptSlot};
use orange_engine::views::{self, WorkspaceRow};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WorkspaceCommand {
    /// Make slots before a task needs one
    #[command(
        after_help = "A slot is made when a task needs it; making it before saves the time of a checkout.\n\nExamples:\n  orange workspace init                 all slots of the project you are in\n  orange workspace init 2 --project shop"
    )]
    Init(InitArgs),
    /// Show every slot: who has it, its branch, what is not committed
    #[command(
        after_help = "Examples:\n  orange workspace list\n  orange workspace list --disk --json"
    )]
    List(WorkspaceListArgs),
    /// Remove free slots beyond the pool's size, and old rescue refs
    #[command(
        after_help = "What is in a slot is saved before it goes: `orange rescue list`. Files that git ignores (.env, build output) are not saved and go with it. A slot that a task has, or that a process lives in, stays.\n\nExamples:\n  orange workspace gc\n  orange workspace gc --all             every free slot"
    )]
    Gc(WorkspaceGcArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// How many slots there should be (default: the whole pool)
    count: Option<u32>,
    /// The project (default: the one you are in)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspaceListArgs {
    /// Slots of this project (default: of all)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
    /// Measure what each takes on disk; with many files this takes a while
    #[arg(long)]
    disk: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspaceGcArgs {
    /// Slots of this project (default: of all)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
    /// Every free slot, not only those beyond the pool's size
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(session: &Session, command: &WorkspaceCommand) -> Result<()> {
    match command {
        WorkspaceCommand::Init(args) => init(session, args),
        WorkspaceCommand::List(args) => list(session, args),
        WorkspaceCommand::Gc(args) => gc(session, args),
    }
}

fn init(session: &Session, args: &InitArgs) -> Result<()> {
    let project = session.required_project(args.project.as_deref())?;
    let made = workspaces::make_slots(&session.call, &project, args.count)?;
    let text = match made.as_slice() {
        [] => "all of them are there already\n".to_owned(),
        made => format!("made {}\n", made.join(", ")),
    };
    session.finish(named("workspaces", &made), || text)
}

fn list(session: &Session, args: &WorkspaceListArgs) -> Result<()> {
    if let Some(project) = &args.project {
        session.required_project(Some(project))?;
    }
    let slots = views::workspaces::slots_of(&session.call, args.project.as_deref(), args.disk)?;
    session.finish(named("workspaces", &slots), || as_text(&slots, args.disk))
}

fn gc(session: &Session, args: &WorkspaceGcArgs) -> Result<()> {
    if let Some(project) = &args.project {
        session.required_project(Some(project))?;
    }
    let collected = workspaces::collect_slots(&session.call, args.project.as_deref(), args.all)?;
    session.finish(&collected, || described(&collected))
}

fn described(collected: &Collected) -> String {
    let mut text = match collected.removed.as_slice() {
        [] => "no slot had to go\n".to_owned(),
        removed => format!("removed {}\n", removed.join(", ")),
    };
    for KeptSlot { slot, reason } in &collected.kept {
        let _ = writeln!(text, "kept {slot}: {reason}");
    }
    if collected.expired > 0 {
        let _ = writeln!(text, "forgot {}", counted(collected.expired, "old rescue"));
    }
    text
}

const COLUMNS: &[Column] = &[
    Column::new("SLOT"),
    Column::new("TASK"),
    Column::new("BRANCH").min(16).max(48).flexible(),
    Column::new("AHEAD").priority(20),
    Column::new("BEHIND").priority(10),
    Column::new("STATE").min(12).max(60).priority(60),
    Column::new("DISK").priority(40),
];

fn as_text(slots: &[WorkspaceRow], with_disk: bool) -> String {
    if slots.is_empty() {
        return "no projects, so no slots; register one with `orange project add PATH`\n".into();
    }
    let columns = &COLUMNS[..if with_disk { 7 } else { 6 }];
    let mut table = Table::new(columns);
    for slot in slots {
        let distance = slot.distance;
        let number = |count: Option<u64>| count.filter(|count| *count > 0).map(|n| n.to_string());
        let holder = slot.holder.clone();
        let colour = if holder.is_some() {
            Style::Bold
        } else {
            Style::Dim
        };
        table.row([
            Cell::from(slot.name.as_str()),
            Cell::new(holder.unwrap_or_else(|| free(slot).into()), colour),
            Cell::from(head(slot)),
            Cell::from(number(distance.map(|d| d.ahead)).unwrap_or_default()),
            Cell::from(number(distance.map(|d| d.behind)).unwrap_or_default()),
            state(slot),
            Cell::from(slot.disk.map(size).unwrap_or_default()),
        ]);
    }
    table.to_text()
}

/// What a slot is for that no task has.
fn free(slot: &WorkspaceRow) -> &'static str {
    if slot.is_for_checks {
        "for checks"
    } else if slot.is_retired {
        "retired"
    } else {
        "free"
    }
}

fn head(slot: &WorkspaceRow) -> String {
    match &slot.head {
        None if slot.holder.is_some() => "(its folder is gone)".into(),
        None => "(not made yet)".into(),
        Some(Head::Branch(name)) => name.clone(),
        Some(Head::Detached(commit)) => format!("(parked at {})", short(commit)),
        Some(Head::Missing(_)) => "(broken)".into(),
    }
}

fn state(slot: &WorkspaceRow) -> Cell<'static> {
    if let Some(Head::Missing(why)) = &slot.head {
        return Cell::new(why.clone(), Style::Red);
    }
    let mut words = Vec::new();
    if let Some(operation) = slot.operation {
        words.push(format!("in the middle of a {operation}"));
    }
    if let Some(dirt) = slot.dirt {
        let mut say = |count: usize, what: &str| {
            if count > 0 {
                words.push(format!("{count} {what}"));
            }
        };
        say(dirt.conflicts, "in conflict");
        say(dirt.changed, "changed");
        say(dirt.untracked, "untracked");
    } else if slot.head.is_some() {
        words.push("unknown: git cannot tell".to_owned());
    }
    if let Some(process) = slot.occupants.first() {
        words.push(format!("process {} ({}) in it", process.pid, process.name));
    }
    match words.is_empty() {
        true if slot.head.is_some() => Cell::new("clean", Style::Dim),
        true => Cell::from(""),
        false => Cell::new(words.join(", "), Style::Yellow),
    }
}

//! `orange task plan`: what a phased task goes through, shown, edited and written anew.

mod edit;

use super::run::tell_outcome;
use crate::completion::{Wanted, files, tasks};
use crate::session::Session;
use crate::ui::command::command;
use crate::ui::{Cell, Column, Extent, Palette, Style, Table, clean};
use clap::{Args, Subcommand};
use orange_core::naming::counted;
use orange_core::work::plan::PlannedPhase;
use orange_core::workflow::PhaseStatus;
use orange_core::{Action, display};
use orange_engine::Result;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::plan;
use orange_engine::views::{PlanView, ShownPlan};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PlanCommand {
    Show(PlanShowArgs),
    Edit(PlanEditArgs),
    Reset(ResetArgs),
}

/// Show the phases of a task: how often each is tried, what it has to meet, and who decides
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange plan show TASK-001
  orange plan show TASK-001 --yaml > plan.yaml    as `plan edit --file` takes it")]
pub(crate) struct PlanShowArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Phased))]
    id: Option<String>,
    /// Print the plan as plan.yaml
    #[arg(long, conflicts_with = "json")]
    yaml: bool,
}

/// Edit the plan of a task
#[derive(Debug, Args)]
#[command(after_help = "\
Opens plan.yaml in your editor (VISUAL or EDITOR). It counts once it can be read; phases that are completed or skipped stay so. \
Not while the task is executed or stands at a gate: `orange pause` first.

Examples:
  orange plan edit TASK-001
  orange plan edit TASK-001 --file plan.yaml
  orange plan show TASK-001 --yaml | orange plan edit TASK-002 --file -")]
pub(crate) struct PlanEditArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Phased))]
    id: Option<String>,
    /// Take the plan from a file instead; - is standard input
    #[arg(long, value_name = "FILE", add = files())]
    file: Option<PathBuf>,
}

/// Write the plan anew, as the settings have it for the task's weight
#[derive(Debug, Args)]
#[command(after_help = "\
What was edited is gone; phases that are completed or skipped stay so. `orange update --weight` gives the plan of another weight.

Example:
  orange plan reset TASK-001")]
pub(crate) struct ResetArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Phased))]
    id: Option<String>,
}

pub(crate) fn run(session: &Session, command: &PlanCommand) -> Result<()> {
    match command {
        PlanCommand::Show(args) => show(session, args),
        PlanCommand::Edit(args) => edit::run(session, args.id.as_deref(), args.file.as_deref()),
        PlanCommand::Reset(args) => reset(session, args),
    }
}

fn show(session: &Session, args: &PlanShowArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let shown = plan::show(&session.call, place)?;
    if args.yaml {
        return session.finish_as_it_is((), || shown.plan.to_yaml());
    }
    session.finish_as_it_is(PlanView::of(&shown), || to_text(&shown) + &next(&shown))
}

fn reset(session: &Session, args: &ResetArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let done = plan::reset(&session.call, place)?;
    let weight = done.task.weight.map_or("", |weight| weight.as_str());
    let message = format!("{}: has the plan of weight {weight}", done.task.label());
    tell_outcome(session, &Changed::from(done), &message)
}

fn status(shown: &ShownPlan, phase: &PlannedPhase) -> PhaseStatus {
    shown.execution.status(&phase.name)
}

const COLUMNS: &[Column] = &[
    Column::new("PHASE"),
    Column::new("STATUS"),
    Column::new("TRIES"),
    Column::new("TIME"),
    Column::new("GATE"),
    Column::new("COMPLETE WHEN").flexible(),
];

/// A line for each phase, then what keeps a criterion from being checked.
pub(super) fn to_text(shown: &ShownPlan) -> String {
    let (task, plan) = (&shown.task, &shown.plan);
    let mut text = format!(
        "{} {}\nweight {}, {}\n\n",
        task.label(),
        display::summary(&task.summary),
        plan.weight,
        counted(plan.phases.len(), "phase")
    );
    let mut table = Table::new(COLUMNS);
    for phase in &plan.phases {
        let gate = shown.gates.iter().find(|(name, ..)| *name == phase.name);
        let gate = gate.map_or("", |(_, kind, _)| kind.as_str());
        let criteria: Vec<String> = phase
            .completion_criteria
            .iter()
            .map(ToString::to_string)
            .collect();
        let timeout = phase.timeout.map(orange_core::work::transcript::lasted);
        let tries = match phase.is_executed() {
            true => format!(
                "{}/{}",
                shown.execution.used_of_attempt(&phase.name),
                phase.max_iterations
            ),
            false => String::new(),
        };
        let state = status(shown, phase);
        table.row([
            Cell::new(phase.name.as_str(), Style::Bold),
            Cell::new(state.as_str(), style(state)),
            Cell::new(tries, Style::Plain),
            Cell::new(timeout.unwrap_or_default(), Style::Plain),
            Cell::new(gate, Style::Plain),
            Cell::new(criteria.join(", "), Style::Plain),
        ]);
    }
    table.render(&mut text, Extent::stdout(), Palette::stdout());
    let unchecked = unchecked(shown);
    if !unchecked.is_empty() {
        let _ = write!(text, "\nNobody can check as things are:\n{unchecked}");
    }
    let left_out = left_out(shown);
    if !left_out.is_empty() {
        let _ = write!(
            text,
            "\nMCP servers that no agent gets as things are:\n{left_out}"
        );
    }
    if let Some(why) = &shown.without_browser {
        let _ = writeln!(
            text,
            "\nThe user interface is tested without a browser: {}",
            clean(why)
        );
    }
    text
}

/// MCP servers that no agent gets, each once, with the reason and the phases that have it.
fn left_out(shown: &ShownPlan) -> String {
    let all = shown.left_out.iter();
    told_once(all.map(|one| (&*one.phase, &*one.server, &*one.why)))
}

/// Criteria without a command, each once, with the reason and the phases that have it.
fn unchecked(shown: &ShownPlan) -> String {
    let all = shown.unchecked.iter();
    told_once(all.map(|one| (&*one.phase, &*one.criterion, &*one.why)))
}

/// A line for each name among phases, names and reasons, with all its phases.
fn told_once<'s>(all: impl Iterator<Item = (&'s str, &'s str, &'s str)>) -> String {
    let mut found: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (phase, name, why) in all {
        let mut known = found.iter_mut();
        match known.find(|(known, ..)| *known == name) {
            Some((.., phases)) => phases.push(phase),
            None => found.push((name, why, vec![phase])),
        }
    }
    let lines = found.iter().map(|(name, why, phases)| {
        let phases = phases.join(", ");
        format!("  {} in {}: {}\n", clean(name), clean(&phases), clean(why))
    });
    lines.collect()
}

/// What starts a task whose plan is shown.
fn next(shown: &ShownPlan) -> String {
    match shown.task.has_started() {
        true => String::new(),
        false => {
            let run = Action::run(shown.task.name(), false);
            format!("\nnext: {}\n", command(&run))
        }
    }
}

fn style(status: PhaseStatus) -> Style {
    if status.is_over() {
        Style::Green
    } else if status == PhaseStatus::default() {
        Style::Dim
    } else {
        Style::Yellow
    }
}

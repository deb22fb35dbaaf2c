//! `orange task spec`: the specification of a phased task, shown, edited and given.

use super::edited::EditedText;
use super::run::tell_outcome;
use crate::completion::{Wanted, files, tasks};
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::{Extent, clean_block};
use clap::{Args, Subcommand};
use orange_core::work::spec::SECTIONS;
use orange_engine::Result;
use orange_engine::store::Place;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::spec::{self, SavedSpec};
use orange_engine::views::TaskResult;
use orange_engine::views::spec as views;
use std::fmt::Write;
use std::path::PathBuf;

const SPEC: EditedText = EditedText {
    what: "specification",
    suffix: ".md",
    megabytes: MEGABYTES,
    given_by: |file| format!("`orange spec set TASK {file}`"),
};

/// How large a specification may be.
pub(super) const MEGABYTES: u64 = 4;

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    Show(SpecShowArgs),
    Edit(SpecEditArgs),
    Set(SpecSetArgs),
}

/// Print the specification of a task
#[derive(Debug, Args)]
#[command(after_help = "\
As it was written; on a terminal without what a terminal would obey. The phase spec of a plan writes one, or you give it.

Examples:
  orange spec show TASK-001
  orange spec show TASK-001 > spec.md
  orange spec show TASK-001 --json | jq -r .spec.source")]
pub(crate) struct SpecShowArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Phased))]
    id: Option<String>,
}

/// Edit the specification of a task
#[derive(Debug, Args)]
#[command(after_help = "\
Opens it in your editor (VISUAL or EDITOR); where there is none yet, its headings. What you save is the task's specification, and a \
phase that would write one is left out. Not while the task is executed or stands at a gate: `orange pause` first.

Example:
  orange spec edit TASK-001")]
pub(crate) struct SpecEditArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Phased))]
    id: Option<String>,
}

/// Give a task a specification from a file or a pipe
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "\
A phase that would write one is left out. Nobody checks the outline of a specification that was given. Not while the task is executed \
or stands at a gate: `orange pause` first. `orange rewind --to spec` has an agent write another one.

Examples:
  orange spec set TASK-001 spec.md
  orange spec show TASK-001 | orange spec set TASK-002 -"
)]
pub(crate) struct SpecSetArgs {
    /// The task (default: the one you are in)
    #[arg(value_name = "TASK", add = tasks(Wanted::Phased))]
    id: Option<String>,
    /// The file; - is standard input
    #[arg(value_name = "FILE", required = true, add = files())]
    file: PathBuf,
}

pub(crate) fn run(session: &Session, command: &SpecCommand) -> Result<()> {
    match command {
        SpecCommand::Show(args) => show(session, args),
        SpecCommand::Edit(args) => edit(session, args),
        SpecCommand::Set(args) => set(session, args),
    }
}

fn show(session: &Session, args: &SpecShowArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let found = views::required_spec(&session.call, place)?;
    session.finish_as_it_is(named("spec", &found), || {
        let content = &found.spec.content;
        let mut text = match Extent::stdout() {
            Extent::Columns(_) => clean_block(content).into_owned(),
            Extent::Unlimited => content.clone(),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    })
}

fn edit(session: &Session, args: &SpecEditArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    session.people_only("give specifications")?;
    let (task, known) = views::spec(&session.call, place.clone())?;
    let start = known.map_or_else(|| headings(&task.summary), |known| known.spec.content);
    let take = |text: &str| take(session, place.clone(), text);
    if SPEC.in_editor(session, &start, &take)? {
        return Ok(());
    }
    let message = format!("{}: nothing was changed", task.label());
    let result = TaskResult::new(&task, &message);
    session.finish(result, || format!("{message}\n"))
}

fn set(session: &Session, args: &SpecSetArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    session.people_only("give specifications")?;
    SPEC.take_file(&args.file, &|text| take(session, place.clone(), text))
}

/// What a specification begins with that nobody has written yet.
fn headings(summary: &str) -> String {
    let mut text = format!("# Specification: {}\n", summary.trim());
    for section in SECTIONS {
        let _ = write!(text, "\n## {section}\n\n");
    }
    text
}

fn take(session: &Session, place: Place, text: &str) -> Result<()> {
    let saved = spec::set(&session.call, place, text)?;
    let SavedSpec {
        done,
        is_new,
        skipped,
        lacks,
    } = saved;
    let label = done.task.label();
    let what = match is_new {
        true => "has a new specification",
        false => "has that specification already",
    };
    let message = match skipped.as_slice() {
        [] => format!("{label}: {what}"),
        skipped => format!("{label}: {what}; left out: phase {}", skipped.join(", ")),
    };
    tell_outcome(session, &Changed::from(done), &message)?;
    if is_new && !lacks.is_empty() {
        output::note(&format!("it is taken as it is, although {lacks}"));
    }
    Ok(())
}

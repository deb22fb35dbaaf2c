//! `orange task rescue …`: work that was saved before something could destroy it.

use crate::completion::{Wanted, rescues, tasks};
use crate::output::named;
use crate::session::Session;
use crate::ui::{Cell, Column, KeyValues, Palette, Style, Table, ago, clean, relative};
use clap::{Args, Subcommand};
use orange_core::Timestamp;
use orange_core::naming::counted;
use orange_engine::Result;
use orange_engine::git::short;
use orange_engine::rescue::{Rescue, RescueNote, Restored, ShownRescue};
use orange_engine::verbs::rescue::{self, RescueOwner, RestoredRescue, RestoredTo};
use std::fmt::Write;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RescueCommand {
    /// List a task's rescues
    #[command(
        after_help = "Examples:\n  orange rescue list TASK-001\n  orange rescue list TASK-001 --json"
    )]
    List {
        /// The task, a deleted one too (default: the one you are in)
        #[arg(add = tasks(Wanted::Any))]
        id: Option<String>,
    },
    /// Show what a rescue holds
    #[command(
        after_help = "Examples:\n  orange rescue show TASK-001\n  orange rescue show TASK-001 20261115T1138"
    )]
    Show(RescueShowArgs),
    /// Bring back what a rescue holds
    #[command(
        after_help = "Files go into the task's workspace; what is there now is saved first, and neither the branch nor what is staged changes. Ignored files are never saved, so they are not brought back either.\n\nExamples:\n  orange rescue restore TASK-001 latest\n  orange rescue restore TASK-001 20261115T1138 --to-branch rescued/login"
    )]
    Restore(RescueRestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RescueShowArgs {
    /// The task, a deleted one too
    #[arg(add = tasks(Wanted::Any))]
    id: String,
    /// The rescue: its name, the beginning of it, or `latest`
    #[arg(default_value = "latest", add = rescues())]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct RescueRestoreArgs {
    /// The task, a deleted one too
    #[arg(add = tasks(Wanted::Any))]
    id: String,
    /// The rescue: its name, the beginning of it, or `latest`
    #[arg(add = rescues())]
    name: String,
    /// Make this branch at the rescue instead of touching a workspace
    #[arg(long, value_name = "BRANCH")]
    to_branch: Option<String>,
}

pub(crate) fn run(session: &Session, command: &RescueCommand) -> Result<()> {
    match command {
        RescueCommand::List { id } => list(session, id.as_deref()),
        RescueCommand::Show(args) => show(session, args),
        RescueCommand::Restore(args) => restore(session, args),
    }
}

fn owner(session: &Session, id: &str) -> Result<RescueOwner> {
    let project = session.project(None)?;
    rescue::rescue_owner(&session.call, id, project.as_deref())
}

fn list(session: &Session, id: Option<&str>) -> Result<()> {
    let owner = match id {
        Some(id) => owner(session, id)?,
        None => {
            let place = session.task(None)?;
            rescue::rescue_owner_at(&session.call, place)?
        }
    };
    let rescues = rescue::rescues(&owner)?;
    session.finish(named("rescues", &rescues), || {
        list_text(&owner.label, &rescues)
    })
}

fn show(session: &Session, args: &RescueShowArgs) -> Result<()> {
    let owner = owner(session, &args.id)?;
    let rescue = rescue::rescue_named(&owner, &args.name)?;
    let shown = rescue::show_rescue(&owner, &rescue)?;
    session.finish(named("rescue", &shown), || shown_text(&owner, &shown))
}

fn restore(session: &Session, args: &RescueRestoreArgs) -> Result<()> {
    let owner = owner(session, &args.id)?;
    let to_branch = args.to_branch.as_deref();
    let done = rescue::restore_rescue(&session.call, &owner, &args.name, to_branch)?;
    session.finish(&done, || restored_text(&owner, &done))
}

/// `3 files, 2 commits, staged`
fn holds(note: &RescueNote) -> String {
    let mut parts = Vec::new();
    if note.files > 0 {
        parts.push(counted(note.files, "file"));
    }
    if note.commits > 0 {
        parts.push(counted(note.commits, "commit"));
    }
    if note.staged.is_some() {
        parts.push("staged".into());
    }
    if note.raw.is_some() {
        parts.push("copies".into());
    }
    parts.join(", ")
}

fn list_text(label: &str, rescues: &[Rescue]) -> String {
    if rescues.is_empty() {
        return format!("{} has no rescues\n", clean(label));
    }
    let now = Timestamp::now();
    let mut table = Table::new(&[
        Column::new("NAME"),
        Column::new("HOLDS").min(10).priority(1),
        Column::new("REASON").flexible(),
        Column::new("AGE"),
    ]);
    for rescue in rescues {
        table.row([
            Cell::from(rescue.name.as_str()),
            Cell::from(holds(&rescue.note)),
            Cell::from(rescue.note.reason.as_str()),
            Cell::new(relative(now, rescue.note.time), Style::Dim),
        ]);
    }
    table.to_text()
}

fn shown_text(owner: &RescueOwner, shown: &ShownRescue) -> String {
    let Rescue { name, note, .. } = &shown.rescue;
    let mut pairs = KeyValues::default();
    let when = format!("{} ({})", note.time, ago(Timestamp::now(), note.time));
    pairs
        .add("rescue", format!("{name} of {}", owner.label))
        .add("saved", when)
        .add("reason", note.reason.as_str())
        .add("commit", shown.rescue.commit.as_str());
    if let Some(branch) = &note.branch {
        pairs.add("branch", branch.as_str());
    }
    if let Some(operation) = &note.operation {
        pairs.add("during", format!("a {operation} that was under way"));
    }
    if let Some(staged) = &note.staged {
        pairs.add("staged", format!("{staged} (what was staged and differs)"));
    }
    match (&shown.raw, &shown.raw_gone) {
        (Some(raw), _) => {
            pairs.add("copies", raw.to_string_lossy());
        }
        (None, Some(name)) => {
            pairs.add_styled("copies", format!("{name} is gone"), Style::Yellow);
        }
        (None, None) => {}
    }
    let mut text = String::new();
    pairs.render(&mut text, Palette::stdout());
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                let _ = writeln!(text, "  {}", clean(&line));
            }
        }
    };
    let files = shown.files.iter();
    let files = files.map(|file| format!("{} {}", file.status, file.path.display()));
    section("files", files.collect());
    let copies = shown.copies.iter().map(|path| path.display().to_string());
    section("copied as they were", copies.collect());
    let commits = shown.commits.iter();
    let commits = commits.map(|lost| format!("{} {}", short(&lost.commit), lost.subject));
    section("commits that only rescues hold", commits.collect());
    text.push_str("\nignored files are not in it\n");
    text
}

fn restored_text(owner: &RescueOwner, done: &RestoredRescue) -> String {
    let (label, name) = (clean(&owner.label), &done.rescue.name);
    match &done.to {
        RestoredTo::Branch { branch } => {
            format!("{label}: {name} is the branch {} now\n", clean(branch))
        }
        RestoredTo::Workspace {
            name: workspace,
            restored,
        } => {
            let mut text = format!(
                "{label}: {name} is back in {}: {} written, {} deleted\n",
                clean(workspace),
                counted(restored.written, "file"),
                restored.deleted
            );
            for line in besides(done, restored) {
                let _ = writeln!(text, "  {}", clean(&line));
            }
            text
        }
    }
}

fn besides(done: &RestoredRescue, restored: &Restored) -> Vec<String> {
    let note = &done.rescue.note;
    let mut lines = Vec::new();
    if let Some(before) = &restored.before {
        lines.push(format!("what was there before is rescue {before}"));
    }
    for path in &restored.copied {
        lines.push(format!("{} is copied back", path.display()));
    }
    for path in &restored.not_copied {
        lines.push(format!(
            "{} is not copied back: its place is not free; the copy stays",
            path.display()
        ));
    }
    if let Some(staged) = &note.staged {
        lines.push(format!("what was staged then: git show {}", short(staged)));
    }
    if note.commits > 0 {
        lines.push(format!(
            "{} stay in the rescue: git log {}",
            counted(note.commits, "commit"),
            short(&done.rescue.commit)
        ));
    }
    lines
}

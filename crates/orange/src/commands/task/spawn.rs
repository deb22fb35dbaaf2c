//! `orange task spawn`: a pending task starts; and what is said of agents that a command started.

use super::permissions::choose_once;
use super::run::tell_queued;
use super::update;
use crate::completion::{Wanted, tasks};
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::command;
use clap::Args;
use orange_core::history::Event;
use orange_core::history::payload::AgentSpawned;
use orange_core::task::Task;
use orange_core::workflow::Role;
use orange_core::{Action, text};
use orange_engine::store::Place;
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::{Error, Result, err};
use std::fmt::Write;

/// Start a task that is pending
#[derive(Debug, Args)]
#[command(after_help = "\
A task that cannot start yet (no slot free, open dependencies, too many agents) waits in the queue.

Examples:
  orange spawn TASK-001
  orange spawn TASK-001 --force      in spite of open dependencies")]
pub(crate) struct SpawnArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Pending))]
    id: Option<String>,
    /// Ignore open dependencies and `agents.limit`
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(session: &Session, args: &SpawnArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    session.people_only("start tasks")?;
    let task = session.call.store().survey(&place.folder()).task;
    if task.has_plan() {
        return Err(means_run(&task));
    }
    choose_for(session, &place)?;
    match start::start(&session.call, place, args.force)? {
        StartOutcome::Started(changed) => {
            update::finish(session, &changed, &update::moved(&changed), None)
        }
        StartOutcome::Queued(task, why) => tell_queued(session, &task, &why),
    }
}

/// Refuses a verb of the other workflow and names the one that is meant.
fn means_run(task: &Task) -> Error {
    err!(
        IllegalTransition,
        "{} has the {} workflow: its phases are run, no agent is spawned",
        task.label(),
        task.workflow
    )
    .hint(text!("start it: {}", Action::run(task.name(), false)))
}

pub(super) fn choose_for(session: &Session, place: &Place) -> Result<()> {
    let task = session.call.store().survey(&place.folder()).task;
    let harness = task.harness.as_deref();
    choose_once(session, &task.project, harness, task.permissions)
}

pub(crate) fn queued(task: &Task, why: &str) -> String {
    format!("{} is queued: {}", task.label(), clean(why))
}

/// The agents that a command started, and how to get to them.
pub(crate) fn lines(task: &Task, spawned: &[Event]) -> String {
    let mut text = agents(spawned);
    if !spawned.is_empty() {
        let _ = writeln!(text, "next: {}", command(&Action::attach(task.name())));
    }
    text
}

/// A task of the queue that a command started beside what it was asked for.
pub(crate) fn after_waiting(task: &Task) -> String {
    format!("started {}, which had been waiting", task.label())
}

pub(crate) fn agents(spawned: &[Event]) -> String {
    let mut text = String::new();
    for event in spawned {
        let start = AgentSpawned::of(event).unwrap_or_default();
        let _ = writeln!(
            text,
            "  {:<8} {} in tmux session {}",
            start.role.map_or("", Role::as_str),
            clean(start.harness.unwrap_or_default()),
            clean(start.in_session().unwrap_or_default()),
        );
    }
    text
}

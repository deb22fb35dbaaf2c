//! `orange task spawn` and `respawn`, and `orange run --ready`: agents are started.

use super::permissions::choose_once;
use super::{update, word};
use crate::completion::{Wanted, projects, tasks, words};
use crate::output::named;
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::command;
use clap::Args;
use orange_core::history::Event;
use orange_core::history::payload::AgentSpawned;
use orange_core::task::{Queue, Task};
use orange_core::workflow::Role;
use orange_core::{Action, text};
use orange_engine::index::list::Filter;
use orange_engine::store::Place;
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::verbs::{self};
use orange_engine::views::{TaskResult, list};
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
    /// In spite of open dependencies and of `agents.limit`
    #[arg(long)]
    force: bool,
}

/// Start an agent again that is gone
#[derive(Debug, Args)]
#[command(after_help = "\
The agent gets a prompt for the status the task is in, and what was said to it and not delivered.

Examples:
  orange respawn TASK-001
  orange respawn TASK-001 --message \"the tests need --release\"")]
pub(crate) struct RespawnArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::InSession))]
    id: Option<String>,
    /// worker or reviewer (default: the one that the status asks for)
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS))]
    role: Option<Role>,
    /// Something to tell it at once
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,
}

/// Start tasks that nothing holds back
#[derive(Debug, Args)]
#[command(
    override_usage = "orange run --ready [OPTIONS]",
    after_help = "\
By priority, then by age; as many as slots and `agents.limit` allow.

Examples:
  orange run --ready
  orange run --ready --max 3"
)]
pub(crate) struct RunArgs {
    /// Every pending task of the active queue whose dependencies are over
    #[arg(long)]
    ready: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    /// Only of this project
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
}

pub(crate) fn spawn(session: &Session, args: &SpawnArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    session.people_only("start tasks")?;
    choose_for(session, &place)?;
    match start::start(&session.call, place, args.force)? {
        StartOutcome::Started(changed) => {
            update::finish(session, &changed, &update::moved(&changed), None)
        }
        StartOutcome::Queued(task, why) => {
            let message = queued(&task, &why);
            let result = TaskResult {
                queued: Some(Some(&why)),
                ..TaskResult::new(&task, &message)
            };
            session.finish(result, || format!("{message}\n"))
        }
    }
}

fn choose_for(session: &Session, place: &Place) -> Result<()> {
    let task = session.call.store().survey(&place.folder()).task;
    let harness = task.harness.as_deref();
    choose_once(session, &task.project, harness, task.permissions)
}

pub(crate) fn queued(task: &Task, why: &str) -> String {
    format!("{} is queued: {}", task.label(), clean(why))
}

pub(crate) fn respawn(session: &Session, args: &RespawnArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let message = args.message.as_deref();
    if message.is_some_and(|text| text.trim().is_empty()) {
        return Err(err!(Usage, "--message is empty").hint("leave it out, or say something"));
    }
    choose_for(session, &place)?;
    let done = verbs::respawn::respawn(&session.call, place, args.role, message)?;
    let (task, spawned) = (done.task, done.spawned);
    let text = format!("{} ({})", task.label(), task.status);
    let result = TaskResult {
        agents: Some(&spawned),
        ..TaskResult::new(&task, &text)
    };
    session.finish(result, || format!("{text}\n{}", lines(&task, &spawned)))
}

pub(crate) fn run_ready(session: &Session, args: &RunArgs) -> Result<()> {
    let projects: Vec<String> = args.project.iter().cloned().collect();
    if !args.ready {
        return Err(not_said(session, projects)?);
    }
    let outcomes = start::run_ready(&session.call, &projects, args.max)?;
    let started: Vec<&Task> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            StartOutcome::Started(changed) => Some(&changed.done.task),
            StartOutcome::Queued(..) => None,
        })
        .collect();
    session.finish(named("tasks", &started), || {
        let mut text = String::new();
        for task in &started {
            let _ = writeln!(text, "started {} {}", task.label(), clean(&task.summary));
        }
        if started.is_empty() {
            text.push_str("nothing to start; `orange ls --ready` and `orange why` tell more\n");
        }
        text
    })?;
    for outcome in &outcomes {
        if let StartOutcome::Started(changed) = outcome {
            update::failure(&changed.done.task, &changed.done.failed)?;
        }
    }
    Ok(())
}

/// `orange run` alone starts nothing: what it could start is told.
fn not_said(session: &Session, projects: Vec<String>) -> Result<Error> {
    const NAMED: usize = 5;
    let ready = list::list(
        &session.call,
        &Filter {
            projects,
            ready: true,
            queues: vec![Queue::Active.as_str().to_owned()],
            ..Filter::default()
        },
    )?;
    let keys: Vec<String> = ready
        .iter()
        .take(NAMED)
        .map(|task| task.key.map_or(task.id.clone(), |key| key.to_string()))
        .collect();
    let which = match ready.len() {
        0 => "no task is ready now".to_owned(),
        count if count > NAMED => format!("{} and {} more", keys.join(", "), count - NAMED),
        _ => keys.join(", "),
    };
    Ok(err!(Usage, "no task is named").hint(text!(
        "{} starts what nothing holds back ({which}); `orange spawn ID` starts one",
        Action::start_ready()
    )))
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

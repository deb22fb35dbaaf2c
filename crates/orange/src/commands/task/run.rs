//! `orange task run`: a phased task is executed, or whatever nothing holds back starts; and what is said of both.

use super::spawn::{choose_for, queued};
use super::{dry_run, update};
use crate::completion::{Wanted, phases, projects, tasks};
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::command;
use clap::Args;
use orange_core::task::{Queue, Task};
use orange_core::{Action, text};
use orange_engine::index::list::TaskFilter;
use orange_engine::store::Place;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::run::{self as phased_run, Again, RunWish};
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::views::{TaskResult, list, task, why};
use orange_engine::{Error, Result, err};
use std::fmt::Write;

/// Run a phased task, or start every task that nothing holds back
#[derive(Debug, Args)]
#[command(
    override_usage = "orange run [OPTIONS] [TASK]\n       orange run --ready [--max N] [--project NAME]",
    after_help = "\
A phased task is executed by its plan, until it is completed or needs you. One that cannot start yet (no slot free, open dependencies, \
too many agents) waits in the queue; without a weight, an agent is asked for it first.

With --ready, tasks of both workflows are started: by priority, then by age; as many as slots and `agents.limit` allow.

Examples:
  orange run TASK-001
  orange run TASK-001 --dry-run           the plan and the first prompt
  orange run TASK-001 --phase implement   that phase alone, then paused
  orange run --ready
  orange run --ready --max 3"
)]
pub(crate) struct RunArgs {
    /// The task (default: the one you are in)
    #[arg(value_name = "TASK", add = tasks(Wanted::Runnable))]
    id: Option<String>,
    /// Run only this phase, then pause the task
    #[arg(long, value_name = "PHASE", add = phases())]
    phase: Option<String>,
    /// Show the plan and the first prompt, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Ignore open dependencies, `agents.limit` and a spent budget
    #[arg(long)]
    force: bool,
    /// Start every task of the active queue that was not started and whose dependencies are over
    #[arg(long, conflicts_with_all = ["id", "phase", "dry_run", "force"])]
    ready: bool,
    /// With --ready: start at most N tasks
    #[arg(long, value_name = "N", conflicts_with = "id")]
    max: Option<usize>,
    /// With --ready: only of this project
    #[arg(long, value_name = "NAME", conflicts_with = "id", add = projects())]
    project: Option<String>,
}

pub(crate) fn run(session: &Session, args: &RunArgs) -> Result<()> {
    if args.ready {
        return run_ready(session, args);
    }
    let place = match args.id.as_deref() {
        Some(id) => session.task(Some(id))?,
        None => match own_phased_task(session) {
            Some(place) => place,
            None => {
                let projects = args.project.iter().cloned().collect();
                return Err(not_said(session, projects)?);
            }
        },
    };
    let task = session.call.store().survey(&place.folder()).task;
    if !task.has_plan() && !task.has_started() {
        return Err(means_spawn(&task));
    }
    if args.dry_run {
        return dry_run::run(session, place, args.phase.as_deref());
    }
    let wish = RunWish {
        phase: args.phase.clone(),
        force: args.force,
    };
    tell_run(session, place, Again::Run, &wish)
}

/// The task that we are in, if it has phases.
fn own_phased_task(session: &Session) -> Option<Place> {
    let place = session.task(None).ok()?;
    let task = session.call.store().survey(&place.folder()).task;
    task.has_plan().then_some(place)
}

/// An agent of the other workflow is spawned.
fn means_spawn(task: &Task) -> Error {
    err!(
        IllegalTransition,
        "{} has the {} workflow, which has no phases to run",
        task.label(),
        task.workflow
    )
    .hint(text!("start it: {}", Action::spawn(task.name(), false)))
}

/// Has the execution of a task begin or go on, and says what came of it.
pub(super) fn tell_run(
    session: &Session,
    place: Place,
    again: Again,
    wish: &RunWish,
) -> Result<()> {
    session.people_only("run tasks")?;
    choose_for(session, &place)?;
    match phased_run::run(&session.call, place, again, wish)? {
        StartOutcome::Started(changed) => {
            update::finish(session, &changed, &update::moved(&changed), None)
        }
        StartOutcome::Queued(task, why) => {
            tell_queued(session, &task, &why)?;
            if start::waits_for_own_budget(&session.call, &task)? {
                let action = match again {
                    Again::Resume => Action::resume(task.name(), true),
                    Again::Run | Again::Retry => Action::run(task.name(), true),
                };
                let forced = command(&action);
                output::note(&format!(
                    "`{forced}` has it go on although its budget is spent"
                ));
            }
            Ok(())
        }
    }
}

pub(super) fn tell_queued(session: &Session, task: &Task, why: &str) -> Result<()> {
    let message = queued(task, why);
    let result = TaskResult {
        queued: Some(Some(why)),
        ..TaskResult::new(task, &message)
    };
    session.finish(result, || format!("{message}\n"))
}

/// What happened to a task that nobody works on now, and what moves it on.
pub(super) fn tell_outcome(session: &Session, changed: &Changed, message: &str) -> Result<()> {
    // What is queued goes on by itself, as soon as nothing holds it up.
    let task = &changed.done.task;
    let waits = !task.is_queued();
    let (next, held_up) = if waits {
        (next_of(session, &changed.done.place), None)
    } else {
        let held_up = start::why_not_now(&session.call, task);
        (None, held_up.unwrap_or_default())
    };
    let held_up = held_up.map_or(String::new(), |why| format!("{}\n", queued(task, &why)));
    let failed = changed.done.failed();
    if failed.is_empty() || !session.json {
        let result = TaskResult::new(&changed.done.task, message);
        session.finish(result, || {
            let next = next.map_or_else(String::new, |next| format!("next: {}\n", command(&next)));
            format!("{message}\n{held_up}{next}")
        })?;
    }
    update::failure(&changed.done.task, &failed)
}

/// What a person can do about it now; nothing where it goes on by itself.
fn next_of(session: &Session, place: &Place) -> Option<Action> {
    let view = task::view(&session.call, place.clone()).ok()?;
    why::why_of(&session.call, &view).ok()?.next
}

fn run_ready(session: &Session, args: &RunArgs) -> Result<()> {
    let projects: Vec<String> = args.project.iter().cloned().collect();
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
            update::failure(&changed.done.task, &changed.done.failed())?;
        }
    }
    Ok(())
}

/// `orange run` alone starts nothing: what it could start is told.
fn not_said(session: &Session, projects: Vec<String>) -> Result<Error> {
    const NAMED: usize = 5;
    let ready = list::list(
        &session.call,
        &TaskFilter {
            projects,
            ready: true,
            queues: vec![Queue::Active.as_str().to_owned()],
            ..TaskFilter::default()
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
        "{} starts what nothing holds back ({which}); `orange spawn ID` starts one, `orange run ID` a phased one",
        Action::start_ready()
    )))
}

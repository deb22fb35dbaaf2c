//! `orange task wait`: until a task is somewhere.

use crate::completion::{Wanted, tasks, words};
use crate::output;
use crate::session::Session;
use crate::ui::command::spelled;
use clap::Args;
use orange_core::choice;
use orange_core::config::time_span;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use orange_core::{Action, text};
use orange_engine::store::Place;
use orange_engine::views::{TaskResult, TaskView, task, why};
use orange_engine::{Error, Result, err, tx};
use std::time::{Duration, Instant};

/// How often the task's files are looked at.
const NAP: Duration = Duration::from_millis(50);

choice! {
    pub(crate) enum Goal ("goal") { NeedsMe = "needs-me", Reviewing = "reviewing", Done = "done" }
}

/// Wait until a task needs you, is reviewed or is done
#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 3 if the task cannot get there any more, or when the time is over.

Examples:
  orange wait TASK-001                     until it needs you or is over
  orange wait TASK-001 --for needs-me && notify-send \"TASK-001 needs you\"
  orange wait TASK-001 --for reviewing --timeout 10m")]
pub(crate) struct WaitArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Open))]
    id: Option<String>,
    /// needs-me, reviewing (of a phased task: completed) or done; needs-me ends when the task is over, too
    #[arg(long = "for", value_name = "GOAL", default_value = "needs-me")]
    #[arg(value_parser = super::word::<Goal>, add = words(Goal::WORDS))]
    goal: Goal,
    /// Give up after this long: 90s, 10m, 1h; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<Duration>,
}

/// A time as everywhere; 0 looks once.
fn timeout(text: &str) -> std::result::Result<Duration, String> {
    match text.parse() {
        Ok(0_u32) => Ok(Duration::ZERO),
        _ => time_span(text).ok_or_else(|| "a time is needed: 90s, 10m, 1h".to_owned()),
    }
}

pub(crate) fn run(session: &Session, args: &WaitArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let mut stamp = None;
    let mut late = None;
    let mut told = String::new();
    loop {
        let now = looks_like(&place);
        if stamp != Some(now) {
            let is_first = stamp.replace(now).is_none();
            let view = task::view(&session.call, place.clone())?;
            if let Some(broken) = &view.damaged {
                // Nothing moves it before it is repaired.
                return Err(tx::damaged(&place, broken));
            }
            if let Some(message) = reached(session, &view, args.goal, is_first)? {
                return session.finish(TaskResult::new(&view.task, &message), || {
                    format!("{message}\n")
                });
            }
            late = Some(too_late(&view.task, args.goal));
            tell_what_a_start_waits_for(session, &view, &mut told)?;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline)
            && let Some(late) = late.take()
        {
            return Err(late);
        }
        std::thread::sleep(NAP);
    }
}

/// A task that has not started may wait for long, or for ever if nobody starts it. Reported again when it changes.
fn tell_what_a_start_waits_for(
    session: &Session,
    view: &TaskView,
    told: &mut String,
) -> Result<()> {
    let task = &view.task;
    if task.has_started() {
        return Ok(());
    }
    let queued = if task.is_queued() {
        "queued"
    } else {
        task.status.as_str()
    };
    let reason = why::why_of(&session.call, view)?.reason;
    let because = spelled(&reason.text(&task.name()));
    let text = format!("{} is {queued}: {because}", task.label());
    if *told != text {
        output::note(&text);
        *told = text;
    }
    Ok(())
}

fn too_late(task: &Task, goal: Goal) -> Error {
    let (label, stands) = (task.label(), task.phrase());
    let not_yet = match goal {
        Goal::NeedsMe => "does not need you yet".to_owned(),
        Goal::Reviewing | Goal::Done => format!("is not {goal} yet"),
    };
    err!(
        ConditionUnmet,
        "the time is over: {label} {stands} and {not_yet}"
    )
    .hint(text!(
        "{} says what it waits for",
        Action::explain(task.name())
    ))
}

/// What changes when anything happens to the task: lengths and times of its two files.
fn looks_like(place: &Place) -> [Option<(u64, std::time::SystemTime)>; 2] {
    [place.journal(), place.task_file()].map(|path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// None: not yet.
fn reached(
    session: &Session,
    view: &TaskView,
    goal: Goal,
    is_first: bool,
) -> Result<Option<String>> {
    let task = &view.task;
    let there = match goal {
        Goal::Done => task.status.is_over(),
        // It may have been there between two looks; one that was over from the start will not be there again.
        Goal::Reviewing => task.offers(Intent::Merge) || (!is_first && task.status.is_over()),
        Goal::NeedsMe => {
            task.status.is_terminal()
                || view.attention.is_some()
                || why::why_of(&session.call, view)?.needs_human
        }
    };
    if there {
        let answer = view.answer().map(|how| text!(" (answer: {})", how));
        let attention = view.attention.as_ref();
        let attention =
            attention.map(|what| format!("{what}{}", spelled(&answer.unwrap_or_default())));
        return Ok(Some(said(task, attention.as_deref())));
    }
    if task.status.is_terminal() {
        let label = task.label();
        return Err(err!(
            ConditionUnmet,
            "{label} is {} and will not get to {goal}",
            task.status
        )
        .hint(text!(
            "{} tells what happened",
            Action::show(task.name(), false)
        )));
    }
    Ok(None)
}

fn said(task: &Task, attention: Option<&str>) -> String {
    let (label, stands) = (task.label(), task.phrase());
    match attention {
        Some(attention) => format!("{label} {stands}; needs attention: {attention}"),
        None => format!("{label} {stands}"),
    }
}

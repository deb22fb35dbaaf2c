//! `orange task cancel`: giving up; branch and text stay.

use super::several::{Done, Each, listed, named, unanswered};
use super::titled;
use crate::completion::{Wanted, tasks};
use crate::question::{asks, confirm_always, yes};
use crate::session::Session;
use crate::ui::command::flag;
use clap::Args;
use orange_core::task::Status;
use orange_engine::store::Place;
use orange_engine::verbs::cancel::CancelChildren;
use orange_engine::views::{ChangedTask, TaskView, task};
use orange_engine::{Result, verbs};
use std::fmt::Write as _;

/// Give a task up; its branch and its text stay
#[derive(Debug, Args)]
#[command(after_help = "\
Without a terminal, --yes is needed.

Examples:
  orange cancel TASK-001 --yes
  orange cancel --yes         inside a workspace: its task
  orange cancel TASK-001 TASK-002 --yes
  orange cancel TASK-001 --with-children --yes")]
pub(crate) struct CancelArgs {
    /// The task (default: the one you are in); may be given more than once
    #[arg(add = tasks(Wanted::Open))]
    id: Vec<String>,
    /// Also cancel its open children
    #[arg(long, conflicts_with = "keep_children")]
    with_children: bool,
    /// Leave its open children as they are
    #[arg(long)]
    keep_children: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(session: &Session, args: &CancelArgs) -> Result<()> {
    let places = named(session, &args.id)?;
    let mut each = Each::of(places.len());
    let mut views = Vec::new();
    let said = args.children();
    // At a terminal the person is asked about children.
    let checked = if said == CancelChildren::Ask && asks(session, args.yes) {
        CancelChildren::Keep
    } else {
        said
    };
    for place in &places {
        let view = task::view(&session.call, place.clone())?;
        match verbs::cancel::check_cancel(&session.call, &view.task, checked, &places) {
            Ok(()) => views.push(view),
            Err(error) => each.note(Err(error)),
        }
    }
    let children = cancel_question(session, args, &views)?;
    let mut gone_too: Vec<String> = Vec::new();
    let possible = views.iter().map(|view| view.place.clone()).collect();
    let places = match children {
        CancelChildren::Too => possible,
        // Children come before their parents.
        CancelChildren::Ask | CancelChildren::Keep => {
            verbs::cancel::children_first(&session.call, possible)?
        }
    };
    for place in places {
        let view = views.iter().find(|view| view.place == place);
        if view.is_some_and(|view| gone_too.contains(&view.task.id)) {
            continue;
        }
        each.note(cancel_one(session, place, children).inspect(|done| {
            let others = done.changed.children.iter().flatten();
            gone_too.extend(others.map(|child| child.id.clone()));
        }));
    }
    each.finish(session)
}

impl CancelArgs {
    fn children(&self) -> CancelChildren {
        match (self.with_children, self.keep_children) {
            (true, _) => CancelChildren::Too,
            (false, true) => CancelChildren::Keep,
            (false, false) => CancelChildren::Ask,
        }
    }
}

/// Asks once, and once more about children; gives what becomes of these.
fn cancel_question(
    session: &Session,
    args: &CancelArgs,
    views: &[TaskView],
) -> Result<CancelChildren> {
    let said = args.children();
    let live = || views.iter().filter(|view| !view.task.status.is_terminal());
    let names: Vec<String> = live().map(|view| titled(&view.task)).collect();
    if names.is_empty() {
        return Ok(said);
    }
    let has_files = live().any(|view| view.task.workspace.is_some());
    let saved = flag(has_files, " (files that are not committed are saved)");
    let question = format!("cancel {}{saved}?", listed(&names));
    let labels: Vec<String> = live().map(|view| view.task.label()).collect();
    confirm_always(session, args.yes, &question, || {
        let options = match said {
            CancelChildren::Too => " --with-children",
            CancelChildren::Keep => " --keep-children",
            CancelChildren::Ask => "",
        };
        unanswered("cancel", &labels, options)
    })?;
    let is_open = |status: Option<Status>| status.is_some_and(|status| !status.is_terminal());
    let children = live().flat_map(|view| &view.children);
    let children = children.filter(|child| !labels.contains(&child.reference));
    let open = children.filter(|child| is_open(child.status)).count();
    if open == 0 || said != CancelChildren::Ask || !asks(session, args.yes) {
        return Ok(said);
    }
    let question = match open {
        1 => "cancel its open child too?".to_owned(),
        _ => format!("cancel {open} open children too?"),
    };
    Ok(if yes(&question)? {
        CancelChildren::Too
    } else {
        CancelChildren::Keep
    })
}

fn cancel_one(session: &Session, place: Place, children: CancelChildren) -> Result<Done> {
    let cancelled = verbs::cancel::cancel(&session.call, place, children)?;
    if cancelled.made_room() {
        session.note_room();
    }
    let task = &cancelled.done.task;
    let (label, from) = (task.label(), cancelled.done.from);
    let mut message = format!("{label}: {from} → {}", task.status);
    for child in &cancelled.children {
        let _ = write!(message, ", {} too", child.task.label());
    }
    let children = cancelled.children.into_iter();
    Ok(Done {
        failure: super::update::failure(task, &cancelled.done.failed()).err(),
        changed: ChangedTask {
            message,
            children: Some(children.map(|child| child.task).collect()),
            task: cancelled.done.task,
        },
    })
}

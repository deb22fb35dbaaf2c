//! `orange task cancel`, `delete` and `restore`: giving up, throwing away, and thinking better of it. Several tasks are
//! asked about once; what is refused for one of them does not keep the others.

mod each;

use super::titled;
use crate::completion::{Wanted, deleted_tasks, tasks};
use crate::output;
use crate::question::{asks, confirm_always, yes};
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::flag;
use crate::ui::command::task_name;
use clap::Args;
use each::{Done, Each};
use orange_core::display;
use orange_core::naming::counted;
use orange_core::task::{Status, Task};
use orange_engine::store::Place;
use orange_engine::verbs::cancel::CancelChildren;
use orange_engine::views::{TaskView, task};
use orange_engine::{Error, Result, err, settings, trash, verbs};
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
    /// Its open children too
    #[arg(long, conflicts_with = "keep_children")]
    with_children: bool,
    /// Leave its open children as they are
    #[arg(long)]
    keep_children: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Move a task to the trash, where it stays for `trash.keep_days` (30 unless set)
#[derive(Debug, Args)]
#[command(
    after_help = "Without a terminal, --yes is needed.\n\nExamples:\n  orange delete TASK-001 --yes\n  orange delete TASK-001 TASK-002 --yes"
)]
pub(crate) struct DeleteArgs {
    /// The task; may be given more than once
    #[arg(required = true, add = tasks(Wanted::Over))]
    id: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Bring a deleted task back; without a name, list them
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange restore            list what can be brought back\n  orange restore TASK-001"
)]
pub(crate) struct RestoreArgs {
    /// The deleted task: its key, id, or project/branch; may be given more than once
    #[arg(add = deleted_tasks())]
    id: Vec<String>,
}

/// The tasks that were named, each once, or the one of the workspace. One that is not there stops everything.
fn named(session: &Session, ids: &[String]) -> Result<Vec<Place>> {
    if ids.is_empty() {
        return Ok(vec![session.task(None)?]);
    }
    let mut places: Vec<Place> = Vec::new();
    for id in ids {
        let place = session.task(Some(id))?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(places)
}

/// `TASK-001 "A form"`, or as a list below a question about several.
fn listed(names: &[String]) -> String {
    match names {
        [only] => only.clone(),
        several => {
            let lines: Vec<String> = several.iter().map(|name| format!("\n  {name}")).collect();
            let tasks = counted(several.len(), "task");
            format!("these {tasks}:{}\nall of them", lines.concat())
        }
    }
}

pub(crate) fn cancel(session: &Session, args: &CancelArgs) -> Result<()> {
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
            let others = done.children.iter().flatten();
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

fn unanswered(verb: &str, labels: &[String], options: &str) -> Error {
    let named = labels.join(" ");
    err!(
        Refused,
        "{verb} {named} needs an answer, and this is no terminal"
    )
    .hint(format!(
        "`orange {verb} {named}{options} --yes` does it without asking"
    ))
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
        message,
        failure: super::update::failure(task, &cancelled.done.failed).err(),
        children: Some(children.map(|child| child.task).collect()),
        task: cancelled.done.task,
    })
}

pub(crate) fn delete(session: &Session, args: &DeleteArgs) -> Result<()> {
    let places = named(session, &args.id)?;
    let mut each = Each::of(places.len());
    let mut possible = Vec::new();
    let (mut names, mut labels) = (Vec::new(), Vec::new());
    for place in &places {
        match task::view(&session.call, place.clone()) {
            Ok(view) => {
                if let Err(error) = verbs::delete::check_delete(&session.call, &view.task, &places)
                {
                    each.note(Err(error));
                    continue;
                }
                names.push(titled(&view.task));
                labels.push(task_name(&view.task.name()));
            }
            // A damaged task can be thrown away too.
            Err(_) => {
                names.push(clean(&place.folder()).into_owned());
                labels.push(clean(&place.name).into_owned());
            }
        }
        possible.push(place.clone());
    }
    if !possible.is_empty() {
        let question = format!("move {} to the trash?", listed(&names));
        confirm_always(session, args.yes, &question, || {
            unanswered("delete", &labels, "")
        })?;
    }
    let days = settings::config(&session.call)?.trash.keep_days;
    for place in verbs::cancel::children_first(&session.call, possible)? {
        let deleted = verbs::delete::delete(&session.call, place);
        each.note(deleted.map(|task| {
            let (label, name) = (task.label(), task_name(&task.name()));
            let kept = counted(days as usize, "day");
            Done::new(
                format!(
                    "{label}: moved to the trash; `orange restore {name}` brings it back within {kept}"
                ),
                task,
            )
        }));
    }
    each.finish(session)
}

pub(crate) fn restore(session: &Session, args: &RestoreArgs) -> Result<()> {
    if args.id.is_empty() {
        return list_deleted(session);
    }
    let project = session.project(None)?;
    let mut each = Each::of(args.id.len());
    for restored in verbs::restore::restore(&session.call, &args.id, project.as_deref())? {
        each.note(restored.map(|task: Task| {
            let message = format!("{}: restored, it is {}", task.label(), task.status);
            Done::new(message, task)
        }));
    }
    each.finish(session)
}

fn list_deleted(session: &Session) -> Result<()> {
    let trashed = trash::trashed(&session.call);
    let tasks: Vec<&Task> = trashed.iter().map(|(_, task)| task).collect();
    session.finish(output::named("tasks", tasks), || {
        if trashed.is_empty() {
            return "the trash is empty\n".into();
        }
        let mut text = String::new();
        for (place, task) in &trashed {
            let summary = display::summary(&task.summary);
            let _ = writeln!(
                text,
                "{}:{}  {}  {summary}",
                place.project,
                task.label(),
                task.status,
            );
        }
        text
    })
}

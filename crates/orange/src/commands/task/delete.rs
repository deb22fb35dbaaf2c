//! `orange task delete`: into the trash.

use super::several::{Done, Each, listed, named, unanswered};
use super::titled;
use crate::completion::{Wanted, tasks};
use crate::question::confirm_always;
use crate::session::Session;
use crate::ui::clean;
use crate::ui::command::task_name;
use clap::Args;
use orange_core::naming::counted;
use orange_engine::views::task;
use orange_engine::{Result, settings, verbs};

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

pub(crate) fn run(session: &Session, args: &DeleteArgs) -> Result<()> {
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

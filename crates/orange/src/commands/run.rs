//! `orange run --ready`: what nothing holds back starts.

use crate::commands::task::update;
use crate::completion::projects;
use crate::output::named;
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::task::{Queue, Task};
use orange_core::{Action, text};
use orange_engine::index::list::Filter;
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::views::list;
use orange_engine::{Error, Result, err};
use std::fmt::Write;

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

pub(crate) fn run(session: &Session, args: &RunArgs) -> Result<()> {
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

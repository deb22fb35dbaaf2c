//! One command for several tasks: they are asked about once, and what is refused for one of them does not keep the others. A
//! line for each, and the exit code of the worst.

use crate::error::{ErrorView, exit_code, report};
use crate::session::Session;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_engine::background::queue;
use orange_engine::store::Place;
use orange_engine::views::{ChangedTask, Outcomes};
use orange_engine::{Error, Result, err};

/// What became of one task.
pub(super) struct Done {
    pub(super) changed: ChangedTask,
    /// The error of a hook that failed after the task was changed.
    pub(super) failure: Option<Error>,
}

impl Done {
    pub(super) fn new(message: String, task: Task) -> Done {
        Done {
            changed: ChangedTask {
                task,
                message,
                children: None,
            },
            failure: None,
        }
    }
}

/// The outcomes, told as they come.
pub(super) struct Each {
    wanted: usize,
    done: Vec<Done>,
    failed: Vec<Error>,
}

impl Each {
    pub(super) fn of(wanted: usize) -> Each {
        Each {
            wanted,
            done: Vec::new(),
            failed: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, outcome: Result<Done>) {
        match outcome {
            Ok(mut done) => {
                self.failed.extend(done.failure.take());
                self.done.push(done);
            }
            Err(error) => self.failed.push(error),
        }
    }

    /// One task is told of as ever; several as a list, with what went wrong beside it.
    pub(super) fn finish(mut self, session: &Session) -> Result<()> {
        let worst = self.failed.iter().map(|error| exit_code(error.code)).max();
        if self.wanted > 1 && session.json {
            let outcomes = Outcomes {
                tasks: self.done.iter().map(|done| &done.changed).collect(),
                errors: self.failed.iter().map(ErrorView::of).collect(),
            };
            session.finish(outcomes, String::new)?;
            return match worst {
                None => Ok(()),
                // The value says what; the exit code is for scripts.
                Some(code) => {
                    queue::leave_queue_to_errand(&session.call);
                    std::process::exit(code.into())
                }
            };
        }
        if !self.done.is_empty() && (!session.json || self.failed.is_empty()) {
            let line = |done: &Done| format!("{}\n", done.changed.message);
            let first = self.done.first().map(|done| &done.changed);
            session.finish(first, || self.done.iter().map(line).collect())?;
        }
        let Some(code) = worst else {
            return Ok(());
        };
        let is_worst = |error: &Error| exit_code(error.code) == code;
        let at = self.failed.iter().rposition(is_worst);
        let last = self.failed.remove(at.unwrap_or_default());
        // The worst is what the command ends with.
        for error in &self.failed {
            report(error, false);
        }
        Err(last)
    }
}

/// The tasks that were named, each once, or the one of the workspace. One that is not there stops everything.
pub(super) fn named(session: &Session, ids: &[String]) -> Result<Vec<Place>> {
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
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [only] => only.clone(),
        several => {
            let lines: Vec<String> = several.iter().map(|name| format!("\n  {name}")).collect();
            let tasks = counted(several.len(), "task");
            format!("these {tasks}:{}\nall of them", lines.concat())
        }
    }
}

pub(super) fn unanswered(verb: &str, labels: &[String], options: &str) -> Error {
    let named = labels.join(" ");
    err!(
        Refused,
        "{verb} {named} needs an answer, and this is no terminal"
    )
    .hint(format!(
        "`orange {verb} {named}{options} --yes` does it without asking"
    ))
}

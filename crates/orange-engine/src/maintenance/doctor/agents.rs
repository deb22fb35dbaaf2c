//! Tasks whose agent is gone: findings where nothing goes on without it, a note where none is needed.

use crate::call::Call;
use crate::error::Result;
use crate::index::list::{ListedTask, TaskFilter};
use crate::maintenance::doctor::some_of;
use crate::sessions::{self, SessionState};
use crate::views::doctor::DoctorReport;
use crate::views::list;
use orange_core::exit::{is_expected, role_of};
use orange_core::runs::{Ending, last_run};
use orange_core::task::Status;
use orange_core::{Action, text};

pub(crate) fn check_agents(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let tasks = list::listed(call, &TaskFilter::default())?;
    let live = sessions::live_agents(call);
    let mut idle = Vec::new();
    for task in tasks.iter().filter(|task| task.damaged.is_none()) {
        let status: Option<Status> = task.status.parse().ok();
        let state = live.session(&task.folder, status, task.has_session);
        let Some(status) = status.filter(|_| state == SessionState::Gone) else {
            continue;
        };
        if is_expected(status, role_of(status)) {
            check_crashed(call, task, status, report)?
        } else {
            idle.push(name_of(task))
        }
    }
    if !idle.is_empty() {
        report.note(format!(
            "the agents of {} are gone; none is needed until you ask for something",
            some_of(&idle)
        ));
    }
    Ok(())
}

/// An agent that crashed, with nobody in its place. Runs whose end nobody has seen to are findings of their own, and an
/// agent that a person stopped is that person's doing.
fn check_crashed(
    call: &Call,
    task: &ListedTask,
    status: Status,
    report: &mut DoctorReport,
) -> Result<()> {
    let role = role_of(status);
    let history = call.store.place(&task.folder).history()?;
    let end = last_run(&history, role).and_then(|run| run.end);
    if let Some(end) = end.filter(|end| end.how == Ending::Crashed) {
        let problem = format!("is {status}, and its {role} crashed: {}", end.reason);
        let how = text!("{} says what to do", Action::explain(task.name()));
        report.by_hand(name_of(task), problem, how);
    }
    Ok(())
}

pub(crate) fn name_of(task: &ListedTask) -> String {
    task.key
        .map_or(task.folder.clone(), |key| format!("{}:{key}", task.project))
}

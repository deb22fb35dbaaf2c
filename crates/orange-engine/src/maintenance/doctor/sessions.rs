//! tmux sessions of tasks that are over, deleted or gone, on the server of the settings and on those where agents run.

use crate::call::Call;
use crate::error::Result;
use crate::tmux::{PaneInfo, Tmux};
use crate::views::doctor::DoctorReport;
use crate::{home_record, runs, sessions, trash};
use orange_core::naming::counted;
use orange_core::task::Status;
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(crate) fn check_sessions(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let mut programs = report.programs.iter();
    if !programs.any(|program| program.name == "tmux" && program.version.is_some()) {
        report.note("sessions could not be looked at: tmux cannot be used");
        return Ok(());
    }
    let mut of_tasks = BTreeSet::new();
    for pane in panes_everywhere(call, report) {
        if check_window(call, &pane, report)? {
            of_tasks.insert((pane.pane.server_pid, pane.pane.session.clone()));
        }
    }
    match of_tasks.len() {
        _ if !report.is_clean() => {}
        0 => report.fine("no sessions"),
        count => report.fine(format!("{} in tmux", counted(count, "session"))),
    }
    Ok(())
}

/// The server may have been another one when an agent was started; its run remembers which.
fn panes_everywhere(call: &Call, report: &mut DoctorReport) -> Vec<PaneInfo> {
    let sockets: BTreeSet<PathBuf> = runs::all(call.store.home())
        .iter()
        .filter_map(|run| Some(run.pane()?.socket))
        .collect();
    // Without usable settings there is no server to ask; that was said.
    let mut servers: Vec<Tmux> = sessions::tmux(call).into_iter().collect();
    servers.extend(sockets.iter().map(|socket| Tmux::at(socket)));
    let mut all: Vec<PaneInfo> = Vec::new();
    for server in &servers {
        match server.panes() {
            Ok(panes) => {
                for pane in panes {
                    let id = |info: &PaneInfo| (info.pane.server_pid, info.pane.pane.clone());
                    if !all.iter().any(|known| id(known) == id(&pane)) {
                        all.push(pane);
                    }
                }
            }
            Err(error) => report.add_error("tmux", error),
        }
    }
    all
}

/// Whether it is a window of a task that is at work; one of a task that is over, or of none, is a finding.
fn check_window(call: &Call, info: &PaneInfo, report: &mut DoctorReport) -> Result<bool> {
    let Some(id) = info.task_id.as_deref() else {
        return Ok(false);
    };
    if !home_record::home_paths(call).has_tagged(info.home_tag.as_deref()) {
        return Ok(false);
    }
    let found = call.index()?.by_id_prefix(id)?;
    let found = found.into_iter().find(|task| task.id == id);
    let is_deleted = || trash::trashed(call).iter().any(|(_, task)| task.id == id);
    let problem = match found {
        Some(task) if task.status.parse().is_ok_and(Status::is_terminal) => {
            format!("is a window of a task that is {}", task.status)
        }
        Some(_) => return Ok(true),
        None if is_deleted() => "is a window of a task that is deleted".to_owned(),
        None if runs::is_of_home(info.pid, &home_record::home_paths(call)) => {
            "is a window of a task that is gone".to_owned()
        }
        // Another home on the same machine may have it.
        None => {
            report.note(format!(
                    "tmux session {} is of a task that this home does not know; another home may have it",
                    info.pane.session_name
                ));
            return Ok(false);
        }
    };
    let subject = format!("tmux {}:{}", info.pane.session_name, info.window_name);
    report.repair(subject, problem, "closes it", || {
        let closed = Tmux::at(&info.pane.socket).kill_window(&info.pane);
        closed.map(|()| "closed")
    });
    Ok(false)
}

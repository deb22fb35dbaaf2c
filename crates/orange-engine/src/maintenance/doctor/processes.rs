//! Runs whose end nobody has seen to, agents without a task or a window, and processes that belong to nothing.

use crate::call::Call;
use crate::effects::stop_agent;
use crate::error::{Result, err};
use crate::runs::{self, RunFolder};
use crate::tmux::{PaneInfo, Tmux};
use crate::views::doctor::DoctorReport;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::verify_slot::{self, CHECK_MARK, VerifySlot};
use crate::{home_record, tx, workspaces};
use orange_core::naming::counted;
use orange_core::runs::open_runs;
use orange_core::{Action, text};
use std::collections::HashSet;

/// Runs that ended unseen, and those that go on without their task or their window.
pub(crate) fn check_runs(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let mut alive = 0;
    for run in runs::all(call.store.home()) {
        match (run.is_alive(), run.spec()) {
            (false, _) => check_dead_run(call, &run, report),
            (true, Some(spec)) if !call.store.place(&spec.folder).path.is_dir() => {
                let problem = format!("is an agent of {}, a task that is gone", spec.folder);
                end_stray(call, &run, &problem, report);
            }
            (true, _) => {
                alive += 1;
                check_place_of(call, &run, report);
            }
        }
    }
    if alive > 0 {
        report.fine(format!("{} running", counted(alive, "agent")));
    }
    Ok(())
}

/// An agent nobody can see. A server that gives no answer proves nothing.
fn check_place_of(call: &Call, run: &RunFolder, report: &mut DoctorReport) {
    let Some(pane) = run.pane() else {
        return;
    };
    let Ok(panes) = Tmux::at(&pane.socket).panes() else {
        return;
    };
    let is_it = |info: &PaneInfo| {
        let (new, old) = (&info.pane, &pane);
        let same_pane = (new.server_pid, &new.pane) == (old.server_pid, &old.pane);
        same_pane || info.run_id.as_deref() == Some(run.id().as_str())
    };
    // It may have ended while we looked.
    if !panes.iter().any(is_it) && run.is_alive() {
        let problem = "goes on although its tmux window is gone";
        end_stray(call, run, problem, report);
    }
}

fn end_stray(call: &Call, run: &RunFolder, problem: &str, report: &mut DoctorReport) {
    let how = "ends it with all that it started; what it left in its slot stays";
    report.repair(format!("run {}", run.id()), problem, how, || {
        let folder = run.spec().map(|spec| call.store.place(&spec.folder));
        stop_agent::end_run(call, &run.id())?;
        match folder {
            // The exit rules are applied to it, as to any run that ended.
            Some(place) if place.path.is_dir() => tx::lock_task(call, place).map(drop)?,
            Some(_) | None => run.remove()?,
        }
        Ok("ended")
    });
}

/// A run whose end nobody has seen to.
fn check_dead_run(call: &Call, run: &RunFolder, report: &mut DoctorReport) {
    let subject = format!("run {}", run.id());
    let Some(spec) = run.spec() else {
        let problem = "its folder says nothing of a run";
        return report.repair(subject, problem, "removes the folder", || {
            run.remove().map(|()| "removed")
        });
    };
    let (role, folder) = (spec.role, spec.folder);
    let problem = format!("the {role} of {folder} ended and has not been processed");
    let how = text!("applies the exit rules, as {} does", Action::watch());
    report.repair(subject, problem, how, || {
        let tx = tx::lock_task(call, call.store.place(&folder))?;
        let mut open = open_runs(tx.history()).into_iter();
        let is_known = open.any(|open| open.id == run.id());
        let said = format!("{} is {}", tx.task.label(), tx.task.status);
        drop(tx);
        if !is_known {
            run.remove()?;
        }
        Ok(said)
    });
}

/// Processes with the tag of a run of this home that is not alive any more.
pub(crate) fn check_processes(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let alive: HashSet<String> = runs::all(call.store.home())
        .into_iter()
        .filter(RunFolder::is_alive)
        .map(|run| run.id())
        .collect();
    let home = home_record::home_paths(call);
    for (process, run) in runs::tagged_in(&home) {
        if alive.contains(&run) {
            continue;
        }
        let problem = format!("was started by run {run}, which is over");
        end_process(process.pid, problem, report, || {
            runs::end_tagged(&home, &run)
        });
    }
    check_checks(call, report);
    if report.is_clean() {
        report.fine("nothing runs that belongs to no task");
    }
    Ok(())
}

/// What a check started and an Orange that was killed could not end. A check that goes on holds its slot's lock.
fn check_checks(call: &Call, report: &mut DoctorReport) {
    for project in call.projects().unwrap_or_default() {
        let slot = verify_slot::verify_slot(&project.name);
        let folder = workspaces::slot_folder(call, &slot);
        if !folder.is_dir() {
            continue;
        }
        let lock = SlotLock::if_free(&call.store, &slot);
        let Some(Some(_lock)) = report.checked(&slot, lock) else {
            continue;
        };
        let left = runs::carrying(CHECK_MARK, &folder.display().to_string());
        for process in &left {
            let problem = format!("was started by a check in {slot}, which is over");
            end_process(process.pid, problem, report, || {
                VerifySlot::end_processes(&folder);
                !process.is_alive()
            });
        }
    }
}

fn end_process(
    pid: u32,
    problem: String,
    report: &mut DoctorReport,
    has_ended: impl FnOnce() -> bool,
) {
    report.repair(format!("process {pid}"), problem, "ends it", || {
        if has_ended() {
            Ok("ended")
        } else {
            Err(err!(Failed, "it does not end"))
        }
    });
}

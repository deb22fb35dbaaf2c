//! Runs whose end nobody has seen to, agents without a task or a window, and processes that belong to nothing.

use crate::call::Call;
use crate::effects::stop_agent;
use crate::error::{Result, err};
use crate::runs::{self, RunFolder};
use crate::tmux::{PaneInfo, Tmux};
use crate::views::doctor::Report;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::verify_slot::{self, CHECK_MARK, VerifySlot};
use crate::{home_record, tx, workspaces};
use orange_core::naming::counted;
use orange_core::runs::open_runs;
use orange_core::{Action, text};
use std::collections::HashSet;

/// Runs that ended unseen, and those that go on without their task or their window.
pub(crate) fn check_runs(call: &Call, report: &mut Report, repair: bool) -> Result<()> {
    let mut alive = 0;
    for run in runs::all(call.store.home()) {
        match (run.is_alive(), run.spec()) {
            (false, _) => check_dead_run(call, &run, report, repair),
            (true, Some(spec)) if !call.store.place(&spec.folder).path.is_dir() => {
                let problem = format!("is an agent of {}, a task that is gone", spec.folder);
                end_stray(call, &run, &problem, report, repair);
            }
            (true, _) => {
                alive += 1;
                check_place_of(call, &run, report, repair);
            }
        }
    }
    if alive > 0 {
        report.fine(format!("{} running", counted(alive, "agent")));
    }
    Ok(())
}

/// An agent nobody can see. A server that gives no answer proves nothing.
fn check_place_of(call: &Call, run: &RunFolder, report: &mut Report, repair: bool) {
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
        end_stray(call, run, problem, report, repair);
    }
}

fn end_stray(call: &Call, run: &RunFolder, problem: &str, report: &mut Report, repair: bool) {
    let finding = report.add(format!("run {}", run.id()), problem);
    finding.repair("ends it with all that it started; what it left in its slot stays");
    if repair {
        let folder = run.spec().map(|spec| call.store.place(&spec.folder));
        let ended = stop_agent::end_run(call, &run.id());
        let settled = ended.and_then(|()| match folder {
            // The exit rules are applied to it, as to any run that ended.
            Some(place) if place.path.is_dir() => tx::lock_task(call, place).map(drop),
            Some(_) | None => run.remove(),
        });
        finding.done(settled.map(|()| "ended".to_owned()));
    }
}

/// A run whose end nobody has seen to.
fn check_dead_run(call: &Call, run: &RunFolder, report: &mut Report, repair: bool) {
    let subject = format!("run {}", run.id());
    let Some(spec) = run.spec() else {
        let finding = report.add(subject, "its folder says nothing of a run");
        finding.repair("removes the folder");
        if repair {
            finding.done(run.remove().map(|()| "removed".to_owned()));
        }
        return;
    };
    let finding = report.add(
        subject,
        format!(
            "the {} of {} ended and nobody has seen to it",
            spec.role, spec.folder
        ),
    );
    finding.repair(text!("applies the exit rules, as {} does", Action::watch()));
    if repair {
        let place = call.store.place(&spec.folder);
        let outcome = tx::lock_task(call, place).map(|tx| {
            let known = open_runs(tx.history())
                .iter()
                .any(|open| open.id == run.id());
            (tx.task.label(), tx.task.status, known)
        });
        finding.done(outcome.and_then(|(label, status, known)| {
            if !known {
                run.remove()?;
            }
            Ok(format!("{label} is {status}"))
        }));
    }
}

/// Processes with the tag of a run of this home that is not alive any more.
pub(crate) fn check_processes(call: &Call, report: &mut Report, repair: bool) -> Result<()> {
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
        let finding = report.add(
            format!("process {}", process.pid),
            format!("was started by run {run}, which is over"),
        );
        finding.repair("ends it");
        if repair {
            finding.done(if runs::end_tagged(&home, &run) {
                Ok("ended".to_owned())
            } else {
                Err(err!(Failed, "it does not end"))
            });
        }
    }
    check_checks(call, report, repair);
    if report.is_clean() {
        report.fine("nothing runs that belongs to no task");
    }
    Ok(())
}

/// What a check started and an Orange that was killed could not end. A check that goes on holds its slot's lock.
fn check_checks(call: &Call, report: &mut Report, repair: bool) {
    for project in call.projects().unwrap_or_default() {
        let slot = verify_slot::verify_slot(&project.name);
        let folder = workspaces::slot_folder(call, &slot);
        if !folder.is_dir() {
            continue;
        }
        let _lock = match SlotLock::if_free(&call.store, &slot) {
            Ok(Some(lock)) => lock,
            Ok(None) => continue,
            Err(error) => {
                report.add_unchecked(&slot, &error);
                continue;
            }
        };
        let left = runs::carrying(CHECK_MARK, &folder.display().to_string());
        for process in &left {
            let finding = report.add(
                format!("process {}", process.pid),
                format!("was started by a check in {slot}, which is over"),
            );
            finding.repair("ends it");
            if repair {
                VerifySlot::end_processes(&folder);
                finding.done(if process.is_alive() {
                    Err(err!(Failed, "it does not end"))
                } else {
                    Ok("ended".to_owned())
                });
            }
        }
    }
}

//! Runs, sessions and processes that belong to nothing, and tasks whose agent is gone unnoticed.

use super::Report;
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::runs::{self, RunFolder};
use crate::tmux::{PaneInfo, Tmux};
use orange_core::runs::open_runs;
use orange_core::task::Status;
use std::collections::HashSet;

impl Engine {
    pub(super) fn check_agents(&mut self, report: &mut Report, repair: bool) -> Result<()> {
        for run in runs::all(self.store.home()) {
            if !run.is_alive() {
                self.check_dead_run(&run, report, repair);
            }
        }
        // Without tmux, or without usable settings, there are no sessions to look for.
        let panes = self.tmux().and_then(|tmux| tmux.panes());
        let panes = panes.unwrap_or_default();
        for pane in panes {
            self.check_window(&pane, report, repair)?;
        }
        self.check_processes(report, repair);
        Ok(())
    }

    /// A run whose end nobody has seen to.
    fn check_dead_run(&mut self, run: &RunFolder, report: &mut Report, repair: bool) {
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
        finding.repair("applies the exit rules, as `orange watch` does");
        if repair {
            let place = self.store.place(&spec.folder);
            let outcome = self.lock_task(place).map(|locked| {
                let known = open_runs(locked.history())
                    .iter()
                    .any(|open| open.id == run.id());
                (locked.task.label(), locked.task.status, known)
            });
            finding.done(outcome.and_then(|(label, status, known)| {
                if !known {
                    run.remove()?;
                }
                Ok(format!("{label} is {status}"))
            }));
        }
    }

    /// A window of a task that is over, or of none.
    fn check_window(&mut self, info: &PaneInfo, report: &mut Report, repair: bool) -> Result<()> {
        let Some(id) = info.task_id.as_deref() else {
            return Ok(());
        };
        let found = self.index()?.by_id_prefix(id)?;
        let problem = match found.first() {
            // Another home on the same machine may have it.
            None => return Ok(()),
            Some(task) if task.status.parse().is_ok_and(Status::is_terminal) => {
                format!("is a window of a task that is {}", task.status)
            }
            Some(_) => return Ok(()),
        };
        let subject = format!("tmux {}:{}", info.pane.session_name, info.window_name);
        let finding = report.add(subject, problem);
        finding.repair("closes it");
        if repair {
            let closed = Tmux::at(&info.pane.socket).kill_window(&info.pane);
            finding.done(closed.map(|()| "closed".to_owned()));
        }
        Ok(())
    }

    /// Processes with the tag of a run of this home that is not alive any more.
    fn check_processes(&mut self, report: &mut Report, repair: bool) {
        let alive: HashSet<String> = runs::all(self.store.home())
            .into_iter()
            .filter(RunFolder::is_alive)
            .map(|run| run.id())
            .collect();
        for (process, run) in runs::tagged_in(self.store.home()) {
            if alive.contains(&run) {
                continue;
            }
            let finding = report.add(
                format!("process {}", process.pid),
                format!("was started by run {run}, which is over"),
            );
            finding.repair("ends it");
            if repair {
                finding.done(match runs::end_tagged(&run) {
                    true => Ok("ended".to_owned()),
                    false => Err(Error::new(Code::Failed, "it does not end")),
                });
            }
        }
    }
}

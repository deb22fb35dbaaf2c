//! Ending agents: their screens are kept, their processes ended with all they started, their windows closed.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::runs::{self, ProcessId};
use crate::store::{Place, make_folder, private};
use crate::tmux::{PaneInfo, Tmux};
use crate::tx::TaskTx;
use orange_core::history::payload::AgentEnded;
use orange_core::history::{Event, EventType};
use orange_core::runs::{Run, open_runs};
use orange_core::task::Task;
use orange_core::workflow::Role;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Lines above the visible screen that are kept.
const KEPT_LINES: u32 = 5000;

/// How long a `run-agent` may take to end its agent before it is ended itself; longer than its own patience.
const STOP_PATIENCE: Duration = Duration::from_secs(6);

/// How long the shells of closed windows may take to go.
const CLOSING: Duration = Duration::from_secs(3);

impl Engine {
    /// Ends the open runs of these roles. Returns the events to journal.
    pub(crate) fn stop_runs(&self, tx: &TaskTx<'_>, roles: &[Role]) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        for run in open_runs(tx.history()) {
            if roles.contains(&run.role) {
                self.keep_screen(&tx.place, &run);
                self.end_run(&run.id)?;
                events.extend(self.outcomes(tx.history(), &run));
                events.push(self.ending(EventType::AgentStopped, &run));
                self.run_folder(&run.id).remove()?;
            }
        }
        Ok(events)
    }

    /// The end of a run, with what is known of its conversation.
    pub(crate) fn ending(&self, kind: EventType, run: &Run) -> Event {
        let folder = self.run_folder(&run.id);
        let (conversation, transcript) = folder.conversation();
        let end = AgentEnded {
            run: Some(&run.id),
            role: Some(run.role),
            conversation: conversation.as_deref(),
            transcript: transcript.as_deref(),
            usage: folder.usage(),
            ..AgentEnded::default()
        };
        Event::new(kind, self.now()).by("engine").with(end)
    }

    /// Closes what is left of windows in which runs of this role were.
    pub(crate) fn close_windows(&self, tx: &TaskTx<'_>, role: Role) -> Result<()> {
        let known = orange_core::runs::runs(tx.history());
        let windows = self.windows_of(&tx.task)?;
        let of_role = |info: &PaneInfo| {
            let id = info.run_id.as_deref();
            known
                .iter()
                .any(|run| Some(run.id.as_str()) == id && run.role == role)
        };
        for info in windows.iter().filter(|info| of_role(info)) {
            Tmux::at(&info.pane.socket).kill_pane(&info.pane)?;
        }
        Ok(())
    }

    /// Closes the task's session, and waits until nothing of it lives in the slot.
    pub(crate) fn close_session(&self, task: &Task) -> Result<()> {
        let windows = self.windows_of(task)?;
        let shells: Vec<ProcessId> = windows
            .iter()
            .filter_map(|info| ProcessId::of(info.pid))
            .collect();
        for info in &windows {
            Tmux::at(&info.pane.socket).kill_session(&info.pane)?;
        }
        let deadline = Instant::now() + CLOSING;
        while shells.iter().any(ProcessId::is_alive) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        for shell in shells.into_iter().filter(ProcessId::is_alive) {
            runs::end_tree(shell.pid, || {});
            shell.signal(rustix::process::Signal::KILL);
        }
        Ok(())
    }

    /// Ends one run with all it started, and forgets it.
    pub(super) fn stop(&self, run: &str) -> Result<()> {
        self.end_run(run)?;
        self.run_folder(run).remove()
    }

    pub(crate) fn end_run(&self, run: &str) -> Result<()> {
        let folder = self.run_folder(run);
        folder.ask_to_stop()?;
        // After its end the number is that of the user's shell.
        let started = folder.started().filter(|_| folder.is_alive());
        let process = started.map(|started| started.process);
        let deadline = Instant::now() + STOP_PATIENCE;
        if let Some(process) = &process {
            process.signal(rustix::process::Signal::TERM);
            while folder.is_alive() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        if folder.is_alive()
            && let Some(process) = &process
        {
            // It hangs: whatever it could not do is done here.
            runs::end_tree(process.pid, || {});
            process.signal(rustix::process::Signal::KILL);
        }
        runs::end_tagged(&self.home_paths(), run);
        Ok(())
    }

    /// The screen of a run, kept with its task. Nothing is worth failing for: it is a help, not a promise.
    pub(crate) fn keep_screen(&self, place: &Place, run: &Run) -> Option<PathBuf> {
        match self.save_screen(place, run) {
            Ok(path) => path,
            Err(error) => {
                tracing::warn!(%error, run = run.id, "a screen was not kept");
                None
            }
        }
    }

    fn save_screen(&self, place: &Place, run: &Run) -> Result<Option<PathBuf>> {
        let Some(pane) = self.run_folder(&run.id).pane() else {
            return Ok(None);
        };
        let folder = place.path.join(crate::gc::SCREENS);
        let path = folder.join(format!("{}-{}.txt", run.role, run.id));
        if path.exists() {
            // What comes later is the user's shell.
            return Ok(Some(path));
        }
        let text = Tmux::at(&pane.socket).capture(&pane, Some(KEPT_LINES))?;
        make_folder(&folder).map_err(|error| Error::io("create", &folder, &error))?;
        private::write(&path, text).map_err(|error| Error::io("write", &path, &error))?;
        Ok(Some(path))
    }
}

//! Ending agents: their screens are kept, their processes ended with all they started, their windows closed.

use crate::call::Call;
use crate::disk::written;
use crate::effects::messages;
use crate::error::{IoContext, Result};
use crate::runs::{self, ProcessId};
use crate::store::{Place, make_folder, private};
use crate::tmux::{PaneInfo, Tmux};
use crate::tx::TaskTx;
use crate::{home_record, sessions};
use orange_core::Timestamp;
use orange_core::history::payload::AgentEnded;
use orange_core::history::{Event, EventType};
use orange_core::runs::{Run, open_runs};
use orange_core::task::Task;
use orange_core::workflow::Role;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Lines above the visible screen that are kept.
const KEPT_LINES: u32 = 5000;

/// How long a `run-agent` may take to end its agent before it is ended itself; longer than its own timeout.
const STOP_TIMEOUT: Duration = Duration::from_secs(6);

/// How long the shells of closed windows may take to go.
const CLOSING: Duration = Duration::from_secs(3);

/// Ends the open runs of these roles. Returns the events to journal.
pub(crate) fn stop_runs(tx: &TaskTx<'_>, roles: &[Role]) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for run in open_runs(tx.history()) {
        if roles.contains(&run.role) {
            keep_screen(tx.call, &tx.place, &run);
            end_run(tx.call, &run.id)?;
            events.extend(messages::outcomes(tx.call, tx.history(), &run));
            events.push(ending(tx.call, EventType::AgentStopped, &run));
            sessions::run_folder(tx.call, &run.id).remove()?;
        }
    }
    Ok(events)
}

/// The end of a run, with what is known of its conversation.
pub(crate) fn ending(call: &Call, kind: EventType, run: &Run) -> Event {
    let folder = sessions::run_folder(call, &run.id);
    let (conversation, transcript) = folder.conversation();
    let end = AgentEnded {
        run: Some(&run.id),
        role: Some(run.role),
        conversation: conversation.as_deref(),
        transcript: transcript.as_deref(),
        usage: folder.usage(),
        ..AgentEnded::default()
    };
    Event::new(kind, call.now()).by("engine").with(end)
}

/// Closes what is left of windows in which runs of this role were.
pub(crate) fn close_windows(tx: &TaskTx<'_>, role: Role) -> Result<()> {
    let known = orange_core::runs::runs(tx.history());
    let windows = sessions::windows_of(tx.call, &tx.task)?;
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
pub(crate) fn close_session(call: &Call, task: &Task) -> Result<()> {
    let windows = sessions::windows_of(call, task)?;
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
pub(crate) fn stop(call: &Call, run: &str) -> Result<()> {
    end_run(call, run)?;
    sessions::run_folder(call, run).remove()
}

pub(crate) fn end_run(call: &Call, run: &str) -> Result<()> {
    let folder = sessions::run_folder(call, run);
    folder.ask_to_stop()?;
    // After its end the number is that of the user's shell.
    let started = folder.started().filter(|_| folder.is_alive());
    let process = started.map(|started| started.process);
    let deadline = Instant::now() + STOP_TIMEOUT;
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
    runs::end_tagged(&home_record::home_paths(call), run);
    Ok(())
}

/// The screen of a run, kept with its task. Nothing is worth failing for: it is a help, not a promise.
pub(crate) fn keep_screen(call: &Call, place: &Place, run: &Run) {
    if let Err(error) = save_screen(call, place, run) {
        tracing::warn!(%error, run = run.id, "a screen was not kept");
    }
}

/// The same for the run that has a role now.
pub(crate) fn keep_last_screen(tx: &TaskTx<'_>, role: Role) {
    if let Some(run) = sessions::live_run(tx.call, tx.history(), role) {
        keep_screen(tx.call, &tx.place, &run);
    }
}

fn save_screen(call: &Call, place: &Place, run: &Run) -> Result<()> {
    let Some(pane) = sessions::run_folder(call, &run.id).pane() else {
        return Ok(());
    };
    let folder = place.path.join(SCREENS);
    let path = folder.join(format!("{}-{}.txt", run.role, run.id));
    if path.exists() {
        // What comes later is the user's shell.
        return Ok(());
    }
    let text = Tmux::at(&pane.socket).capture(&pane, Some(KEPT_LINES))?;
    make_folder(&folder).doing("create", &folder)?;
    private::write(&path, text).doing("write", &path)
}

/// The folder beside TASK.md.
pub(crate) const SCREENS: &str = "screens";

pub(crate) fn newest_first(folder: &Path) -> Vec<(Timestamp, PathBuf)> {
    // Through a link the files would be somebody else's.
    if !fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Timestamp, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .filter_map(|path| Some((written(&path)?, path)))
        .collect();
    found.sort();
    found.reverse();
    found
}

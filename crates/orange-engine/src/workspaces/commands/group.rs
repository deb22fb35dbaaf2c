//! Remembers the process group of a command while it runs. One whose Orange was interrupted or killed goes on by
//! itself; it is ended before anything else is started in its place.

use crate::store::private;
use crate::workspaces::commands::{GRACE, LONGEST_NAP};
use orange_sys::process::Stat;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Forgotten again when the command has ended.
pub(crate) struct Remembered {
    path: PathBuf,
}

impl Remembered {
    pub(super) fn new(log: &Path, leader: u32) -> Remembered {
        let path = beside(log);
        // Without it a command that is left behind is not ended; that is no reason not to run it.
        if let Some(stat) = Stat::of(leader)
            && let Err(error) = private::write(&path, format!("{leader} {}", stat.birth))
        {
            tracing::warn!(%error, "a running command is not remembered");
        }
        Remembered { path }
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Ends what an earlier Orange left running for the same log.
pub(crate) fn end_left(log: &Path) {
    let path = beside(log);
    let Ok(text) = fs::read_to_string(&path) else {
        return;
    };
    if let Some(group) = left(&text) {
        let _ = kill_process_group(group, Signal::TERM);
        let _ = kill_process_group(group, Signal::CONT);
        let deadline = Instant::now() + GRACE;
        while test_kill_process_group(group).is_ok() && Instant::now() < deadline {
            std::thread::sleep(LONGEST_NAP);
        }
        let _ = kill_process_group(group, Signal::KILL);
        tracing::info!(
            group = group.as_raw_nonzero(),
            "ended a command that was left behind"
        );
    }
    let _ = fs::remove_file(path);
}

/// The group, if its leader is still the same process, or has gone before the others.
fn left(text: &str) -> Option<Pid> {
    let (leader, start) = text.trim().split_once(' ')?;
    let leader: u32 = leader.parse().ok()?;
    // Its number alone may be another's later.
    let same = Stat::of(leader).is_none_or(|stat| stat.birth == start);
    let group = Pid::from_raw(i32::try_from(leader).ok()?)?;
    (same && test_kill_process_group(group).is_ok()).then_some(group)
}

fn beside(log: &Path) -> PathBuf {
    log.with_extension("running")
}

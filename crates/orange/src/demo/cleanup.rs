//! Clearing away: the demo's own tmux server by its socket, its processes by their environment, its folder. What is left
//! after that is told.

use super::stage::DemoStage;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(10);

/// For tmux to answer, for programs to end by themselves, and for them to be gone when they were killed.
const TIMEOUT: Duration = Duration::from_secs(3);

pub(super) fn clean_up(stage: &DemoStage) -> Vec<String> {
    if stage.socket().exists() {
        bounded(stage.kill_server());
    }
    // An `orange` that is still at work may just be opening a window, and with it a new server.
    for signal in [Signal::TERM, Signal::KILL] {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            let processes = processes(&stage.root);
            if processes.is_empty() {
                break;
            }
            send(&processes, signal);
            std::thread::sleep(NAP);
        }
    }
    remove(&stage.root);
    let mut left: Vec<String> = processes(&stage.root)
        .into_iter()
        .map(|pid| format!("process {pid}"))
        .collect();
    if stage.root.exists() {
        left.push(format!("folder {}", stage.root.display()));
    }
    left
}

/// A process that was just killed may have written a last file.
fn remove(root: &Path) {
    let deadline = Instant::now() + TIMEOUT;
    while std::fs::remove_dir_all(root).is_err() && root.exists() && Instant::now() < deadline {
        std::thread::sleep(NAP);
    }
}

fn bounded(mut command: Command) {
    let Ok(mut child) = command.spawn() else {
        return;
    };
    let deadline = Instant::now() + TIMEOUT;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(NAP);
    }
}

/// Processes that were given the stage's folder in their environment; nobody else has that name in theirs. The tmux
/// server is among them. Where there is no /proc, the server's end has to do.
pub(super) fn processes(root: &Path) -> Vec<u32> {
    let wanted = root.as_os_str().as_bytes();
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own && mentions(*pid, wanted))
        .collect()
}

fn mentions(pid: u32, wanted: &[u8]) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .windows(wanted.len())
        .any(|window| window == wanted)
}

fn send(processes: &[u32], signal: Signal) {
    for pid in processes {
        let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }
}

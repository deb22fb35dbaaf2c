//! The end of a test's world: nothing that it started goes on, so that its folder can go.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// An errand ends by itself; this is for what does not.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Waits until nothing of this world runs any more; what does not end is killed. Never panics: that would end every
/// other test too.
pub(crate) fn settle(root: &Path) {
    let deadline = Instant::now() + TIMEOUT;
    // The end of one may be the start of another, behind the back of one look.
    let mut quiet = 0;
    while quiet < 2 {
        let left = processes_of(root);
        if left.is_empty() {
            quiet += 1;
            continue;
        }
        quiet = 0;
        let now = Instant::now();
        if now > deadline + TIMEOUT {
            return;
        }
        if now > deadline {
            let pids = left.iter().map(u32::to_string);
            let _ = Command::new("kill").arg("-9").args(pids).output();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Those that have the folder in their environment or among their arguments.
fn processes_of(root: &Path) -> Vec<u32> {
    let root = root.as_os_str().as_encoded_bytes();
    let own = std::process::id();
    let names = |pid: &u32, file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.windows(root.len()).any(|part| part == root)
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own)
        .filter(|pid| names(pid, "environ") || names(pid, "cmdline"))
        .collect()
}

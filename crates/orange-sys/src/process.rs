//! Processes, told apart from others that got the same number later.

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

/// A process that cannot be mistaken for another of the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    pub pid: u32,
    /// When it started, in the system's ticks.
    pub birth: String,
}

impl ProcessId {
    pub fn of(pid: u32) -> Option<ProcessId> {
        let birth = Stat::of(pid)?.birth;
        Some(ProcessId { pid, birth })
    }

    pub fn is_alive(&self) -> bool {
        Stat::of(self.pid).is_some_and(|stat| stat.birth == self.birth && !stat.is_zombie)
    }

    /// Whether it does something of its own when this signal comes.
    pub fn catches(&self, signal: Signal) -> bool {
        let status = about(self.pid, "status").unwrap_or_default();
        caught(&String::from_utf8_lossy(&status)) & (1 << (signal.as_raw() - 1)) != 0
    }

    /// Nothing happens when it is another process by now.
    pub fn signal(&self, signal: Signal) {
        if self.is_alive()
            && let Some(pid) = pid_of(self.pid)
        {
            let _ = kill_process(pid, signal);
        }
    }
}

/// A part of a file name that nothing else which is alive uses: the number of this process, then one that counts, after a
/// dot.
pub fn unique_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{count}", std::process::id())
}

/// The process group of this process. It is 0 when the leader of the group lives outside the namespace of a container;
/// rustix takes that for impossible and panics.
#[allow(unsafe_code)]
pub fn own_group() -> i32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::getpgrp() }
}

/// The session of this process: 0 as for `own_group`.
#[allow(unsafe_code)]
pub fn own_session() -> i32 {
    // SAFETY: the call reads a number about this process and cannot fail for it.
    unsafe { libc::getsid(0) }
}

/// What /proc says of a process.
pub struct Stat {
    pub parent: u32,
    pub birth: String,
    /// No thread of it runs any more. While one does, its files and locks are held, though the first one is a zombie.
    pub is_zombie: bool,
}

impl Stat {
    pub fn of(pid: u32) -> Option<Stat> {
        let stat = about(pid, "stat").ok()?;
        Stat::parse(&String::from_utf8_lossy(&stat))
    }

    fn parse(stat: &str) -> Option<Stat> {
        // The name in brackets may contain anything, so count from its end.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let ended = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        let threads: u32 = fields.nth(15)?.parse().ok()?;
        Some(Stat {
            parent,
            birth: fields.nth(1)?.to_owned(),
            is_zombie: ended && threads <= 1,
        })
    }
}

/// A file of /proc about a process. These tell no size, so `fs::read` would ask many times for a little.
pub fn about(pid: u32, file: &str) -> io::Result<Vec<u8>> {
    const ROOM: usize = 4096;
    let mut open = File::open(format!("/proc/{pid}/{file}"))?;
    let mut bytes = Vec::new();
    loop {
        let len = bytes.len();
        bytes.resize(len + ROOM, 0);
        let read = open.read(&mut bytes[len..]);
        bytes.truncate(len + read.as_ref().map_or(0, |read| *read));
        match read {
            Ok(0) => return Ok(bytes),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
}

/// The signals that a process catches, a bit for each, as its status in /proc tells.
fn caught(status: &str) -> u64 {
    let mut lines = status.lines();
    let bits = lines.find_map(|line| line.strip_prefix("SigCgt:"));
    bits.map_or(0, |bits| {
        u64::from_str_radix(bits.trim(), 16).unwrap_or_default()
    })
}

/// The numbers of all processes.
pub fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The number as the system calls want it.
pub fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel says of a process in this state with so many threads.
    fn stat(state: &str, threads: &str) -> Stat {
        let line = format!(
            "4711 (a) b) c) {state} 42 4711 4711 0 -1 4228364 0 0 0 0 0 0 0 0 20 0 {threads} 0 987654 0 0"
        );
        Stat::parse(&line).unwrap()
    }

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        assert!(stat("Z", "1").is_zombie);
        assert!(!stat("Z", "2").is_zombie);
        assert!(!stat("S", "1").is_zombie);
        let one = stat("Z", "1");
        assert_eq!((one.parent, one.birth.as_str()), (42, "987654"));
    }

    #[test]
    fn the_signals_that_a_process_catches_are_read() {
        assert_eq!(caught("Name:\tx\nSigCgt:\t0000000000004002\n"), 0x4002);
        assert_eq!(caught("Name:\tx\n"), 0);
        let own = ProcessId::of(std::process::id()).unwrap();
        assert!(!own.catches(Signal::KILL));
    }

    #[test]
    fn this_process_is_read_from_the_kernel() {
        let own = Stat::of(std::process::id()).unwrap();
        assert_eq!(own.parent, std::os::unix::process::parent_id());
        assert!(ProcessId::of(std::process::id()).unwrap().is_alive());
    }
}

//! Processes of a run: told apart from others that got the same number later, found by their ancestors or by the
//! run's tag in their environment, and ended with all they started.

use super::{RUN_AGENT, RUN_PHASES};
use crate::home_paths::HomePaths;
use crate::occupants::command_line;
use orange_sys::process::{ProcessId, Stat, pid_of, pids};
use rustix::process::{Signal, WaitOptions, waitpid};
use std::fs;
use std::time::{Duration, Instant};

/// How long processes may take to end when they are asked to.
const GRACE: Duration = Duration::from_secs(2);
/// Of that, how long one that catches SIGTERM is left alone: it may still tell what it used, and SIGHUP would kill it meanwhile.
const LAST_WORDS: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_millis(5);

/// The descendants of a process that are alive, but for Orange's own errands and the tmux servers that it started:
/// other agents live there.
pub fn descendants(root: u32) -> Vec<ProcessId> {
    let all: Vec<(u32, Stat)> = pids()
        .filter_map(|pid| Some((pid, Stat::of(pid)?)))
        .collect();
    let mut family = vec![root];
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        next += 1;
        for (pid, stat) in all.iter().filter(|(_, stat)| stat.parent == parent) {
            if family.contains(pid) || is_errand(*pid) || is_server(*pid) {
                continue;
            }
            family.push(*pid);
            if !stat.is_zombie {
                found.push(ProcessId {
                    pid: *pid,
                    birth: stat.birth.clone(),
                });
            }
        }
    }
    found
}

/// Ends every descendant of a process: asked first, forced after a moment. Says whether all are gone.
pub fn end_tree(root: u32, reap: impl FnMut()) -> bool {
    end(|| descendants(root), reap)
}

/// Ends a process, its descendants, and whatever has this variable with this value in its environment.
pub fn end_marked(
    root: Option<&ProcessId>,
    variable: &str,
    value: &str,
    reap: impl FnMut(),
) -> bool {
    let find = || {
        let mut found = carrying(variable, value);
        if let Some(root) = root.filter(|root| root.is_alive()) {
            found.extend(descendants(root.pid));
            found.push(root.clone());
        }
        found
    };
    end(find, reap)
}

/// Ends what runs below this process and did not when these did: what a child detached and left to it. No other thread
/// may be waiting for a child meanwhile.
pub fn end_strays(known: &[ProcessId]) -> bool {
    let own = std::process::id();
    let find = || {
        let mut found = descendants(own);
        found.retain(|process| !known.contains(process));
        found
    };
    end(find, || reap_children(own))
}

/// Fetches the ends of those that have ended.
fn reap_children(own: u32) {
    let is_over =
        |pid: &u32| Stat::of(*pid).is_some_and(|stat| stat.parent == own && stat.is_zombie);
    for pid in pids().filter(is_over).filter_map(pid_of) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// The processes that carry the tag of a run of a home in their environment. A copy of the home has runs of the same
/// names, so the home is compared too.
pub fn tagged(home: &HomePaths, run: &str) -> Vec<ProcessId> {
    let of_run = |(process, tag): (ProcessId, String)| (tag == run).then_some(process);
    tagged_in(home).into_iter().filter_map(of_run).collect()
}

pub fn carrying(variable: &str, value: &str) -> Vec<ProcessId> {
    let is_it = |environment: &[u8]| value_in(environment, variable) == Some(value.as_bytes());
    with_environment(|environment| is_it(environment).then_some(()))
        .into_iter()
        .map(|(process, ())| process)
        .collect()
}

/// The processes that carry the tag of any run of a home, and that run.
pub fn tagged_in(home: &HomePaths) -> Vec<(ProcessId, String)> {
    with_environment(|environment| {
        let run = value_in(environment, "ORANGE_RUN_ID")?;
        let of_home = home.include(value_in(environment, "ORANGE_HOME")?);
        of_home.then(|| String::from_utf8_lossy(run).into_owned())
    })
}

/// Was this process started for that home: by its command line, or by its environment?
pub fn is_of_home(pid: u32, home: &HomePaths) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let mut pairs = words.windows(2);
    let named = pairs.any(|pair| matches!(pair, [b"--home", path] if home.include(path)));
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    named || value_in(&environment, "ORANGE_HOME").is_some_and(|path| home.include(path))
}

/// Looks at the environment of every other process that may be looked at.
fn with_environment<T>(wanted: impl Fn(&[u8]) -> Option<T>) -> Vec<(ProcessId, T)> {
    let own = std::process::id();
    pids()
        .filter(|pid| *pid != own)
        .filter_map(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            Some((pid, wanted(&environment)?))
        })
        .filter(|(pid, _)| !is_errand(*pid))
        .filter_map(|(pid, found)| Some((ProcessId::of(pid)?, found)))
        .filter(|(process, _)| process.is_alive())
        .collect()
}

fn value_in<'e>(environment: &'e [u8], name: &str) -> Option<&'e [u8]> {
    let mut entries = environment.split(|byte| *byte == 0);
    entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Ends what carries a run's tag, for a run whose `run-agent` cannot do it any more.
pub fn end_tagged(home: &HomePaths, run: &str) -> bool {
    end(|| tagged(home, run), || {})
}

fn end(find: impl Fn() -> Vec<ProcessId>, mut reap: impl FnMut()) -> bool {
    let began = Instant::now();
    let deadline = began + GRACE;
    let mut asked: Vec<ProcessId> = Vec::new();
    let mut hung_up: Vec<ProcessId> = Vec::new();
    loop {
        reap();
        let alive = find();
        if alive.is_empty() {
            return true;
        }
        let late = Instant::now() >= deadline;
        for process in &alive {
            if late {
                process.signal(Signal::KILL);
                continue;
            }
            if !asked.contains(process) {
                ask(process, Signal::TERM);
                asked.push(process.clone());
            }
            // A shell that a person types into ignores SIGTERM.
            if !hung_up.contains(process)
                && (began.elapsed() >= LAST_WORDS || !process.catches(Signal::TERM))
            {
                ask(process, Signal::HUP);
                hung_up.push(process.clone());
            }
        }
        if Instant::now() >= deadline + GRACE {
            return false;
        }
        std::thread::sleep(NAP);
    }
}

/// A stopped process handles a signal only after SIGCONT.
fn ask(process: &ProcessId, signal: Signal) {
    process.signal(signal);
    process.signal(Signal::CONT);
}

/// A process that finishes hooks must not be ended by them.
fn is_errand(pid: u32) -> bool {
    let words = command_line(pid);
    let program = words.first().is_some_and(|word| word.ends_with("orange"));
    program && words.get(1).is_some_and(|word| word == "errand")
}

/// A tmux server that Orange started for a session of a task; it keeps the command line that started it.
fn is_server(pid: u32) -> bool {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let words = command_line(pid);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    name.starts_with(b"tmux") && has("@orange_task") && (has(RUN_AGENT) || has(RUN_PHASES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_that_catches_sigterm_is_not_killed_by_sighup_meanwhile() {
        const MARK: &str = "ORANGE_TEST_ENDS";
        let folder = tempfile::tempdir().unwrap();
        let value = folder.path().display().to_string();
        let script =
            "trap 'echo told > said; exit' TERM; touch ready; while :; do sleep 0.01; done";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env(MARK, &value)
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        while !folder.path().join("ready").exists() {
            std::thread::sleep(NAP);
        }
        assert!(end_marked(None, MARK, &value, || drop(child.try_wait())));
        let said = fs::read_to_string(folder.path().join("said"));
        assert_eq!(said.unwrap(), "told\n");
    }
}

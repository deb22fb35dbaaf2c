//! Signals and children of the process in the window. Handlers, not "ignore": what is ignored, children inherit.

use crate::error::{Result, err};
use crate::runs::own_group;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait, waitpid};
use signal_hook::consts::signal::{
    SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1,
};
use std::fmt;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    Code(i32),
    Signal(i32),
}

impl ProcessEnd {
    pub(super) fn code(self) -> Option<i32> {
        match self {
            ProcessEnd::Code(code) => Some(code),
            ProcessEnd::Signal(_) => None,
        }
    }

    /// By the signal, or with the exit code that stands for it in a shell.
    fn is_hang_up(self) -> bool {
        matches!(self, ProcessEnd::Signal(SIGHUP)) || self == ProcessEnd::Code(128 + SIGHUP)
    }
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessEnd::Code(code) => write!(f, "exit code {code}"),
            ProcessEnd::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

/// Starts the agent.
pub(super) fn start(command: &mut Command) -> io::Result<u32> {
    reset_signals(command);
    command.spawn().map(|child| child.id())
}

/// Rust ignores SIGPIPE, and a shell may have started us with others ignored.
#[allow(unsafe_code)]
fn reset_signals(command: &mut Command) {
    // SAFETY: between fork and exec only `signal` is called, which is safe there.
    unsafe {
        command.pre_exec(|| {
            for signal in [
                SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
            ] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

pub(super) struct Alarms {
    wake: UnixStream,
    hung_up: Arc<AtomicBool>,
    /// The agent, and its end once that is known.
    agent: Option<(Pid, Option<ProcessEnd>)>,
}

impl Alarms {
    pub(super) fn install() -> Result<Alarms> {
        let failed =
            |error: io::Error| err!(Failed, "signals cannot be handled: {error}").because(error);
        let (wake, alarm) = UnixStream::pair().map_err(failed)?;
        wake.set_nonblocking(true).map_err(failed)?;
        let hung_up = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGHUP, hung_up.clone()).map_err(failed)?;
        for signal in [
            SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1,
        ] {
            let alarm = alarm.try_clone().map_err(failed)?;
            signal_hook::low_level::pipe::register(signal, alarm).map_err(failed)?;
        }
        Ok(Alarms {
            wake,
            hung_up,
            agent: None,
        })
    }

    pub(super) fn watch(&mut self, pid: u32) {
        self.agent = pid_of(pid).map(|pid| (pid, None));
    }

    /// Until a signal comes, but not longer than this.
    pub(super) fn wait(&mut self, limit: Duration) {
        let limit = Timespec::try_from(limit).unwrap_or_default();
        let mut sources = [PollFd::new(&self.wake, PollFlags::IN)];
        let _ = poll(&mut sources, Some(&limit));
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(count) if count > 0) {}
    }

    /// Takes note of every process that ended, and wakes one that stopped itself. How the agent ended, if it has.
    pub(super) fn reap(&mut self) -> Option<ProcessEnd> {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            if status.stopped() {
                let _ = kill_process(pid, Signal::CONT);
            } else if let Some((agent, end @ None)) = &mut self.agent
                && *agent == pid
            {
                let code = status.exit_status().map(ProcessEnd::Code);
                *end = code.or(status.terminating_signal().map(ProcessEnd::Signal));
            }
        }
        self.agent.and_then(|(_, end)| end)
    }

    /// Waits for one process.
    pub(super) fn wait_for(&mut self, pid: u32) {
        let Some(pid) = pid_of(pid) else {
            return;
        };
        loop {
            match waitpid(Some(pid), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// The window is closed, or its server is gone.
    pub(super) fn terminal_is_gone(&self) -> bool {
        self.hung_up.load(Ordering::Relaxed)
    }

    /// The same for an agent that ended by a hang-up: it may have got the signal first, but the terminal tells before either.
    pub(super) fn ended_with_terminal(&self, end: ProcessEnd) -> bool {
        let stdin = rustix::stdio::stdin();
        let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
        let polled = poll(&mut terminal, Some(&Timespec::default()));
        let is_gone = polled.is_ok() && terminal[0].revents().contains(PollFlags::HUP);
        end.is_hang_up() && (is_gone || self.terminal_is_gone())
    }
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Makes our process group the one that the terminal listens to. The agent's own group may have been it.
#[allow(unsafe_code)]
pub(super) fn take_terminal() {
    // SAFETY: `signal` only changes how this process takes SIGTTOU; without that the next call would stop us.
    unsafe {
        libc::signal(SIGTTOU, libc::SIG_IGN);
    }
    if let Some(group) = Pid::from_raw(own_group()) {
        let _ = rustix::termios::tcsetpgrp(io::stdin(), group);
    }
    // SAFETY: as above. The shell that follows must not inherit "ignore".
    unsafe {
        libc::signal(SIGTTOU, libc::SIG_DFL);
    }
}

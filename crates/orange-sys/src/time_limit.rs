//! Ends a program that takes too long, and with it whatever it started.

use crate::process::pid_of;
use rustix::process::{Signal, kill_process_group, setsid};
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Kills a process group that takes too long.
pub struct GroupTimeout {
    done: Sender<()>,
    thread: JoinHandle<bool>,
}

impl GroupTimeout {
    /// The child leads a process group of its own.
    pub fn over(child: u32, timeout: Duration) -> GroupTimeout {
        let (done, waits) = channel();
        let thread = std::thread::spawn(move || {
            let timed_out = waits.recv_timeout(timeout).is_err();
            if let Some(group) = pid_of(child).filter(|_| timed_out) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            timed_out
        });
        GroupTimeout { done, thread }
    }

    /// True if it had to be killed.
    pub fn end(self) -> bool {
        let _ = self.done.send(());
        self.thread.join().unwrap_or(false)
    }
}

thread_local! {
    static OF_THREAD: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// As long as it is there, no git that this thread starts without a timeout of its own runs for longer. Other threads of the
/// process may be at work for somebody else.
#[must_use]
pub struct LimitOfThread {
    before: Option<Duration>,
    /// It belongs to its thread.
    stays: PhantomData<*const ()>,
}

impl LimitOfThread {
    /// None: git may take all the time it needs.
    pub fn set(limit: Option<Duration>) -> LimitOfThread {
        LimitOfThread {
            before: OF_THREAD.replace(limit),
            stays: PhantomData,
        }
    }

    pub fn now() -> Option<Duration> {
        OF_THREAD.get()
    }
}

impl Drop for LimitOfThread {
    fn drop(&mut self) {
        OF_THREAD.set(self.before);
    }
}

/// A session of its own: one group to end, and no terminal to wait for a password at.
#[allow(unsafe_code)]
pub fn own_session(command: &mut Command) {
    // SAFETY: between fork and exec only setsid is called, which is safe there.
    unsafe {
        command.pre_exec(|| setsid().map(drop).map_err(io::Error::from));
    }
}

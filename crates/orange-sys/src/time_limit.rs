//! Ends a program that takes too long, and with it whatever it started.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Kills a process group that takes too long.
pub struct Watch {
    done: Sender<()>,
    thread: JoinHandle<bool>,
}

impl Watch {
    /// The child leads a process group of its own.
    pub fn over(child: u32, patience: Duration) -> Watch {
        let (done, waits) = channel();
        let thread = std::thread::spawn(move || {
            let timed_out = waits.recv_timeout(patience).is_err();
            let group = i32::try_from(child)
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            if let (true, Some(group)) = (timed_out, group) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            timed_out
        });
        Watch { done, thread }
    }

    /// True if it had to be killed.
    pub fn end(self) -> bool {
        let _ = self.done.send(());
        self.thread.join().unwrap_or(false)
    }
}

/// A session of its own: one group to end, and no terminal to wait for a password at.
#[allow(unsafe_code)]
pub fn own_session(command: &mut Command) {
    // SAFETY: between fork and exec only setsid is called, which is safe there.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()
                .map(|_| ())
                .map_err(io::Error::from)
        });
    }
}

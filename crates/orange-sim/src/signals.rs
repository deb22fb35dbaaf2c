//! Signals from the operating system: the terminal is given back before one of them ends the agent.

use super::events::Events;
use super::terminal;
use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};
use serde_json::json;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::thread;

/// What ends a program that does nothing about it, and that somebody sends on purpose.
const ENDING: &[Signal] = &[Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// From now on those signals restore the terminal, are logged, and only then do what they do; but for those that whoever
/// started us wants ignored. Programs that we start get no handlers.
pub(super) fn watch(events: &Events) -> std::io::Result<()> {
    for signal in ENDING.iter().copied() {
        if set(signal, libc::SIG_DFL) == libc::SIG_IGN {
            ignore(signal);
            continue;
        }
        let (mut reader, writer) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal.as_raw(), writer)?;
        let events = events.clone();
        thread::spawn(move || {
            if reader.read_exact(&mut [0]).is_ok() {
                events.write("exiting", &json!({"signal": signal.as_raw()}));
                terminal::restore();
                die_by(signal);
            }
        });
    }
    Ok(())
}

/// Ends this process by that signal, whatever was arranged for it, and without a core file in somebody's worktree.
pub(super) fn die_by(signal: Signal) {
    let limit = getrlimit(Resource::Core);
    let none = Rlimit {
        current: Some(0),
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Core, none);
    set(signal, libc::SIG_DFL);
    let _ = kill_process(getpid(), signal);
}

pub(super) fn ignore(signal: Signal) {
    set(signal, libc::SIG_IGN);
}

/// Gives what was arranged for it before.
#[allow(unsafe_code)]
fn set(signal: Signal, action: libc::sighandler_t) -> libc::sighandler_t {
    // SAFETY: SIG_DFL and SIG_IGN are no functions of ours; nothing is called.
    unsafe { libc::signal(signal.as_raw(), action) }
}

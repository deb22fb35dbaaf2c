//! Signals from the operating system: the terminal is given back before one of them ends the agent.

use super::events::Events;
use super::terminal;
use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};
use serde_json::json;
use std::io::{PipeWriter, Read};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

/// What ends a program that does nothing about it, and that somebody sends on purpose.
const ENDING: &[Signal] = &[Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// Where the handler writes; the pipe stays open for the life of the process.
static PIPE: OnceLock<PipeWriter> = OnceLock::new();
static PIPE_FD: AtomicI32 = AtomicI32::new(-1);

/// From now on those signals restore the terminal, are logged, and only then do what they do.
pub(super) fn watch(events: &Events) -> std::io::Result<()> {
    let (mut reader, writer) = std::io::pipe()?;
    PIPE_FD.store(writer.as_raw_fd(), Ordering::SeqCst);
    if PIPE.set(writer).is_err() {
        return Ok(());
    }
    let events = events.clone();
    thread::spawn(move || {
        let mut number = [0];
        while reader.read_exact(&mut number).is_ok() {
            let raw = i32::from(number[0]);
            events.write("exiting", &json!({"signal": raw}));
            terminal::restore();
            if let Some(signal) = Signal::from_named_raw(raw) {
                die_by(signal);
            }
        }
    });
    for signal in ENDING {
        install(*signal);
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

#[allow(unsafe_code)]
fn set(signal: Signal, action: libc::sighandler_t) {
    // SAFETY: SIG_DFL and SIG_IGN are no functions of ours; nothing is called.
    unsafe {
        libc::signal(signal.as_raw(), action);
    }
}

/// A handler, unless whoever started us wants the signal ignored. Programs that we start get no handlers.
#[allow(unsafe_code)]
fn install(signal: Signal) {
    let handler: extern "C" fn(libc::c_int) = note;
    // SAFETY: the handler does nothing but write(2) and read an atomic, which is allowed in one.
    unsafe {
        let before = libc::signal(signal.as_raw(), handler as libc::sighandler_t);
        if before == libc::SIG_IGN {
            libc::signal(signal.as_raw(), libc::SIG_IGN);
        }
    }
}

#[allow(unsafe_code)]
extern "C" fn note(signal: libc::c_int) {
    let number = u8::try_from(signal).unwrap_or_default();
    // SAFETY: the pipe was opened before the handler was installed and is never closed.
    let pipe = unsafe { BorrowedFd::borrow_raw(PIPE_FD.load(Ordering::SeqCst)) };
    let _ = rustix::io::write(pipe, &[number]);
}

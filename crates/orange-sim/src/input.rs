//! Standard input, read by a thread of its own: keys from a terminal, lines from anything else.

use super::keys::{Decoder, PressedKey};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{BufRead, stdin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// How long an Escape waits for what may follow it.
const DECIDE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedInput {
    Key(PressedKey),
    /// A whole line, where there is no terminal.
    Line(String),
    /// Nothing more will come.
    Closed,
}

pub(super) fn start(terminal: bool) -> Receiver<TypedInput> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // An agent that is gone needs no input.
        let _ = if terminal {
            keys(&sender)
        } else {
            lines(&sender)
        };
        let _ = sender.send(TypedInput::Closed);
    });
    receiver
}

/// Ends when the terminal or the agent is gone.
fn keys(sender: &Sender<TypedInput>) -> Option<()> {
    let mut decoder = Decoder::default();
    let mut buffer = [0; 64 * 1024];
    loop {
        let found = if decoder.is_undecided() && !more_comes() {
            decoder.decide()
        } else {
            match rustix::io::read(stdin(), &mut buffer) {
                Ok(0) => return None,
                Ok(length) => decoder.feed(buffer.get(..length)?),
                // Another program on this terminal may have made it non-blocking.
                Err(Errno::INTR | Errno::AGAIN) => {
                    wait(None);
                    continue;
                }
                Err(_) => return None,
            }
        };
        for key in found {
            sender.send(TypedInput::Key(key)).ok()?;
        }
    }
}

fn more_comes() -> bool {
    wait(Some(&DECIDE))
}

/// Whether there is something to read, a hangup included.
fn wait(limit: Option<&Timespec>) -> bool {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    !matches!(poll(&mut fds, limit), Ok(0))
}

fn lines(sender: &Sender<TypedInput>) -> Option<()> {
    let mut stdin = stdin().lock();
    loop {
        let mut line = Vec::new();
        match stdin.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end_matches(['\r', '\n']).to_owned();
                sender.send(TypedInput::Line(text)).ok()?;
            }
        }
    }
}

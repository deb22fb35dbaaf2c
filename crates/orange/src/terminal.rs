//! The user's terminal while something is drawn on it in place. Keys are not echoed, and it is given back as it was
//! found at every way out: the end, a signal, a panic, and Ctrl-Z, after which it is taken again.

use crate::output;
use orange_engine::runs::{own_group, own_session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::{self, pipe};
use std::io::{IsTerminal, Read, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// Who draws now. Held while drawing, so that a stop comes between two pictures.
static TAKEN: Mutex<Option<TerminalModes>> = Mutex::new(None);

struct TerminalModes {
    enter: &'static str,
    leave: &'static str,
    /// How keys were treated before; None: it does not say.
    before: Option<Termios>,
    /// How often it was taken: after each time everything has to be drawn again.
    times: usize,
    /// False while the program runs in the background: then the terminal is somebody else's.
    ours: bool,
}

/// The terminal, given back when this is dropped.
pub(crate) struct Terminal {
    keys: bool,
}

impl Terminal {
    /// What is written when it is taken, and when it is given back.
    pub(crate) fn take(enter: &'static str, leave: &'static str) -> Terminal {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(|| {
            give_back_at_panics();
            // Without, Ctrl-Z stops the program as it is.
            if let Err(error) = watch_stops() {
                tracing::debug!(%error, "a stop leaves the terminal as it is");
            }
        });
        let mut taken = TerminalModes {
            enter,
            leave,
            before: None,
            times: 0,
            ours: false,
        };
        wait_for_the_foreground();
        let mut held = held();
        taken.enter();
        *held = Some(taken);
        Terminal {
            keys: stdin().is_terminal(),
        }
    }

    /// How often it was taken so far: another number means that nothing of what was drawn is there.
    pub(crate) fn times(&self) -> usize {
        held().as_ref().map_or(0, |taken| taken.times)
    }

    /// Nothing stops the program in the middle of a picture, as long as this is kept. None: it is not ours to draw on.
    pub(crate) fn hold(&self) -> Option<impl Sized + use<>> {
        let held = held();
        let ours = held.as_ref().is_some_and(|taken| taken.ours);
        ours.then_some(held)
    }

    /// Waits so long, unless a key is pressed or a signal comes. True: the key was `q`.
    pub(crate) fn asked_to_end(&mut self, wait: Duration) -> bool {
        let (stdin, stdout) = (stdin(), stdout());
        let mut watched = vec![PollFd::new(&stdout, PollFlags::empty())];
        if self.keys {
            watched.push(PollFd::new(&stdin, PollFlags::IN));
        }
        let wait = Timespec::try_from(wait).ok();
        if poll(&mut watched, wait.as_ref()).is_err() {
            return false;
        }
        let gone = PollFlags::ERR | PollFlags::NVAL | PollFlags::HUP;
        if watched.iter().any(|fd| fd.revents().intersects(gone)) {
            return true;
        }
        let pressed = watched
            .get(1)
            .is_some_and(|fd| fd.revents().contains(PollFlags::IN));
        if !pressed {
            return false;
        }
        let mut bytes = [0; 64];
        match rustix::io::read(&stdin, &mut bytes) {
            // What comes with it was pasted.
            Ok(1) => matches!(bytes.first(), Some(b'q' | b'Q')),
            Ok(0) => {
                self.keys = false;
                false
            }
            _ => false,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(mut taken) = held().take() {
            taken.leave();
        }
    }
}

impl TerminalModes {
    /// The modes as they are by now: a shell has its own while it edits a line, and sets them when it gives the
    /// terminal away.
    fn enter(&mut self) {
        // One that was stopped without a chance to leave may find its own.
        if !self.ours {
            self.before = tcgetattr(stdout()).ok();
        }
        if let Some(before) = &self.before {
            let mut modes = before.clone();
            modes
                .local_modes
                .remove(LocalModes::ECHO | LocalModes::ICANON);
            let _ = tcsetattr(stdout(), OptionalActions::Now, &modes);
        }
        output::print(self.enter);
        self.times += 1;
        self.ours = true;
    }

    fn leave(&mut self) {
        if !std::mem::take(&mut self.ours) {
            return;
        }
        output::print(self.leave);
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdout(), OptionalActions::Now, before);
        }
    }
}

fn held() -> MutexGuard<'static, Option<TerminalModes>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic says is read on the terminal as it was.
fn give_back_at_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // Whoever holds it may be the one that panics.
        let taken = TAKEN.try_lock().ok().and_then(|mut held| held.take());
        if let Some(mut taken) = taken {
            taken.leave();
        }
        usual(panic);
    }));
}

/// A thread of its own, because the one that draws may wait for something else meanwhile.
fn watch_stops() -> std::io::Result<()> {
    let (mut news, bell) = UnixStream::pair()?;
    let stop = Arc::new(AtomicBool::new(false));
    pipe::register(SIGCONT, bell.try_clone()?)?;
    flag::register(SIGTSTP, stop.clone())?;
    pipe::register(SIGTSTP, bell)?;
    std::thread::Builder::new()
        .name("stops".to_owned())
        .spawn(move || {
            let mut bytes = [0; 16];
            while matches!(news.read(&mut bytes), Ok(1..)) {
                let mut held = held();
                if stop.swap(false, Ordering::SeqCst) && can_be_continued() {
                    if let Some(taken) = held.as_mut() {
                        taken.leave();
                    }
                    // This thread itself: it must not go on before all have stopped.
                    let _ = low_level::raise(libc::SIGSTOP);
                }
                // Whoever went on without us may have left anything behind. One that was sent on in the background
                // does not touch the terminal: it may have been sent on to end.
                if is_in_foreground()
                    && let Some(taken) = held.as_mut()
                {
                    taken.enter();
                }
            }
        })
        .map(drop)
}

fn is_in_foreground() -> bool {
    tcgetpgrp(stdout()).is_ok_and(|group| group.as_raw_pid() == own_group())
}

/// Whoever was begun with `&` is stopped here, as at any terminal, until it is brought forward.
fn wait_for_the_foreground() {
    while can_be_continued() && tcgetpgrp(stdout()).is_ok() && !is_in_foreground() {
        if low_level::raise(libc::SIGTTOU).is_err() {
            return;
        }
    }
}

/// Is there a shell that has made this job, and would continue it? Otherwise the system ignores Ctrl-Z, too.
fn can_be_continued() -> bool {
    own_session() != own_group()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_it_back_before_anything_is_said() {
        give_back_at_panics();
        *held() = Some(TerminalModes {
            enter: "",
            leave: "",
            before: None,
            times: 1,
            ours: true,
        });
        let outcome = std::panic::catch_unwind(|| std::panic::panic_any("on purpose"));
        assert!(outcome.is_err());
        assert!(held().is_none());
    }
}

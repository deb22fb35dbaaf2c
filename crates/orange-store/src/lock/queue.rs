//! Queueing for a lock with a timeout: whoever gives up has left the queue when it says so.

use std::fs::File;
use std::io;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Nothing else uses it, and where nobody handles it, it does nothing.
const WAKE: libc::c_int = libc::SIGURG;
/// A signal that comes just before the thread begins to wait is lost, so it is sent until it has been noticed.
const AGAIN: Duration = Duration::from_millis(1);

/// Nobody wonders about a shorter wait.
const QUIET: Duration = Duration::from_secs(1);

/// Waits where the system serves waiters in their order; polling would let some starve. None when the time is
/// over: nobody waits any more then, else the lock would go for a moment to somebody who no longer wants it. A wait that
/// takes longer is told.
pub(super) fn wait_for(
    file: File,
    timeout: Duration,
    tell: impl FnOnce(),
) -> Option<io::Result<File>> {
    let given_up = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    interruptible();
    let waiter = thread::spawn({
        let given_up = given_up.clone();
        move || {
            let _ = sender.send(wait(file, &given_up));
        }
    });
    let first = QUIET.min(timeout);
    if let Ok(outcome) = receiver.recv_timeout(first) {
        return outcome;
    }
    let later = timeout.saturating_sub(first);
    if !later.is_zero() {
        tell();
        if let Ok(outcome) = receiver.recv_timeout(later) {
            return outcome;
        }
    }
    given_up.store(true, Ordering::SeqCst);
    loop {
        wake(&waiter);
        match receiver.recv_timeout(AGAIN) {
            // It may have got the lock at the last moment; then it is ours after all.
            Ok(outcome) => return outcome,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn wait(file: File, given_up: &AtomicBool) -> Option<io::Result<File>> {
    while !given_up.load(Ordering::SeqCst) {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return Some(outcome.map(|()| file)),
        }
    }
    None
}

#[allow(unsafe_code)]
fn wake(waiter: &JoinHandle<()>) {
    // SAFETY: the thread has not been joined, so its handle names it, whether it still runs or not.
    unsafe {
        libc::pthread_kill(waiter.as_pthread_t(), WAKE);
    }
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// A signal ends a wait only if it has a handler, and one that does not ask for the wait to go on.
#[allow(unsafe_code)]
fn interruptible() {
    static ONCE: Once = Once::new();
    // SAFETY: an all-zero sigaction is a valid value, the pointers are to locals, and the handler does nothing.
    ONCE.call_once(|| unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as libc::sighandler_t;
        libc::sigaction(WAKE, &action, std::ptr::null_mut());
    });
}

//! Reports an access to a mapped file that failed (SIGBUS) as an error of the disk. SQLite maps a small file beside each
//! database; when the disk is full, the kernel may have no room for a page of it at the moment of writing.

use libc::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the error is told as JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);

// A macro, because both texts must be there before the signal comes: the handler may not allocate.
macro_rules! message {
    () => {
        "the disk is full, or fails: a file of the home that was mapped into memory cannot be accessed"
    };
}
macro_rules! hint {
    () => {
        "free some disk space and run the command again; nothing was lost"
    };
}

const TEXT: &str = concat!("error: ", message!(), "\nhint: ", hint!(), "\n");
const JSON: &str = concat!(
    r#"{"error":{"code":"storage","message":""#,
    message!(),
    r#"","hint":""#,
    hint!(),
    "\"}}\n"
);

/// What exit code an error of the disk has.
const STORAGE: c_int = 1;

/// From now on the process tells of such an access and ends, as if it had been killed at that moment.
#[allow(unsafe_code)]
pub(crate) fn report(json: bool) {
    AS_JSON.store(json, Ordering::Relaxed);
    // SAFETY: an all-zero sigaction is a valid value, the pointers are to locals, and the handler calls only functions that
    // are safe in one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = tell_and_end as *const () as libc::sighandler_t;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

#[allow(unsafe_code)]
extern "C" fn tell_and_end(_signal: c_int) {
    let (to, text) = if AS_JSON.load(Ordering::Relaxed) {
        (libc::STDOUT_FILENO, JSON)
    } else {
        (libc::STDERR_FILENO, TEXT)
    };
    // SAFETY: the text is static, and both calls are safe in a signal handler.
    unsafe {
        libc::write(to, text.as_ptr().cast(), text.len());
        libc::_exit(STORAGE);
    }
}

//! Signals that want a command to end: noted, so that it leaves everything in order first.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that wants the command to end.
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    pub(crate) fn watch() -> Signals {
        let seen = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(signal, seen.clone(), number);
        }
        Signals(seen)
    }

    pub(crate) fn seen(&self) -> Option<u8> {
        let number = self.0.load(Ordering::SeqCst);
        u8::try_from(number).ok().filter(|number| *number > 0)
    }

    /// Ends the program as a shell would tell of the signal, if there was one: 130 for Ctrl-C.
    pub(crate) fn obey(&self) {
        if let Some(number) = self.seen() {
            std::process::exit(i32::from(number) + 128);
        }
    }
}

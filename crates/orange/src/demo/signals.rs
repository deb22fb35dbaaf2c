//! Signals that want the demo to end: noted, so that it clears the stage first.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that wants the demo to end.
pub(super) struct Signals(Arc<AtomicUsize>);

impl Signals {
    pub(super) fn watch() -> Signals {
        let seen = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(signal, seen.clone(), number);
        }
        Signals(seen)
    }

    pub(super) fn seen(&self) -> Option<u8> {
        let number = self.0.load(Ordering::SeqCst);
        u8::try_from(number).ok().filter(|number| *number > 0)
    }
}

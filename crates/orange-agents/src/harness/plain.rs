//! Commands of the user's own, of which Orange knows nothing: one is typed into and read from its screen, the other runs
//! `orange signal` in its hooks.

use super::kind::{Facts, Kind};
use super::supports::SIGNALLING;

#[derive(Debug)]
pub(super) struct Plain(pub(super) &'static Facts);

impl Kind for Plain {
    fn facts(&self) -> &'static Facts {
        self.0
    }
}

impl Facts {
    pub(super) const SIGNALLING: Facts = Facts {
        name: "signals",
        adapter: "signals",
        supports: SIGNALLING,
        ..Facts::TYPED
    };
}

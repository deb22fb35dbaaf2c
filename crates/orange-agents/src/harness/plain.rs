//! Commands of the user's own, of which Orange knows nothing: one is typed into and read from its screen, the other runs
//! `orange signal` in its hooks.

use super::kind::{Facts, Kind};
use super::supports::SIGNALLING;

#[derive(Debug)]
pub(super) struct Typed;

impl Kind for Typed {
    fn facts(&self) -> &'static Facts {
        &Facts::TYPED
    }
}

const FACTS: &Facts = &Facts {
    name: "signals",
    adapter: "signals",
    supports: SIGNALLING,
    ..Facts::TYPED
};

#[derive(Debug)]
pub(super) struct Signalling;

impl Kind for Signalling {
    fn facts(&self) -> &'static Facts {
        FACTS
    }
}

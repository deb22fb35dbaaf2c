//! Commands of the user's own, of which Orange knows nothing: one is typed into and read from its screen, the other runs
//! `orange signal` in its hooks.

use super::kind::Kind;
use super::supports::{SIGNALLING, Supports};

#[derive(Debug)]
pub(super) struct Typed;

impl Kind for Typed {
    fn name(&self) -> &'static str {
        "screen"
    }

    fn program(&self) -> &'static str {
        ""
    }
}

#[derive(Debug)]
pub(super) struct Signalling;

impl Kind for Signalling {
    fn name(&self) -> &'static str {
        "signals"
    }

    fn program(&self) -> &'static str {
        ""
    }

    fn adapter(&self) -> &'static str {
        "signals"
    }

    fn supports(&self) -> Supports {
        SIGNALLING
    }
}

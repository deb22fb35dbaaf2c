//! Commands of the user's own, of which Orange knows nothing: one is typed into and read from its screen, the other runs
//! `orange signal` in its hooks.

use super::kind::{HarnessFacts, HarnessKind};
use super::supports::SIGNALLING;

#[derive(Debug)]
pub(super) struct Plain(pub(super) &'static HarnessFacts);

impl HarnessKind for Plain {
    fn facts(&self) -> &'static HarnessFacts {
        self.0
    }
}

impl HarnessFacts {
    pub(super) const SIGNALLING: HarnessFacts = HarnessFacts {
        name: "signals",
        adapter: "signals",
        supports: SIGNALLING,
        ..HarnessFacts::TYPED
    };
}

//! The harnesses that Orange knows: the one list that a new one is added to, beside its name in orange-core's settings.

use super::claude::Claude;
use super::codex::Codex;
use super::gemini::Gemini;
use super::kind::{Adapter, HarnessFacts};
use super::opencode::Opencode;
use super::pi::Pi;
use super::plain::Plain;
use super::sim::Sim;

/// In the order of `orange_core::config::HARNESSES`, then the scripted agent.
pub(super) const ALL: &[Adapter] = &[
    Adapter(&Claude),
    Adapter(&Codex),
    Adapter(&Opencode),
    Adapter(&Pi),
    Adapter(&Gemini),
    Adapter(&Sim),
];

/// A command of the user's own, without and with signals.
pub(super) const TYPED: Adapter = Adapter(&Plain(&HarnessFacts::TYPED));
pub(super) const SIGNALLING: Adapter = Adapter(&Plain(&HarnessFacts::SIGNALLING));

/// As a run's file names them. A harness that has no word of its own there is known by how it is told things.
pub(super) fn stored() -> impl Iterator<Item = Adapter> {
    [TYPED, SIGNALLING].into_iter().chain(ALL.iter().copied())
}

/// The words for them.
pub(super) fn stored_names() -> Vec<&'static str> {
    let mut words: Vec<&str> = stored().map(|kind| kind.adapter()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The kind of that name.
pub(super) fn named(name: &str) -> Option<Adapter> {
    ALL.iter().copied().find(|kind| kind.name() == name)
}

//! What each harness is good for: one row for `orange harness list` and for the table of docs/reference/harnesses.md.

use super::model::efforts;
use orange_core::config::Effort;
use serde::Serialize;

/// What Orange can do with a harness. None and false stand for what it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Supports {
    /// How the agent says what it does.
    pub signals: Option<&'static str>,
    /// How it is told something, and how that is known to have arrived.
    pub delivery: &'static str,
    /// Does a worker that is started again go on with its conversation?
    pub resume: bool,
    /// The permission modes that Orange can choose.
    pub permissions: Option<&'static str>,
    /// Can an answer be remembered, so that the same is not asked again?
    pub remembers: bool,
    /// What it tells of its use of the model.
    pub usage: Option<&'static str>,
    /// Can it take a turn without a terminal?
    pub headless: bool,
    /// Is a usage limit recognised, and waited for?
    pub usage_limits: bool,
    /// Can it be told which model to use?
    pub model: bool,
    /// How hard it can be told to think.
    pub effort: &'static [Effort],
}

/// What tables say of something that it cannot.
pub const NO: &str = "–";
pub(super) const ALL_MODES: &str = "full, edits, ask";

impl Supports {
    /// What a table says of one field, by its name in words.
    pub fn cell(&self, column: &str) -> String {
        let yes = |can: bool| can.then_some("yes");
        let found = match column {
            "signals" => self.signals,
            "delivery" => Some(self.delivery),
            "resume" => yes(self.resume),
            "permissions" => self.permissions,
            "remembers" => yes(self.remembers),
            "usage" => self.usage,
            "headless" => yes(self.headless),
            "usage limits" => yes(self.usage_limits),
            "model" => yes(self.model),
            "effort" if !self.effort.is_empty() => return efforts(self.effort).join(", "),
            _ => None,
        };
        found.unwrap_or(NO).to_owned()
    }
}

/// A harness of which nothing is known but how to type.
pub(super) const TYPED: Supports = Supports {
    signals: None,
    delivery: "typed, seen on the screen",
    resume: false,
    permissions: None,
    remembers: false,
    usage: None,
    headless: false,
    usage_limits: false,
    model: false,
    effort: &[],
};

/// One that runs `orange signal` in its hooks.
pub(super) const SIGNALLING: Supports = Supports {
    signals: Some("`orange signal`"),
    delivery: "typed and confirmed",
    ..TYPED
};

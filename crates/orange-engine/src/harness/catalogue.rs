//! What each harness is good for: one row for `orange harness list` and for the table of docs/harnesses.md.

use super::inquiry::Inquiry;
use super::model::efforts;
use super::{Adapter, Harness, NONE, claude, pi};
use crate::engine::Engine;
use crate::error::Result;
use orange_core::config::Effort;
use serde::Serialize;
use std::path::PathBuf;

/// What an adapter can do. None and false stand for what it cannot.
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

/// The headings of the table, in the order of the fields.
pub const COLUMNS: [&str; 9] = [
    "signals",
    "delivery",
    "resume",
    "permissions",
    "usage",
    "headless",
    "usage limits",
    "model",
    "effort",
];

/// What tables say of something that it cannot.
pub const NO: &str = "–";
const ALL_MODES: &str = "full, edits, ask";

impl Supports {
    /// What a table says under one of [`COLUMNS`].
    pub fn cell(&self, column: &str) -> String {
        let yes = |can: bool| can.then_some("yes");
        let found = match column {
            "signals" => self.signals,
            "delivery" => Some(self.delivery),
            "resume" => yes(self.resume),
            "permissions" => self.permissions,
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
const TYPED: Supports = Supports {
    signals: None,
    delivery: "typed, seen on the screen",
    resume: false,
    permissions: None,
    usage: None,
    headless: false,
    usage_limits: false,
    model: false,
    effort: &[],
};

impl Adapter {
    pub fn supports(self) -> Supports {
        match self {
            Adapter::Claude => Supports {
                signals: Some("hooks"),
                delivery: "typed and confirmed",
                resume: true,
                permissions: Some(ALL_MODES),
                usage: Some("tokens and cost"),
                headless: true,
                usage_limits: true,
                model: true,
                effort: claude::EFFORTS,
            },
            Adapter::Pi => Supports {
                signals: Some("extension"),
                delivery: "by the extension",
                resume: true,
                permissions: Some(ALL_MODES),
                usage: Some("tokens and cost"),
                headless: true,
                usage_limits: true,
                model: true,
                effort: pi::EFFORTS,
            },
            Adapter::Signals => Supports {
                signals: Some("`orange signal`"),
                delivery: "typed and confirmed",
                ..TYPED
            },
            Adapter::Screen => TYPED,
        }
    }

    /// Can it take a turn without a terminal?
    pub fn is_headless(self) -> bool {
        self.supports().headless
    }
}

/// A harness as it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub adapter: Adapter,
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// How to get it, where that is known.
    pub install: Option<&'static str>,
}

impl Engine {
    /// Every harness that can be named, but the one that starts nothing.
    pub fn harnesses(&self) -> Result<Vec<Listed>> {
        let (config, orange) = (self.config()?.clone(), self.orange.clone());
        let names = super::names(&config);
        let found = names.iter().filter(|name| *name != NONE);
        let found: Result<Vec<Option<Harness>>> = found
            .map(|name| super::find(name, &config, &orange))
            .collect();
        let found: Vec<Harness> = found?.into_iter().flatten().collect();
        let inquiry = self.inquiry();
        Ok(std::thread::scope(|threads| {
            // Some take half a second to say their version.
            let ask = |harness: Harness| threads.spawn(move || listed(&inquiry, &harness));
            let asked: Vec<_> = found.into_iter().map(ask).collect();
            let answers = asked.into_iter().filter_map(|thread| thread.join().ok());
            answers.collect()
        }))
    }
}

fn listed(inquiry: &Inquiry<'_>, harness: &Harness) -> Listed {
    let path = inquiry.located(harness);
    Listed {
        name: harness.name.clone(),
        adapter: harness.adapter,
        version: path
            .as_ref()
            .and_then(|path| inquiry.known_version(harness, path)),
        path,
        install: harness.install,
    }
}

impl Harness {
    /// How to get it, where that is known.
    pub fn install(&self) -> Option<&'static str> {
        self.install
    }
}

//! What `run-agent` watches beside an agent of one kind: its own records, a dialog on its screen.

use super::{Adapter, list};
use crate::runs::{RunFolder, RunSpec};
use crate::tmux::{Pane, Tmux};
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// A run that has just started.
pub struct Watched<'a> {
    pub folder: &'a RunFolder,
    pub spec: &'a RunSpec,
    /// The agent's process.
    pub pid: u32,
    /// What it got of the environment of whoever started it.
    pub environment: &'a BTreeMap<String, String>,
}

/// Where the agent's window is, if that is known.
pub type WindowLookup<'a> = &'a dyn Fn() -> Option<(Tmux, Pane)>;

pub trait HarnessWatch {
    /// Looks once; `transcript` is where the agent says that it keeps its conversation.
    fn look(&mut self, now: Instant, transcript: Option<&str>, window: WindowLookup<'_>);

    /// Messages that wait in the agent.
    fn queue(&self) -> &MessageQueue {
        &NOTHING_WAITS
    }

    /// Reads what is left when the agent has ended.
    fn end(&mut self, _transcript: Option<&str>) {}
}

/// What is watched beside a run.
pub fn of_run(run: &Watched<'_>) -> Option<Box<dyn HarnessWatch>> {
    let own = std::iter::once(run.spec.adapter);
    let kinds = own.chain(list::ALL.iter().copied());
    let mut found = kinds.filter_map(|kind: Adapter| kind.watch(run));
    found.next()
}

/// Messages that came in the middle of a turn: they wait until it is over, or for a pause in it.
#[derive(Debug, Default)]
pub struct MessageQueue {
    pub(super) waiting: Vec<String>,
    /// The newest that waited or began a turn.
    known: VecDeque<String>,
}

static NOTHING_WAITS: MessageQueue = MessageQueue {
    waiting: Vec::new(),
    known: VecDeque::new(),
};

/// More are never asked for.
const MOST_KNOWN: usize = 20;

impl MessageQueue {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn waits(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.waiting.iter().any(|text| is_it(text))
    }

    pub fn knows(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.known.iter().any(|text| is_it(text))
    }

    pub(super) fn note(&mut self, text: &str) {
        self.known.push_front(text.to_owned());
        self.known.truncate(MOST_KNOWN);
    }
}

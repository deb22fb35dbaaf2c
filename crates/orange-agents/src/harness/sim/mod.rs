//! The scripted agent: this program itself, `orange sim`.

mod headless;

use super::kind::{HarnessFacts, HarnessKind};
use super::probe::Probe;
use super::supports::{SIGNALLING, Supports};
use super::{Harness, Occasion, Prepared, built_in, list};
use crate::error::Result;
use crate::headless::{HeadlessStart, TurnRequest};
use orange_core::config::SIM;
use std::path::Path;

const FACTS: &HarnessFacts = &HarnessFacts {
    name: SIM,
    program: "orange",
    adapter: "signals",
    supports: Supports {
        headless: true,
        ..SIGNALLING
    },
    is_own: true,
    arguments: None,
    ..HarnessFacts::TYPED
};

#[derive(Debug)]
pub(super) struct Sim;

impl HarnessKind for Sim {
    fn facts(&self) -> &'static HarnessFacts {
        FACTS
    }

    fn prepare(&self, _occasion: &Occasion<'_>, _own: &[String]) -> Result<Prepared> {
        Ok(Prepared {
            arguments: vec!["--".into(), "{prompt}".into()],
            ..Prepared::default()
        })
    }

    fn headless(&self, request: &TurnRequest, world: &Probe<'_>) -> Option<Result<HeadlessStart>> {
        Some(Ok(headless::way(request, world.home)))
    }
}

/// `sim`, or `sim:FILE` with a script of one's own; `orange` is this program.
pub(super) fn named(name: &str, orange: &Path) -> Option<Harness> {
    let script = match name.split_once(':') {
        None if name == SIM => None,
        Some((SIM, script)) => Some(script),
        None | Some(_) => return None,
    };
    let mut arguments: Vec<String> = ["sim", "--round", "{round}", "--attempt", "{attempt}"]
        .map(str::to_owned)
        .to_vec();
    if let Some(script) = script {
        arguments.extend(["--script".to_owned(), script.to_owned()]);
    }
    Some(Harness {
        name: name.to_owned(),
        program: orange.to_string_lossy().into_owned(),
        arguments,
        ..built_in(list::named(SIM)?, None)
    })
}

/// Whether a command line of this program is a scripted agent.
pub(super) fn is_agent(command: &[String]) -> bool {
    command.get(1).is_some_and(|word| word == SIM)
}

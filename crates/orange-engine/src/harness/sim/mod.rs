//! The scripted agent: this program itself, `orange sim`.

use super::Harness;
use super::kind::Kind;
use super::list;
use super::supports::{SIGNALLING, Supports};
use orange_core::config::SIM;
use std::path::Path;

#[derive(Debug)]
pub(super) struct Sim;

impl Kind for Sim {
    fn name(&self) -> &'static str {
        SIM
    }

    fn program(&self) -> &'static str {
        "orange"
    }

    fn adapter(&self) -> &'static str {
        "signals"
    }

    fn supports(&self) -> Supports {
        SIGNALLING
    }

    fn is_own(&self) -> bool {
        true
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
    arguments.extend(["--".to_owned(), "{prompt}".to_owned()]);
    let kind = list::named(SIM)?;
    Some(Harness {
        name: name.to_owned(),
        program: orange.to_string_lossy().into_owned(),
        arguments,
        one_shot: false,
        adapter: kind,
        interrupt: "Escape".into(),
        install: None,
    })
}

/// Whether a command line of this program is a scripted agent.
pub(super) fn is_agent(command: &[String]) -> bool {
    command.get(1).is_some_and(|word| word == SIM)
}

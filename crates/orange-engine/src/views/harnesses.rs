//! The agent CLIs that Orange knows, and which are installed.

use crate::call::Call;
use crate::error::Result;
use crate::harness::probe::Probe;
use crate::harness::{self, Harness};
use crate::sessions::programs::{self, Listed};
use crate::settings;

/// Every harness that can be named, but the one that starts nothing.
pub fn harnesses(call: &Call) -> Result<Vec<Listed>> {
    let (config, orange) = (settings::config(call)?.clone(), call.orange.clone());
    let names = harness::names(&config);
    let found = names.iter().filter(|name| *name != harness::NONE);
    let found: Result<Vec<Option<Harness>>> = found
        .map(|name| harness::find(name, &config, &orange))
        .collect();
    let found: Vec<Harness> = found?.into_iter().flatten().collect();
    let probe = programs::probe(call);
    Ok(std::thread::scope(|threads| {
        // Some take half a second to say their version.
        let ask = |harness: Harness| threads.spawn(move || listed(&probe, &harness));
        let asked: Vec<_> = found.into_iter().map(ask).collect();
        let answers = asked.into_iter().filter_map(|thread| thread.join().ok());
        answers.collect()
    }))
}

fn listed(probe: &Probe<'_>, harness: &Harness) -> Listed {
    let path = probe.located(harness);
    Listed {
        name: harness.name.clone(),
        adapter: harness.adapter,
        version: path
            .as_ref()
            .and_then(|path| probe.known_version(harness, path)),
        path,
        install: harness.install,
    }
}

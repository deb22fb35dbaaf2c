//! The agent CLIs that Orange knows, and which are installed.

use crate::call::Call;
use crate::error::Result;
use crate::harness::probe::Probe;
use crate::harness::{self, Harness};
use crate::sessions::programs::{self, ListedHarness};
use crate::settings;
use crate::settings::harness::{find_harness, usual_worker};

/// Every harness that can be named, but the one that starts nothing.
pub fn harnesses(call: &Call) -> Result<Vec<ListedHarness>> {
    let names = harness::names(settings::config(call)?);
    let names = names.iter().filter(|name| *name != harness::NONE);
    let found = names.map(|name| find_harness(call, name));
    let found: Vec<Option<Harness>> = found.collect::<Result<_>>()?;
    let probe = programs::probe(call);
    let usual = usual_worker(call).ok();
    Ok(std::thread::scope(|threads| {
        // Some take half a second to say their version.
        let ask = |harness: Harness| threads.spawn(move || listed(&probe, &harness));
        let asked: Vec<_> = found.into_iter().flatten().map(ask).collect();
        let answers = asked.into_iter().filter_map(|thread| thread.join().ok());
        let used = |listed: ListedHarness| ListedHarness {
            used: usual.as_deref() == Some(listed.name.as_str()),
            ..listed
        };
        answers.map(used).collect()
    }))
}

fn listed(probe: &Probe<'_>, harness: &Harness) -> ListedHarness {
    let path = probe.located(harness);
    ListedHarness {
        name: harness.name.clone(),
        installed: path.is_some(),
        version: path
            .as_ref()
            .and_then(|path| probe.known_version(harness, path)),
        path,
        install: harness.install,
        used: false,
        adapter: harness.adapter,
        supports: harness.adapter.supports(),
    }
}

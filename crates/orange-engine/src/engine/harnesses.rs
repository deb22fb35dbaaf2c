//! The harnesses of this machine: which are there and how they are asked, and a turn of one without a terminal.

use super::Engine;
use crate::error::{Code, Error, Result};
use crate::harness::probe::{Probe, Version};
use crate::harness::{self, Adapter, Harness};
use crate::headless::{self, Request, Turn};
use orange_core::workflow::Role;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

impl Engine {
    pub(crate) fn probe(&self) -> Probe<'_> {
        Probe {
            home: self.store.home(),
            user_home: self.user_home.as_deref(),
            search_path: self.search_path.as_deref(),
            environment: &self.environment,
        }
    }

    /// Runs one turn to its end, or until `stop` says so. A turn that failed is a [`Turn`] as well, as far as it came.
    pub fn headless(&self, mut request: Request, stop: &AtomicBool) -> Result<Turn> {
        self.people_only("start agents")?;
        let orange = self.orange.clone();
        let found = harness::find(&request.harness, self.config()?, &orange)?;
        let harness = found
            .filter(|found| found.adapter.supports().headless)
            .ok_or_else(|| headless::cannot(&request.harness))?;
        headless::check(&request)?;
        request.choice = self.with_settings(request.choice, Role::Worker, &harness)?;
        let program = self.fit_program(&harness)?;
        headless::take_turn(&harness, &program, &request, &self.probe(), stop)
    }

    /// Where a harness's program is, unless it is too old. The version is asked for once, as long as the file stays.
    pub(crate) fn fit_program(&self, harness: &Harness) -> Result<PathBuf> {
        let path = harness.located(self.search_path.as_deref())?;
        let Some((oldest, why)) = harness.adapter.oldest() else {
            return Ok(path);
        };
        // One that gives no answer may still work; if not, its own words are in the window.
        let version = self.probe().known_version(harness, &path);
        match version.as_deref().and_then(Version::in_text) {
            Some(found) if found < oldest => Err(too_old(harness, found, oldest, why)),
            Some(_) | None => Ok(path),
        }
    }
}

fn too_old(harness: &Harness, found: Version, oldest: Version, why: &str) -> Error {
    let update = match harness.install {
        Some(install) => format!("update it: {install}@latest"),
        None => format!("update {}", harness.program),
    };
    Error::new(
        Code::Failed,
        format!(
            "harness {} is too old: {} is version {found}, {oldest} is needed, since when {why}",
            harness.name, harness.program
        ),
    )
    .hint(format!(
        "{update}, or choose another harness with --harness"
    ))
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
        let names = harness::names(&config);
        let found = names.iter().filter(|name| *name != harness::NONE);
        let found: Result<Vec<Option<Harness>>> = found
            .map(|name| harness::find(name, &config, &orange))
            .collect();
        let found: Vec<Harness> = found?.into_iter().flatten().collect();
        let probe = self.probe();
        Ok(std::thread::scope(|threads| {
            // Some take half a second to say their version.
            let ask = |harness: Harness| threads.spawn(move || listed(&probe, &harness));
            let asked: Vec<_> = found.into_iter().map(ask).collect();
            let answers = asked.into_iter().filter_map(|thread| thread.join().ok());
            answers.collect()
        }))
    }
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

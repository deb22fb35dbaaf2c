//! The programs of harnesses: where they are and whether they are new enough.

use crate::call::Call;
use crate::error::{Error, Result, err};
use crate::harness::probe::{Probe, Version};
use crate::harness::supports::Supports;
use crate::harness::{Adapter, Harness};
use crate::logins;
use orange_core::{Parameter, text};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn probe(call: &Call) -> Probe<'_> {
    Probe {
        home: call.store.home(),
        user_home: call.user_home.as_deref(),
        search_path: call.search_path.as_deref(),
        environment: &call.environment,
    }
}

/// Where a harness's program is, unless it is too old. The version is asked for once, as long as the file stays.
pub(crate) fn fit_program(call: &Call, harness: &Harness) -> Result<PathBuf> {
    let path = harness.located(call.search_path.as_deref())?;
    let Some((oldest, why)) = harness.adapter.oldest() else {
        return Ok(path);
    };
    // One that gives no answer may still work; if not, its own words are in the window.
    let version = probe(call).known_version(harness, &path);
    match version.as_deref().and_then(Version::in_text) {
        Some(found) if found < oldest => Err(too_old(harness, found, oldest, why)),
        Some(_) | None => Ok(path),
    }
}

/// Refuses a harness that says that nobody is logged in to it. It is asked only where no answer is remembered; one that
/// cannot tell is let through.
pub(crate) fn check_login(
    call: &Call,
    harness: &Harness,
    path: &Path,
    has_model: bool,
) -> Result<()> {
    if has_model && harness.adapter.login_by_model() {
        return Ok(());
    }
    match logins::logged_out(&probe(call), harness, path) {
        Some(why) => Err(err!(
            Refused,
            "harness {} has no account to work with",
            harness.name
        )
        .hint(why)),
        None => Ok(()),
    }
}

fn too_old(harness: &Harness, found: Version, oldest: Version, why: &str) -> Error {
    let update = match harness.install {
        Some(install) => format!("update it: {install}@latest"),
        None => format!("update {}", harness.program),
    };
    err!(
        Failed,
        "harness {} is too old: {} is version {found}, {oldest} is needed, since when {why}",
        harness.name,
        harness.program
    )
    .hint(text!(
        "{update}, or choose another harness with {}",
        Parameter::Harness
    ))
}

/// A harness as it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedHarness {
    pub name: String,
    pub installed: bool,
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// How to get it, where that is known.
    pub install: Option<&'static str>,
    /// It works on new tasks that name none.
    pub used: bool,
    pub adapter: Adapter,
    pub supports: Supports,
}

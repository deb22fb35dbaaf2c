//! Reads a report in either form, from any reader: only what is kept of it is ever in memory.

use super::names::{BadName, check_name};
use super::playwright::{self, RawSuite};
use super::{FileKind, FileSource, NamedFile, Suite, Summary, Test, TestReport, VERSION};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::io::Read;

/// More files than that nobody looks at.
pub(super) const MOST_FILES: usize = 10_000;

/// A report that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub form: Form,
    pub report: TestReport,
    /// What its tests name; of attachments screenshots and traces alone.
    pub files: Vec<NamedFile>,
}

/// Which form a report had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// That of `test-results/report.json`.
    Own,
    /// That of Playwright's reporter `json`.
    Playwright,
}

/// Why a report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("it has version {0}, and this Orange knows version {VERSION}")]
    Newer(u64),
    #[error("it is neither a JSON report of Playwright nor a report of Orange: {0}")]
    NoReport(&'static str),
    #[error("{what} {name:?} of test {test:?} cannot be used: {why}")]
    Name {
        what: &'static str,
        name: String,
        test: String,
        why: BadName,
    },
    #[error("its tests name more than {MOST_FILES} screenshots and traces")]
    TooManyFiles,
}

/// A report in either form.
#[derive(Deserialize)]
struct Raw {
    version: Option<f64>,
    framework: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    duration: Option<f64>,
    summary: Option<Summary>,
    coverage: Option<Value>,
    suites: Option<Vec<RawSuite>>,
    config: Option<IgnoredAny>,
    stats: Option<playwright::Stats>,
    errors: Option<Vec<playwright::RawError>>,
}

/// Reads a report.
pub fn read(source: impl Read) -> Result<Parsed, Unreadable> {
    let mut reader = serde_json::Deserializer::from_reader(source);
    let raw = Raw::deserialize(&mut reader)?;
    reader.end()?;
    let is_playwrights = raw.config.is_some() || raw.stats.is_some();
    if is_playwrights {
        let suites = raw.suites.unwrap_or_default();
        let errors = raw.errors.unwrap_or_default();
        return playwright::report(suites, raw.stats.unwrap_or_default(), errors);
    }
    own(raw)
}

fn own(raw: Raw) -> Result<Parsed, Unreadable> {
    let version = raw.version.map_or(u64::from(VERSION), whole);
    if version > u64::from(VERSION) {
        return Err(Unreadable::Newer(version));
    }
    if raw.suites.is_none() && raw.summary.is_none() {
        return Err(Unreadable::NoReport(
            "it has neither \"suites\" nor \"summary\"",
        ));
    }
    let mut suites = Vec::new();
    for suite in raw.suites.unwrap_or_default() {
        if suite.is_playwrights() {
            return Err(Unreadable::NoReport(
                "its suites are Playwright's, but \"config\" and \"stats\" are missing",
            ));
        }
        suites.push(Suite {
            name: suite.name.unwrap_or_default(),
            tests: suite
                .tests
                .unwrap_or_default()
                .into_iter()
                .map(Test::from)
                .collect(),
        });
    }
    let errors = raw.errors.unwrap_or_default().into_iter();
    let mut report = TestReport {
        version: VERSION,
        framework: raw.framework.unwrap_or_else(|| "playwright".to_owned()),
        started_at: raw.started_at,
        completed_at: raw.completed_at,
        duration: raw.duration.map_or(0, whole),
        summary: raw.summary.unwrap_or_default(),
        suites,
        coverage: raw.coverage,
        errors: errors.map(|error| error.text()).collect(),
    };
    // What it says of its tests one by one is more than what it says of all.
    if report.tests().next().is_some() {
        report.summary = report.counted();
    }
    let files = files(&report)?;
    Ok(Parsed {
        form: Form::Own,
        report,
        files,
    })
}

/// What the tests of a report in our form name.
fn files(report: &TestReport) -> Result<Vec<NamedFile>, Unreadable> {
    let mut found: Vec<NamedFile> = Vec::new();
    for (_, test) in report.tests() {
        let screenshots = test.screenshots.iter();
        let screenshots = screenshots.map(|name| (FileKind::Screenshot, "screenshot", name));
        let trace = test
            .trace
            .iter()
            .map(|name| (FileKind::Trace, "trace", name));
        for (kind, what, name) in screenshots.chain(trace) {
            check_name(name).map_err(|why| Unreadable::Name {
                what,
                name: name.clone(),
                test: test.name.clone(),
                why,
            })?;
            found.push(NamedFile {
                kind,
                name: name.clone(),
                source: FileSource::Beside,
                test: test.name.clone(),
            });
            if found.len() > MOST_FILES {
                return Err(Unreadable::TooManyFiles);
            }
        }
    }
    Ok(found)
}

/// A number of a report; what is below zero counts as zero.
pub(super) fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    let whole = number.round() as u64;
    whole
}

//! Reads a report in either form, from any reader: only what is kept of it is ever in memory.

use super::limits::{self, Any, CountedList, MOST_ITEMS, MOST_NAMES, MOST_TESTS};
use super::names::{BadName, check_name};
use super::playwright::{self, RawError, RawSuite};
use super::{FileKind, FileSource, NamedFile, Suite, Summary, Test, TestReport, VERSION};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use std::io::Read;

/// More files than that nobody looks at.
pub(super) const MOST_FILES: usize = 10_000;

/// A report that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub form: ReportForm,
    pub report: TestReport,
    /// What its tests name; of attachments screenshots and traces alone.
    pub files: Vec<NamedFile>,
}

/// Which form a report had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// That of `test-results/report.json`.
    Own,
    /// That of Playwright's reporter `json`.
    Playwright,
}

/// Why a report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableReport {
    #[error("{}", in_words(.0))]
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
    #[error("it has more than {MOST_TESTS} tests; import the reports of its parts one by one")]
    TooManyTests,
    #[error("it has more than {MOST_ITEMS} suites, tests, tries and attachments")]
    TooManyItems,
    #[error(
        "the names of its tests would take more than {MOST_NAMES} MiB; import the reports of its parts one by one"
    )]
    TooLongNames,
    #[error("its tests name more than {MOST_FILES} screenshots and traces")]
    TooManyFiles,
}

impl UnreadableReport {
    pub(super) fn name(
        what: &'static str,
        name: &str,
        test: &str,
        why: BadName,
    ) -> UnreadableReport {
        UnreadableReport::Name {
            what,
            name: limits::word(name.to_owned()),
            test: limits::word(test.to_owned()),
            why,
        }
    }
}

/// Why a text is no report: where to look, without the words of whoever reads it.
fn in_words(error: &serde_json::Error) -> String {
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Io => error.to_string(),
        Category::Eof if error.line() <= 1 && error.column() == 0 => "it is empty".to_owned(),
        Category::Eof => format!("it is not whole: it ends in the middle ({place})"),
        Category::Syntax if error.to_string().starts_with("recursion limit") => {
            format!("it is nested too deeply ({place})")
        }
        Category::Syntax => format!("it is not JSON ({place})"),
        Category::Data => {
            format!("it is no test report: what is at {place} is not what a report has there")
        }
    }
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
    coverage: Option<Any>,
    suites: Option<CountedList<RawSuite>>,
    config: Option<IgnoredAny>,
    stats: Option<playwright::Stats>,
    errors: Option<CountedList<RawError>>,
}

/// Reads a report.
pub fn read(source: impl Read) -> Result<Parsed, UnreadableReport> {
    let mut reader = serde_json::Deserializer::from_reader(source);
    let (raw, are_too_many) = limits::limited(|| Raw::deserialize(&mut reader));
    if are_too_many {
        return Err(UnreadableReport::TooManyItems);
    }
    let raw = raw?;
    reader.end()?;
    let is_playwrights = raw.config.is_some() || raw.stats.is_some();
    if is_playwrights {
        let suites = raw.suites.map_or_else(Vec::new, |suites| suites.0);
        let errors = raw.errors.map_or_else(Vec::new, |errors| errors.0);
        return playwright::report(suites, raw.stats.unwrap_or_default(), errors);
    }
    own(raw)
}

fn own(raw: Raw) -> Result<Parsed, UnreadableReport> {
    let version = raw.version.map_or(u64::from(VERSION), whole);
    if version > u64::from(VERSION) {
        return Err(UnreadableReport::Newer(version));
    }
    if raw.suites.is_none() && raw.summary.is_none() {
        return Err(UnreadableReport::NoReport(
            "it has neither \"suites\" nor \"summary\"",
        ));
    }
    let mut suites = Vec::new();
    let mut count = 0;
    for suite in raw.suites.map_or_else(Vec::new, |suites| suites.0) {
        if suite.is_playwrights() {
            return Err(UnreadableReport::NoReport(
                "its suites are Playwright's, but \"config\" and \"stats\" are missing",
            ));
        }
        let tests = suite.tests.map_or_else(Vec::new, |tests| tests.0);
        count += tests.len();
        if count > MOST_TESTS {
            return Err(UnreadableReport::TooManyTests);
        }
        suites.push(Suite {
            name: limits::suite(suite.name.unwrap_or_default()),
            tests: tests.into_iter().map(Test::from).collect(),
        });
    }
    let errors = raw.errors.map_or_else(Vec::new, |errors| errors.0);
    let mut report = TestReport {
        version: VERSION,
        framework: raw
            .framework
            .map_or_else(|| "playwright".to_owned(), limits::word),
        started_at: raw.started_at.map(limits::word),
        completed_at: raw.completed_at.map(limits::word),
        duration: raw.duration.map_or(0, whole),
        summary: raw.summary.unwrap_or_default().consistent(),
        suites,
        coverage: raw.coverage.map(|Any(coverage)| coverage),
        errors: errors.into_iter().map(RawError::text).collect(),
    };
    // What it says of its tests one by one is more than what it says of all.
    if report.tests().next().is_some() {
        report.summary = report.counted();
    }
    let files = files(&report)?;
    Ok(Parsed {
        form: ReportForm::Own,
        report,
        files,
    })
}

/// What the tests of a report in our form name.
fn files(report: &TestReport) -> Result<Vec<NamedFile>, UnreadableReport> {
    let mut found: Vec<NamedFile> = Vec::new();
    for (_, test) in report.tests() {
        let screenshots = test.screenshots.iter();
        let screenshots = screenshots.map(|name| (FileKind::Screenshot, "screenshot", name));
        let trace = test
            .trace
            .iter()
            .map(|name| (FileKind::Trace, "trace", name));
        for (kind, what, name) in screenshots.chain(trace) {
            check_name(name).map_err(|why| UnreadableReport::name(what, name, &test.name, why))?;
            found.push(NamedFile {
                kind,
                name: name.clone(),
                source: FileSource::Beside,
                test: test.name.clone(),
            });
            if found.len() > MOST_FILES {
                return Err(UnreadableReport::TooManyFiles);
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

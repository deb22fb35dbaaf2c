//! The report of Playwright's reporter `json`: suites in suites, specs, a test of each spec for every project, and of each test
//! a result for every try, of which the last counts.

use super::names::{BadName, check_path, kept_as, numbered};
use super::read::{MOST_FILES, whole};
use super::{
    FileKind, FileSource, Form, NamedFile, Parsed, Suite, Test, TestReport, TestStatus, Unreadable,
    VERSION,
};
use crate::Timestamp;
use crate::naming::cut_at;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// So much of an error is kept.
const LONGEST_ERROR: usize = 4 * 1024;

/// A suite in either form: `name` and `tests` are ours.
#[derive(Deserialize)]
pub(super) struct RawSuite {
    pub(super) name: Option<String>,
    pub(super) tests: Option<Vec<OwnTest>>,
    title: Option<String>,
    specs: Option<Vec<Spec>>,
    suites: Option<Vec<RawSuite>>,
}

/// A test in our form.
#[derive(Deserialize)]
pub(super) struct OwnTest {
    name: Option<String>,
    status: Option<String>,
    duration: Option<f64>,
    error: Option<String>,
    screenshots: Option<Vec<String>>,
    trace: Option<String>,
    retries: Option<f64>,
}

#[derive(Deserialize)]
struct Spec {
    title: Option<String>,
    tests: Option<Vec<RawTest>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTest {
    expected_status: Option<String>,
    project_name: Option<String>,
    status: Option<String>,
    results: Option<Vec<RawResult>>,
}

#[derive(Deserialize)]
struct RawResult {
    status: Option<String>,
    duration: Option<f64>,
    retry: Option<f64>,
    error: Option<RawError>,
    errors: Option<Vec<RawError>>,
    attachments: Option<Vec<RawAttachment>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAttachment {
    name: Option<String>,
    content_type: Option<String>,
    path: Option<String>,
    body: Option<String>,
}

/// An error in either form.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawError {
    Text(String),
    Mapping { message: Option<String> },
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stats {
    start_time: Option<String>,
    duration: Option<f64>,
}

impl RawSuite {
    pub(super) fn is_playwrights(&self) -> bool {
        self.specs.is_some() || self.suites.is_some()
    }
}

impl RawError {
    pub(super) fn text(self) -> String {
        let text = match self {
            RawError::Text(text) => text,
            RawError::Mapping { message } => message.unwrap_or_default(),
        };
        cut_at(&without_colours(&text), LONGEST_ERROR).to_owned()
    }
}

impl From<OwnTest> for Test {
    fn from(raw: OwnTest) -> Test {
        let status = raw.status.as_deref().unwrap_or_default();
        Test {
            name: raw.name.unwrap_or_default(),
            status: status.parse().unwrap_or_default(),
            duration: raw.duration.map_or(0, whole),
            error: raw.error,
            screenshots: raw.screenshots.unwrap_or_default(),
            trace: raw.trace,
            retries: raw.retries.map_or(0, whole),
        }
    }
}

/// The same in our form.
pub(super) fn report(
    suites: Vec<RawSuite>,
    stats: Stats,
    errors: Vec<RawError>,
) -> Result<Parsed, Unreadable> {
    let mut projects = BTreeSet::new();
    note_projects(&suites, &mut projects);
    let mut reading = Reading {
        names_projects: projects.len() > 1,
        ..Reading::default()
    };
    for suite in suites {
        reading.suite(suite, "")?;
    }
    let duration = stats.duration.map_or(0, whole);
    let mut report = TestReport {
        version: VERSION,
        framework: "playwright".to_owned(),
        completed_at: stats
            .start_time
            .as_deref()
            .and_then(|at| later(at, duration)),
        started_at: stats.start_time,
        duration,
        suites: reading.suites,
        errors: errors.into_iter().map(RawError::text).collect(),
        ..TestReport::default()
    };
    report.summary = report.counted();
    Ok(Parsed {
        form: Form::Playwright,
        report,
        files: reading.files,
    })
}

fn later(at: &str, milliseconds: u64) -> Option<String> {
    let at: Timestamp = at.parse().ok()?;
    let later = at.checked_add(Duration::from_millis(milliseconds)).ok()?;
    Some(later.to_string())
}

fn note_projects(suites: &[RawSuite], projects: &mut BTreeSet<String>) {
    for suite in suites {
        let specs = suite.specs.iter().flatten();
        for test in specs.flat_map(|spec| spec.tests.iter().flatten()) {
            projects.insert(test.project_name.clone().unwrap_or_default());
        }
        note_projects(suite.suites.as_deref().unwrap_or_default(), projects);
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reading {
    names_projects: bool,
    suites: Vec<Suite>,
    files: Vec<NamedFile>,
    /// Names that are taken, with their folder, and how often each was asked for.
    taken: BTreeMap<(&'static str, String), usize>,
}

impl Reading {
    /// A suite and those in it; one without tests of its own is only a part of their names.
    fn suite(&mut self, raw: RawSuite, above: &str) -> Result<(), Unreadable> {
        let title = raw.title.unwrap_or_default();
        let name = match (above, title.as_str()) {
            (above, "") => above.to_owned(),
            ("", title) => title.to_owned(),
            (above, title) => format!("{above} › {title}"),
        };
        let mut tests = Vec::new();
        for spec in raw.specs.unwrap_or_default() {
            let title = spec.title.unwrap_or_default();
            for test in spec.tests.unwrap_or_default() {
                tests.push(self.test(&title, test)?);
            }
        }
        if !tests.is_empty() {
            let name = name.clone();
            self.suites.push(Suite { name, tests });
        }
        for suite in raw.suites.unwrap_or_default() {
            self.suite(suite, &name)?;
        }
        Ok(())
    }

    fn test(&mut self, title: &str, raw: RawTest) -> Result<Test, Unreadable> {
        let project = raw.project_name.filter(|name| !name.is_empty());
        let name = match project.filter(|_| self.names_projects) {
            Some(project) => format!("{title} [{project}]"),
            None => title.to_owned(),
        };
        let results = raw.results.unwrap_or_default();
        let tries = results.len() as u64;
        // They come in order; where they are numbered, the numbers count.
        let last = results
            .into_iter()
            .max_by_key(|result| result.retry.map_or(0, whole));
        let Some(last) = last else {
            let is_skipped = raw.status.as_deref() == Some("skipped")
                && raw.expected_status.as_deref() == Some("skipped");
            let status = match is_skipped {
                true => TestStatus::Skipped,
                false => TestStatus::Pending,
            };
            return Ok(Test {
                name,
                status,
                ..Test::default()
            });
        };
        let expected = raw.expected_status.as_deref().unwrap_or("passed");
        let status = match last.status.as_deref() {
            Some("skipped") => TestStatus::Skipped,
            None => TestStatus::Pending,
            Some(status) if status == expected => TestStatus::Passed,
            Some(_) => TestStatus::Failed,
        };
        let errors = last.errors.unwrap_or_default().into_iter().next();
        let error = last.error.or(errors).map(RawError::text);
        let mut test = Test {
            name,
            status,
            duration: last.duration.map_or(0, whole),
            error: error.filter(|_| status == TestStatus::Failed),
            retries: tries.saturating_sub(1),
            ..Test::default()
        };
        for attachment in last.attachments.unwrap_or_default() {
            self.attachment(&mut test, attachment)?;
        }
        Ok(test)
    }

    /// Of attachments only screenshots and traces are kept.
    fn attachment(&mut self, test: &mut Test, raw: RawAttachment) -> Result<(), Unreadable> {
        let name = raw.name.unwrap_or_default();
        let bad = |what, name: &str, why: BadName| Unreadable::Name {
            what,
            name: name.to_owned(),
            test: test.name.clone(),
            why,
        };
        if !name.is_empty() {
            check_path(&name).map_err(|why| bad("attachment", &name, why))?;
        }
        if let Some(path) = &raw.path {
            check_path(path).map_err(|why| bad("the path of attachment", path, why))?;
        }
        let content_type = raw.content_type.unwrap_or_default();
        let kind = match content_type.as_str() {
            "image/png" | "image/jpeg" | "image/jpg" | "image/webp" | "image/gif" => {
                FileKind::Screenshot
            }
            "application/zip" if name == "trace" => FileKind::Trace,
            _ => return Ok(()),
        };
        let kept = kept_as(kind, &content_type, &name, raw.path.as_deref(), &test.name);
        let source = match (raw.path, raw.body) {
            (Some(path), _) => FileSource::Path(path),
            (None, Some(body)) => FileSource::Body(body),
            (None, None) => return Ok(()),
        };
        let name = self.free(kind, kept);
        match kind {
            FileKind::Screenshot => test.screenshots.push(name.clone()),
            FileKind::Trace => test.trace = Some(name.clone()),
        }
        self.files.push(NamedFile {
            kind,
            name,
            source,
            test: test.name.clone(),
        });
        if self.files.len() > MOST_FILES {
            return Err(Unreadable::TooManyFiles);
        }
        Ok(())
    }

    /// A name that no other file of the report has.
    fn free(&mut self, kind: FileKind, name: String) -> String {
        let asked = self.taken.entry((kind.folder(), name.clone())).or_default();
        *asked += 1;
        if *asked == 1 {
            return name;
        }
        let next = numbered(&name, *asked);
        // Some other file may be called so by itself.
        self.free(kind, next)
    }
}

/// A text without the sequences that colour it in a terminal.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
            continue;
        }
        if letters.next() == Some('[') {
            letters.by_ref().find(|last| ('@'..='~').contains(last));
        }
    }
    plain
}

//! The report of Playwright's reporter `json`: suites in suites, specs, a test of each spec for every project, and of each test
//! a result for every try, of which the last counts.

use super::limits::{self, CountedList, MOST_NAMES, MOST_TESTS};
use super::names::{BadName, check_path, kept_as, numbered};
use super::read::{MOST_FILES, whole};
use super::{
    FileKind, FileSource, NamedFile, Parsed, ReportForm, Suite, Test, TestReport, TestStatus,
    UnreadableReport, VERSION,
};
use crate::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// A suite in either form: `name` and `tests` are ours.
#[derive(Deserialize)]
pub(super) struct RawSuite {
    pub(super) name: Option<String>,
    pub(super) tests: Option<CountedList<OwnTest>>,
    title: Option<String>,
    specs: Option<CountedList<PlaywrightSpec>>,
    suites: Option<CountedList<RawSuite>>,
}

/// A test in our form.
#[derive(Deserialize)]
pub(super) struct OwnTest {
    name: Option<String>,
    status: Option<String>,
    duration: Option<f64>,
    error: Option<String>,
    screenshots: Option<CountedList<String>>,
    trace: Option<String>,
    retries: Option<f64>,
}

#[derive(Deserialize)]
struct PlaywrightSpec {
    title: Option<String>,
    tests: Option<CountedList<RawTest>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTest {
    expected_status: Option<String>,
    project_name: Option<String>,
    status: Option<String>,
    results: Option<CountedList<RawResult>>,
}

#[derive(Deserialize)]
struct RawResult {
    status: Option<String>,
    duration: Option<f64>,
    retry: Option<f64>,
    error: Option<RawError>,
    errors: Option<CountedList<RawError>>,
    attachments: Option<CountedList<RawAttachment>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAttachment {
    name: Option<String>,
    content_type: Option<String>,
    path: Option<String>,
    body: Option<String>,
}

/// An error in either form: a text, or a mapping with a message. What is thrown and is no error has a value instead.
#[derive(Default)]
pub(super) struct RawError(String);

impl<'de> Deserialize<'de> for RawError {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RawError, D::Error> {
        #[derive(Deserialize)]
        struct Mapping {
            message: Option<String>,
            value: Option<String>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = RawError;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an error")
            }

            fn visit_unit<E: Error>(self) -> Result<RawError, E> {
                Ok(RawError::default())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<RawError, E> {
                Ok(RawError(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<RawError, A::Error> {
                let Mapping { message, value } =
                    Mapping::deserialize(MapAccessDeserializer::new(fields))?;
                let message = message.filter(|message| !message.trim().is_empty());
                Ok(RawError(message.or(value).unwrap_or_default()))
            }
        }
        from.deserialize_any(Either)
    }
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
        limits::error(&without_colours(&self.0))
    }
}

impl From<OwnTest> for Test {
    fn from(raw: OwnTest) -> Test {
        Test {
            name: limits::test(raw.name.unwrap_or_default()),
            status: status(raw.status.as_deref().unwrap_or_default()),
            duration: raw.duration.map_or(0, whole),
            error: raw.error.as_deref().map(limits::error),
            screenshots: raw.screenshots.map_or_else(Vec::new, |names| names.0),
            trace: raw.trace,
            retries: raw.retries.map_or(0, whole),
        }
    }
}

/// A status as reporters call it. A word that nobody knows means nothing good.
fn status(word: &str) -> TestStatus {
    let word = word.trim().to_ascii_lowercase();
    let known = word.parse();
    known.unwrap_or_else(|_| match word.as_str() {
        "pass" | "ok" | "expected" | "flaky" => TestStatus::Passed,
        "skip" | "ignored" => TestStatus::Skipped,
        "" => TestStatus::default(),
        _ => TestStatus::Failed,
    })
}

/// The same in our form.
pub(super) fn report(
    suites: Vec<RawSuite>,
    stats: Stats,
    errors: Vec<RawError>,
) -> Result<Parsed, UnreadableReport> {
    let mut projects = BTreeSet::new();
    if note_projects(&suites, &mut projects) > MOST_TESTS {
        return Err(UnreadableReport::TooManyTests);
    }
    let mut reading = PlaywrightReading {
        names_projects: projects.len() > 1,
        ..PlaywrightReading::default()
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
        started_at: stats.start_time.map(limits::word),
        duration,
        suites: reading.suites,
        errors: errors.into_iter().map(RawError::text).collect(),
        ..TestReport::default()
    };
    report.summary = report.counted();
    Ok(Parsed {
        form: ReportForm::Playwright,
        report,
        files: reading.files,
    })
}

fn later(at: &str, milliseconds: u64) -> Option<String> {
    let at: Timestamp = at.parse().ok()?;
    let later = at.checked_add(Duration::from_millis(milliseconds)).ok()?;
    Some(later.to_string())
}

/// Notes which projects the tests are of; gives how many tests there are.
fn note_projects(suites: &[RawSuite], projects: &mut BTreeSet<String>) -> usize {
    let mut count = 0;
    for suite in suites {
        let specs = suite.specs.iter().flat_map(|specs| &specs.0);
        for test in specs.flat_map(|spec| spec.tests.iter().flat_map(|tests| &tests.0)) {
            count += 1;
            let project = test.project_name.as_deref().unwrap_or_default();
            // Two are enough to tell them apart.
            if projects.len() < 2 && !projects.contains(project) {
                projects.insert(project.to_owned());
            }
        }
        let inside = suite.suites.as_ref().map_or(&[][..], |suites| &suites.0);
        count += note_projects(inside, projects);
    }
    count
}

/// What has been read so far.
#[derive(Default)]
struct PlaywrightReading {
    names_projects: bool,
    /// How many bytes the names of suites and tests have.
    named: usize,
    suites: Vec<Suite>,
    files: Vec<NamedFile>,
    /// Names that are taken, with their folder, and how often each was asked for.
    taken: BTreeMap<(&'static str, String), usize>,
}

impl PlaywrightReading {
    /// A suite and those in it; one without tests of its own is only a part of their names.
    fn suite(&mut self, raw: RawSuite, above: &str) -> Result<(), UnreadableReport> {
        let title = raw.title.unwrap_or_default();
        // Every suite inside repeats it.
        let name = limits::suite(match (above, title.as_str()) {
            (above, "") => above.to_owned(),
            ("", title) => title.to_owned(),
            (above, title) => format!("{above} › {title}"),
        });
        let mut tests = Vec::new();
        for spec in items(raw.specs) {
            let title = limits::title(spec.title.unwrap_or_default());
            for test in items(spec.tests) {
                let test = self.test(&title, test)?;
                self.count_name(&test.name)?;
                tests.push(test);
            }
        }
        if !tests.is_empty() {
            self.count_name(&name)?;
            let name = name.clone();
            self.suites.push(Suite { name, tests });
        }
        for suite in items(raw.suites) {
            self.suite(suite, &name)?;
        }
        Ok(())
    }

    fn count_name(&mut self, name: &str) -> Result<(), UnreadableReport> {
        self.named += name.len();
        if self.named > MOST_NAMES * 1024 * 1024 {
            Err(UnreadableReport::TooLongNames)
        } else {
            Ok(())
        }
    }

    fn test(&mut self, title: &str, raw: RawTest) -> Result<Test, UnreadableReport> {
        let project = raw.project_name.filter(|name| !name.is_empty());
        let name = match project.filter(|_| self.names_projects) {
            Some(project) => format!("{title} [{}]", limits::project(project)),
            None => title.to_owned(),
        };
        let results = items(raw.results);
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
        let errors = last.error.into_iter().chain(items(last.errors));
        let mut errors = errors.map(RawError::text);
        let error = errors.find(|error| !error.trim().is_empty());
        let mut test = Test {
            name,
            status,
            duration: last.duration.map_or(0, whole),
            error: error.filter(|_| status == TestStatus::Failed),
            retries: tries.saturating_sub(1),
            ..Test::default()
        };
        for attachment in items(last.attachments) {
            self.attachment(&mut test, attachment)?;
        }
        Ok(test)
    }

    /// Of attachments only screenshots and traces are kept.
    fn attachment(&mut self, test: &mut Test, raw: RawAttachment) -> Result<(), UnreadableReport> {
        let name = raw.name.unwrap_or_default();
        let bad =
            |what, name: &str, why: BadName| UnreadableReport::name(what, name, &test.name, why);
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
            return Err(UnreadableReport::TooManyFiles);
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

fn items<T>(list: Option<CountedList<T>>) -> Vec<T> {
    list.map_or_else(Vec::new, |list| list.0)
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

//! Test results as they are kept: `test-results/report.json` with its suites and tests, what it comes to in figures, and one
//! line of words. `read.rs` takes both this form and the JSON report of Playwright; `names.rs` decides which names of files
//! may be followed.

mod limits;
pub mod names;
mod playwright;
mod read;
#[cfg(test)]
mod tests;

use crate::naming::cut_at;
pub use read::{Parsed, ReportForm, UnreadableReport, read};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The format that is written; a report with a higher number is from a newer program.
pub const VERSION: u32 = 1;

/// The folder in a task's folder, and what lies in it.
pub const FOLDER: &str = "test-results";
pub const REPORT: &str = "report.json";
pub const PAGE: &str = "index.html";
pub const SCREENSHOTS: &str = "screenshots";
pub const TRACES: &str = "traces";

/// So much of a name is shown in one line of words.
const LONGEST_NAME: usize = 120;

/// What a run of tests came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestReport {
    pub version: u32,
    pub framework: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// In milliseconds.
    pub duration: u64,
    pub summary: Summary,
    pub suites: Vec<Suite>,
    /// As it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Value>,
    /// What went wrong outside of any test, such as a file that cannot be loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// How many tests there are of each status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub pending: u64,
    /// Of those that passed: not at the first try.
    #[serde(skip_serializing_if = "is_zero")]
    pub flaky: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Suite {
    pub name: String,
    pub tests: Vec<Test>,
}

/// One test. `screenshots` and `trace` are names of files in the folders of that name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Test {
    pub name: String,
    pub status: TestStatus,
    /// In milliseconds.
    pub duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub screenshots: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// It was tried more than once; the last try counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub retries: u64,
}

crate::choice! {
    /// What became of a test.
    #[derive(Default)]
    pub enum TestStatus ("status of a test") {
        Passed = "passed",
        Failed = "failed",
        Skipped = "skipped",
        /// It has not been run.
        #[default]
        Pending = "pending",
    }
}

impl Summary {
    /// The same, with a total that its parts fit into.
    fn consistent(self) -> Summary {
        let parts = [self.passed, self.failed, self.skipped, self.pending];
        let parts = parts.into_iter().fold(0, u64::saturating_add);
        Summary {
            total: self.total.max(parts),
            flaky: self.flaky.min(self.passed),
            ..self
        }
    }
}

/// What is shown of a report without reading it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    #[serde(flatten)]
    pub summary: Summary,
    /// In milliseconds.
    pub duration: u64,
    pub framework: String,
    /// In percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// The first test that failed, with its suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// What went wrong outside of any test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub screenshots: u64,
    pub traces: u64,
}

/// A file that a report names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    pub kind: FileKind,
    /// Its name in the folder of its kind: without separators.
    pub name: String,
    pub source: FileSource,
    /// The test that has it, for messages.
    pub test: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Screenshot,
    Trace,
}

/// Where the content of such a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// In the folder of its kind beside the report, or beside it.
    Beside,
    /// As the machine that ran the tests had it, without `..`.
    Path(String),
    /// In the report itself, as base64.
    Body(String),
}

impl FileKind {
    pub fn folder(self) -> &'static str {
        match self {
            FileKind::Screenshot => SCREENSHOTS,
            FileKind::Trace => TRACES,
        }
    }
}

impl TestReport {
    /// Every test with its suite.
    pub fn tests(&self) -> impl Iterator<Item = (&Suite, &Test)> {
        let suites = self.suites.iter();
        suites.flat_map(|suite| suite.tests.iter().map(move |test| (suite, test)))
    }

    pub fn failed(&self) -> impl Iterator<Item = (&Suite, &Test)> {
        self.tests()
            .filter(|(_, test)| test.status == TestStatus::Failed)
    }

    /// The tests that took longest, longest first.
    pub fn slowest(&self, most: usize) -> Vec<(&Suite, &Test)> {
        let mut all: Vec<_> = self.tests().filter(|(_, test)| test.duration > 0).collect();
        all.sort_by_key(|(_, test)| std::cmp::Reverse(test.duration));
        all.truncate(most);
        all
    }

    /// Counts the tests.
    pub fn counted(&self) -> Summary {
        let mut sum = Summary::default();
        for (_, test) in self.tests() {
            sum.total += 1;
            match test.status {
                TestStatus::Passed => sum.passed += 1,
                TestStatus::Failed => sum.failed += 1,
                TestStatus::Skipped => sum.skipped += 1,
                TestStatus::Pending => sum.pending += 1,
            }
            sum.flaky += u64::from(test.status == TestStatus::Passed && test.retries > 0);
        }
        sum
    }

    /// In percent, where the report tells something that can be.
    pub fn coverage(&self) -> Option<f64> {
        let coverage = self.coverage.as_ref()?.get("percentage")?.as_f64();
        coverage.filter(|percent| (0.0..=100.0).contains(percent))
    }

    pub fn figures(&self) -> Figures {
        let count = |files: fn(&Test) -> usize| {
            let counts = self.tests().map(|(_, test)| files(test) as u64);
            counts.sum()
        };
        Figures {
            summary: self.summary,
            duration: self.duration,
            framework: limits::word(self.framework.clone()),
            coverage: self.coverage(),
            first_failure: self
                .failed()
                .next()
                .map(|(suite, test)| limits::word(in_full(suite, test))),
            error: self
                .errors
                .first()
                .map(|error| limits::word(first_line(error))),
            screenshots: count(|test| test.screenshots.len()),
            traces: count(|test| usize::from(test.trace.is_some())),
        }
    }
}

/// `Login Flow › should log in`
pub fn in_full(suite: &Suite, test: &Test) -> String {
    match suite.name.as_str() {
        "" => test.name.clone(),
        name => format!("{name} › {}", test.name),
    }
}

/// The first line that says something.
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.to_owned()
}

impl Figures {
    /// Whether everything that was run passed, and something was.
    pub fn all_passed(&self) -> bool {
        self.summary.failed == 0 && self.summary.passed > 0 && self.error.is_none()
    }

    /// `9 of 10 passed, 1 failed: "Login Flow › should show an error"`
    pub fn words(&self) -> String {
        let sum = &self.summary;
        if sum.total == 0 {
            return match &self.error {
                Some(error) => format!("no test was run: {}", shortened(error)),
                None => "no test was run".to_owned(),
            };
        }
        let mut parts = vec![format!("{} of {} passed", sum.passed, sum.total)];
        if sum.flaky > 0 {
            parts.push(format!("{} of them not at once", sum.flaky));
        }
        if sum.skipped > 0 {
            parts.push(format!("{} skipped", sum.skipped));
        }
        if sum.pending > 0 {
            parts.push(format!("{} not run", sum.pending));
        }
        if sum.failed > 0 {
            let first = self.first_failure.as_deref();
            let first = first.map_or(String::new(), |name| format!(": {:?}", shortened(name)));
            let more = match sum.failed - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("{} failed{first}{more}", sum.failed));
        }
        if let Some(error) = &self.error {
            parts.push(format!(
                "an error outside of any test: {}",
                shortened(error)
            ));
        }
        parts.join(", ")
    }
}

fn shortened(name: &str) -> String {
    let cut = cut_at(name, LONGEST_NAME);
    if cut.len() < name.len() {
        format!("{cut}…")
    } else {
        name.to_owned()
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

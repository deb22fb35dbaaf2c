//! The test results of a task: what the newest import came to, and the report itself.

use crate::call::Call;
use crate::error::{Code, Error, Result, err};
use crate::store::Place;
use crate::test_results::{has_results, open_own_report, report_of};
use crate::views::task;
use orange_core::task::Task;
use orange_core::work::test_results::{FOLDER, Figures, SCREENSHOTS, TestReport, read};
use orange_core::{Action, Timestamp, text};
use serde::Serialize;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// What the newest import of a task came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestResultsView {
    #[serde(flatten)]
    pub figures: Option<Figures>,
    pub imported_at: Timestamp,
    pub imported_by: String,
    /// The file of the report, or `found`.
    pub source: String,
    /// Why a newer report was not imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl TestResultsView {
    /// `9 of 10 passed, 1 failed: "Login Flow › should show an error"`
    pub fn words(&self) -> String {
        let known = self.figures.as_ref().map(Figures::words);
        let problem = self.problem.clone();
        known
            .into_iter()
            .chain(problem)
            .collect::<Vec<_>>()
            .join("; ")
    }

    pub fn all_passed(&self) -> bool {
        self.problem.is_none() && self.figures.as_ref().is_some_and(Figures::all_passed)
    }
}

/// What an import came to.
#[derive(Debug, Serialize)]
pub struct ImportView<'a> {
    pub task: &'a Task,
    pub message: &'a str,
    pub test_results: &'a Figures,
    /// Files that the report names and that are not there.
    pub missing_files: usize,
}

/// What is known of the test results of a task.
pub fn of_task(call: &Call, task: &Task) -> Result<Option<TestResultsView>> {
    let found = call.with_existing_database(|database| database.results(&task.id))?;
    Ok(found.flatten().map(|stored| TestResultsView {
        figures: stored.figures,
        imported_at: stored.at,
        imported_by: stored.by,
        source: stored.source,
        problem: stored.problem,
    }))
}

/// The same of a task whose folder may have none: then orange.db is not looked at.
pub fn of_folder(call: &Call, task: &Task, folder: &Path) -> Result<Option<TestResultsView>> {
    match has_results(folder) {
        true => of_task(call, task),
        false => Ok(None),
    }
}

/// All of it.
#[derive(Debug, Serialize)]
pub struct TestResultsDetail {
    #[serde(skip)]
    pub task: Task,
    #[serde(flatten)]
    pub about: TestResultsView,
    /// None where nothing has been imported.
    pub report: Option<TestReport>,
    pub path: PathBuf,
    /// In the folder of screenshots, whether a test names them or not.
    pub screenshot_files: Vec<String>,
}

/// The newest test results of a task.
pub fn detail(call: &Call, place: Place) -> Result<TestResultsDetail> {
    let folder = place.path.clone();
    let view = task::view(call, place)?;
    let Some(about) = of_task(call, &view.task)? else {
        let label = view.task.label();
        return Err(err!(NotFound, "{label} has no test results").hint(text!(
            "import the JSON report of a test run: {}",
            Action::import_test_results(view.task.name())
        )));
    };
    let path = report_of(&folder);
    let report = match &about.figures {
        Some(_) => Some(report(&folder, &path)?),
        None => None,
    };
    Ok(TestResultsDetail {
        task: view.task,
        about,
        report,
        path,
        screenshot_files: screenshots(&folder),
    })
}

/// Agents may write it too: only a file is read, and no link is followed.
fn report(folder: &Path, path: &Path) -> Result<TestReport> {
    let damaged = |why: &str| {
        let message = format!("{} cannot be read: {why}", path.display());
        Error::new(Code::Damaged, message).hint("import the report of the test run again")
    };
    let file = open_own_report(folder)?.map_err(damaged)?;
    let parsed = read(BufReader::new(file));
    let parsed = parsed.map_err(|error| damaged(&error.to_string()).because(error))?;
    Ok(parsed.report)
}

fn screenshots(folder: &Path) -> Vec<String> {
    let results = folder.join(FOLDER);
    let screenshots = results.join(SCREENSHOTS);
    let is_own = [&results, &screenshots]
        .into_iter()
        .all(|folder| fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()));
    let entries = is_own.then(|| fs::read_dir(screenshots));
    let entries = entries.into_iter().flatten().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

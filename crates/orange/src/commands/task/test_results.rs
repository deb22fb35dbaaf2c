//! `orange task test-results …`: what the tests of a task came to.

use crate::completion::{Wanted, files, tasks};
use crate::output::named;
use crate::session::Session;
use crate::ui::{KeyValues, Palette, Style, ago, clean};
use clap::{Args, Subcommand};
use orange_core::Timestamp;
use orange_core::naming::counted;
use orange_core::work::test_results::{TestReport, first_line, in_full};
use orange_engine::Result;
use orange_engine::verbs::test_results::{self, Imported};
use orange_engine::views::TestResultsDetail;
use orange_engine::views::test_results::{self as views, ImportView};
use std::fmt::Write;
use std::path::PathBuf;

/// How many tests are listed that failed, or took longest.
const MOST_FAILED: usize = 20;
const SLOWEST: usize = 5;

#[derive(Debug, Subcommand)]
pub(crate) enum TestResultsCommand {
    Import(ImportArgs),
    Show(TestResultsShowArgs),
}

/// Take in the report of a test run, with its screenshots and traces
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "\
FILE is a JSON report of Playwright (`npx playwright test --reporter=json`), or a folder with one. Screenshots and traces that it \
names are copied from below its folder into the task's test-results/. Of a test that was tried again the last try counts. A report \
that cannot be used is refused, and nothing changes.

Examples:
  orange test-results import TASK-001 report.json
  orange test-results import TASK-001 test-results --json"
)]
pub(crate) struct ImportArgs {
    /// The task (default: the one you are in)
    #[arg(value_name = "TASK", add = tasks(Wanted::Any))]
    id: Option<String>,
    /// The report, or the folder that it is in
    #[arg(value_name = "FILE", required = true, add = files())]
    path: PathBuf,
}

/// Show what the tests came to: figures, what failed, what took longest
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange test-results show TASK-001\n  orange test-results show TASK-001 --json | jq .test_results.report.suites"
)]
pub(crate) struct TestResultsShowArgs {
    /// The task (default: the one you are in)
    #[arg(value_name = "TASK", add = tasks(Wanted::Any))]
    id: Option<String>,
}

pub(crate) fn run(session: &Session, command: &TestResultsCommand) -> Result<()> {
    match command {
        TestResultsCommand::Import(args) => import(session, args),
        TestResultsCommand::Show(args) => show(session, args),
    }
}

fn import(session: &Session, args: &ImportArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let done = test_results::import(&session.call, place, &args.path)?;
    let task = &done.committed.task;
    let message = format!("{}: {}", task.label(), done.figures.words());
    let outcome = ImportView {
        task,
        message: &message,
        test_results: &done.figures,
        missing_files: done.missing,
    };
    session.finish(outcome, || imported(&done, &message))
}

fn imported(done: &Imported, message: &str) -> String {
    let figures = &done.figures;
    let mut lines = KeyValues::default();
    lines.add("report", done.source.display().to_string());
    let files = format!(
        "{}, {}",
        counted_files(figures.screenshots, "screenshot"),
        counted_files(figures.traces, "trace")
    );
    lines.add("files", files);
    if done.missing > 0 {
        let count = counted(done.missing, "file");
        lines.add(
            "missing",
            format!("{count} that the report names: not found below its folder"),
        );
    }
    let mut text = format!("{}\n", clean(message));
    lines.render(&mut text, Palette::stdout());
    text
}

fn counted_files(count: u64, what: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), what)
}

fn show(session: &Session, args: &TestResultsShowArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let detail = views::detail(&session.call, place)?;
    session.finish(named("test_results", &detail), || to_text(&detail))
}

fn to_text(detail: &TestResultsDetail) -> String {
    let palette = Palette::stdout();
    let about = &detail.about;
    let mut text = format!("{}: {}\n", detail.task.label(), clean(&about.words()));
    let mut lines = KeyValues::default();
    let when = ago(Timestamp::now(), about.imported_at);
    let source = clean(&about.source);
    lines.add(
        "imported",
        format!("{when} by {} from {source}", clean(&about.imported_by)),
    );
    if let Some(figures) = &about.figures {
        lines.add("took", took(figures.duration));
        if let Some(coverage) = figures.coverage {
            lines.add("coverage", format!("{coverage} %"));
        }
    }
    let screenshots = detail.screenshot_files.len();
    if screenshots > 0 {
        lines.add("screenshots", screenshots.to_string());
    }
    lines.add("report", detail.path.display().to_string());
    lines.render(&mut text, palette);
    if let Some(report) = &detail.report {
        text.push_str(&failed(report, palette));
        text.push_str(&slowest(report));
    }
    text
}

/// Each test that failed, with the first line of its error and its screenshots.
fn failed(report: &TestReport, palette: Palette) -> String {
    let mut text = String::new();
    for (suite, test) in report.failed().take(MOST_FAILED) {
        let name = in_full(suite, test);
        let _ = writeln!(
            text,
            "  {} {}",
            palette.paint(Style::Red, "✗"),
            clean(&name)
        );
        let error = test.error.as_deref().map(first_line);
        for line in error.into_iter().filter(|line| !line.is_empty()) {
            let _ = writeln!(text, "      {}", clean(&line));
        }
        let files = test.screenshots.iter().chain(&test.trace);
        let files: Vec<&str> = files.map(String::as_str).collect();
        if !files.is_empty() {
            let _ = writeln!(text, "      {}", clean(&files.join(", ")));
        }
    }
    let more = report.failed().count().saturating_sub(MOST_FAILED);
    if more > 0 {
        let _ = writeln!(text, "  … {}", counted(more, "more test"));
    }
    match text.as_str() {
        "" => text,
        _ => format!("\nfailed\n{text}"),
    }
}

fn slowest(report: &TestReport) -> String {
    let mut text = String::new();
    for (suite, test) in report.slowest(SLOWEST) {
        let _ = writeln!(
            text,
            "  {:>8}  {}",
            took(test.duration),
            clean(&in_full(suite, test))
        );
    }
    match text.as_str() {
        "" => text,
        _ => format!("\nslowest\n{text}"),
    }
}

/// `340 ms`, `1.5 s`, `5 m 0 s`
fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => format!("{} m {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}

//! `make bench`: every speed goal as a ratio, measured in this run against a floor (the least work that could
//! do the job) or a peer that does the same job. Prints one table; `--write FILE` keeps it.

mod agents;
mod cost;
mod dashboard;
mod diff;
mod fixture;
mod floor;
mod growth;
mod measure;
mod merge;
mod peers;
mod report;
mod rows;
mod scratch;
mod workspaces;

use report::{Report, Row};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: orange-bench [--write FILE] [ROW …]

ROW is list, live, show, status, change, rebuild, start, diff, workspaces, merge, dashboard, agents, harnesses, cost or growth (default: all).
spawn, create, exit, lifecycle, executor and monitor are those of agents.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        // Started by this very program, so that a floor is a process like the one it is compared with.
        Some("floor") => floor::run(&arguments[1..]),
        Some("fixture") => keep_home(&arguments[1..]),
        _ => bench(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &[String]) -> Result<()> {
    let mut write = None;
    let mut wanted = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--write" => write = Some(PathBuf::from(words.next().ok_or(USAGE)?)),
            "list" | "live" | "show" | "status" | "change" | "rebuild" | "start" | "diff"
            | "workspaces" | "merge" | "dashboard" | "agents" | "harnesses" | "cost" | "growth" => {
                wanted.push(word.as_str())
            }
            name if agents::ROWS.iter().any(|(row, _)| *row == name) => wanted.push(name),
            _ => return Err(USAGE.into()),
        }
    }
    let wants = |name: &str| wanted.is_empty() || wanted.contains(&name);
    let scratch = scratch::Scratch::new()?;
    let mut rows: Vec<Row> = Vec::new();
    // Small homes first: the large one is only built for those who need it.
    if wants("start") {
        rows.extend(rows::start(&scratch)?);
    }
    if wants("list") {
        rows.extend(rows::list(&scratch)?);
    }
    if wants("live") {
        rows.extend(rows::live(&scratch)?);
    }
    if wants("change") {
        rows.extend(rows::change(&scratch)?);
    }
    if wants("diff") {
        rows.extend(diff::rows(&scratch)?);
    }
    if wants("workspaces") {
        rows.extend(workspaces::rows(&scratch)?);
    }
    if wants("merge") {
        rows.extend(merge::rows(&scratch)?);
    }
    if wants("dashboard") {
        rows.extend(dashboard::rows(&scratch)?);
    }
    for (name, measure) in agents::ROWS {
        if wants("agents") || wants(name) {
            rows.extend(measure(&scratch)?);
        }
    }
    if wants("harnesses") {
        rows.extend(agents::harnesses(&scratch)?);
    }
    if wants("cost") {
        rows.extend(cost::rows(&scratch)?);
    }
    if wants("show") {
        rows.extend(rows::show(&scratch)?);
    }
    if wants("status") {
        rows.extend(rows::status(&scratch)?);
    }
    if wants("rebuild") {
        rows.extend(rows::rebuild(&scratch)?);
    }
    if wants("growth") {
        rows.extend(growth::rows(&scratch)?);
    }
    let report = Report::new(rows, &scratch);
    std::io::stdout().write_all(report.table().as_bytes())?;
    if let Some(path) = write {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, report.document())?;
    }
    Ok(())
}

/// A home to look at or to profile; nothing removes it.
fn keep_home(arguments: &[String]) -> Result<()> {
    let [folder, tasks] = arguments else {
        return Err("usage: orange-bench fixture FOLDER TASKS".into());
    };
    let folder = std::path::absolute(folder)?;
    fixture::Home::create(&folder, tasks.parse()?).map(drop)
}

/// Says what goes on, apart from the table.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

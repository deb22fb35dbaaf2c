//! `orange doctor`: what is wrong with tasks, databases and agent CLIs, and repairing it.

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::{Palette, Style, clean_block};
use clap::Args;
use orange_core::naming::counted;
use orange_engine::doctor::{BY_HAND, HarnessFound, Report};
use orange_engine::harness::inquiry::Login;
use orange_engine::{Code, Error};
use serde_json::{Value, json};
use std::fmt::Write;

/// Check tasks, databases and agent CLIs
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  orange doctor            say what is wrong and what a repair would do\n  orange doctor --repair   do it\n\nExits with 1 while anything is left to repair."
)]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired; nothing is thrown away
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(session: &mut Session, args: &DoctorArgs) -> Result<()> {
    let report = session.engine.doctor(args.repair)?;
    session.finish(|| as_json(&report), || as_text(&report, args.repair));
    match report.open() {
        0 => Ok(()),
        // The report is the message; the exit code is for scripts.
        _ if session.json => std::process::exit(1),
        count => Err(CommandError(
            Error::new(Code::Failed, format!("{} left", counted(count, "problem"))).hint(
                if args.repair {
                    "the list says what to do by hand"
                } else if report.repairable() {
                    "`orange doctor --repair` does what it can"
                } else {
                    "these are yours to mend"
                },
            ),
        )),
    }
}

fn as_json(report: &Report) -> Value {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "subject": finding.subject,
                "problem": finding.problem,
                "repair": finding.repair,
                "repaired": finding.repaired,
            })
        })
        .collect();
    let harnesses: Vec<Value> = report.harnesses.iter().map(harness_as_json).collect();
    json!({"doctor": {
        "tasks": report.tasks,
        "projects": report.projects,
        "findings": findings,
        "harnesses": harnesses,
    }})
}

fn harness_as_json(found: &HarnessFound) -> Value {
    let (login, detail) = match &found.login {
        Login::In(how) => ("in", how),
        Login::Out(why) => ("out", why),
        Login::Unknown(why) => ("unknown", why),
    };
    let signals = found.signals.as_ref();
    json!({
        "name": found.name,
        "installed": found.path.is_some(),
        "path": found.path,
        "install": found.install,
        "version": found.version.as_ref().ok(),
        "needed_version": found.needed.map(|needed| needed.to_string()),
        "login": login,
        "login_detail": detail,
        "note": found.note,
        "signals_work": signals.map(std::result::Result::is_ok),
    })
}

/// The agent CLIs that are there, a line each, and in one line those that are not.
fn harnesses(report: &Report, palette: Palette) -> String {
    let mut text = String::new();
    let (here, missing): (Vec<_>, Vec<_>) = report
        .harnesses
        .iter()
        .partition(|found| found.path.is_some());
    for found in here {
        let version = match (&found.version, found.needed) {
            (Ok(version), None) => version.clone(),
            (Ok(version), Some(needed)) => format!("{version}, too old: {needed} is needed"),
            (Err(why), _) => format!("version unknown ({why})"),
        };
        let login = match &found.login {
            Login::In(how) => format!("logged in ({how})"),
            Login::Out(why) => why.clone(),
            Login::Unknown(why) => format!("login unknown ({why})"),
        };
        let signals = match &found.signals {
            Some(Ok(heard)) => format!("signals work ({heard})"),
            Some(Err(silent)) => silent.clone(),
            None => "signals not tried: no agent is running".to_owned(),
        };
        let is_fine = found.needed.is_none() && !matches!(found.login, Login::Out(_));
        let mark = match is_fine && !matches!(found.signals, Some(Err(_))) {
            true => palette.green("✓"),
            false => palette.paint(Style::Yellow, "!"),
        };
        let line = format!("harness {}: {version}; {login}; {signals}", found.name);
        let _ = writeln!(text, "{mark} {}", clean_block(&line));
        if let Some(note) = &found.note {
            let _ = writeln!(text, "    {}", clean_block(note));
        }
    }
    let missing: Vec<&str> = missing.iter().map(|found| found.name.as_str()).collect();
    if !missing.is_empty() {
        let _ = writeln!(
            text,
            "  not installed: {} (`orange harness list` says how to get them)",
            missing.join(", ")
        );
    }
    text
}

fn as_text(report: &Report, repair: bool) -> String {
    let palette = Palette::stdout();
    let mut text = String::new();
    for finding in &report.findings {
        let mark = if finding.repaired {
            palette.green("✓")
        } else {
            palette.red("✗")
        };
        let _ = writeln!(
            text,
            "{mark} {}: {}",
            clean_block(&finding.subject),
            clean_block(&finding.problem)
        );
        if let Some(how) = &finding.repair {
            let verb = if repair || how.starts_with(BY_HAND) {
                ""
            } else {
                "--repair: "
            };
            let _ = writeln!(text, "    {verb}{}", clean_block(how));
        }
    }
    text.push_str(&harnesses(report, palette));
    let verdict = match report.findings.len() {
        0 => "all is well".to_owned(),
        count => format!("{count} found, {} left", report.open()),
    };
    let _ = writeln!(
        text,
        "checked {} and {}: {verdict}",
        counted(report.tasks, "task"),
        counted(report.projects, "project")
    );
    text
}

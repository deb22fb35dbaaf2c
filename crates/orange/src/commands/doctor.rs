//! `orange doctor`: what is wrong with tasks and databases, and repairing it.

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::{Palette, clean_block};
use clap::Args;
use orange_core::naming::counted;
use orange_engine::doctor::{BY_HAND, Report};
use orange_engine::{Code, Error};
use serde_json::{Value, json};
use std::fmt::Write;

/// Check tasks and databases
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
                } else {
                    "`orange doctor --repair` does what it can"
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
    json!({"doctor": {"tasks": report.tasks, "projects": report.projects, "findings": findings}})
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

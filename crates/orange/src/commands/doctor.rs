//! `orange doctor`: what is wrong with the machine, the home and what is in it, and repairing it.

mod report;

use crate::output::named;
use crate::session::Session;
use crate::ui::command::spelled;
use crate::ui::terminal_size;
use clap::Args;
use orange_core::naming::{counted, shell_word};
use orange_core::{Action, text};
use orange_engine::maintenance::doctor;
use orange_engine::views::doctor::{DoctorReport, TerminalSize};
use orange_engine::{Result, err};
use std::path::Path;

/// Check machine, home and tasks; repair what can be repaired
#[derive(Debug, Args)]
#[command(
    after_help = "A line for what is fine (✓), what you may want to know (!), what is wrong (✗) and what was repaired (+). Nothing is thrown away, and nothing that is not Orange's is touched; `orange gc` deletes what has expired.\n\nExamples:\n  orange doctor            say what is wrong and what a repair would do\n  orange doctor --repair   do it, and say what was done\n  orange doctor --disk     measure the slots too\n\nExits with 1 while anything is left to repair."
)]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired; nothing is thrown away
    #[arg(long)]
    repair: bool,
    /// Measure what each slot takes on disk; with many files this takes a while
    #[arg(long)]
    disk: bool,
}

impl DoctorArgs {
    pub(crate) fn repairs(&self) -> bool {
        self.repair
    }
}

pub(crate) fn run(session: &Session, args: &DoctorArgs) -> Result<()> {
    let mut report = doctor::doctor(&session.call, args.repair, args.disk)?;
    report.terminal = terminal_size().map(|(columns, rows)| TerminalSize { columns, rows });
    for text in report.texts_mut() {
        *text = spelled(text).into();
    }
    session.finish(named("doctor", &report), || {
        report::as_text(&report, args.repair)
    })?;
    match report.open() {
        0 => Ok(()),
        // The report is the message; the exit code is for scripts.
        _ if session.json => std::process::exit(1),
        count => {
            let what = if args.repair { "left" } else { "found" };
            let hint = match (args.repair, report.repairable()) {
                _ if report.copy_of.is_some() => in_copy(&report).into(),
                (false, true) => text!("{} does what it can", Action::repair()),
                _ => "the list says what to do by hand".into(),
            };
            Err(err!(Problems, "{} {what}", counted(count, "problem")).hint(hint))
        }
    }
}

/// What works in a home that is a copy.
fn in_copy(report: &DoctorReport) -> String {
    let original = report.copy_of.as_deref().unwrap_or(Path::new(""));
    let original = shell_word(&original.display().to_string());
    format!(
        "nothing is repaired in a copy: `ORANGE_HOME={original} orange doctor` looks at the original; to go on with this copy, rename or remove the original first, then run `orange doctor --repair` here"
    )
}

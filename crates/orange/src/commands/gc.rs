//! `orange gc`: deletes what has expired, and nothing else.

use crate::output::named;
use crate::session::Session;
use crate::ui::{Palette, Style, ago, clean_block, size};
use clap::Args;
use orange_core::Timestamp;
use orange_core::naming::counted;
use orange_engine::maintenance::gc::{self, GcReport, LeftBehind};
use orange_engine::{Result, err};
use std::fmt::Write;

/// How many of one kind are named in text; JSON has all of them.
const NAMED: usize = 10;

/// Delete expired rescues, deleted tasks, screens and rotated logs
#[derive(Debug, Args)]
#[command(
    after_help = "Each kind has a setting that says how many days it is kept: rescue.keep_days, trash.keep_days, screens.keep_days, log.keep_days. Nothing else is removed. Slots that nobody needs: `orange workspace gc`.\n\nExamples:\n  orange gc --dry-run     say what would be removed\n  orange gc"
)]
pub(crate) struct GcArgs {
    /// Remove nothing; say what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(session: &Session, args: &GcArgs) -> Result<()> {
    let report = gc::gc(&session.call, !args.dry_run)?;
    session.finish(named("gc", &report), || as_text(&report))?;
    let left = report.kinds.iter().flat_map(|swept| &swept.left);
    let failed: Vec<&LeftBehind> = left.filter(|left| left.failed).collect();
    match failed.as_slice() {
        [] => Ok(()),
        // The list is the message; the exit code is for scripts.
        _ if session.json => std::process::exit(1),
        failed => Err(err!(Failed, "{}", failure(failed))
            .hint("the list says why; what is left goes the next time")),
    }
}

fn failure(failed: &[&LeftBehind]) -> String {
    let unseen = failed.iter().filter(|left| left.unseen).count();
    let counts = [
        (failed.len() - unseen, "could not be removed"),
        (unseen, "could not be looked at"),
    ];
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let said: Vec<String> = said
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    said.join(", ")
}

fn as_text(report: &GcReport) -> String {
    let swept = &report.kinds;
    let palette = Palette::stdout();
    let now = Timestamp::now();
    let verb = if report.dry_run {
        "would remove"
    } else {
        "removed"
    };
    let mut text = String::new();
    for one in swept.iter().filter(|one| !one.items.is_empty()) {
        let what = counted(one.items.len(), one.kind.noun());
        let days = counted(one.keep_days as usize, "day");
        let bytes = match one.bytes() {
            0 => String::new(),
            bytes => format!(" ({})", size(bytes)),
        };
        let _ = writeln!(text, "{verb} {what} older than {days}{bytes}");
        for item in one.items.iter().take(NAMED) {
            let age = ago(now, item.time);
            let age = palette.paint(Style::Dim, &age);
            let _ = writeln!(text, "    {}  {age}", clean_block(&item.name));
        }
        if one.items.len() > NAMED {
            let more = one.items.len() - NAMED;
            let _ = writeln!(text, "    and {more} more (--json names all)");
        }
    }
    for left in swept.iter().flat_map(|one| &one.left) {
        let (name, why) = (clean_block(&left.name), clean_block(&left.why));
        let verb = if left.unseen {
            "could not look at"
        } else {
            "kept"
        };
        let _ = writeln!(text, "{verb} {name}: {why}");
    }
    if swept.iter().all(|one| one.items.is_empty()) {
        let mut left = swept.iter().flat_map(|one| &one.left);
        text.push_str(if left.any(|left| left.unseen || left.failed) {
            "nothing else has expired\n"
        } else {
            "nothing has expired\n"
        });
    }
    text
}

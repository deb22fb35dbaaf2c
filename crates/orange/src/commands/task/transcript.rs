//! `orange task transcript`: what was said in the iterations of a phased task, also while it is said.

mod safe;

use crate::completion::{Wanted as Of, phases, tasks};
use crate::output::{self, named};
use crate::session::Session;
use crate::signals::Signals;
use crate::ui::command::command;
use crate::ui::{Cell, Column, Extent, Palette, Style, Table, time_of_day};
use clap::Args;
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_engine::views::transcripts::{
    self, Transcript, TranscriptFollower, TranscriptNews, TranscriptPiece, WantedTranscripts,
};
use orange_engine::{Result, err};
use safe::Safe;
use std::time::Duration;

/// How often the files are looked at.
const NAP: Duration = Duration::from_millis(150);

/// Show what was said in an iteration of a phase
#[derive(Debug, Args)]
#[command(after_help = "\
Without options the newest transcript; its file is in the task's folder, in transcripts/. --follow prints what is said \
from now on, and that of the iterations that come, until nobody executes the task any more or Ctrl-C.

Examples:
  orange transcript TASK-001
  orange transcript TASK-001 --list
  orange transcript TASK-001 --phase implement --iteration 2
  orange transcript TASK-001 --follow")]
pub(crate) struct TranscriptArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Of::Phased))]
    id: Option<String>,
    /// Show a transcript of this phase
    #[arg(long, value_name = "PHASE", add = phases())]
    phase: Option<String>,
    /// Show a transcript of this iteration, counted within its phase
    #[arg(long, value_name = "N")]
    iteration: Option<u32>,
    /// List the transcripts
    #[arg(long, conflicts_with = "follow")]
    list: bool,
    /// Print what is said while the task is executed
    #[arg(long, short)]
    follow: bool,
}

pub(crate) fn run(session: &Session, args: &TranscriptArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let wanted = WantedTranscripts {
        phase: args.phase.clone(),
        iteration: args.iteration,
    };
    if args.follow {
        let follower = TranscriptFollower::new(&session.call, place, wanted)?;
        return follow(session, follower);
    }
    let (task, found) = transcripts::transcripts(&session.call, place, &wanted)?;
    if args.list {
        return session.finish_as_it_is(named("transcripts", &found), || list(&task, &found));
    }
    let Some(newest) = found.last() else {
        return Err(
            err!(NotFound, "{} has no transcript yet", task.label()).hint(text!(
                "there is one once a phase is executed; {} says what it waits for",
                Action::explain(task.name())
            )),
        );
    };
    if session.json {
        return print_json(newest);
    }
    output::notices(&session.call.take_notices());
    let mut safe = Safe::default();
    let mut reads_on = true;
    transcripts::read(newest, &mut |piece| {
        reads_on = output::print_piece(safe.piece(piece).as_bytes());
        reads_on
    })?;
    if reads_on {
        output::print(&safe.rest());
    }
    Ok(())
}

/// `{"transcript": {…, "text": "…"}}`, whose text is as long as the file and is not held in memory.
fn print_json(transcript: &Transcript) -> Result<()> {
    let keys = output::as_json(transcript)?;
    let keys = keys.strip_suffix('}').unwrap_or(&keys);
    if !output::write(format!("{{\"transcript\":{keys},\"text\":\"").as_bytes())? {
        return Ok(());
    }
    let mut safe = Safe::as_said();
    let mut reads_on = true;
    transcripts::read(transcript, &mut |piece| {
        reads_on = output::print_piece(json_text(&safe.piece(piece)).as_bytes());
        reads_on
    })?;
    if reads_on {
        output::write(format!("{}\"}}}}\n", json_text(&safe.rest())).as_bytes())?;
    }
    Ok(())
}

/// A text as it stands between the quotes of a JSON string.
fn json_text(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    let inner = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'));
    crate::ui::escaped_controls(inner.unwrap_or_default()).into_owned()
}

fn follow(session: &Session, mut follower: TranscriptFollower<'_>) -> Result<()> {
    let signals = Signals::watch();
    if !follower.is_at_work() {
        output::note("nobody executes the task now; this is the last that was said");
    }
    let mut safe = if session.json {
        Safe::as_said()
    } else {
        Safe::default()
    };
    let mut name = String::new();
    let json = session.json;
    let show = |name: &str, text: &str| {
        if json {
            text.is_empty()
                || output::print_json(&TranscriptPiece {
                    transcript: name,
                    text,
                })
        } else {
            output::print_piece(text.as_bytes())
        }
    };
    let mut has_begun = false;
    loop {
        let goes_on = follower.news(&mut |news| match news {
            TranscriptNews::Begins(next) => {
                let rest = std::mem::take(&mut safe.rest());
                let between = if has_begun && !json { "\n" } else { "" };
                let reads_on = show(&name, &format!("{rest}{between}"));
                next.clone_into(&mut name);
                has_begun = true;
                reads_on
            }
            TranscriptNews::Text(bytes) => show(&name, &safe.piece(bytes)),
        })?;
        if !goes_on || output::is_closed(NAP) {
            break;
        }
        signals.obey();
    }
    show(&name, &safe.rest());
    Ok(())
}

const COLUMNS: &[Column] = &[
    Column::new("PHASE"),
    Column::new("ITERATION"),
    Column::new("BEGAN"),
    Column::new("OUTCOME"),
    Column::new("COST"),
    Column::new("FILE").flexible(),
];

fn list(task: &Task, found: &[Transcript]) -> String {
    if found.is_empty() {
        return format!("{} has no transcripts yet\n", task.label());
    }
    let mut text = String::new();
    let mut table = Table::new(COLUMNS);
    for transcript in found {
        let about = transcript.about.as_deref();
        let began = about.map(|about| time_of_day(about.started_at));
        let outcome = about.map(|about| match about.outcome {
            Some(outcome) => about.kind.words_of(outcome),
            None => "open",
        });
        table.row([
            Cell::new(transcript.phase.as_str(), Style::Bold),
            Cell::new(transcript.iteration.to_string(), Style::Plain),
            Cell::new(began.unwrap_or_default(), Style::Dim),
            Cell::new(outcome.unwrap_or_default(), Style::Plain),
            Cell::new(transcript.usage().in_brief(), Style::Plain),
            Cell::new(transcript.name.as_str(), Style::Dim),
        ]);
    }
    table.render(&mut text, Extent::stdout(), Palette::stdout());
    let folder = command(&Action::task_folder(task.name()));
    text.push_str(&format!("\nin transcripts/ of \"$({folder})\"\n"));
    text
}

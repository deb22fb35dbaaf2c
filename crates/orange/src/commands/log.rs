//! `orange log`: what happened, from orange.log and the files it was before.

mod shown;

use crate::completion::{Wanted, tasks, words};
use crate::log::follow::LogFollower;
use crate::log::read::{LogPart, parts};
use crate::log::record::{LEVELS, LogFilter, LogLine};
use crate::output::{self, named};
use crate::session::Session;
use crate::signals::Signals;
use clap::Args;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use orange_core::config::time_span;
use orange_core::suggest::meant;
use orange_engine::event_log::COMPONENTS;
use orange_engine::{IoContext, Result, access, err};
use shown::{LogLayout, to_json};
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::time::Duration;

/// How many lines are shown unless somebody says.
const LINES: usize = 50;
/// How often the file is looked at for more.
const NAP: Duration = Duration::from_millis(100);

/// Show what happened: everything that was journalled, and what went wrong
#[derive(Debug, Args)]
#[command(after_help = "\
Lines stand in ~/orange/orange.log, which is renamed at 10 MB; three earlier files are kept and read too. \
ORANGE_LOG_LEVEL=debug logs more. On a terminal the level is named unless it is info; elsewhere always.

Examples:
  orange log                            the last 50 lines
  orange log --level warn --since 8h    what went wrong tonight
  orange log TASK-001                   all about one task
  orange log --component merge --grep conflict
  orange log --follow                   and what comes; Ctrl-C ends it
  orange log --json --lines 1000 | jq '.log[].message'")]
pub(crate) struct LogArgs {
    /// Only about this task (the same as --task)
    #[arg(add = tasks(Wanted::Open), conflicts_with = "task")]
    id: Option<String>,
    /// Print the newest N lines (default: 50)
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
    /// Only this level and worse
    #[arg(long, value_parser = LEVELS)]
    level: Option<String>,
    /// Only of this part of Orange: task, agent, message, merge, check, hook, file, …
    #[arg(long, value_name = "NAME", add = words(COMPONENTS))]
    component: Option<String>,
    /// Only lines with this text, in capitals or not
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Only about this task
    #[arg(long, value_name = "ID", add = tasks(Wanted::Open))]
    task: Option<String>,
    /// Only since then: 30m, 8h, or 2026-11-15, "2026-11-15 03:00"
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<SinceTime>,
    /// Print new lines as they are written
    #[arg(long, short)]
    follow: bool,
}

impl LogArgs {
    fn about(&self) -> Option<&String> {
        self.id.as_ref().or(self.task.as_ref())
    }
}

/// A time, and how it was said.
#[derive(Debug, Clone)]
struct SinceTime {
    time: Timestamp,
    said: String,
}

fn since(text: &str) -> std::result::Result<SinceTime, String> {
    // `8h` is a span, and every time has a minus or a colon.
    let said = if text.contains(['-', ':']) {
        format!("since {text}")
    } else {
        format!("in the last {text}")
    };
    Ok(SinceTime {
        time: time_of(text)?,
        said,
    })
}

/// A time span before now, or a time here.
pub(crate) fn time_of(text: &str) -> std::result::Result<Timestamp, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
    let days = days.map(|days: u32| Duration::from_secs(u64::from(days) * 24 * 60 * 60));
    if let Some(span) = time_span(text).or(days) {
        let time = Timestamp::now().checked_sub(span);
        return time.map_err(|error| error.to_string());
    }
    let here = |time: DateTime| time.to_zoned(TimeZone::system()).ok();
    let time = text.parse::<Timestamp>().ok();
    time.or_else(|| Some(here(text.parse().ok()?)?.timestamp()))
        .ok_or_else(|| "neither a time span (30m, 8h, 2d) nor a time (2026-11-15 03:00)".to_owned())
}

pub(crate) fn run(session: &Session, args: &LogArgs) -> Result<()> {
    access::not_for_a_judge(&session.call, "read the log")?;
    if args.lines == Some(0) && !args.follow {
        return Err(err!(Usage, "--lines 0 shows nothing")
            .hint("name a larger number; with --follow, 0 shows only what comes"));
    }
    let wanted = LogFilter {
        level: args.level.as_ref().and_then(|level| rank(level)),
        component: args.component.clone(),
        text: args.grep.as_ref().map(|text| text.to_lowercase()),
        since: args.since.as_ref().map(|since| since.time),
        task: match args.about() {
            Some(name) => Some(task_id(session, name)?),
            None => None,
        },
    };
    let home = session.call.store().home().to_owned();
    let path = home.join("orange.log");
    // Only who follows has something to end in order.
    let signals = args.follow.then(Signals::watch);
    let mut files = parts(&home).doing("read", &path)?;
    if args.follow {
        for file in &mut files {
            file.leave_open_line().doing("read", &path)?;
        }
    }
    let most = args.lines.unwrap_or(LINES);
    let found = last_lines(&files, &wanted, most).doing("read", &path)?;
    if let Some(component) = &args.component {
        known_component(component, &found.components)?;
    }
    let layout = LogLayout::of(found.lines.iter());
    // With --lines, older lines are not mentioned.
    let more = found.more && args.lines.is_none();
    if !args.follow {
        let is_empty = found.lines.is_empty();
        session.finish_as_it_is(
            named("log", found.lines.iter().map(to_json).collect::<Vec<_>>()),
            || {
                let lines = found.lines.iter().map(|line| layout.line(line));
                layout.earlier(more) + &lines.collect::<String>()
            },
        )?;
        match (is_empty && !session.json, found.looked_at) {
            (true, 0) => output::note(&format!("nothing has been logged yet ({})", path.display())),
            (true, _) => output::note(&nothing(args)),
            (false, _) => {}
        }
        return Ok(());
    }
    let show = |line: &LogLine| {
        if session.json {
            output::print_json(&to_json(line))
        } else {
            output::print_piece(layout.line(line).as_bytes())
        }
    };
    let mut read_on = found.lines.iter().all(&show);
    let mut follower = LogFollower::after(&home, files);
    while read_on && !output::is_closed(NAP) {
        if let Some(signals) = &signals {
            signals.obey();
        }
        for bytes in follower.news().doing("read", &path)? {
            let line = LogLine::read(&bytes);
            let shown = !line.raw.trim().is_empty() && wanted.wants(&line);
            read_on = read_on && (!shown || show(&line));
        }
    }
    Ok(())
}

fn nothing(args: &LogArgs) -> String {
    let mut text = match args.level.as_deref() {
        Some("error") => "no errors".to_owned(),
        Some("warn") => "no warnings or errors".to_owned(),
        Some(level) => format!("no lines of level {level} or worse"),
        None => "no lines".to_owned(),
    };
    let conditions = [
        ("of component", args.component.clone()),
        ("about", args.about().cloned()),
        ("with", args.grep.as_ref().map(|text| format!("{text:?}"))),
    ];
    for (word, value) in conditions {
        if let Some(value) = value {
            let _ = write!(text, " {word} {value}");
        }
    }
    match &args.since {
        Some(since) => text + " " + &since.said,
        None => text + " in the log",
    }
}

fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// The id of a task; of one that is gone the log may still tell.
fn task_id(session: &Session, name: &str) -> Result<String> {
    const LENGTH_OF_IDS: usize = 21;
    match session.task(Some(name)) {
        Ok(_) => Ok(session.view(Some(name))?.task.id),
        Err(_) if name.len() == LENGTH_OF_IDS => Ok(name.to_owned()),
        Err(error) => Err(error),
    }
}

/// The newest lines that are wanted, and what was seen on the way.
#[derive(Default)]
struct FoundLines {
    lines: VecDeque<LogLine>,
    /// There are earlier ones that are wanted, too.
    more: bool,
    looked_at: usize,
    components: BTreeSet<String>,
}

fn last_lines(files: &[LogPart], wanted: &LogFilter, most: usize) -> std::io::Result<FoundLines> {
    let mut found = FoundLines::default();
    for file in files {
        let go_on = file.backwards(|bytes| {
            found.looked_at += 1;
            // Not the end: a clock that was wrong for a while does not hide what was logged before.
            if wanted.is_too_old(bytes) {
                return true;
            }
            let line = LogLine::read(bytes);
            if let Some(record) = &line.record
                && !found.components.contains(&record.component)
            {
                found.components.insert(record.component.clone());
            }
            if wanted.wants(&line) {
                found.more = found.lines.len() >= most;
                if !found.more {
                    found.lines.push_front(line);
                }
            }
            !found.more
        })?;
        if !go_on {
            break;
        }
    }
    Ok(found)
}

/// A component that nothing was logged of may be a slip of the fingers.
fn known_component(name: &str, seen: &BTreeSet<String>) -> Result<()> {
    let mut known: BTreeSet<&str> = COMPONENTS.iter().copied().collect();
    known.extend(seen.iter().map(String::as_str));
    if known.contains(name) {
        return Ok(());
    }
    let meant = meant(name, known.iter().copied());
    let all = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(err!(Usage, "no line of the log is of a component {name:?}")
        .hint(format!("{meant}there are {all}")))
}

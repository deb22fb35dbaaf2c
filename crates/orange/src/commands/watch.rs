//! `orange watch`: the monitor without a screen, and a line for everything that happens.

use super::inbox::to_text;
use crate::output;
use crate::session::Session;
use crate::ui::command::spelled;
use crate::ui::{Extent, clean, local, wrapped_under};
use clap::Args;
use orange_core::attention::answer;
use orange_core::history::Event;
use orange_core::naming::counted;
use orange_core::text;
use orange_core::timeline::{self, Weight};
use orange_engine::Result;
use orange_engine::background::monitor::Monitor;
use orange_engine::index::list::{Filter, Listed};
use orange_engine::settings;
use orange_engine::views::{inbox, list, task};
use serde::Serialize;
use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often files are looked at for news to print.
const NAP: Duration = Duration::from_millis(500);

/// Watch over all agents, and print what happens
#[derive(Debug, Args)]
#[command(after_help = "\
It begins with what needs you now, as `orange inbox` lists it. Agents report their own end at once; this notices what ended without a word: a killed tmux server, a reboot.

Examples:
  orange watch
  orange watch --once                 one look, then end
  orange watch --json                 one JSON object a line")]
pub(crate) struct WatchArgs {
    /// Look once and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(session: &Session, args: &WatchArgs) -> Result<()> {
    session.people_only("watch over others")?;
    let interval = settings::config(&session.call)?.monitor.interval;
    let only_prints = settings::has_lenient_config(&session.call);
    output::notices(&session.call.take_notices());
    if only_prints {
        output::note(
            "nothing is seen to with such settings: this only prints what happens; start it again once they are corrected",
        );
    }
    let mut monitor = Monitor::default();
    let mut news = News::default();
    news.read(session, false)?;
    if !args.once && !session.json && std::io::stderr().is_terminal() {
        // Nothing may happen for a long time; that must not look like a program that hangs.
        let projects = session.call.projects().map_or(0, |known| known.len());
        let projects = counted(projects, "project");
        output::say(&format!("watching {projects}; Ctrl-C ends\n"));
    }
    if !session.json {
        let waiting = inbox::inbox(&session.call, &[])?;
        if !waiting.is_empty() {
            output::print(&to_text(&waiting, Extent::stdout()));
            output::print("\n");
        }
    }
    let mut next = Instant::now();
    let mut told_to_follow = false;
    loop {
        if !only_prints && Instant::now() >= next {
            next = Instant::now() + interval;
            let tick = monitor.tick(&session.call)?;
            if tick.follows && !told_to_follow {
                told_to_follow = true;
                output::note("another orange watches already; this one only prints");
            }
            output::notices(&session.call.take_notices());
        }
        news.read(session, true)?;
        if args.once {
            return Ok(());
        }
        std::thread::sleep(NAP);
    }
}

/// How far each journal was read.
#[derive(Default)]
struct News {
    seen: HashMap<String, usize>,
}

impl News {
    fn read(&mut self, session: &Session, print: bool) -> Result<()> {
        let filter = Filter {
            all: true,
            ..Filter::default()
        };
        let mut lines: Vec<(Event, Listed)> = Vec::new();
        for row in list::list(&session.call, &filter)? {
            let place = session.call.store().place(&row.folder);
            let length = std::fs::metadata(place.journal()).map_or(0, |found| found.len());
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let before = self.seen.insert(row.folder.clone(), length);
            // A task that is new since the last look is news from its first event on.
            let from = before.unwrap_or(if print { 0 } else { length });
            if !print || length <= from {
                continue;
            }
            for event in task::events_since(&place, from)? {
                lines.push((event, row.clone()));
            }
        }
        lines.sort_by_key(|(event, _)| event.timestamp);
        for (event, row) in lines {
            let label = row.key.map_or(row.id.clone(), |key| key.to_string());
            let project = &row.project;
            if session.json {
                output::print_json(&EventLine {
                    project,
                    task: &label,
                    event: &event,
                });
            } else if let Some(text) = told(&event) {
                let at = local(event.timestamp, "%H:%M:%S");
                let answer = answer(&event, row.name()).map(|how| text!(" (answer: {})", how));
                let text = format!("{text}{}", spelled(&answer.unwrap_or_default()));
                let text = clean(&text);
                let line = format!("{at} {project} {label} {text}\n");
                output::print(&wrapped_under(&line, at.len() + 1, Extent::stdout()));
            }
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct EventLine<'a> {
    project: &'a str,
    task: &'a str,
    event: &'a Event,
}

/// An event as a line for people; None for what only machines need.
pub(crate) fn told(event: &Event) -> Option<String> {
    let matters = matches!(timeline::weight(event), Weight::Story | Weight::Trouble);
    matters.then(|| {
        let words = spelled(&timeline::event_text(event));
        format!("{} {words}", timeline::who(event))
    })
}

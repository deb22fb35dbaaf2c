//! `orange watch`: the monitor without a screen, and a line for everything that happens.

use crate::error::Result;
use crate::output;
use crate::session::Session;
use crate::ui::{clean, clock, time_of_day};
use clap::Args;
use orange_core::history::{Event, EventType};
use orange_engine::index::list::Filter;
use orange_engine::monitor::Monitor;
use orange_engine::runs::State;
use serde_json::json;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How often files are looked at for news to print.
const NAP: Duration = Duration::from_millis(500);

/// Watch over all agents, and print what happens
#[derive(Debug, Args)]
#[command(after_help = "\
Agents report their own end at once; this notices what ended without a word: a killed tmux server, a reboot.

Examples:
  orange watch
  orange watch --once                 one look, then end
  orange watch --json                 one JSON object a line")]
pub(crate) struct WatchArgs {
    /// Look once and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(session: &mut Session, args: &WatchArgs) -> Result<()> {
    session.people_only("watch over others")?;
    let interval = session.engine.config()?.monitor.interval;
    let mut monitor = Monitor::new();
    let mut news = News::default();
    news.read(session, false)?;
    let mut next = Instant::now();
    let mut told_to_follow = false;
    loop {
        if Instant::now() >= next {
            next = Instant::now() + interval;
            let tick = monitor.tick(&mut session.engine)?;
            if tick.follows && !told_to_follow {
                told_to_follow = true;
                output::note("another orange watches already; this one only prints");
            }
            for notice in session.engine.take_notices() {
                output::note(&notice);
            }
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
    fn read(&mut self, session: &mut Session, print: bool) -> Result<()> {
        let filter = Filter {
            all: true,
            ..Filter::default()
        };
        let mut lines: Vec<(Event, String, String)> = Vec::new();
        for row in session.engine.list(&filter)? {
            let place = session.engine.store().place(&row.folder);
            let length = std::fs::metadata(place.journal()).map_or(0, |found| found.len());
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let before = self.seen.insert(row.folder.clone(), length);
            // A task that is new since the last look is news from its first event on.
            let from = before.unwrap_or(if print { 0 } else { length });
            if !print || length <= from {
                continue;
            }
            let label = row.key.map_or(row.id, |key| key.to_string());
            for event in session.engine.events_since(&place, from)? {
                lines.push((event, label.clone(), row.project.clone()));
            }
        }
        lines.sort_by_key(|(event, _, _)| event.timestamp);
        for (event, label, project) in lines {
            if session.json {
                output::print(&format!(
                    "{}\n",
                    json!({"project": project, "task": label, "event": event})
                ));
            } else if let Some(text) = told(&event) {
                let at = clock(event.timestamp);
                output::print(&format!("{at} {project} {label} {}\n", clean(&text)));
            }
        }
        Ok(())
    }
}

/// A state that people want to hear of: what holds an agent up, and that it goes on.
fn told_state(event: &Event, role: &str, state: &str) -> Option<String> {
    let time = |name: &str| {
        let time = event.details.get(name)?.as_str()?.parse().ok()?;
        Some(time_of_day(time))
    };
    let reason = event.reason.as_deref().unwrap_or_default();
    match state.parse().ok()? {
        State::Waiting => Some(format!(
            "{role} waiting until {} (usage limit)",
            time("until")?
        )),
        State::Failed => Some(match time("again") {
            Some(again) => format!("{role} failed, goes on at {again}: {reason}"),
            None => format!("{role} failed: {reason}"),
        }),
        State::Working => Some(format!("{role} goes on")),
        State::Starting
        | State::AsksPermission
        | State::WaitsForInput
        | State::Idle
        | State::Finished
        | State::Running => None,
    }
}

/// An event as a line for people; None for what only machines need.
pub(crate) fn told(event: &Event) -> Option<String> {
    let detail = |name: &str| event.details.get(name).and_then(serde_json::Value::as_str);
    let role = detail("role").unwrap_or("agent");
    let reason = event.reason.as_deref().unwrap_or_default();
    let because = match reason {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    if event.kind == EventType::TaskCreated {
        return Some("created".into());
    }
    if event.kind == EventType::StatusChanged {
        let (from, to) = (event.from.as_deref()?, event.to.as_deref()?);
        return Some(format!("{from} → {to}{because}"));
    }
    if event.kind == EventType::AgentSpawned {
        return Some(format!(
            "{role} started: {}",
            detail("harness").unwrap_or_default()
        ));
    }
    if event.kind == EventType::AgentExited {
        return Some(format!("{role} ended: {reason}"));
    }
    if event.kind == EventType::AgentCrashed {
        return Some(format!("{role} crashed: {reason}"));
    }
    if event.kind == EventType::AgentStopped {
        return Some(format!("{role} stopped"));
    }
    if event.kind == EventType::AgentNudged {
        return Some(format!("{role} nudged"));
    }
    if event.kind == EventType::AgentState {
        return told_state(event, role, detail("state")?);
    }
    if event.kind == EventType::MessageDelivered {
        return Some("message delivered".into());
    }
    if event.kind == EventType::MessageFailed {
        return Some(format!("message not delivered: {reason}"));
    }
    if event.kind == EventType::AttentionRaised {
        return Some(format!("needs attention: {reason}"));
    }
    if event.kind == EventType::HookFailed {
        let hook = event.hook.as_deref().unwrap_or("a hook");
        return Some(format!("{hook} failed: {reason}"));
    }
    None
}

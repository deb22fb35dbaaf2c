//! `orange watch`: the monitor without a screen, and a line for everything that happens.

use super::inbox::to_text;
use crate::output;
use crate::session::Session;
use crate::ui::command::spelled;
use crate::ui::{Extent, clean, local, wrapped_under};
use clap::Args;
use orange_core::attention::answer;
use orange_core::history::Event;
use orange_core::id::Key;
use orange_core::naming::counted;
use orange_core::task::{Status, Task};
use orange_core::timeline::{self, EventWeight};
use orange_core::{TaskName, text};
use orange_engine::Result;
use orange_engine::background::monitor::Monitor;
use orange_engine::index::list::{ListedTask, TaskFilter};
use orange_engine::settings;
use orange_engine::store::Place;
use orange_engine::store::feed::{Feed, HomeChange};
use orange_engine::views::{EventLine, inbox, list, task};
use std::collections::{BTreeSet, HashMap};
use std::io::IsTerminal;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Watch over all agents, and print what happens
#[derive(Debug, Args)]
#[command(after_help = "\
It begins with what needs you now, as `orange inbox` lists it. Agents report their own end at once; this notices what ended without a word: a killed tmux server, a reboot.

Examples:
  orange watch
  orange watch --once                 one look, then end
  orange watch --json                 one JSON object a line")]
pub(crate) struct WatchArgs {
    /// Check once and exit
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
    let mut watch = MonitorWatch {
        session,
        monitor: Monitor::default(),
        interval: (!only_prints).then_some(interval),
        next_tick: Instant::now(),
        told_to_follow: false,
        news: PrintedEvents::default(),
    };
    // Before the first look, so that no change falls between the two.
    let feed = (!args.once).then(|| Feed::open(session.call.store()));
    watch.news.read_all(session, false)?;
    if feed.is_some() && !session.json && std::io::stderr().is_terminal() {
        // Nothing may happen for a long time; that must not look like a program that hangs.
        let projects = session.call.projects().map_or(0, |known| known.len());
        let projects = counted(projects, "project");
        output::say(&format!("watching {projects}; Ctrl-C ends\n"));
    }
    watch.tell_beginning()?;
    if let Some(mut feed) = feed {
        return watch.follow(&mut feed);
    }
    watch.tick()?;
    watch.news.read_all(session, true)
}

/// The monitor, and what was printed of its home.
struct MonitorWatch<'a> {
    session: &'a Session,
    monitor: Monitor,
    /// How often the monitor looks; None if this only prints.
    interval: Option<Duration>,
    next_tick: Instant,
    told_to_follow: bool,
    news: PrintedEvents,
}

impl MonitorWatch<'_> {
    /// Prints what needs a person now.
    fn tell_beginning(&self) -> Result<()> {
        if self.session.json {
            return Ok(());
        }
        let waiting = inbox::inbox(&self.session.call, &[])?;
        if !waiting.is_empty() {
            output::print(&to_text(&waiting, Extent::stdout()));
            output::print("\n");
        }
        Ok(())
    }

    fn follow(&mut self, feed: &mut Feed) -> Result<()> {
        feed.watch_tasks(self.news.open.iter().cloned());
        loop {
            self.tick()?;
            let until_tick = self.next_tick.saturating_duration_since(Instant::now());
            let timeout = self.interval.map_or(Duration::MAX, |_| until_tick);
            match feed.next(timeout) {
                HomeChange::Tasks(folders) => self.news.read_tasks(self.session, &folders)?,
                HomeChange::Rescan => self.news.read_all(self.session, true)?,
                // What agents signal is news once it is journalled.
                HomeChange::Runs | HomeChange::Nothing => continue,
            }
            feed.watch_tasks(self.news.open.iter().cloned());
        }
    }

    /// Has the monitor look, if it is time.
    fn tick(&mut self) -> Result<()> {
        let Some(interval) = self.interval.filter(|_| Instant::now() >= self.next_tick) else {
            return Ok(());
        };
        self.next_tick = Instant::now() + interval;
        let tick = self.monitor.tick(&self.session.call)?;
        if tick.follows && !self.told_to_follow {
            self.told_to_follow = true;
            output::note("another orange watches already; this one only prints");
        }
        output::notices(&self.session.call.take_notices());
        Ok(())
    }
}

/// What was printed so far.
#[derive(Default)]
struct PrintedEvents {
    /// How far each journal was read, by the task's folder.
    read: HashMap<String, usize>,
    /// The folders of tasks that are not over.
    open: BTreeSet<String>,
}

/// A task whose events are printed.
struct Named {
    folder: String,
    project: String,
    key: Option<Key>,
    id: String,
    is_over: bool,
}

impl PrintedEvents {
    /// Looks at every task, and prints what is new, or only remembers it.
    fn read_all(&mut self, session: &Session, print: bool) -> Result<()> {
        let filter = TaskFilter {
            all: true,
            ..TaskFilter::default()
        };
        let mut lines = Vec::new();
        self.open.clear();
        for row in list::list(&session.call, &filter)? {
            let task = Rc::new(Named::listed(row));
            self.read(session, task, print, &mut lines)?;
        }
        print_lines(session, lines);
        Ok(())
    }

    /// Looks at some tasks, and prints what is new.
    fn read_tasks(&mut self, session: &Session, folders: &[String]) -> Result<()> {
        let mut lines = Vec::new();
        for folder in folders {
            let place = session.call.store().place(folder);
            if place.journal().exists() {
                let task = session.call.store().survey(folder).task;
                self.read(session, Rc::new(Named::of(&place, task)), true, &mut lines)?;
            } else {
                self.open.remove(folder);
            }
        }
        print_lines(session, lines);
        Ok(())
    }

    fn read(
        &mut self,
        session: &Session,
        task: Rc<Named>,
        print: bool,
        lines: &mut Vec<(Event, Rc<Named>)>,
    ) -> Result<()> {
        let place = session.call.store().place(&task.folder);
        let length = std::fs::metadata(place.journal()).map_or(0, |found| found.len());
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let before = self.read.insert(task.folder.clone(), length);
        if task.is_over {
            self.open.remove(&task.folder);
        } else {
            self.open.insert(task.folder.clone());
        }
        // A task that is new since the last look is news from its first event on.
        let from = before.unwrap_or(if print { 0 } else { length });
        if !print || length <= from {
            return Ok(());
        }
        let (events, end) = task::events_since(&place, from)?;
        self.read.insert(task.folder.clone(), end);
        lines.extend(events.into_iter().map(|event| (event, task.clone())));
        Ok(())
    }
}

impl Named {
    fn listed(row: ListedTask) -> Named {
        Named {
            is_over: row.status.parse().is_ok_and(Status::is_terminal),
            folder: row.folder,
            project: row.project,
            key: row.key,
            id: row.id,
        }
    }

    fn of(place: &Place, task: Task) -> Named {
        Named {
            is_over: task.status.is_terminal(),
            folder: place.folder(),
            project: task.project,
            key: task.key,
            id: task.id,
        }
    }

    fn name(&self) -> TaskName {
        TaskName::new(&self.project, self.key, &self.id)
    }
}

fn print_lines(session: &Session, mut lines: Vec<(Event, Rc<Named>)>) {
    lines.sort_by_key(|(event, _)| event.timestamp);
    for (event, task) in lines {
        let label = task.key.map_or(task.id.clone(), |key| key.to_string());
        let project = &task.project;
        if session.json {
            output::print_json(&EventLine {
                project,
                task: &label,
                event: &event,
            });
        } else if let Some(text) = told(&event) {
            let at = local(event.timestamp, "%H:%M:%S");
            let answer = answer(&event, task.name()).map(|how| text!(" (answer: {})", how));
            let text = format!("{text}{}", spelled(&answer.unwrap_or_default()));
            let text = clean(&text);
            let line = format!("{at} {project} {label} {text}\n");
            output::print(&wrapped_under(&line, at.len() + 1, Extent::stdout()));
        }
    }
}

/// An event as a line for people; None for what only machines need.
pub(crate) fn told(event: &Event) -> Option<String> {
    let matters = matches!(
        timeline::weight(event),
        EventWeight::Story | EventWeight::Trouble
    );
    matters.then(|| {
        let words = spelled(&timeline::event_text(event));
        format!("{} {words}", timeline::who(event))
    })
}

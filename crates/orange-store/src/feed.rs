//! The feed: tells a process that shows tasks (`watch`, the dashboard, a server) what changed, soon after it did. Every commit appends a
//! line to feed.jsonl; [`Feed`] watches that file, the folders of open tasks for edits by hand, and the folders of runs. The feed is
//! a hint and never the truth: lines may be lost, and a rescan makes up for them. Read this file, then `feed/append.rs`.

mod append;
mod tail;
#[cfg(test)]
mod tests;
mod watches;

use crate::Store;
pub use append::FeedLine;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tail::Tail;
use watches::{FileSignals, Watches};

/// The feed's file in the home.
pub const FEED: &str = "feed.jsonl";
/// Its predecessor.
pub const FEED_BEFORE: &str = "feed.jsonl.1";

/// How often everything is to be looked at, whatever was reported.
const RESCAN_INTERVAL: Duration = Duration::from_secs(30);
/// The shortest time between two rescans, should reports be lost again and again.
const RESCAN_GAP: Duration = Duration::from_millis(500);
/// So many tasks are watched for edits by hand, the first ones that are named: watches of files are few, and other programs of the
/// user need some. Of the rest, edits by hand show at the next rescan.
const MOST_WATCHED: usize = 1000;
/// How often feed.jsonl is looked at where the system reports no changes of files.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What changed in a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HomeChange {
    /// These tasks, by their folders (`project/name`), in order: committed, edited by hand, deleted or restored.
    Tasks(Vec<String>),
    /// Something about running agents: a signal, a question, a message, a start or an end.
    Runs,
    /// Anything: reports were lost, projects changed, or nothing was compared with the disk for 30 seconds.
    Rescan,
    /// Nothing, until the time was over.
    Nothing,
}

/// A reader of the feed. What a caller reads after [`Feed::open`] and [`Feed::watch_tasks`] misses no later change.
pub struct Feed {
    home: PathBuf,
    tail: Tail,
    /// None where the system reports no changes of files: then feed.jsonl is polled.
    watches: Option<Watches>,
    /// There was no home when last looked.
    is_home_missing: bool,
    /// The folders of tasks whose files are to be watched.
    tasks: BTreeSet<String>,
    /// There is news of runs, to be told next.
    has_run_news: bool,
    rescan_at: Instant,
    last_rescan: Option<Instant>,
}

impl Feed {
    /// Starts at the end of the feed. The home need not exist yet.
    pub fn open(store: &Store) -> Feed {
        let home = store.home().to_owned();
        // The watch comes first, so that no line falls between the two.
        let watches = Watches::start(&home);
        Feed {
            tail: Tail::at_end(&home),
            watches,
            is_home_missing: !home.is_dir(),
            home,
            tasks: BTreeSet::new(),
            has_run_news: false,
            rescan_at: Instant::now() + RESCAN_INTERVAL,
            last_rescan: None,
        }
    }

    /// Watches the files of these tasks and of no others: those that are not over, by their folders (`project/name`), the ones
    /// that matter most first. Returns true if some of them were not watched before: what was read of those may have changed
    /// since.
    pub fn watch_tasks(&mut self, folders: impl IntoIterator<Item = String>) -> bool {
        let before = std::mem::take(&mut self.tasks);
        self.tasks = folders.into_iter().take(MOST_WATCHED).collect();
        if let Some(watches) = &mut self.watches {
            watches.watch_tasks(&self.tasks);
        }
        !self.tasks.is_subset(&before)
    }

    /// Returns true if the system does not report changes of files: a limit is reached, or there is no home yet. Commits still
    /// show soon; edits by hand and signals of agents wait for the next rescan.
    pub fn is_polling(&self) -> bool {
        self.watches.is_none()
    }

    /// Waits for the next change, for at most `timeout`. Changes that follow each other within a few milliseconds are one.
    pub fn next(&mut self, timeout: Duration) -> HomeChange {
        if std::mem::take(&mut self.has_run_news) {
            return HomeChange::Runs;
        }
        let deadline = Instant::now().checked_add(timeout);
        loop {
            // First: a flood of other changes must not put it off.
            let now = Instant::now();
            if now >= self.rescan_at {
                return self.rescan(now);
            }
            let until = deadline.map_or(self.rescan_at, |deadline| deadline.min(self.rescan_at));
            let signals = self.wait(until);
            if let Some(change) = self.change_of(signals) {
                return change;
            }
            let now = Instant::now();
            if now < self.rescan_at && deadline.is_some_and(|deadline| now >= deadline) {
                return HomeChange::Nothing;
            }
        }
    }

    fn wait(&mut self, until: Instant) -> FileSignals {
        if let Some(watches) = &self.watches {
            return watches.wait(until);
        }
        let left = until.saturating_duration_since(Instant::now());
        std::thread::sleep(left.min(POLL_INTERVAL));
        let appeared = self.is_home_missing && self.home.is_dir();
        if appeared {
            self.start_watches();
        }
        FileSignals {
            feed: true,
            lost: appeared,
            ..FileSignals::default()
        }
    }

    /// What signals come to for the caller, if anything.
    fn change_of(&mut self, mut signals: FileSignals) -> Option<HomeChange> {
        if signals.home_gone {
            self.watches = None;
            self.is_home_missing = true;
        } else if let Some(watches) = &mut self.watches {
            watches.follow(&mut signals, &self.tasks);
        }
        if signals.feed {
            let news = self.tail.look();
            signals.tasks.extend(news.folders);
            signals.lost |= news.lost;
        }
        if signals.lost || signals.home_gone {
            self.rescan_soon();
        }
        if signals.tasks.is_empty() {
            return signals.runs.then_some(HomeChange::Runs);
        }
        self.has_run_news = signals.runs;
        Some(HomeChange::Tasks(signals.tasks.into_iter().collect()))
    }

    /// Brings the next rescan forward, but not so far that the caller does nothing else.
    fn rescan_soon(&mut self) {
        let now = Instant::now();
        let soonest = self.last_rescan.map_or(now, |last| last + RESCAN_GAP);
        self.rescan_at = self.rescan_at.min(soonest.max(now));
    }

    fn rescan(&mut self, now: Instant) -> HomeChange {
        self.last_rescan = Some(now);
        self.rescan_at = now + RESCAN_INTERVAL;
        if self.watches.is_none() {
            // What kept them from starting may be over.
            self.start_watches();
        }
        HomeChange::Rescan
    }

    fn start_watches(&mut self) {
        self.is_home_missing = !self.home.is_dir();
        self.watches = Watches::start(&self.home);
        if let Some(watches) = &mut self.watches {
            watches.watch_tasks(&self.tasks);
        }
    }
}

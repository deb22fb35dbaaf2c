//! What the system reports of files in a home: a thread of `notify` sorts its events into [`FileSignals`], which a reader takes
//! once they have come to rest.

use super::FEED;
use notify::event::{Event, EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Signals are handed on when none came for so long,
const QUIET: Duration = Duration::from_millis(20);
/// or when the first is so old: a flood of them must not hold up the rest.
const LONGEST: Duration = Duration::from_millis(80);

const RUNS: &str = "runs";
const TASKS: &str = "tasks";
/// The files of a task that matter. Locks and files in the making do not.
const TASK_FILES: [&str; 2] = ["TASK.md", "history.jsonl"];

/// What happened to files since the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileSignals {
    /// feed.jsonl was written, made or moved.
    pub(super) feed: bool,
    /// Something in the folder of a run.
    pub(super) runs: bool,
    /// The folders of tasks whose files changed.
    pub(super) tasks: BTreeSet<String>,
    /// Reports were lost, or something changed that concerns every task.
    pub(super) lost: bool,
    /// The home was moved or deleted.
    pub(super) home_gone: bool,
    /// The folder of runs was made.
    pub(super) runs_made: bool,
    /// Folders below `tasks/` that were moved or deleted.
    pub(super) gone: BTreeSet<String>,
}

/// Signals that wait for their reader.
#[derive(Default)]
struct WaitingSignals {
    signals: FileSignals,
    /// When the first and the last of them came.
    came: Option<(Instant, Instant)>,
}

#[derive(Default)]
struct Inbox {
    waiting: Mutex<WaitingSignals>,
    arrived: Condvar,
}

/// The watches on a home.
pub(super) struct Watches {
    /// The home without links: so the system calls it.
    home: PathBuf,
    watcher: RecommendedWatcher,
    inbox: Arc<Inbox>,
    /// The folders of tasks that are watched.
    tasks: BTreeSet<String>,
    /// Those that were to be watched when the system allowed no more: the same ones are not tried again.
    refused: Option<BTreeSet<String>>,
}

impl Watches {
    /// None where the home cannot be watched.
    pub(super) fn start(home: &Path) -> Option<Watches> {
        match Watches::try_start(home) {
            Ok(watches) => Some(watches),
            Err(error) => {
                tracing::debug!(%error, "changes of files are not reported");
                None
            }
        }
    }

    fn try_start(home: &Path) -> notify::Result<Watches> {
        let home = home.canonicalize().map_err(notify::Error::io)?;
        let inbox = Arc::new(Inbox::default());
        let (root, receiver) = (home.clone(), inbox.clone());
        let mut watcher = notify::recommended_watcher(move |event| receiver.note(&root, event))?;
        watcher.watch(&home, RecursiveMode::NonRecursive)?;
        let mut watches = Watches {
            home,
            watcher,
            inbox,
            tasks: BTreeSet::new(),
            refused: None,
        };
        watches.watch_runs();
        Ok(watches)
    }

    /// Waits until there are signals that have come to rest, or until the time is over.
    pub(super) fn wait(&self, until: Instant) -> FileSignals {
        let mut waiting = self.inbox.lock();
        loop {
            let now = Instant::now();
            let rest = waiting.rest();
            if rest.is_some_and(|rest| rest <= now) {
                return std::mem::take(&mut *waiting).signals;
            }
            if until <= now {
                return FileSignals::default();
            }
            let wake = rest.map_or(until, |rest| rest.min(until));
            let woken = self.inbox.arrived.wait_timeout(waiting, wake - now);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Makes the watches follow what happened to watched folders.
    pub(super) fn follow(&mut self, signals: &mut FileSignals, wanted: &BTreeSet<String>) {
        if signals.runs_made {
            self.watch_runs();
        }
        for folder in std::mem::take(&mut signals.gone) {
            if self.tasks.remove(&folder) {
                self.refused = None;
                let _ = self.watcher.unwatch(&self.path_of(&folder));
                signals.tasks.insert(folder);
            }
        }
        // A task that was deleted and restored has another folder by now.
        self.watch_tasks(wanted);
    }

    /// Watches the folders of these tasks and of no others.
    pub(super) fn watch_tasks(&mut self, wanted: &BTreeSet<String>) {
        if self.tasks == *wanted || self.refused.as_ref() == Some(wanted) {
            return;
        }
        self.refused = None;
        let before = std::mem::take(&mut self.tasks);
        for folder in before.difference(wanted) {
            let _ = self.watcher.unwatch(&self.path_of(folder));
        }
        self.tasks = before.intersection(wanted).cloned().collect();
        for folder in wanted {
            if self.tasks.contains(folder) {
                continue;
            }
            let path = self.path_of(folder);
            match self.watcher.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.tasks.insert(folder.clone())),
                Err(error) if is_limit(&error) => {
                    tracing::debug!(%error, "edits of some tasks are noticed late");
                    self.refused = Some(wanted.clone());
                    return;
                }
                Err(error) => tracing::debug!(%error, folder, "not watched"),
            }
        }
    }

    fn watch_runs(&mut self) {
        let path = self.home.join(RUNS);
        if path.is_dir()
            && let Err(error) = self.watcher.watch(&path, RecursiveMode::Recursive)
        {
            tracing::debug!(%error, "signals of agents are noticed late");
        }
    }

    fn path_of(&self, folder: &str) -> PathBuf {
        self.home.join(TASKS).join(folder)
    }
}

impl WaitingSignals {
    /// When these signals are to be handed on; None if there are none.
    fn rest(&self) -> Option<Instant> {
        let (first, last) = self.came?;
        Some((last + QUIET).min(first + LONGEST))
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, WaitingSignals> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called by the thread of `notify` for everything that happens in a watched folder.
    fn note(&self, home: &Path, event: notify::Result<Event>) {
        let mut waiting = self.lock();
        if !waiting.signals.add(home, event) {
            return;
        }
        let now = Instant::now();
        let first = waiting.came.map(|(first, _)| first);
        waiting.came = Some((first.unwrap_or(now), now));
        if first.is_none() {
            self.arrived.notify_one();
        }
    }
}

impl FileSignals {
    /// Adds what an event says; false if that is nothing.
    pub(super) fn add(&mut self, home: &Path, event: notify::Result<Event>) -> bool {
        let event = match event {
            Ok(event) if event.need_rescan() => {
                self.lost = true;
                return true;
            }
            Ok(event) => event,
            Err(error) => {
                tracing::debug!(%error, "reports of files may be missing");
                self.lost = true;
                return true;
            }
        };
        // To read a file changes nothing, and this process reads some of them itself.
        if matches!(
            event.kind,
            EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_))
        ) {
            return false;
        }
        let mut tells = false;
        for path in &event.paths {
            if let Ok(inside) = path.strip_prefix(home) {
                tells |= self.add_path(inside, event.kind);
            }
        }
        tells
    }

    /// Adds a path, relative to the home, with which something happened; false if it matters to nobody.
    fn add_path(&mut self, path: &Path, kind: EventKind) -> bool {
        let left = matches!(
            kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        if is_hidden(path) {
            return false;
        }
        let mut parts = path.iter().filter_map(|part| part.to_str());
        match (parts.next(), parts.next()) {
            (None, _) if left => self.home_gone = true,
            (Some(FEED), None) => self.feed = true,
            (Some("projects.json"), None) => self.lost = true,
            (Some(RUNS), None) => {
                self.runs = true;
                self.runs_made |= !matches!(kind, EventKind::Remove(_));
            }
            (Some(RUNS), Some(_)) if !path.ends_with("lock") => self.runs = true,
            (Some(TASKS), Some(_)) => return self.add_task_path(path, left),
            _ => return false,
        }
        true
    }

    fn add_task_path(&mut self, path: &Path, left: bool) -> bool {
        let Ok(path) = path.strip_prefix(TASKS) else {
            return false;
        };
        let is_task_file = TASK_FILES.iter().any(|name| path.ends_with(name));
        let (folder, folders) = if is_task_file {
            (path.parent(), &mut self.tasks)
        } else {
            (Some(path).filter(|_| left), &mut self.gone)
        };
        let folder = folder.and_then(Path::to_str);
        folder
            .map(|folder| folders.insert(folder.to_owned()))
            .is_some()
    }
}

/// Locks and files in the making.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

fn is_limit(error: &notify::Error) -> bool {
    matches!(error.kind, notify::ErrorKind::MaxFilesWatch)
}

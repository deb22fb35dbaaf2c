//! The store: where everything lies below the home folder, and how a task's two files are read.
//! All state goes through this type.

pub mod faults;
pub mod journal;
pub mod lock;
pub mod replace;

use crate::error::{Code, Error, Result};
use crate::index::refresh::stamp_of;
use crate::index::{Entry, Stamp};
use orange_core::Timestamp;
use orange_core::history::{History, HookOutcome};
use orange_core::id::{Key, Reference};
use orange_core::reconcile::{Broken, Folder, Reconciled, reconcile};
use orange_core::task::Task;
use orange_core::task_file::{MAX_BYTES, TaskFile};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where a task lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub project: String,
    /// Relative to the project's folder: the id, or a branch in older homes.
    pub name: String,
    pub path: PathBuf,
}

impl Place {
    /// `project/name`: how the index calls it.
    pub fn folder(&self) -> String {
        format!("{}/{}", self.project, self.name)
    }

    pub fn task_file(&self) -> PathBuf {
        self.path.join("TASK.md")
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join("history.jsonl")
    }
}

/// A task's files as they were at one moment, read without a lock.
pub struct Snapshot {
    pub file: std::result::Result<TaskFile, Broken>,
    pub history: History,
    /// Length of the complete lines.
    pub journal_bytes: u64,
    pub torn: bool,
    pub stamp: Option<Stamp>,
    pub read_at: i64,
    modified: Timestamp,
}

/// The home folder.
#[derive(Debug, Clone)]
pub struct Store {
    home: PathBuf,
    tasks: PathBuf,
}

impl Store {
    pub fn new(home: PathBuf) -> Store {
        Store {
            tasks: home.join("tasks"),
            home,
        }
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn tasks(&self) -> &Path {
        &self.tasks
    }

    pub fn trash(&self) -> PathBuf {
        self.home.join("trash")
    }

    pub fn workspaces(&self) -> PathBuf {
        self.home.join("workspaces")
    }

    pub fn projects_file(&self) -> PathBuf {
        self.home.join("projects.json")
    }

    pub fn in_flight(&self) -> PathBuf {
        self.home.join("in-flight")
    }

    /// Makes the folders a first command needs.
    pub fn ensure_home(&self) -> Result<()> {
        for folder in [&self.home, &self.tasks, &self.in_flight()] {
            fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        }
        Ok(())
    }

    pub fn place(&self, folder: &str) -> Place {
        let (project, name) = folder.split_once('/').unwrap_or((folder, ""));
        Place {
            project: project.to_owned(),
            name: name.to_owned(),
            path: self.tasks.join(project).join(name),
        }
    }

    /// A lock for things that are not one task; waits, but not for ever.
    pub fn lock_file(&self, name: &str) -> Result<File> {
        let path = self.home.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Error::io("create", parent, &error))?;
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| Error::io("open", &path, &error))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(Error::new(
                        Code::Busy,
                        format!("{} is held by another orange process", path.display()),
                    )
                    .hint("try again when that process has finished"));
                }
                Err(fs::TryLockError::Error(error)) => {
                    return Err(Error::io("lock", &path, &error));
                }
            }
        }
    }

    /// Reads both files as they are now.
    pub fn read(&self, place: &Place) -> Result<Snapshot> {
        let read_at = nanoseconds(Timestamp::now());
        let path = place.task_file();
        let stat = rustix::fs::lstat(&path);
        let (stamp, file) = match stat {
            Ok(stat) => (Some(stamp_of(&stat)), read_task_file(&path, &stat)),
            Err(_) => (None, Err(Broken::Missing)),
        };
        let bytes = journal::read(&place.journal())
            .map_err(|error| Error::io("read", &place.journal(), &error))?;
        Ok(Snapshot {
            file,
            history: History::parse(&bytes.text),
            journal_bytes: bytes.text.len() as u64,
            torn: bytes.torn.is_some(),
            stamp,
            read_at,
            modified: modified(stamp),
        })
    }

    /// The same for a caller who has read both files: nothing is read again.
    pub fn snapshot(
        &self,
        place: &Place,
        content: Option<&[u8]>,
        journal_bytes: u64,
        read_at: i64,
    ) -> Snapshot {
        let stamp = stamp(place);
        let file = match (content, stamp) {
            (Some(bytes), _) => TaskFile::parse(bytes).map_err(Broken::File),
            (None, Some(_)) => Err(Broken::NotAFile),
            (None, None) => Err(Broken::Missing),
        };
        Snapshot {
            file,
            history: History::default(),
            journal_bytes,
            torn: false,
            stamp,
            read_at,
            modified: modified(stamp),
        }
    }

    /// What an index needs to know of a folder; reads only, and never fails.
    pub fn survey(&self, folder: &str) -> Entry {
        let place = self.place(folder);
        let snapshot = match self.read(&place) {
            Ok(snapshot) => snapshot,
            Err(error) => return damaged_entry(&place, error.message),
        };
        let witness = || lock::read_witness(&place.path);
        let verdict = snapshot.reconcile(&place, &witness, Timestamp::now(), &mut |_, _| None);
        match verdict {
            Ok(truth) => snapshot.entry(&place, truth),
            Err(broken) => Entry {
                stamp: snapshot.stamp,
                read_at: snapshot.read_at,
                ..damaged_entry(&place, broken.to_string())
            },
        }
    }

    /// Lists a task as changing, so that any later process finds it if this one dies.
    pub fn mark(&self, place: &Place) -> Result<()> {
        let folder = self.in_flight();
        let path = folder.join(mark_name(place));
        let write = || -> io::Result<()> {
            if !folder.is_dir() {
                fs::create_dir_all(&folder)?;
            }
            fs::write(&path, place.folder())?;
            File::open(&folder)?.sync_all()
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&path);
            Error::io("write", &path, &error)
        })
    }

    /// Takes a task off that list. Not synced: a mark too many costs one look.
    pub fn unmark(&self, place: &Place) {
        let _ = fs::remove_file(self.in_flight().join(mark_name(place)));
    }

    /// The tasks on that list.
    pub fn marked(&self) -> Vec<Place> {
        let Ok(entries) = fs::read_dir(self.in_flight()) else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| {
                let folder = fs::read_to_string(entry.path()).ok()?;
                let place = self.place(folder.trim());
                // A mark that was cut short names nothing; the journal still tells the task itself.
                if mark_name(&place).as_str() == entry.file_name() {
                    Some(place)
                } else {
                    let _ = fs::remove_file(entry.path());
                    None
                }
            })
            .collect()
    }
}

/// How long a command waits for another one on the same task.
pub const PATIENCE: Duration = Duration::from_secs(30);

impl Snapshot {
    /// What is true of the task, without writing anything.
    pub fn reconcile(
        &self,
        place: &Place,
        witness: &dyn Fn() -> Option<lock::Witness>,
        now: Timestamp,
        refuse: &mut dyn FnMut(orange_core::task::Field, &Task) -> Option<String>,
    ) -> std::result::Result<Reconciled, Broken> {
        let folder = Folder {
            name: &place.name,
            project: &place.project,
            modified: self.modified,
            // Without a witness nothing speaks against a journal that lost its end.
            journal_shrunk: &|| {
                witness().is_none_or(|seen| self.journal_bytes < seen.journal_bytes)
            },
        };
        let file = self.file.as_ref().map_err(Clone::clone);
        reconcile(file, &self.history, folder, now, refuse)
    }

    pub fn body(&self) -> &str {
        self.file.as_ref().map_or("", TaskFile::body)
    }

    pub fn entry(&self, place: &Place, truth: Reconciled) -> Entry {
        Entry {
            folder: place.folder(),
            attention: attention(&self.history),
            mentions: mentions(&truth.task, self.body()),
            damaged: truth.broken.map(|broken| broken.to_string()),
            task: truth.task,
            stamp: self.stamp,
            read_at: self.read_at,
        }
    }
}

/// How a task's TASK.md looks now.
pub fn stamp(place: &Place) -> Option<Stamp> {
    let stat = rustix::fs::lstat(place.task_file()).ok()?;
    Some(stamp_of(&stat))
}

fn modified(stamp: Option<Stamp>) -> Timestamp {
    let mtime = stamp.map_or(0, |stamp| stamp.mtime);
    Timestamp::from_nanosecond(i128::from(mtime)).unwrap_or_default()
}

fn read_task_file(path: &Path, stat: &rustix::fs::Stat) -> std::result::Result<TaskFile, Broken> {
    if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(Broken::NotAFile);
    }
    let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if size > MAX_BYTES {
        return Err(Broken::File(orange_core::task_file::Damage::TooLarge {
            bytes: size,
        }));
    }
    match fs::read(path) {
        Ok(bytes) => TaskFile::parse(&bytes).map_err(Broken::File),
        Err(_) => Err(Broken::Missing),
    }
}

fn damaged_entry(place: &Place, reason: String) -> Entry {
    let mut task = Task {
        id: place.name.replace('/', "-"),
        project: place.project.clone(),
        ..Task::default()
    };
    task.branch = place.name.clone();
    Entry {
        folder: place.folder(),
        task,
        damaged: Some(reason),
        attention: None,
        mentions: Vec::new(),
        stamp: None,
        read_at: 0,
    }
}

/// What a person should look at, from the journal.
pub fn attention(history: &History) -> Option<String> {
    let failed = history.last_transition().and_then(|transition| {
        transition
            .hooks
            .into_iter()
            .find_map(|hook| match hook.outcome {
                HookOutcome::Failed(reason) => Some(format!("{} failed: {reason}", hook.name)),
                HookOutcome::Open | HookOutcome::Completed | HookOutcome::Skipped(_) => None,
            })
    });
    failed.or_else(|| {
        let first = history.bad_lines.first()?;
        Some(format!(
            "history.jsonl: {} unreadable lines, the first is line {}",
            history.bad_lines.len(),
            first.line
        ))
    })
}

/// Keys that the Context names, for `referenced_by`.
pub(crate) fn mentions(task: &Task, body: &str) -> Vec<(String, Key)> {
    // Reading Markdown costs far more than looking for the letters; a task that names only itself needs neither.
    let own = task.key.map(|key| key.to_string()).unwrap_or_default();
    let is_own = |at: usize| {
        let rest = body[at..].strip_prefix(&own);
        !body[..at].ends_with(':')
            && rest.is_some_and(|rest| !own.is_empty() && !rest.starts_with(char::is_alphanumeric))
    };
    if body.match_indices("TASK-").all(|(at, _)| is_own(at)) {
        return Vec::new();
    }
    let Some(section) = orange_core::artifact::section(body, "Context") else {
        return Vec::new();
    };
    let context = body.get(section.content).unwrap_or_default();
    let mut found: Vec<(String, Key)> = context
        .split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '-' | ':' | '_'))
        .filter_map(|word| match Reference::parse(word.trim_end_matches(':')) {
            Reference::Key(key) => Some((task.project.clone(), key)),
            Reference::ProjectKey(project, key) => Some((project, key)),
            Reference::IdPrefix(_) | Reference::Branch(..) => None,
        })
        .filter(|(project, key)| *project != task.project || Some(*key) != task.key)
        .collect();
    found.sort();
    found.dedup();
    found
}

fn mark_name(place: &Place) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(place.folder().as_bytes());
    digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

//! The home on disk: where everything lies, how a task's two files are read and written, index.db and orange.db. All state goes
//! through these types. Read this file, then `journal.rs` and `replace.rs`.

pub mod journal;
pub mod lock;
pub mod locks;
pub use orange_sys::private::{self, make_durable_folder as make_folder};
pub mod database;
pub mod feed;
pub mod index;
pub mod projects;
mod remarks;
pub mod replace;
pub mod seal;
pub mod seen;
mod survey;
pub mod temporary;
mod write_ahead;

use crate::index::Stamp;
use crate::index::refresh::stamp_of;
use locks::{Lock, LockFile, about_to_wait};
use orange_core::Timestamp;
use orange_core::history::History;
use orange_core::reconcile::{Broken, Reconciled, TaskFolder, reconcile};
use orange_core::task::Task;
use orange_core::task_file::{MAX_BYTES, TaskFile};
use orange_sys::error::{Error, IoContext, Result, err};
use orange_sys::listing;
use remarks::mentions;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
pub use survey::Surveyor;

/// The folder of a task, beside TASK.md, with what was said in its iterations.
pub const TRANSCRIPTS: &str = "transcripts";
/// The file in which a task of an older home has its specification, beside TASK.md. It is read where orange.db has none.
pub const SPEC: &str = "spec.md";
/// The log in the home; those before it are numbered, `orange.log.1` being the newest.
pub const LOG: &str = "orange.log";
/// How many of those before it are kept.
pub const LOGS_KEPT: u32 = 3;
/// Folders of the home whose files are replaced whole.
const REPLACED_IN: [&str; 5] = [
    "workspaces",
    "verify",
    "environments",
    "versions",
    "harness",
];
/// Held by whoever renames or removes logs.
pub const LOG_LOCK: &str = ".log.lock";

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

    /// The events of the task.
    pub fn history(&self) -> Result<History> {
        history_in(&self.path)
    }
}

/// The events of the task in a folder, which may lie in the trash.
pub fn history_in(folder: &Path) -> Result<History> {
    let path = folder.join("history.jsonl");
    let bytes = journal::read(&path).doing("read", &path)?;
    Ok(History::parse(&bytes.text))
}

/// A task's files as they were at one moment, read without a lock.
#[derive(Clone)]
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

    /// Removes files that killed processes were preparing, in every folder where Orange replaces files whole. Task
    /// folders are left to whoever locks the task.
    pub fn remove_abandoned(&self) {
        temporary::remove_abandoned(&self.home);
        for folder in REPLACED_IN {
            temporary::remove_abandoned(&self.home.join(folder));
        }
    }

    /// Hands an empty folder of the home to `work` and removes it afterwards; what a killed process leaves is removed by
    /// the next command.
    pub fn with_scratch_folder<T>(
        &self,
        purpose: &str,
        work: impl FnOnce(&Path) -> Result<T>,
    ) -> Result<T> {
        let folder = self.home.join(temporary::name_of(purpose));
        make_folder(&folder).doing("create", &folder)?;
        let done = work(&folder);
        if let Err(error) = fs::remove_dir_all(&folder) {
            tracing::warn!(%error, folder = %folder.display(), "a scratch folder was not removed");
        }
        done
    }

    /// Makes the folders a first command needs.
    pub fn ensure_home(&self) -> Result<()> {
        for folder in [&self.home, &self.in_flight(), &self.tasks] {
            make_folder(folder).doing("create", folder)?;
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

    /// Takes a lock for things that are not one task; waits, but not for ever.
    pub fn lock(&self, lock: Lock<'_>) -> Result<LockFile> {
        about_to_wait(lock.rank());
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            if let Some(file) = self.try_lock(lock)? {
                return Ok(file);
            }
            if Instant::now() >= deadline {
                let path = self.home.join(lock.file());
                return Err(
                    err!(Busy, "{} is held by another orange process", path.display())
                        .hint("try again when that process has finished"),
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// As [`Store::lock`], but None when another process has it.
    pub fn try_lock(&self, lock: Lock<'_>) -> Result<Option<LockFile>> {
        let path = self.home.join(lock.file());
        let file = open_lock(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(LockFile::new(file, lock))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(Error::io("lock", &path, &error)),
        }
    }

    /// Reads both files as they are now.
    pub fn read(&self, place: &Place) -> Result<Snapshot> {
        let read_at = nanoseconds(Timestamp::now());
        let path = place.task_file();
        let stat = rustix::fs::lstat(&path);
        let (stamp, file, modified) = match stat {
            Ok(stat) => {
                let stamp = stamp_of(&stat);
                let modified =
                    Timestamp::from_nanosecond(i128::from(stamp.mtime)).unwrap_or_default();
                (Some(stamp), read_task_file(&path, &stat), modified)
            }
            Err(rustix::io::Errno::NOENT) => (None, Err(Broken::Missing), Timestamp::UNIX_EPOCH),
            Err(error) => (
                None,
                Err(Broken::Unreadable(error.to_string())),
                Timestamp::UNIX_EPOCH,
            ),
        };
        let bytes = journal::read(&place.journal()).doing("read", &place.journal())?;
        Ok(Snapshot {
            file,
            history: History::parse(&bytes.text),
            journal_bytes: bytes.text.len() as u64,
            torn: bytes.torn.is_some(),
            stamp,
            read_at,
            modified,
        })
    }

    /// Lists a task as changing, so that any later process finds it if this one dies.
    pub fn mark(&self, place: &Place) -> Result<()> {
        let folder = self.in_flight();
        let name = mark_name(place);
        let path = folder.join(&name);
        let write = || -> io::Result<()> {
            make_folder(&folder)?;
            let mut file = private::create(&path)?;
            if !tells_folder(&name) {
                file.write_all(place.folder().as_bytes())?;
                file.sync_all()?;
            }
            File::open(&folder)?.sync_all()
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&path);
            Error::io("write", &path, &error)
        })
    }

    /// Whether somebody listed a task and did not take it off again.
    pub fn is_marked(&self, place: &Place) -> bool {
        self.in_flight().join(mark_name(place)).exists()
    }

    /// Takes a task off that list. Not synced: a mark too many costs one look.
    pub fn unmark(&self, place: &Place) {
        let _ = fs::remove_file(self.in_flight().join(mark_name(place)));
    }

    /// The tasks on that list.
    pub fn marked(&self) -> Vec<Place> {
        let entries = listing::checked(&self.in_flight()).unwrap_or_default();
        entries
            .into_iter()
            .filter_map(|entry| {
                let path = entry.path();
                let name = entry.file_name().into_string().ok()?;
                let folder = if tells_folder(&name) {
                    name.replace("%2F", "/").replace("%25", "%")
                } else {
                    fs::read_to_string(&path).ok()?
                };
                // One with nothing in it may be in the making right now.
                let place = self.place(folder.trim());
                if folder.is_empty() || mark_name(&place) == name {
                    return (!folder.is_empty()).then_some(place);
                }
                let _ = fs::remove_file(path);
                None
            })
            .collect()
    }
}

fn open_lock(path: &Path) -> Result<File> {
    if let Some(parent) = path.parent() {
        make_folder(parent).doing("create", parent)?;
    }
    private::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .doing("open", path)
}

/// How long a command waits for another one on the same task.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

impl Snapshot {
    /// What is true of the task, without writing anything.
    pub fn reconcile(
        &self,
        place: &Place,
        witness: &dyn Fn() -> Option<lock::Witness>,
        now: Timestamp,
        refuse: &mut dyn FnMut(orange_core::task::Field, &Task) -> Option<String>,
    ) -> std::result::Result<Reconciled, Broken> {
        let file = self.file.as_ref().map_err(Clone::clone);
        let shrunk = || witness().map(|seen| self.journal_bytes < seen.journal_bytes);
        let folder = self.folder(place, &shrunk);
        reconcile(file, &self.history, folder, now, refuse)
    }

    /// What is known of the folder besides its two files.
    pub fn folder<'a>(
        &self,
        place: &'a Place,
        journal_shrunk: &'a dyn Fn() -> Option<bool>,
    ) -> TaskFolder<'a> {
        TaskFolder {
            name: &place.name,
            project: &place.project,
            modified: self.modified,
            journal_shrunk,
        }
    }

    /// What a witness notes of these files: a later look may take them as they are. 0: there is more to say.
    pub fn front_mark(&self, noted: &index::Noted) -> u64 {
        match &self.file {
            Ok(file) if noted.is_empty() => mark_of(file.front()),
            Ok(_) | Err(_) => 0,
        }
    }

    pub fn body(&self) -> &str {
        self.file.as_ref().map_or("", TaskFile::body)
    }
}

/// Names a frontmatter. Never 0.
pub fn mark_of(front: &str) -> u64 {
    (replace::short_hash(front.as_bytes()) ^ NOTED_VERSION).max(1)
}

/// Changed whenever lists show more of a journal: a mark of an older version does not say that there is nothing.
const NOTED_VERSION: u64 = 2;

/// How a file looks now; None when there is none.
pub fn stamp_at(path: &Path) -> Option<Stamp> {
    rustix::fs::lstat(path).ok().map(|stat| stamp_of(&stat))
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
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Broken::Missing),
        Err(error) => Err(Broken::Unreadable(error.to_string())),
    }
}

/// The name alone tells the folder: it comes into being, and is made durable, in one step. Only a name that
/// is too long for a file is a hash, with the folder as the file's content.
fn mark_name(place: &Place) -> String {
    use sha2::Digest;
    const LONGEST: usize = 255;
    let name = place.folder().replace('%', "%25").replace('/', "%2F");
    if name.len() <= LONGEST {
        return name;
    }
    let digest = sha2::Sha256::digest(place.folder().as_bytes());
    digest
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether a mark's own name is the folder.
fn tells_folder(mark: &str) -> bool {
    mark.contains("%2F")
}

pub fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

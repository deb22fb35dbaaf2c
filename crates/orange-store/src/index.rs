//! index.db: a cache of every frontmatter, for fast lists and look-ups. It may be deleted at any time:
//! whatever is missing, corrupt, locked or of another version is rebuilt from the task folders.

mod connections;
mod costs;
pub mod counts;
mod diff_stats;
mod line;
pub mod list;
pub mod query;
pub mod refresh;
mod rows;
pub mod search;
#[cfg(test)]
mod tests;

use crate::{Store, private, write_ahead};
use connections::{Connections, IndexDatabase, Opened, new_in_memory};
pub use costs::{KnownRunCost, TaskTitle};
pub use diff_stats::DiffStat;
pub use diff_stats::KeptStat;
use orange_core::attention::attention;
use orange_core::cost::RunCost;
use orange_core::evidence::Evidence;
use orange_core::history::History;
use orange_core::id::Key;
use orange_core::task::Task;
use orange_core::usage::Spending;
use orange_core::verification::{LastCheck, last_check};
use orange_sys::error::{Error, Result, err};
use rows::{IndexRow, create_tables, try_store, version};
use rusqlite::{Connection, ErrorCode, OpenFlags, Params};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a question waits for a writer. Not long: without the index a command only gets slower.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// How a file looked when it was read. Equal stamps, old enough, mean: nothing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since 1970.
    pub mtime: i64,
    pub size: i64,
    pub inode: i64,
}

/// What the index keeps of a task.
#[derive(Debug, Clone, Default)]
pub struct IndexEntry {
    /// `project/name`, as on disk.
    pub folder: String,
    pub task: Task,
    pub damaged: Option<String>,
    pub noted: Noted,
    /// Keys that the task's Context mentions.
    pub mentions: Vec<(String, Key)>,
    pub stamp: Option<Stamp>,
    /// When the file was read: nanoseconds since 1970.
    pub read_at: i64,
}

/// What a list shows of a task that stands in its journal only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Noted {
    pub attention: Option<String>,
    /// Its last check.
    pub check: Option<LastCheck>,
    /// The commit that a review passed, as long as the task waits for a decision about it.
    pub reviewed: Option<String>,
    /// What its agents used.
    pub spending: Spending,
    /// The same for each run, unless no run ever told.
    pub costs: Vec<RunCost>,
}

impl Noted {
    pub fn of(task: &Task, history: &History) -> Noted {
        let spending = Spending::of(history);
        let open = (!task.status.is_terminal()).then_some(history);
        Noted {
            attention: attention(history),
            check: open.and_then(last_check),
            reviewed: open.and_then(|history| Evidence::of(history).review?.head),
            costs: match spending.is_empty() {
                true => Vec::new(),
                false => RunCost::of(history),
            },
            spending: match spending.is_empty() {
                true => Spending::default(),
                false => spending,
            },
        }
    }

    /// There is nothing in the journal that TASK.md does not say.
    pub fn is_empty(&self) -> bool {
        *self == Noted::default()
    }
}

/// The open cache, which threads may share.
pub struct Index {
    connections: Connections,
    store: Store,
    /// When it was last compared with the disk.
    looked: Mutex<Option<Instant>>,
    /// Held while this process writes: its threads wait for each other here, and not for SQLite's own lock.
    writing: Mutex<()>,
}

impl Index {
    /// Opens the cache, whatever state it is in, and fills it if it is new. Only a broken SQLite library
    /// makes this fail.
    pub fn open(store: &Store) -> Result<Index> {
        let (connections, empty) = Connections::open(path_in(store))?;
        let index = Index {
            connections,
            store: store.clone(),
            looked: Mutex::new(None),
            writing: Mutex::new(()),
        };
        if empty {
            index.refresh()?;
        }
        Ok(index)
    }

    /// Asks the database. Damage that shows only now is healed, and the question asked once more.
    fn ask<T>(&self, question: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let ask = || self.connections.with(|connection| question(connection));
        match ask() {
            Ok(answer) => Ok(answer),
            Err(error) if is_damage(&error) => {
                tracing::warn!(%error, "index.db is damaged and is rebuilt");
                self.rebuild()?;
                ask().map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Goes on after the database could not be written: rebuilt if it is damaged. Otherwise (disk full, read-only, locked)
    /// the file is left alone, and the tasks are read into memory: old rows would be a lie.
    fn recover(&self, error: &rusqlite::Error) -> Result<()> {
        if is_damage(error) {
            tracing::warn!(%error, "index.db is damaged and is rebuilt");
            return self.rebuild().map(drop);
        }
        self.connections.replace(open_in_memory(error)?);
        self.reread().map(drop)
    }

    /// Writes to the database, after every other thread of this process that does.
    fn write<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.connections.with(work)
    }

    /// Starts again from the task folders.
    pub fn rebuild(&self) -> Result<usize> {
        let path = path_in(&self.store);
        remove_database(&path);
        self.connections.replace(open_anyhow(&path)?);
        self.refresh()
    }

    /// Writes entries and forgets folders, in one transaction. Trouble here is logged, never fatal:
    /// the next refresh repairs it.
    pub fn store(&self, entries: &[IndexEntry], gone: &[String]) {
        self.heal(self.write(|connection| {
            let rows = entries.iter().map(IndexRow::of);
            try_store(connection, entries.len(), rows, gone)
        }));
    }

    fn heal(&self, written: rusqlite::Result<()>) {
        if let Err(error) = written {
            tracing::warn!(%error, "index.db was not updated");
            if is_damage(&error)
                && let Err(error) = self.rebuild()
            {
                tracing::warn!(%error, "index.db was not rebuilt");
            }
        }
    }

    /// Are the tables sound? For `doctor`.
    pub fn check(&self) -> std::result::Result<(), String> {
        let path = path_in(&self.store);
        if is_no_file(&path) {
            return Err("is a folder, so that every command reads all tasks anew".to_owned());
        }
        let check = self.connections.with(|connection| Ok(check(connection)));
        check.map_err(|error| error.to_string())?
    }
}

/// Only to read, and at once: None where that is not possible, or where another version wrote it.
fn open_as_it_is(store: &Store) -> Option<Connection> {
    let path = path_in(store);
    if is_no_file(&path) {
        return None;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).ok()?;
    (user_version(&connection).ok()? == version()).then_some(connection)
}

/// Are the tables of a database sound? If not, what is wrong.
pub(crate) fn check(connection: &Connection) -> std::result::Result<(), String> {
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match verdict {
        Ok(word) if word == "ok" => Ok(()),
        Ok(problem) => Err(problem),
        Err(error) => Err(error.to_string()),
    }
}

/// The version that a program gave to a database.
pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// The rows that a question has as its answer.
fn answers<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut query = connection.prepare_cached(sql)?;
    query.query_map(parameters, read)?.collect()
}

fn path_in(store: &Store) -> PathBuf {
    store.home().join("index.db")
}

/// Something else is in its place: SQLite would wait for whoever writes into a pipe.
fn is_no_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

fn open_anyhow(path: &Path) -> Result<Opened> {
    if is_no_file(path) {
        tracing::warn!("index.db is no file and is rebuilt");
        // A folder stays; the command works without the cache.
        remove_database(path);
    }
    match open_file(path) {
        Ok(opened) => Ok(opened),
        Err(error) if is_damage(&error) => {
            tracing::warn!(%error, "index.db is damaged and is rebuilt");
            remove_database(path);
            open_file(path).or_else(|error| open_in_memory(&error))
        }
        Err(error) => open_in_memory(&error),
    }
}

fn open_file(path: &Path) -> rusqlite::Result<Opened> {
    // SQLite gives its side files the mode of this one.
    private::prepare(path);
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let found = user_version(&connection)?;
    // A cache: losing its last rows in a power cut costs a re-read, not data.
    connection.pragma_update(None, "synchronous", "OFF")?;
    write_ahead::keep_short(&connection, path, BUSY_TIMEOUT)?;
    let mut empty = false;
    if found != version() {
        // Lists read all lines: larger pages mean fewer calls.
        connection.pragma_update(None, "page_size", 8192)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        empty = create_tables(&mut connection)?;
    }
    Ok(Opened {
        database: IndexDatabase::File,
        connection,
        empty,
    })
}

/// For a home that cannot be written to, or a file that another process keeps locked.
fn open_in_memory(error: &rusqlite::Error) -> Result<Opened> {
    tracing::warn!(%error, "index.db cannot be used; this command works without it");
    let (database, mut connection) = new_in_memory().map_err(failed)?;
    create_tables(&mut connection).map_err(failed)?;
    Ok(Opened {
        database,
        connection,
        empty: true,
    })
}

pub fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Removes a database with its side files.
pub fn remove_database(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

fn failed(error: rusqlite::Error) -> Error {
    err!(Storage, "SQLite does not work here: {error}").because(error)
}

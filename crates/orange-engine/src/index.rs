//! index.db: a cache of every frontmatter, for fast lists and look-ups. It may be deleted at any time:
//! whatever is missing, corrupt, locked or of another version is rebuilt from the task folders.

pub mod list;
pub mod query;
pub mod refresh;

use crate::error::{Code, Error, Result};
use crate::store::Store;
use orange_core::id::{Key, read_stored};
use orange_core::task::{Field, Task};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, params};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Raised whenever the tables below change; another number means: rebuild.
const VERSION: i64 = 1;

const SCHEMA: &str = "
CREATE TABLE tasks (
    folder       TEXT PRIMARY KEY,
    id           TEXT NOT NULL,
    key_number   INTEGER,
    project      TEXT NOT NULL,
    branch       TEXT NOT NULL,
    status       TEXT NOT NULL,
    summary      TEXT NOT NULL,
    priority     INTEGER NOT NULL,
    queue        TEXT NOT NULL,
    category     TEXT NOT NULL,
    workspace    TEXT,
    tmux_session TEXT,
    parent_project TEXT,
    parent_key   INTEGER,
    tags         TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    updated_second INTEGER NOT NULL,
    damaged      TEXT,
    attention    TEXT,
    unadopted    INTEGER NOT NULL,
    fields       TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_tasks_status ON tasks(status);
CREATE INDEX idx_tasks_project ON tasks(project, key_number);
CREATE INDEX idx_tasks_id ON tasks(id);
CREATE INDEX idx_tasks_branch ON tasks(project, branch);
CREATE INDEX idx_tasks_parent ON tasks(parent_project, parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX idx_tasks_workspace ON tasks(project, workspace) WHERE workspace IS NOT NULL;
CREATE TABLE stamps (
    folder     TEXT PRIMARY KEY,
    mtime      INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    indexed_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE links (
    folder         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    target_project TEXT NOT NULL,
    target_key     INTEGER NOT NULL,
    PRIMARY KEY (folder, kind, target_project, target_key)
) WITHOUT ROWID;
CREATE INDEX idx_links_target ON links(target_project, target_key, kind);
";

/// How a file looked when it was read. Equal stamps, old enough, mean: nothing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since 1970.
    pub mtime: i64,
    pub size: i64,
    pub inode: i64,
}

/// What the index keeps of a task.
#[derive(Debug, Clone)]
pub struct Entry {
    /// `project/name`, as on disk.
    pub folder: String,
    pub task: Task,
    pub damaged: Option<String>,
    pub attention: Option<String>,
    pub unadopted: bool,
    /// Keys that the task's Context mentions.
    pub mentions: Vec<(String, Key)>,
    pub stamp: Option<Stamp>,
    /// When the file was read: nanoseconds since 1970.
    pub read_at: i64,
}

/// The open cache.
pub struct Index {
    connection: RefCell<Connection>,
    store: Store,
}

/// A connection, and whether its tables are still empty.
struct Opened {
    connection: Connection,
    empty: bool,
}

impl Index {
    /// Opens the cache, whatever state it is in, and fills it if it is new. Only a broken SQLite library
    /// makes this fail.
    pub fn open(store: &Store) -> Result<Index> {
        let opened = open_anyhow(&path_in(store))?;
        let index = Index {
            connection: RefCell::new(opened.connection),
            store: store.clone(),
        };
        if opened.empty {
            index.refresh()?;
        }
        Ok(index)
    }

    /// Asks the database. Damage that shows only now is healed, and the question asked once more.
    fn ask<T>(&self, question: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let first = question(&self.connection.borrow());
        match first {
            Ok(answer) => Ok(answer),
            Err(error) if is_damage(&error) => {
                tracing::warn!(%error, "index.db is damaged and is rebuilt");
                self.rebuild()?;
                question(&self.connection.borrow()).map_err(|error| failed(&error))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// Goes on without the file, which cannot be written: old rows would be a lie.
    fn go_to_memory(&self, error: &rusqlite::Error) -> Result<()> {
        *self.connection.borrow_mut() = open_in_memory(error)?.connection;
        Ok(())
    }

    /// Starts again from the task folders.
    pub fn rebuild(&self) -> Result<usize> {
        let path = path_in(&self.store);
        remove_database(&path);
        *self.connection.borrow_mut() = open_anyhow(&path)?.connection;
        self.refresh()
    }

    /// Writes entries and forgets folders, in one transaction. Trouble here is logged, never fatal:
    /// the next refresh repairs it.
    pub fn store(&self, entries: &[Entry], gone: &[String]) {
        let outcome = try_store(&mut self.connection.borrow_mut(), entries, gone);
        if let Err(error) = outcome {
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
        let verdict: rusqlite::Result<String> =
            self.connection
                .borrow()
                .query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
        match verdict {
            Ok(word) if word == "ok" => Ok(()),
            Ok(problem) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn path_in(store: &Store) -> PathBuf {
    store.home().join("index.db")
}

fn open_anyhow(path: &Path) -> Result<Opened> {
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
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // Not long: without it a command only gets slower.
    connection.busy_timeout(Duration::from_secs(1))?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    // A cache: losing its last rows in a power cut costs a re-read, not data.
    connection.pragma_update(None, "synchronous", "OFF")?;
    let mut empty = false;
    if version != VERSION {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        empty = create_tables(&mut connection)?;
    }
    Ok(Opened { connection, empty })
}

/// For a home that cannot be written to, or a file that another process keeps locked.
fn open_in_memory(error: &rusqlite::Error) -> Result<Opened> {
    tracing::warn!(%error, "index.db cannot be used; this command works without it");
    let mut connection = Connection::open_in_memory().map_err(|error| failed(&error))?;
    create_tables(&mut connection).map_err(|error| failed(&error))?;
    Ok(Opened {
        connection,
        empty: true,
    })
}

/// One transaction: another process sees the old tables or the new ones, never none. False when another
/// process was quicker.
fn create_tables(connection: &mut Connection) -> rusqlite::Result<bool> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == VERSION {
        return Ok(false);
    }
    let old: Vec<String> = transaction
        .prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for table in old {
        transaction.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
    }
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(true)
}

fn try_store(
    connection: &mut Connection,
    entries: &[Entry],
    gone: &[String],
) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    forget(&transaction, gone)?;
    for entry in entries {
        put(&transaction, entry)?;
    }
    transaction.commit()
}

fn forget(transaction: &Transaction<'_>, folders: &[String]) -> rusqlite::Result<()> {
    for table in ["tasks", "stamps", "links"] {
        let mut delete =
            transaction.prepare_cached(&format!("DELETE FROM {table} WHERE folder = ?1"))?;
        for folder in folders {
            delete.execute([folder])?;
        }
    }
    Ok(())
}

fn put(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
    let task = &entry.task;
    let parent = task
        .parent
        .as_deref()
        .and_then(|parent| read_stored(&task.project, parent));
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO tasks VALUES
             (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22)",
        )?
        .execute(params![
            entry.folder,
            task.id,
            task.key.map(|key| key.0),
            task.project,
            task.branch,
            task.status.as_str(),
            task.summary,
            task.priority as i64,
            task.queue.as_str(),
            task.category.as_str(),
            task.workspace,
            task.tmux_session,
            parent.as_ref().map(|(project, _)| project),
            parent.as_ref().map(|(_, key)| key.0),
            task.tags.join("\n"),
            task.created_at.to_string(),
            task.updated_at.to_string(),
            task.updated_at.as_second(),
            entry.damaged,
            entry.attention,
            entry.unadopted,
            fields_json(task),
        ])?;
    put_links(transaction, entry)?;
    // A row without a file to look at never matches, and is read again each time.
    let stamp = entry.stamp.unwrap_or(Stamp {
        mtime: -1,
        size: -1,
        inode: -1,
    });
    transaction
        .prepare_cached("INSERT OR REPLACE INTO stamps VALUES (?1,?2,?3,?4,?5)")?
        .execute(params![
            entry.folder,
            stamp.mtime,
            stamp.size,
            stamp.inode,
            entry.read_at
        ])?;
    Ok(())
}

fn put_links(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("DELETE FROM links WHERE folder = ?1")?
        .execute([&entry.folder])?;
    let task = &entry.task;
    let stored = |kind: &'static str, references: &[String]| {
        references
            .iter()
            // A reference that is no key at all still counts as open: key 0 never exists.
            .map(|text| {
                let (project, key) =
                    read_stored(&task.project, text).unwrap_or((text.clone(), Key(0)));
                (kind, project, key)
            })
            .collect::<Vec<_>>()
    };
    let mut links = stored("blocked_by", &task.blocked_by);
    links.extend(stored("related_to", &task.related_to));
    links.extend(
        entry
            .mentions
            .iter()
            .map(|(project, key)| ("mentions", project.clone(), *key)),
    );
    let mut insert =
        transaction.prepare_cached("INSERT OR IGNORE INTO links VALUES (?1,?2,?3,?4)")?;
    for (kind, project, key) in links {
        insert.execute(params![entry.folder, kind, project, key.0])?;
    }
    Ok(())
}

/// All fields in the frontmatter's order, as one JSON object.
pub fn fields_json(task: &Task) -> String {
    let mut text = String::with_capacity(1024);
    text.push('{');
    for (position, field) in Field::ALL.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push('"');
        text.push_str(field.name());
        text.push_str("\":");
        text.push_str(&task.get(*field).to_string());
    }
    text.push('}');
    text
}

pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Removes a database with its side files.
pub(crate) fn remove_database(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

fn failed(error: &rusqlite::Error) -> Error {
    Error::new(Code::Storage, format!("SQLite does not work here: {error}"))
}

//! index.db: a cache of every frontmatter, for fast lists and look-ups. It may be deleted at any time:
//! whatever is missing, corrupt, locked or of another version is rebuilt from the task folders.

mod line;
pub mod query;
pub mod refresh;

use crate::error::{Code, Error, Result};
use orange_core::id::{Key, read_stored};
use orange_core::task::{Field, Task};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, params};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Raised whenever the tables below change; another number means: rebuild. The fields are part of it,
/// because [`packed`] knows them by their order only.
const VERSION: i64 = 4 * 1000 + Field::ALL.len() as i64;

const TABLES: &str = "
CREATE TABLE tasks (
    number       INTEGER PRIMARY KEY,
    folder       TEXT NOT NULL,
    id           TEXT NOT NULL,
    key_number   INTEGER,
    project      TEXT NOT NULL,
    branch       TEXT NOT NULL,
    status       TEXT NOT NULL,
    summary      TEXT NOT NULL,
    workspace    TEXT,
    tmux_session TEXT,
    parent_project TEXT,
    parent_key   INTEGER,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    fields       TEXT NOT NULL
);
CREATE TABLE lines (
    task           INTEGER PRIMARY KEY,
    line           BLOB NOT NULL
);
CREATE TABLE links (
    task           INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    target_project TEXT NOT NULL,
    target_key     INTEGER NOT NULL
);
";

/// Apart from the tables, because filling them first and sorting afterwards is much faster.
const INDEXES: &[(&str, &str)] = &[
    ("idx_tasks_folder", "tasks(folder)"),
    ("idx_tasks_status", "tasks(status)"),
    ("idx_tasks_project", "tasks(project, key_number, status)"),
    ("idx_tasks_id", "tasks(id)"),
    ("idx_tasks_branch", "tasks(project, branch)"),
    (
        "idx_tasks_parent",
        "tasks(parent_project, parent_key) WHERE parent_key IS NOT NULL",
    ),
    (
        "idx_tasks_workspace",
        "tasks(project, workspace) WHERE workspace IS NOT NULL",
    ),
    ("idx_links_task", "links(task)"),
    (
        "idx_links_target",
        "links(target_project, target_key, kind)",
    ),
    (
        "idx_links_blockers",
        "links(task, target_project, target_key) WHERE kind = 'blocked_by'",
    ),
];

/// From so many tasks on an empty index is filled without its indexes.
const WORTH_SORTING: usize = 1000;

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
    /// Keys that the task's Context mentions.
    pub mentions: Vec<(String, Key)>,
    pub stamp: Option<Stamp>,
    /// When the file was read: nanoseconds since 1970.
    pub read_at: i64,
}

/// The open cache.
pub struct Index {
    connection: Connection,
    path: PathBuf,
    /// Rebuilt from nothing and not yet filled.
    pub fresh: bool,
    /// Only in memory, because the home cannot be written to or the file is locked.
    pub in_memory: bool,
}

impl Index {
    /// Opens the cache, whatever state it is in. Only a broken SQLite library makes this fail.
    pub fn open(home: &Path) -> Result<Index> {
        let path = home.join("index.db");
        match Self::open_file(&path) {
            Ok(index) => Ok(index),
            Err(error) if is_damage(&error) => {
                tracing::warn!(%error, "index.db is damaged and is rebuilt");
                remove_database(&path);
                Self::open_file(&path).or_else(|error| Self::in_memory(&path, &error))
            }
            Err(error) => Self::in_memory(&path, &error),
        }
    }

    fn open_file(path: &Path) -> rusqlite::Result<Index> {
        let connection = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_CREATE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        connection.busy_timeout(Duration::from_secs(5))?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let mut index = Index {
            connection,
            path: path.to_owned(),
            fresh: false,
            in_memory: false,
        };
        // A cache: losing its last rows in a power cut costs a re-read, not data.
        index.connection.pragma_update(None, "synchronous", "OFF")?;
        if version != VERSION {
            index.create_tables()?;
        }
        Ok(index)
    }

    fn in_memory(path: &Path, error: &rusqlite::Error) -> Result<Index> {
        tracing::warn!(%error, "index.db cannot be used; this command works without it");
        let connection = Connection::open_in_memory().map_err(|error| failed(&error))?;
        let mut index = Index {
            connection,
            path: path.to_owned(),
            fresh: false,
            in_memory: true,
        };
        index.create_tables().map_err(|error| failed(&error))?;
        Ok(index)
    }

    /// One transaction: another process sees the old tables or the new ones, never none.
    fn create_tables(&mut self) -> rusqlite::Result<()> {
        if !self.in_memory {
            // Lists read all lines: larger pages mean fewer calls.
            self.connection.pragma_update(None, "page_size", 8192)?;
            self.connection.pragma_update(None, "journal_mode", "WAL")?;
        }
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version == VERSION {
            return Ok(());
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
        transaction.execute_batch(TABLES)?;
        create_indexes(&transaction)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
        self.fresh = true;
        Ok(())
    }

    /// Writes entries and forgets folders, in one transaction. Trouble here is logged, never fatal:
    /// the next refresh repairs it.
    pub fn store(&mut self, entries: &[Entry], gone: &[String]) {
        if let Err(error) = self.try_store(entries, gone) {
            tracing::warn!(%error, "index.db was not updated");
            if is_damage(&error) {
                remove_database(&self.path);
            }
        }
    }

    fn try_store(&mut self, entries: &[Entry], gone: &[String]) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let empty: bool =
            transaction.query_row("SELECT NOT EXISTS (SELECT 1 FROM tasks)", [], |row| {
                row.get(0)
            })?;
        let sorts_later = empty && entries.len() >= WORTH_SORTING;
        if sorts_later {
            for (name, _) in INDEXES {
                transaction.execute_batch(&format!("DROP INDEX {name}"))?;
            }
        }
        if !empty {
            let known = entries.iter().map(|entry| &entry.folder);
            forget(&transaction, gone.iter().chain(known))?;
        }
        for entry in entries {
            put(&transaction, entry)?;
        }
        if sorts_later {
            create_indexes(&transaction)?;
        }
        transaction.commit()
    }

    /// Are the tables sound? For `doctor`.
    pub fn check(&self) -> std::result::Result<(), String> {
        let verdict: rusqlite::Result<String> =
            self.connection
                .query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
        match verdict {
            Ok(word) if word == "ok" => Ok(()),
            Ok(problem) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn create_indexes(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    for (name, columns) in INDEXES {
        transaction.execute_batch(&format!("CREATE INDEX {name} ON {columns}"))?;
    }
    Ok(())
}

fn forget<'f>(
    transaction: &Transaction<'_>,
    folders: impl Iterator<Item = &'f String>,
) -> rusqlite::Result<()> {
    let mut find = transaction.prepare_cached("SELECT number FROM tasks WHERE folder = ?1")?;
    for folder in folders {
        let numbers: Vec<i64> = find
            .query_map([folder], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for number in numbers {
            for sql in [
                "DELETE FROM tasks WHERE number = ?1",
                "DELETE FROM lines WHERE task = ?1",
                "DELETE FROM links WHERE task = ?1",
            ] {
                transaction.prepare_cached(sql)?.execute([number])?;
            }
        }
    }
    Ok(())
}

/// Adds an entry that is not there yet.
fn put(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
    let task = &entry.task;
    let parent = task
        .parent
        .as_deref()
        .and_then(|parent| read_stored(&task.project, parent));
    let number = transaction
        .prepare_cached(
            "INSERT INTO tasks VALUES (NULL,?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
        )?
        .insert(params![
            entry.folder,
            task.id,
            task.key.map(|key| key.0),
            task.project,
            task.branch,
            task.status.as_str(),
            task.summary,
            task.workspace,
            task.tmux_session,
            parent.as_ref().map(|(project, _)| project),
            parent.as_ref().map(|(_, key)| key.0),
            task.created_at.to_string(),
            task.updated_at.to_string(),
            packed(task),
        ])?;
    transaction
        .prepare_cached("INSERT INTO lines VALUES (?1,?2)")?
        .execute(params![number, line::write(entry)])?;
    let mut insert = transaction.prepare_cached("INSERT INTO links VALUES (?1,?2,?3,?4)")?;
    for (kind, project, key) in links_of(entry) {
        insert.execute(params![number, kind, project, key.0])?;
    }
    Ok(())
}

fn links_of(entry: &Entry) -> Vec<(&'static str, String, Key)> {
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
    links.sort();
    links.dedup();
    links
}

/// The values of all fields as JSON, a line each, in the frontmatter's order; what is null is empty.
fn packed(task: &Task) -> String {
    let mut text = Vec::with_capacity(512);
    for field in Field::ALL {
        match task.get(*field) {
            Value::Null => {}
            // JSON has no line end outside of strings, and escapes it inside. Writing to memory cannot fail.
            value => drop(serde_json::to_writer(&mut text, &value)),
        }
        text.push(b'\n');
    }
    String::from_utf8(text).unwrap_or_default()
}

/// All fields in the frontmatter's order, as one JSON object.
pub fn fields_json(task: &Task) -> String {
    unpacked(&packed(task))
}

fn unpacked(values: &str) -> String {
    let mut text = String::with_capacity(values.len() + 640);
    text.push('{');
    for (position, (field, value)) in Field::ALL.iter().zip(values.split('\n')).enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push('"');
        text.push_str(field.name());
        text.push_str("\":");
        text.push_str(if value.is_empty() { "null" } else { value });
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

//! orange.db: the truth for what has no file of its own. Today: the counter of task keys, consents, rules for agents,
//! notifications, the key of seals, executions of plans. Only its owner can read it.
//! Versioned migrations, a copy before each, a backup every hour.

mod consents;
mod notified;
mod permissions;
mod phased;
mod repair;
mod seals;

use crate::index::{check, is_damage, user_version};
use crate::locks::{self, Rank};
use crate::private;
use crate::seal::SealKey;
use crate::write_ahead;
use orange_core::{Action, text};
use orange_sys::error::{Error, Result, err};
use orange_sys::process::unique_name;
pub use permissions::{NewRule, StoredRule};
pub(crate) use phased::SpecTexts;
pub use phased::{
    Claim, IterationCost, Journal, Mark, SpecHead, StoredPlan, StoredResults, Unjournalled,
};
pub use repair::{Repaired, repair};
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, TransactionBehavior, params};
pub use seals::JournalSeal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Each entry takes the schema one version further. Never edit one that has shipped.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE key_counters (
    project  TEXT PRIMARY KEY,
    last_key INTEGER NOT NULL
) WITHOUT ROWID;
-- Keys promised to tasks of an older home before their first command adopts them.
CREATE TABLE reserved_keys (
    project TEXT NOT NULL,
    task_id TEXT NOT NULL,
    key     INTEGER NOT NULL,
    PRIMARY KEY (project, task_id)
) WITHOUT ROWID;
",
    "
-- Commands of a repository that its user agreed to, as a SHA-256 over all of them.
CREATE TABLE consents (
    project    TEXT NOT NULL,
    hash       TEXT NOT NULL,
    granted_at TEXT NOT NULL,
    PRIMARY KEY (project, hash)
) WITHOUT ROWID;
",
    "
-- What the user was told of by notify.command.
CREATE TABLE notifications (
    key     TEXT PRIMARY KEY,
    sent_at TEXT NOT NULL
) WITHOUT ROWID;
",
    "
-- Secrets of this home, made when they are first needed: the key of seals.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
-- The last seal in each task's journal. incomplete: an earlier one was missing from the journal.
CREATE TABLE journal_seals (
    task_id    TEXT PRIMARY KEY,
    seal       TEXT NOT NULL,
    incomplete INTEGER NOT NULL
) WITHOUT ROWID;
-- The seal of the environment in which each task was started that is not over.
CREATE TABLE environments (
    task_id TEXT PRIMARY KEY,
    seal    TEXT NOT NULL
) WITHOUT ROWID;
",
    "
-- What agents may do without asking again. task_id: NULL for all tasks of the project. removed_at: it counts no more.
-- journalled: 0 until the task's journal says of it what the row says.
CREATE TABLE permissions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    task_id    TEXT,
    harness    TEXT NOT NULL,
    tool       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    pattern    TEXT NOT NULL,
    folder     TEXT NOT NULL,
    added_by   TEXT NOT NULL,
    added_at   TEXT NOT NULL,
    removed_at TEXT,
    journalled INTEGER NOT NULL
);
CREATE INDEX permissions_of_projects ON permissions (project);
CREATE INDEX permissions_unjournalled ON permissions (task_id) WHERE journalled = 0;
",
    phased::SCHEMA,
];

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What is lost with the database is what came after its last backup.
const BACKUP_EVERY: Duration = Duration::from_secs(60 * 60);

/// The open database.
pub struct Database {
    connection: Connection,
    path: PathBuf,
    /// Device and number of the file.
    file: Option<(u64, u64)>,
    /// The key of seals, once it was read: it never changes.
    seal_key: Option<SealKey>,
}

impl Database {
    pub fn path_in(home: &Path) -> PathBuf {
        home.join("orange.db")
    }

    /// Where the last backup lies.
    pub fn backup_in(home: &Path) -> PathBuf {
        home.join("orange.db.backup")
    }

    /// Opens and, if need be, makes it or brings it to this program's version. One that is gone is not made beside its backup:
    /// that knows what this one would not.
    pub fn open(home: &Path) -> Result<Database> {
        let path = Self::path_in(home);
        let has_bytes = std::fs::metadata(&path).is_ok_and(|about| about.len() > 0);
        if !has_bytes && Self::backup_in(home).exists() {
            let name = path.display();
            return Err(err!(Damaged, "{name} is missing, and its backup is there")
                .hint(text!("{} puts the backup in its place", Action::repair())));
        }
        Self::open_or_make(home)
    }

    fn open_or_make(home: &Path) -> Result<Database> {
        let path = Self::path_in(home);
        // SQLite gives its side files the mode of this one.
        private::prepare(&path);
        let connection = Connection::open(&path).map_err(|error| explain(&path, error))?;
        let mut database = Database {
            connection,
            file: identity(&path),
            path,
            seal_key: None,
        };
        let version = database
            .prepare()
            .and_then(|()| database.version())
            .map_err(|error| explain(&database.path, error))?;
        if version > MIGRATIONS.len() {
            return Err(err!(
                NewerVersion,
                "{} was written by a newer version of orange (schema {version}, this one knows {})",
                database.path.display(),
                MIGRATIONS.len()
            )
            .hint("upgrade orange; nothing was changed"));
        }
        database
            .migrate(version)
            .map_err(|error| explain(&database.path, error))?;
        // A database that was only just made has nothing worth keeping, and must not replace what has.
        if version > 0 {
            database.back_up();
        }
        Ok(database)
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        self.connection.pragma_update(None, "journal_mode", "WAL")?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        write_ahead::keep_short(&self.connection, &self.path, BUSY_TIMEOUT)
    }

    fn version(&self) -> rusqlite::Result<usize> {
        user_version(&self.connection).map(|version| version as usize)
    }

    fn migrate(&mut self, version: usize) -> rusqlite::Result<()> {
        if version == MIGRATIONS.len() {
            return Ok(());
        }
        if version > 0 {
            let copy = self
                .path
                .with_extension(format!("db.before-v{}", MIGRATIONS.len()));
            self.copy_to(&copy)?;
        }
        let _held = locks::enter(Rank::Database);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been quicker.
        let version = user_version(&transaction)?;
        for migration in MIGRATIONS.iter().skip(version as usize) {
            transaction.execute_batch(migration)?;
        }
        let newest = version.max(MIGRATIONS.len() as i64);
        transaction.pragma_update(None, "user_version", newest)?;
        transaction.commit()
    }

    /// A consistent copy, put in place only when it is whole.
    fn copy_to(&self, target: &Path) -> rusqlite::Result<()> {
        let part = target.with_extension(format!("part-{}", unique_name()));
        let _ = std::fs::remove_file(&part);
        private::prepare(&part);
        self.connection
            .execute("VACUUM INTO ?1", [part.to_string_lossy()])?;
        std::fs::rename(&part, target)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    }

    /// A backup, unless the last one is young. For what keeps it open for long.
    pub fn back_up(&self) {
        if let Err(error) = self.back_up_if_due() {
            tracing::warn!(%error, "orange.db was not backed up");
        }
    }

    fn back_up_if_due(&self) -> rusqlite::Result<()> {
        let backup = self.path.with_extension("db.backup");
        let written = std::fs::metadata(&backup).and_then(|data| data.modified());
        let age = written.ok().and_then(|then| then.elapsed().ok());
        if age.is_some_and(|age| age < BACKUP_EVERY) {
            Ok(())
        } else {
            self.copy_to(&backup)
        }
    }

    /// Whether another file stands in its place, or none: what is written into this one is lost.
    pub fn is_replaced(&self) -> bool {
        identity(&self.path) != self.file
    }

    /// The version of its tables. For `doctor`.
    pub fn schema(&self) -> usize {
        self.version().unwrap_or_default()
    }

    /// Are the tables sound? For `doctor`.
    pub fn check(&self) -> std::result::Result<(), String> {
        check(&self.connection)
    }

    /// The counter of a project, if it has been started.
    pub fn last_key(&self, project: &str) -> Result<Option<u32>> {
        let sql = "SELECT last_key FROM key_counters WHERE project = ?1";
        self.one(sql, [project])
    }

    /// The first value that a question has as its answer, if any.
    fn one<T: FromSql>(&self, sql: &str, parameters: impl Params) -> Result<Option<T>> {
        let ask = || {
            let mut question = self.connection.prepare_cached(sql)?;
            question.query_row(parameters, |row| row.get(0)).optional()
        };
        ask().map_err(|error| explain(&self.path, error))
    }

    /// For what a power cut may undo: it does not wait for the disk. What is written later is durable only together with this.
    fn unsynced<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.synchronous("NORMAL")?;
        let done = work(self);
        self.synchronous("FULL")?;
        done
    }

    fn synchronous(&self, how: &str) -> Result<()> {
        let set = self.connection.pragma_update(None, "synchronous", how);
        set.map_err(|error| explain(&self.path, error))
    }

    /// Changes something; says how many rows.
    fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        self.connection
            .execute(sql, parameters)
            .map_err(|error| explain(&self.path, error))
    }

    /// Starts a counter at what is on disk, and promises the next keys to tasks that have none, oldest
    /// first. Raises it if it is behind. Never lowers it.
    pub fn heal_counter(&mut self, project: &str, highest: u32, keyless: &[String]) -> Result<()> {
        let _held = locks::enter(Rank::Database);
        let mut work = || -> rusqlite::Result<()> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let known: u32 = transaction.query_row(
                "SELECT max(coalesce((SELECT last_key FROM key_counters WHERE project = ?1), 0),
                     coalesce((SELECT max(key) FROM reserved_keys WHERE project = ?1), 0))",
                [project],
                |row| row.get(0),
            )?;
            let mut last = known.max(highest);
            for id in keyless {
                let fresh = transaction.execute(
                    "INSERT OR IGNORE INTO reserved_keys VALUES (?1, ?2, ?3)",
                    params![project, id, last + 1],
                )?;
                last += fresh as u32;
            }
            transaction.execute(
                "INSERT INTO key_counters VALUES (?1, ?2)
                 ON CONFLICT (project) DO UPDATE SET last_key = max(last_key, excluded.last_key)",
                params![project, last],
            )?;
            transaction.commit()
        };
        work().map_err(|error| explain(&self.path, error))
    }

    /// The next number: counted in one transaction, so that two processes never get the same.
    pub fn next_number(&mut self, project: &str) -> Result<u32> {
        let sql = "INSERT INTO key_counters VALUES (?1, 1)
             ON CONFLICT (project) DO UPDATE SET last_key = last_key + 1
             RETURNING last_key";
        let number = self.connection.query_row(sql, [project], |row| row.get(0));
        number.map_err(|error| explain(&self.path, error))
    }

    pub fn reserved_number(&self, project: &str, task_id: &str) -> Result<Option<u32>> {
        let sql = "SELECT key FROM reserved_keys WHERE project = ?1 AND task_id = ?2";
        self.one(sql, [project, task_id])
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

fn explain(path: &Path, error: rusqlite::Error) -> Error {
    let name = path.display();
    let explained = match error.sqlite_error_code() {
        _ if is_damage(&error) => err!(Damaged, "{name} is damaged: {error}").hint(text!(
            "run {}: it sets the file aside and restores the last backup",
            Action::repair()
        )),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            err!(Busy, "{name} is locked by another process")
                .hint("try again when that process has finished")
        }
        Some(
            ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure,
        ) => match write_beside(path) {
            Err(reason) => Error::io("write", path, &reason),
            Ok(()) => err!(Storage, "cannot write {name}: {error}")
                .hint("check who owns the file and whether the disk is full; nothing was lost"),
        },
        _ => err!(Storage, "{name}: {error}"),
    };
    explained.because(error)
}

/// SQLite says "unable to open database file" and "disk I/O error"; the system knows why.
fn write_beside(path: &Path) -> std::io::Result<()> {
    const AS_MUCH_AS_SQLITE_NEEDS: usize = 64 * 1024;
    let test = path.with_extension(format!("test-{}", unique_name()));
    let outcome = private::write(&test, vec![0; AS_MUCH_AS_SQLITE_NEEDS]);
    let _ = std::fs::remove_file(&test);
    outcome
}

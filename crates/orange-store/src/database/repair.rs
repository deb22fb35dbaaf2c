//! Puts a sound orange.db in the place of one that is damaged or gone: the last backup, and on top of it every table of the
//! damaged file that is whole.

use super::{Database, MIGRATIONS, explain};
use crate::index::{check, user_version};
use crate::replace::write_atomic;
use orange_core::Timestamp;
use orange_sys::error::{IoContext, Result};
use orange_sys::private::unless_gone;
use rusqlite::Connection;
use std::path::Path;

/// What became of a database.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The name that the damaged file has now.
    pub aside: Option<String>,
    /// When the backup was made that was put in its place; None: there was none that is sound.
    pub backup: Option<Timestamp>,
    /// The tables that are as they were last.
    pub whole: Vec<String>,
    /// The tables that are those of the backup, or empty.
    pub older: Vec<String>,
}

/// Sets a damaged database aside, side files and all, and makes it anew of the last backup and of what is whole.
pub fn repair(home: &Path, stamp: &str) -> Result<Repaired> {
    let aside = format!("orange.db.damaged-{stamp}");
    for suffix in ["-wal", "-shm", ""] {
        let from = home.join(format!("orange.db{suffix}"));
        let to = home.join(format!("{aside}{suffix}"));
        unless_gone(std::fs::rename(&from, &to)).doing("set aside", &from)?;
    }
    let backup = put_backup(home)?;
    let mut database = Database::open_or_make(home)?;
    let tables = database.tables()?;
    let whole = database.take_whole_tables(&home.join(&aside), &tables);
    let older = tables.into_iter().filter(|table| !whole.contains(table));
    Ok(Repaired {
        aside: Some(aside),
        backup,
        older: older.collect(),
        whole,
    })
}

/// Puts the last backup where the database is missing.
pub fn restore(home: &Path) -> Result<Repaired> {
    let backup = put_backup(home)?;
    let database = Database::open_or_make(home)?;
    Ok(Repaired {
        backup,
        older: database.tables()?,
        ..Repaired::default()
    })
}

/// Gives the time at which it was made, if there is one that is sound.
fn put_backup(home: &Path) -> Result<Option<Timestamp>> {
    let (path, backup) = (Database::path_in(home), Database::backup_in(home));
    let made = std::fs::metadata(&backup).and_then(|about| about.modified());
    let Some(bytes) = sound_copy(&backup) else {
        return Ok(None);
    };
    write_atomic(&path, &bytes).doing("write", &path)?;
    Ok(made.ok().and_then(|time| Timestamp::try_from(time).ok()))
}

/// The bytes of a database that passes its own check.
fn sound_copy(path: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    check(&Connection::open(path).ok()?).ok()?;
    Some(bytes)
}

impl Database {
    fn tables(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM sqlite_schema
             WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid";
        let ask = || -> rusqlite::Result<Vec<String>> {
            let mut question = self.connection.prepare(sql)?;
            question.query_map([], |row| row.get(0))?.collect()
        };
        ask().map_err(|error| explain(&self.path, error))
    }

    /// Takes the tables over that SQLite finds nothing wrong with; says which.
    fn take_whole_tables(&mut self, damaged: &Path, tables: &[String]) -> Vec<String> {
        if !is_of_this_version(damaged) {
            return Vec::new();
        }
        let attached = self
            .connection
            .execute("ATTACH ?1 AS damaged", [damaged.to_string_lossy()]);
        if attached.is_err() {
            return Vec::new();
        }
        let mut whole = Vec::new();
        for table in tables {
            match self.take_table(table) {
                Ok(true) => whole.push(table.clone()),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, table, "a table of the damaged file is left"),
            }
        }
        if let Err(error) = self.connection.execute("DETACH damaged", []) {
            tracing::warn!(%error, "the damaged file stays open");
        }
        whole
    }

    /// False: it is damaged.
    fn take_table(&mut self, table: &str) -> Result<bool> {
        let sql = format!("PRAGMA damaged.integrity_check({table})");
        let said = self.connection.query_row(&sql, [], |row| row.get(0));
        let said: String = said.map_err(|error| explain(&self.path, error))?;
        if said != "ok" {
            return Ok(false);
        }
        self.in_transaction(|rows| {
            // A secret never changes: that of the backup cannot be a damaged one.
            if table != "secrets" {
                rows.execute(&format!("DELETE FROM main.{table}"), [])?;
            }
            let take = format!("INSERT OR IGNORE INTO main.{table} SELECT * FROM damaged.{table}");
            rows.execute(&take, [])
        })?;
        Ok(true)
    }
}

fn is_of_this_version(path: &Path) -> bool {
    let version = Connection::open(path).and_then(|connection| user_version(&connection));
    version.is_ok_and(|version| version as usize == MIGRATIONS.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use tempfile::TempDir;

    fn home() -> (TempDir, Database) {
        let folder = TempDir::new().unwrap();
        let database = Database::open(folder.path()).unwrap();
        (folder, database)
    }

    /// The page at which a table begins.
    fn root_of(database: &Database, table: &str) -> i64 {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root = database
            .connection
            .query_row(sql, [table], |row| row.get(0));
        root.unwrap()
    }

    #[test]
    fn whole_tables_are_kept_and_the_others_are_those_of_the_backup() {
        let (home, mut database) = home();
        for number in 1..=3 {
            assert_eq!(database.next_number("shop").unwrap(), number);
        }
        database
            .give_consent("shop", "early", Timestamp::UNIX_EPOCH)
            .unwrap();
        database.copy_to(&Database::backup_in(home.path())).unwrap();
        assert_eq!(database.next_number("shop").unwrap(), 4);
        database
            .give_consent("shop", "late", Timestamp::UNIX_EPOCH)
            .unwrap();
        let page = root_of(&database, "consents");
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        database.connection.query_row(sql, [], |_| Ok(())).unwrap();
        drop(database);
        let path = Database::path_in(home.path());
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[0xff; 200], (page as u64 - 1) * 4096)
            .unwrap();

        let done = repair(home.path(), "now").unwrap();
        assert_eq!(done.older, ["consents"]);
        assert!(done.backup.is_some());
        assert!(home.path().join("orange.db.damaged-now").exists());
        let mut database = Database::open(home.path()).unwrap();
        database.check().unwrap();
        assert_eq!(database.next_number("shop").unwrap(), 5);
        assert!(database.has_consent("shop", "early").unwrap());
        assert!(!database.has_consent("shop", "late").unwrap());
    }

    #[test]
    fn one_that_is_no_database_is_that_of_the_backup() {
        let (home, mut database) = home();
        assert_eq!(database.next_number("shop").unwrap(), 1);
        database.copy_to(&Database::backup_in(home.path())).unwrap();
        drop(database);
        // What stands in the side file alone can be read without the other.
        std::fs::remove_file(home.path().join("orange.db-wal")).unwrap();
        std::fs::write(Database::path_in(home.path()), "no database".repeat(900)).unwrap();
        let done = repair(home.path(), "now").unwrap();
        assert_eq!(done.whole, [""; 0]);
        let mut database = Database::open(home.path()).unwrap();
        assert_eq!(database.next_number("shop").unwrap(), 2);
    }

    #[test]
    fn one_that_is_gone_is_not_made_anew_beside_its_backup() {
        let (home, database) = home();
        database.copy_to(&Database::backup_in(home.path())).unwrap();
        std::fs::remove_file(Database::path_in(home.path())).unwrap();
        assert!(database.is_replaced());
        drop(database);
        let error = Database::open(home.path()).err().unwrap();
        assert!(
            error
                .message
                .ends_with("orange.db is missing, and its backup is there"),
            "{error}"
        );
        assert!(!Database::path_in(home.path()).exists());
        assert!(restore(home.path()).unwrap().backup.is_some());
        assert!(!Database::open(home.path()).unwrap().is_replaced());
    }
}

//! Puts a sound orange.db in the place of one that is damaged or gone: what is whole of it, and the rest of the last backup. It is
//! built beside the old one and takes its place in one step, so a repair that is killed is begun again or finished.

use super::phased::{Journal, TABLES};
use super::{Database, MIGRATIONS, explain};
use crate::index::check;
use crate::journal::sync_folder;
use crate::private;
use crate::replace::write_atomic;
use orange_core::{SignedDuration, Timestamp};
use orange_sys::crash_points::crash_point;
use orange_sys::error::{IoContext, Result, err};
use orange_sys::private::unless_gone;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// What became of a database.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The name that the damaged file has now.
    pub aside: Option<String>,
    /// When the backup was made that was used; None: there was none that is sound.
    pub backup: Option<Timestamp>,
    /// The tables that are as they were last.
    pub whole: Vec<String>,
    /// The tables that are those of the backup, or empty.
    pub older: Vec<String>,
    /// The tasks that went on since, by their ids: their plans are gone.
    pub outdated: Vec<String>,
}

/// Only together do these tables say how far a task is.
fn says_how_far(table: &str) -> bool {
    TABLES.contains(&table) || table == "journal_seals"
}

/// A backup is as old as its file, but for the time that it took to make it.
const SLACK: SignedDuration = SignedDuration::from_mins(1);

/// Makes the database anew, of what is whole and of the last backup. A damaged one is set aside, side files and all. What phased
/// tasks did since the backup nobody knows: their plans are dropped, and what their journals tell of turns and costs is kept.
pub fn repair(home: &Path, stamp: &str, journals: &[Journal]) -> Result<Repaired> {
    let path = Database::path_in(home);
    let work = home.join("orange.db.repair");
    let ready = work.join("ready.db");
    let is_there = path.exists();
    let mut done = if !is_there && is_newer(&ready, &Database::backup_in(home)) {
        // A repair was killed when it had set the damaged one aside.
        Repaired::default()
    } else {
        build(home, &work, &ready, is_there, journals)?
    };
    crash_point("repair.built");
    keep_others_out(home, &ready)?;
    let aside = set_aside(home, stamp)?;
    done.aside = is_there.then_some(aside);
    crash_point("repair.aside");
    fs::rename(&ready, &path).doing("write", &path)?;
    sync_folder(&path).doing("write", home)?;
    let _ = fs::remove_dir_all(&work);
    Ok(done)
}

fn build(
    home: &Path,
    work: &Path,
    ready: &Path,
    is_there: bool,
    journals: &[Journal],
) -> Result<Repaired> {
    unless_gone(fs::remove_dir_all(work)).doing("delete", work)?;
    private::make_folder(work).doing("create", work)?;
    let backup = copy_backup(home, work)?;
    let mut database = Database::open_or_make(work)?;
    let tables = database.tables()?;
    let whole = if is_there {
        database.take_whole_tables(&Database::path_in(home), &tables)
    } else {
        Vec::new()
    };
    let mut outdated = Vec::new();
    let mut of_executions = tables.iter().filter(|table| says_how_far(table));
    let are_whole = of_executions.all(|table| is_in(&whole, table));
    for journal in journals {
        // The file may be whole, and what had not come into it from its log be lost.
        let is_older = !are_whole && database.is_older_than(journal, backup)?;
        if is_older || database.lacks_turns(journal)? {
            database.drop_progress(journal)?;
            outdated.push(journal.task.clone());
        }
    }
    database
        .check()
        .map_err(|why| err!(Failed, "the new orange.db is damaged: {why}"))?;
    database.leave_one_file()?;
    drop(database);
    let built = Database::path_in(work);
    fs::rename(&built, ready).doing("write", ready)?;
    let older = tables.into_iter().filter(|table| !is_in(&whole, table));
    Ok(Repaired {
        aside: None,
        backup,
        older: older.collect(),
        whole,
        outdated,
    })
}

/// Whether that file is there, and the other one is not younger.
fn is_newer(one: &Path, other: &Path) -> bool {
    let made = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    made(one).is_some_and(|one| made(other).is_none_or(|other| one >= other))
}

fn is_in(tables: &[String], table: &str) -> bool {
    tables.iter().any(|known| known == table)
}

/// Whoever opens a database that is gone makes it anew, unless there is a backup.
fn keep_others_out(home: &Path, ready: &Path) -> Result<()> {
    let backup = Database::backup_in(home);
    if backup.exists() {
        return Ok(());
    }
    let bytes = fs::read(ready).doing("read", ready)?;
    write_atomic(&backup, &bytes).doing("write", &backup)
}

/// The file itself first: one that is gone is opened by nobody. Gives its new name.
fn set_aside(home: &Path, stamp: &str) -> Result<String> {
    let aside = format!("orange.db.damaged-{stamp}");
    for suffix in ["", "-wal", "-shm"] {
        let from = home.join(format!("orange.db{suffix}"));
        let to = home.join(format!("{aside}{suffix}"));
        unless_gone(fs::rename(&from, &to)).doing("set aside", &from)?;
    }
    Ok(aside)
}

/// Gives the time at which it was made, if there is one that is sound.
fn copy_backup(home: &Path, work: &Path) -> Result<Option<Timestamp>> {
    let (path, backup) = (Database::path_in(work), Database::backup_in(home));
    let made = fs::metadata(&backup).and_then(|about| about.modified());
    let Some(bytes) = unless_gone(fs::read(&backup)).doing("read", &backup)? else {
        return Ok(None);
    };
    if !is_sound(&bytes, work) {
        // Kept: the next backup takes its name.
        let kept = backup.with_extension("backup.damaged");
        fs::rename(&backup, &kept).doing("set aside", &backup)?;
        return Ok(None);
    }
    private::write(&path, bytes).doing("write", &path)?;
    Ok(made.ok().and_then(|time| Timestamp::try_from(time).ok()))
}

/// Whether a database passes its own check, which is made on a copy: it leaves files beside the one that it opens.
fn is_sound(bytes: &[u8], work: &Path) -> bool {
    let copy = work.join("copy.db");
    let written = private::write(&copy, bytes);
    written.is_ok() && Connection::open(&copy).is_ok_and(|copy| check(&copy).is_ok())
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
        let attached = self
            .connection
            .execute("ATTACH ?1 AS damaged", [damaged.to_string_lossy()]);
        let version = attached.and_then(|_| {
            let sql = "PRAGMA damaged.user_version";
            self.connection
                .query_row(sql, [], |row| row.get::<_, i64>(0))
        });
        if version.is_ok_and(|version| version != MIGRATIONS.len() as i64) {
            return Vec::new();
        }
        let (of_executions, others): (Vec<&str>, Vec<&str>) = tables
            .iter()
            .map(String::as_str)
            .partition(|table| says_how_far(table));
        let mut whole = Vec::new();
        for together in others.chunks(1).chain([&of_executions[..]]) {
            match self.take_tables(together) {
                Ok(true) => whole.extend(together.iter().map(|table| (*table).to_owned())),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, ?together, "tables of the damaged file are left")
                }
            }
        }
        if let Err(error) = self.connection.execute("DETACH damaged", []) {
            tracing::warn!(%error, "the damaged file stays open");
        }
        whole
    }

    /// All of these or none. False: one is damaged.
    fn take_tables(&mut self, tables: &[&str]) -> Result<bool> {
        for table in tables {
            let sql = format!("PRAGMA damaged.integrity_check({table})");
            let said = self.connection.query_row(&sql, [], |row| row.get(0));
            let said: String = said.map_err(|error| explain(&self.path, error))?;
            if said != "ok" {
                return Ok(false);
            }
        }
        self.in_transaction(|rows| {
            for table in tables {
                // A secret never changes: that of the backup cannot be a damaged one.
                if *table != "secrets" {
                    rows.execute(&format!("DELETE FROM main.{table}"), [])?;
                }
                let take =
                    format!("INSERT OR IGNORE INTO main.{table} SELECT * FROM damaged.{table}");
                rows.execute(&take, [])?;
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Whether a journal tells of something since the backup.
    fn is_older_than(&self, journal: &Journal, backup: Option<Timestamp>) -> Result<bool> {
        let until = backup.map(|made| made - SLACK);
        if journal
            .last
            .zip(until)
            .is_none_or(|(last, until)| last >= until)
        {
            return Ok(true);
        }
        // The clock may have been set back: the last move is known by its seal too.
        let known = self.journal_seal(&journal.task)?.map(|known| known.seal);
        Ok(known.is_some() && known != journal.moved)
    }

    /// No side files are left once it is closed.
    fn leave_one_file(&self) -> Result<()> {
        let done = self
            .connection
            .pragma_update(None, "journal_mode", "DELETE");
        done.map_err(|error| explain(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::work::execution::{Execution, PhaseState, PhaseStatus};
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

    fn damage(database: Database, home: &Path, table: &str) {
        let page = root_of(&database, table);
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        database.connection.query_row(sql, [], |_| Ok(())).unwrap();
        drop(database);
        let path = Database::path_in(home);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.write_all_at(&[0xff; 200], (page as u64 - 1) * 4096)
            .unwrap();
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
        damage(database, home.path(), "consents");
        let done = repair(home.path(), "now", &[]).unwrap();
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
    fn how_far_tasks_are_comes_from_one_of_the_two() {
        let (home, mut database) = home();
        let mut execution = Execution {
            phases: vec![PhaseState::new("implement")],
            ..Execution::default()
        };
        database.store_execution("t1", &execution).unwrap();
        database.copy_to(&Database::backup_in(home.path())).unwrap();
        execution.phases[0].status = PhaseStatus::Completed;
        database.store_execution("t1", &execution).unwrap();
        damage(database, home.path(), "gate_decisions");
        let went_on = Journal {
            task: "t1".into(),
            last: Some(Timestamp::now()),
            ..Journal::default()
        };
        let done = repair(home.path(), "now", &[went_on]).unwrap();
        assert!(done.older.iter().all(|table| says_how_far(table)));
        assert_eq!(done.older.len(), TABLES.len() + 1);
        assert_eq!(done.outdated, ["t1"]);
        let mut database = Database::open(home.path()).unwrap();
        assert_eq!(
            database.execution("t1").unwrap(),
            Some(Execution::default())
        );
    }

    #[test]
    fn one_that_is_no_database_is_that_of_the_backup() {
        let (home, mut database) = home();
        assert_eq!(database.next_number("shop").unwrap(), 1);
        database.copy_to(&Database::backup_in(home.path())).unwrap();
        drop(database);
        // What stands in the side file alone can be read without the other.
        fs::remove_file(home.path().join("orange.db-wal")).unwrap();
        fs::write(Database::path_in(home.path()), "no database".repeat(900)).unwrap();
        let done = repair(home.path(), "now", &[]).unwrap();
        assert_eq!(done.whole, [""; 0]);
        let mut database = Database::open(home.path()).unwrap();
        assert_eq!(database.next_number("shop").unwrap(), 2);
    }

    #[test]
    fn one_that_is_gone_is_not_made_anew_beside_its_backup() {
        let (home, database) = home();
        database.copy_to(&Database::backup_in(home.path())).unwrap();
        fs::remove_file(Database::path_in(home.path())).unwrap();
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
        assert!(repair(home.path(), "now", &[]).unwrap().backup.is_some());
        assert!(!Database::open(home.path()).unwrap().is_replaced());
    }
}

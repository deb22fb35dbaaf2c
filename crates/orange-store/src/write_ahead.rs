//! The write-ahead logs of orange.db and index.db. A command opens a database, writes a few rows and ends. What SQLite does when
//! the last connection is closed (copy the log into the database, sync both, remove the log, make a new one next time) would
//! cost more than the rows. So a log stays when its database is closed, and whoever opens it next and finds the log long copies
//! it. Without that a log would only grow: SQLite begins it anew only in a process that goes on writing after it has copied it.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first process that opens a database reads its whole log, so this is also what an opening may cost.
const LONG: u64 = 128 * 1024;

/// Keeps the log of a database short. From now on its questions wait for other connections as long as `timeout` says.
pub(crate) fn keep_short(
    connection: &Connection,
    path: &Path,
    timeout: Duration,
) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if fs::metadata(log_of(path)).is_ok_and(|log| log.len() > LONG) {
        connection.busy_timeout(Duration::ZERO)?;
        // Whoever is next tries again, and what is wrong with the database shows in the question it was opened for.
        match copied(connection) {
            Ok(true) => {}
            Ok(false) => tracing::debug!(path = %path.display(), "a log in use stays long"),
            Err(error) => tracing::debug!(%error, path = %path.display(), "a log stays long"),
        }
    }
    connection.busy_timeout(timeout)
}

/// Copies the log into the database and empties it. False if another connection uses it.
fn copied(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy: bool = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(!is_busy)
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        keep_short(&connection, path, Duration::from_secs(5)).unwrap();
        connection
    }

    fn add(path: &Path, number: u32) {
        opened(path)
            .execute("INSERT INTO numbers VALUES (?1)", [number])
            .unwrap();
    }

    fn length(path: &Path) -> u64 {
        fs::metadata(log_of(path)).unwrap().len()
    }

    #[test]
    fn a_log_stays_when_its_database_is_closed_and_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.db");
        let table = "CREATE TABLE numbers (number INTEGER)";
        opened(&path).execute_batch(table).unwrap();
        let lengths: Vec<u64> = (0..200)
            .map(|number| {
                add(&path, number);
                length(&path)
            })
            .collect();
        assert!(lengths.iter().all(|length| (1..2 * LONG).contains(length)));
        assert!(lengths.iter().any(|length| *length > LONG));
        let sql = "SELECT count(*), max(number) FROM numbers";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found: (u32, u32) = opened(&path).query_row(sql, [], read).unwrap();
        assert_eq!(found, (200, 199));
    }

    #[test]
    fn a_log_that_somebody_reads_is_left_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.db");
        let reader = opened(&path);
        let begin = "CREATE TABLE numbers (number INTEGER); BEGIN; SELECT * FROM numbers";
        reader.execute_batch(begin).unwrap();
        for number in 0..100 {
            add(&path, number);
        }
        assert!(length(&path) > 2 * LONG);
        reader.execute_batch("COMMIT").unwrap();
        add(&path, 100);
        assert!(length(&path) < LONG);
    }
}

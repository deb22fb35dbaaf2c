//! The key of seals, the last seal in each task's journal, and that of its environment.

use super::phased::change;
use super::{Database, explain};
use crate::seal::{KEY_BYTES, SealKey};
use orange_sys::error::{IoContext, Result};
use rusqlite::{Connection, OptionalExtension, params};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const KEY: &str = "seals";

/// What is remembered of a task's journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSeal {
    pub seal: String,
    /// Lines that Orange had sealed were missing from the journal when this was noted, or before.
    pub incomplete: bool,
}

impl Database {
    /// The key with which this home seals; made the first time it is asked for.
    pub fn seal_key(&mut self) -> Result<SealKey> {
        if let Some(key) = &self.seal_key {
            return Ok(key.clone());
        }
        let key = self.stored_or_new_key()?;
        self.seal_key = Some(key.clone());
        Ok(key)
    }

    fn stored_or_new_key(&self) -> Result<SealKey> {
        if let Some(key) = self.stored_key()? {
            return Ok(key);
        }
        let source = Path::new("/dev/urandom");
        let mut fresh = [0; KEY_BYTES];
        File::open(source)
            .and_then(|mut random| random.read_exact(&mut fresh))
            .doing("read", source)?;
        // Another process may have been quicker; its key stays.
        let sql = "INSERT OR IGNORE INTO secrets (name, value) VALUES (?1, ?2)";
        self.execute(sql, params![KEY, fresh])?;
        Ok(self.stored_key()?.unwrap_or(SealKey::new(fresh)))
    }

    fn stored_key(&self) -> Result<Option<SealKey>> {
        let key = self.one("SELECT value FROM secrets WHERE name = ?1", [KEY])?;
        Ok(key.map(SealKey::new))
    }

    /// The seal of a task's environment, if one was noted.
    pub fn environment_seal(&self, task: &str) -> Result<Option<String>> {
        self.one("SELECT seal FROM environments WHERE task_id = ?1", [task])
    }

    /// None: the task is over.
    pub fn note_environment_seal(&mut self, task: &str, seal: Option<&str>) -> Result<()> {
        let done = match seal {
            Some(seal) => self.execute(
                "INSERT OR REPLACE INTO environments VALUES (?1, ?2)",
                [task, seal],
            ),
            None => self.execute("DELETE FROM environments WHERE task_id = ?1", [task]),
        };
        done.map(drop)
    }

    pub fn journal_seal(&self, task: &str) -> Result<Option<JournalSeal>> {
        let sql = "SELECT seal, incomplete FROM journal_seals WHERE task_id = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let (seal, incomplete) = (row.get(0)?, row.get(1)?);
            Ok(JournalSeal { seal, incomplete })
        };
        let ask = || {
            let mut question = self.connection.prepare_cached(sql)?;
            question.query_row([task], read).optional()
        };
        ask().map_err(|error| explain(&self.path, error))
    }

    /// Forgets what is remembered of the journal of a task that is gone for good.
    pub fn forget_journal_seal(&mut self, task: &str) -> Result<()> {
        let sql = "DELETE FROM journal_seals WHERE task_id = ?1";
        self.execute(sql, [task]).map(drop)
    }
}

/// Remembers the last seal of a journal. That one is incomplete is never forgotten.
pub(super) fn put(rows: &Connection, task: &str, noted: &JournalSeal) -> rusqlite::Result<()> {
    let sql = "INSERT INTO journal_seals VALUES (?1, ?2, ?3) ON CONFLICT (task_id) DO UPDATE
         SET seal = excluded.seal, incomplete = max(incomplete, excluded.incomplete)";
    change(rows, sql, params![task, noted.seal, noted.incomplete]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_key_is_made_once_and_only_its_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let text = "x".as_bytes();
        let seal = |database: &mut Database| database.seal_key().unwrap().of_file("a", "b", text);
        let mut first = Database::open(home.path()).unwrap();
        let sealed = seal(&mut first);
        let mut second = Database::open(home.path()).unwrap();
        assert_eq!(seal(&mut second), sealed);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(seal(&mut Database::open(other.path()).unwrap()), sealed);
        for name in ["orange.db", "orange.db-wal", "orange.db.backup"] {
            let data = std::fs::metadata(home.path().join(name)).unwrap();
            assert_eq!(data.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn that_lines_were_missing_is_never_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let mut database = Database::open(home.path()).unwrap();
        assert_eq!(database.journal_seal("t1").unwrap(), None);
        for (seal, incomplete, expected) in
            [("a", false, false), ("b", true, true), ("c", false, true)]
        {
            let noted = JournalSeal {
                seal: seal.into(),
                incomplete,
            };
            database.note_journalled("t1", &[], Some(&noted)).unwrap();
            let found = database.journal_seal("t1").unwrap().unwrap();
            assert_eq!((found.seal.as_str(), found.incomplete), (seal, expected));
        }
    }
}

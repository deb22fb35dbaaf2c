//! What the user agreed to: the commands of a repository, by their hash.

use super::Database;
use orange_core::Timestamp;
use orange_sys::error::Result;
use rusqlite::params;

impl Database {
    pub fn has_consent(&self, project: &str, hash: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM consents WHERE project = ?1 AND hash = ?2";
        Ok(self.one::<u8>(sql, [project, hash])?.is_some())
    }

    /// False if it was given before.
    pub fn give_consent(&mut self, project: &str, hash: &str, now: Timestamp) -> Result<bool> {
        let sql = "INSERT OR IGNORE INTO consents (project, hash, granted_at) VALUES (?1, ?2, ?3)";
        Ok(self.execute(sql, params![project, hash, now.to_string()])? > 0)
    }

    /// Takes all consents of a project back; says how many there were.
    pub fn revoke_consents(&mut self, project: &str) -> Result<usize> {
        self.execute("DELETE FROM consents WHERE project = ?1", [project])
    }
}

//! What the user agreed to: the commands of a repository, by their hash.

use super::{Database, explain};
use orange_core::Timestamp;
use orange_sys::error::Result;
use rusqlite::params;

impl Database {
    pub fn has_consent(&self, project: &str, hash: &str) -> Result<bool> {
        self.connection
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM consents WHERE project = ?1 AND hash = ?2)",
                [project, hash],
                |row| row.get(0),
            )
            .map_err(|error| explain(&self.path, &error))
    }

    /// False if it was given before.
    pub fn give_consent(&mut self, project: &str, hash: &str, now: Timestamp) -> Result<bool> {
        self.connection
            .execute(
                "INSERT OR IGNORE INTO consents (project, hash, granted_at) VALUES (?1, ?2, ?3)",
                params![project, hash, now.to_string()],
            )
            .map(|rows| rows > 0)
            .map_err(|error| explain(&self.path, &error))
    }

    /// Takes all consents of a project back; says how many there were.
    pub fn revoke_consents(&mut self, project: &str) -> Result<usize> {
        self.connection
            .execute("DELETE FROM consents WHERE project = ?1", [project])
            .map_err(|error| explain(&self.path, &error))
    }
}

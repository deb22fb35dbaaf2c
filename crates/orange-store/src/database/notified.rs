//! What the user was told of, so that nothing is told twice.

use super::Database;
use orange_core::Timestamp;
use orange_sys::error::Result;
use rusqlite::params;

impl Database {
    /// False if it was noted before.
    pub fn note_notified(&mut self, key: &str, now: Timestamp) -> Result<bool> {
        let sql = "INSERT OR IGNORE INTO notifications (key, sent_at) VALUES (?1, ?2)";
        Ok(self.execute(sql, params![key, now.to_string()])? > 0)
    }
}

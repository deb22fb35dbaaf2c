//! What the user was told of, so that nothing is told twice.

use super::{Database, explain};
use orange_core::Timestamp;
use orange_sys::error::Result;
use rusqlite::params;

impl Database {
    /// False if it was noted before.
    pub fn note_notified(&mut self, key: &str, now: Timestamp) -> Result<bool> {
        self.connection
            .execute(
                "INSERT OR IGNORE INTO notifications (key, sent_at) VALUES (?1, ?2)",
                params![key, now.to_string()],
            )
            .map(|rows| rows > 0)
            .map_err(|error| explain(&self.path, &error))
    }
}

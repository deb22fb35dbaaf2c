//! Rotated logs that are past their time. The log that is being written stays, however old.

use super::{Item, Kind, Swept, if_there, written};
use crate::disk;
use crate::engine::Engine;
use crate::error::Result;
use crate::store::{LOG, LOG_LOCK};
use orange_core::Timestamp;
use std::fs;
use std::path::PathBuf;

impl Engine {
    pub(super) fn sweep_logs(&mut self, remove: bool) -> Result<Swept> {
        let days = self.config()?.log.keep_days;
        let limit = self.so_many_days_ago(days);
        let mut swept = Swept::new(Kind::Logs, days);
        let old = self.old_logs(limit);
        if !remove || old.is_empty() {
            swept.items = old.into_iter().map(|(_, item)| item).collect();
            return Ok(swept);
        }
        // Whoever rotates renames: a name could be that of a younger file a moment later.
        let Some(_lock) = self.store.try_lock_file(LOG_LOCK)? else {
            swept.stays("rotated logs", "another orange is rotating them");
            return Ok(swept);
        };
        for (path, item) in self.old_logs(limit) {
            swept.note(item, if_there(fs::remove_file(path)));
        }
        Ok(swept)
    }

    fn old_logs(&self, limit: Timestamp) -> Vec<(PathBuf, Item)> {
        let item = |path: PathBuf| {
            let time = written(&path).filter(|time| *time < limit)?;
            let item = Item {
                name: path.display().to_string(),
                bytes: disk::used(&path),
                time,
            };
            Some((path, item))
        };
        self.rotated_logs().into_iter().filter_map(item).collect()
    }

    /// `orange.log.1` and so on.
    pub(crate) fn rotated_logs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.store.home()).into_iter().flatten();
        let is_rotated = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.strip_prefix(LOG)?.strip_prefix('.'));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(is_rotated)
            .collect();
        found.sort();
        found
    }
}

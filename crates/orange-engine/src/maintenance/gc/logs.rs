//! Rotated logs that are past their time. The log that is being written stays, however old.

use crate::call::Call;
use crate::disk::{self, written};
use crate::error::Result;
use crate::maintenance::gc::{self, ExpiryKind, Item, Swept, if_there};
use crate::settings;
use crate::store::locks::Lock;
use crate::store::{LOG, LOGS_KEPT};
use orange_core::Timestamp;
use std::fs;
use std::path::PathBuf;

pub(crate) fn sweep_logs(call: &Call, remove: bool) -> Result<Swept> {
    let days = settings::config(call)?.log.keep_days;
    let limit = gc::so_many_days_ago(call, days);
    let mut swept = Swept::new(ExpiryKind::Logs, days);
    let old = old_logs(call, limit);
    if !remove || old.is_empty() {
        swept.items = old.into_iter().map(|(_, item)| item).collect();
        return Ok(swept);
    }
    // Whoever rotates renames: a name could be that of a younger file a moment later.
    let Some(_lock) = call.store.try_lock(Lock::Log)? else {
        swept.stays("rotated logs", "another orange is rotating them");
        return Ok(swept);
    };
    for (path, item) in old_logs(call, limit) {
        swept.note(item, if_there(fs::remove_file(path)));
    }
    Ok(swept)
}

fn old_logs(call: &Call, limit: Timestamp) -> Vec<(PathBuf, Item)> {
    let item = |path: PathBuf| {
        let time = written(&path).filter(|time| *time < limit)?;
        let item = Item {
            name: path.display().to_string(),
            bytes: disk::used(&path),
            time,
        };
        Some((path, item))
    };
    rotated_logs(call).into_iter().filter_map(item).collect()
}

/// `orange.log.1` and so on, under exactly the names that rotating gives.
pub(crate) fn rotated_logs(call: &Call) -> Vec<PathBuf> {
    let named = |number| call.store.home().join(format!("{LOG}.{number}"));
    let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
    (1..=LOGS_KEPT).map(named).filter(is_file).collect()
}

//! Last screens of agents that are past their time. A task that is not over keeps the newest of each role: that is
//! what `task peek` shows.

use super::{Item, Kind, Swept, if_there, written};
use crate::disk;
use crate::engine::Engine;
use crate::error::Result;
use crate::index::list::Filter;
use orange_core::Timestamp;
use orange_core::task::Status;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder beside TASK.md.
pub(crate) const SCREENS: &str = "screens";

impl Engine {
    pub(super) fn sweep_screens(&self, remove: bool) -> Result<Swept> {
        let days = self.config()?.screens.keep_days;
        let limit = self.so_many_days_ago(days);
        let mut swept = Swept::new(Kind::Screens, days);
        let all = Filter {
            all: true,
            ..Filter::default()
        };
        for task in self.listed(&all)? {
            let folder = self.store.place(&task.folder).path.join(SCREENS);
            let is_over = task.status.parse().is_ok_and(Status::is_terminal);
            let mut shown = HashSet::new();
            for (time, path) in newest_first(&folder) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let role = name.split('-').next().unwrap_or_default().to_owned();
                let stays = shown.insert(role) && !is_over;
                if stays || time >= limit {
                    continue;
                }
                let item = Item {
                    name: format!("{}/{SCREENS}/{name}", task.folder),
                    bytes: disk::used(&path),
                    time,
                };
                let gone = match remove {
                    true => if_there(fs::remove_file(&path)),
                    false => Ok(()),
                };
                swept.note(item, gone);
            }
        }
        Ok(swept)
    }
}

fn newest_first(folder: &Path) -> Vec<(Timestamp, PathBuf)> {
    // Through a link the files would be somebody else's.
    if !fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Timestamp, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .filter_map(|path| Some((written(&path)?, path)))
        .collect();
    found.sort();
    found.reverse();
    found
}

//! Last screens of agents that are past their time. A task that is not over keeps the newest of each role: that is
//! what `task peek` shows.

use crate::call::Call;
use crate::effects::stop_agent::{SCREENS, newest_first};
use crate::error::Result;
use crate::maintenance::every_task;
use crate::maintenance::gc::{self, ExpiryKind, Item, Swept, if_there};
use crate::{disk, settings};
use orange_core::task::Status;
use std::collections::HashSet;
use std::fs;

pub(crate) fn sweep_screens(call: &Call, remove: bool) -> Result<Swept> {
    let days = settings::config(call)?.screens.keep_days;
    let limit = gc::so_many_days_ago(call, days);
    let mut swept = Swept::new(ExpiryKind::Screens, days);
    for task in every_task(call)? {
        let folder = call.store.place(&task.folder).path.join(SCREENS);
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
            let gone = if remove {
                if_there(fs::remove_file(&path))
            } else {
                Ok(())
            };
            swept.note(item, gone);
        }
    }
    Ok(swept)
}

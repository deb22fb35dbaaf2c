//! Deleted tasks that are past their time. A folder is first renamed to where nothing looks for tasks: a process that is
//! killed over the removing leaves nothing that could be restored by half.

use crate::call::{self, Call};
use crate::error::Result;
use crate::git::checkpoint;
use crate::maintenance::gc::{self, ExpiryKind, Item, Swept, if_there, remove_folder};
use crate::rescue::{self, RAW};
use crate::store::{Place, history_in, make_folder};
use crate::trash::{self, GONE, task_folders};
use crate::{disk, settings};
use orange_core::Timestamp;
use orange_core::history::EventType;
use orange_core::task::Task;
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// Each under its project's lock, so that none is being restored meanwhile.
pub(crate) fn sweep_trash(call: &Call, remove: bool) -> Result<Swept> {
    let days = settings::config(call)?.trash.keep_days;
    let limit = gc::so_many_days_ago(call, days);
    let rescued_since = settings::config(call)?.rescue.keep_days;
    let rescued_since = gc::so_many_days_ago(call, rescued_since);
    let mut swept = Swept::new(ExpiryKind::Trash, days);
    if remove {
        remove_gone(call);
    }
    for (folder, time) in old_trash(call, limit) {
        let inside = folder.strip_prefix(call.store.trash());
        let Some(inside) = inside.ok().and_then(Path::to_str) else {
            continue;
        };
        let (place, task) = (call.store.place(inside), trash::task_in(&folder));
        let name = task.as_ref().map_or(inside.to_owned(), |task| {
            let name = format!("{}:{} {}", place.project, task.label(), task.summary);
            name.trim_end().to_owned()
        });
        let needed = match youngest_copy(&folder) {
            Some(copy) if copy >= rescued_since => {
                Some(format!("holds copies that belong to a rescue of {copy}"))
            }
            Some(_) => copies_are_needed(call, task.as_ref(), &place),
            None => None,
        };
        if let Some(why) = needed {
            swept.stays(name, why);
            continue;
        }
        let item = Item {
            bytes: disk::used(&folder),
            name,
            time,
        };
        if !remove {
            swept.items.push(item);
            continue;
        }
        match call::try_lock_project(call, &place.project)? {
            Some(_project) => {
                let gone = remove_trashed(call, &folder);
                if let (Ok(()), Some(task)) = (&gone, task) {
                    forget_what_is_kept_of(call, &place.project, &task.id);
                }
                swept.note(item, if_there(gone));
            }
            None => {
                swept.stays(item.name, "another orange is at work in its project");
            }
        }
    }
    Ok(swept)
}

/// What has lain in the trash since before that time: since its deletion, by its journal and by that file's own time.
fn old_trash(call: &Call, limit: Timestamp) -> Vec<(PathBuf, Timestamp)> {
    // A look at the file's time first: reading every journal would make each deletion slow.
    let untouched_for_long = |path: &Path| {
        fs::metadata(path.join("history.jsonl"))
            .and_then(|data| data.modified())
            .is_ok_and(|then| then < SystemTime::from(limit))
    };
    task_folders(&call.store.trash())
        .into_iter()
        .filter(|path| untouched_for_long(path))
        .filter_map(|path| {
            let time = deleted_at(&path)?;
            (time < limit).then_some((path, time))
        })
        .collect()
}

/// Why its copies may not go with it: a rescue that speaks of them is there, or could be.
fn copies_are_needed(call: &Call, task: Option<&Task>, place: &Place) -> Option<String> {
    // Not `registered`, which passes over one whose repository is away.
    let project = call.project_of(&place.project)?;
    match rescue::list(&project.path, Some(&task?.id)) {
        Ok(rescues) if rescues.is_empty() => None,
        Ok(_) => Some("holds copies that belong to a rescue".to_owned()),
        Err(error) => Some(format!("holds copies that may belong to a rescue: {error}")),
    }
}

fn deleted_at(folder: &Path) -> Option<Timestamp> {
    let history = history_in(folder).ok()?;
    let mut events = history.events.iter().rev();
    let deleted = events.find(|event| event.kind == EventType::TaskDeleted);
    deleted.map(|event| event.timestamp)
}

/// Forgets what orange.db and the repository have of a task that was removed for good, unless there is another copy of it.
fn forget_what_is_kept_of(call: &Call, project: &str, id: &str) {
    let mut trash = task_folders(&call.store.trash()).into_iter();
    let in_trash = trash.any(|folder| trash::task_in(&folder).is_some_and(|task| task.id == id));
    let known = call.index().and_then(|index| index.by_id_prefix(id));
    let is_there = known.map_or(true, |found| found.iter().any(|task| task.id == id));
    if in_trash || is_there {
        return;
    }
    let forgotten = call.with_database(|database| {
        database.forget_journal_seal(id)?;
        database.forget_phased(id)?;
        database.forget_rules_of_task(id)
    });
    if let Err(error) = forgotten {
        tracing::warn!(%error, "what orange.db has of a removed task is still there");
    }
    let project = call.project_of(project);
    let repository = project.filter(|project| project.path.is_dir());
    let forgotten = repository.map(|project| checkpoint::forget(&call.site(project.path), id));
    if let Some(Err(error)) = forgotten {
        tracing::warn!(%error, "checkpoints of a removed task are still there");
    }
}

fn remove_trashed(call: &Call, folder: &Path) -> io::Result<()> {
    let aside = call.store.trash().join(GONE).join(call.file_stamp());
    if let Some(parent) = aside.parent() {
        make_folder(parent)?;
    }
    fs::rename(folder, &aside)?;
    crash_point("gc.trash_renamed");
    remove_gone(call);
    if aside.exists() {
        Err(io::Error::other(format!(
            "{} could not be removed whole",
            aside.display()
        )))
    } else {
        Ok(())
    }
}

/// What was renamed and is still there, after a kill for instance.
fn remove_gone(call: &Call) {
    let folder = call.store.trash().join(GONE);
    for path in listing::entries(&folder) {
        if let Err(error) = remove_folder(&path) {
            tracing::warn!(%error, path = %path.display(), "old trash was not removed");
        }
    }
    let _ = fs::remove_dir(folder);
}

/// The copies beside a task go with it, and may not go before their rescue.
fn youngest_copy(folder: &Path) -> Option<Timestamp> {
    let names = listing::names(&folder.join(RAW));
    names.filter_map(|name| rescue::time_of(&name)).max()
}

/// Deletes what has expired, after a deletion. Errors are ignored here: `gc` reports them.
pub(crate) fn empty_old_trash(call: &Call) {
    if let Err(error) = sweep_trash(call, true) {
        tracing::warn!(%error, "old trash was not removed");
    }
}

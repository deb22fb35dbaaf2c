//! Deleted tasks on disk: where they are, what is read of them, and the moves in and out.

use crate::call::{Call, hidden_folder};
use crate::error::{Error, IoContext, Result, err};
use crate::started_by;
use crate::store::{Place, feed, history_in, make_folder};
use orange_core::history::EventType;
use orange_core::id::Reference;
use orange_core::task::{Status, Task};
use orange_core::{Action, machine, text};
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use std::fs;
use std::path::{Path, PathBuf};

/// In the trash: what is being removed for good.
pub(crate) const GONE: &str = ".gone";

/// The status of a deleted task, if it is over: its dependents need not wait.
pub(crate) fn over_in_trash(call: &Call, project: &str, number: u32) -> Option<Status> {
    trashed(call)
        .into_iter()
        .find(|(place, task)| place.project == project && has_number(task, number))
        .map(|(_, task)| task.status)
        .filter(|status| status.is_over())
}

pub(crate) fn move_to_trash(call: &Call, place: &Place) -> Result<()> {
    let target = trash_place(call, place);
    let task = call.store.survey(&place.folder()).task;
    started_by::forget_environment(call, &task.id);
    let made = target.parent().map_or(Ok(()), make_folder);
    made.and_then(|()| {
        if target.exists() {
            // An older copy of the same folder; both are kept.
            let stamp = call.file_stamp();
            fs::rename(&target, target.with_extension(format!("older-{stamp}")))?;
        }
        fs::rename(&place.path, &target)
    })
    .doing("move", &place.path)?;
    sync_parents(&place.path, &target);
    crash_point("delete.moved");
    call.index()?.store(&[], &[place.folder()]);
    call.store.append_to_feed(&feed::FeedLine {
        time: call.now(),
        folder: place.folder(),
        revision: task.revision,
        events: vec![EventType::TaskDeleted],
    });
    Ok(())
}

pub(crate) fn trash_place(call: &Call, place: &Place) -> PathBuf {
    call.store.trash().join(&place.project).join(&place.name)
}

/// The error for a task whose folder went away while a command waited for it.
pub(crate) fn explain_gone(call: &Call, place: &Place) -> Option<Error> {
    let task = task_in(&trash_place(call, place))?;
    Some(
        err!(
            NotFound,
            "{} was deleted by another command; nothing was changed",
            task.label()
        )
        .hint(text!("{} brings it back", Action::restore(task.name()))),
    )
}

pub(crate) fn move_from_trash(call: &Call, place: &Place) -> Result<()> {
    let source = trash_place(call, place);
    place
        .path
        .parent()
        .map_or(Ok(()), make_folder)
        .and_then(|()| fs::rename(&source, &place.path))
        .doing("move", &source)?;
    sync_parents(&source, &place.path);
    crash_point("restore.moved");
    Ok(())
}

/// Ends the making or restoring of a task that a dead process began. The caller holds the project's lock.
pub(crate) fn finish_arrival(call: &Call, place: &Place) -> Result<()> {
    let trashed = trash_place(call, place);
    if trashed.is_dir() && !history_in(&trashed)?.is_deleted() {
        return move_from_trash(call, place);
    }
    // Never reported as created, and in nobody's way: only its folder under the hidden name is left.
    let hidden = hidden_folder(place);
    if hidden.is_dir() {
        fs::remove_dir_all(&hidden).doing("remove", &hidden)?;
    }
    Ok(())
}

/// The task in a folder of the trash, as its journal says.
pub(crate) fn task_in(folder: &Path) -> Option<Task> {
    machine::fold(history_in(folder).ok()?.own(), u64::MAX).ok()
}

pub(crate) fn find_in_trash(
    call: &Call,
    text: &str,
    current: Option<&str>,
) -> Result<(Place, Task)> {
    find_among(call, &trashed(call), text, current)
}

/// Every deleted task that can be brought back, with its place among the living.
pub fn trashed(call: &Call) -> Vec<(Place, Task)> {
    let trash = call.store.trash();
    let mut found = Vec::new();
    for path in task_folders(&trash) {
        if let Some(task) = task_in(&path)
            && let Ok(inside) = path.strip_prefix(&trash)
            && let Some(name) = inside.to_str()
        {
            found.push((call.store.place(name), task));
        }
    }
    found.sort_by_key(|(place, task)| (place.project.clone(), task.key, place.folder()));
    found
}

pub(crate) fn highest_in_trash(call: &Call, project: &str) -> u32 {
    trashed(call)
        .iter()
        .filter(|(place, _)| place.project == project)
        .filter_map(|(_, task)| task.key.map(|key| key.number))
        .max()
        .unwrap_or(0)
}

fn has_number(task: &Task, number: u32) -> bool {
    task.key.is_some_and(|key| key.number == number)
}

/// The one deleted task that a name means, as among the living ([`crate::find`]).
pub(crate) fn find_among(
    call: &Call,
    trashed: &[(Place, Task)],
    text: &str,
    current: Option<&str>,
) -> Result<(Place, Task)> {
    let wanted = Reference::parse(text);
    let here = |place: &Place| current.is_none_or(|project| project == place.project);
    let is_meant = |place: &Place, task: &Task| match &wanted {
        Reference::Key(key) => here(place) && (task.key == Some(*key) || task.branch == text),
        Reference::ProjectKey(project, key) => task.key == Some(*key) && *project == place.project,
        Reference::ProjectNumber(project, number) => {
            has_number(task, *number) && *project == place.project
        }
        Reference::Branch(project, branch) => {
            (*project == place.project && task.branch == *branch) || task.branch == text
        }
        Reference::IdPrefix(prefix) => match prefix.parse() {
            // As among the living: a few digits are a key.
            Ok(number) if prefix.len() < SHORTEST_NUMBER => has_number(task, number) && here(place),
            _ => {
                let is_id = !prefix.is_empty() && task.id.starts_with(prefix.as_str());
                is_id || (task.branch == *prefix && here(place))
            }
        },
    };
    let all = |is_meant: &dyn Fn(&Place, &Task) -> bool| -> Vec<(Place, Task)> {
        let meant = trashed.iter().filter(|(place, task)| is_meant(place, task));
        meant.cloned().collect()
    };
    let mut found = all(&is_meant);
    if let (true, Reference::Key(key), Some(project)) = (found.is_empty(), &wanted, current)
        && !call.owns_prefix(project, key.prefix)?
    {
        found = all(&|_, task| task.key == Some(*key));
    }
    if found.len() > 1 {
        let name = |(place, task): &(Place, Task)| {
            format!("  {}:{} {}", place.project, task.label(), task.id)
        };
        let names: Vec<String> = found.iter().map(name).collect();
        return Err(err!(Ambiguous, "{text:?} names more than one deleted task")
            .hint(format!("say which one:\n{}", names.join("\n"))));
    }
    found.pop().ok_or_else(|| {
        err!(NotFound, "there is no deleted task {text:?}").hint(text!(
            "deleted tasks are kept for `trash.keep_days` days; {} without a name lists them",
            Action::list_deleted()
        ))
    })
}

/// Every folder with a journal below this one.
pub(crate) fn task_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for path in listing::folders(&folder) {
            if path.ends_with(GONE) {
                continue;
            }
            if path.join("history.jsonl").exists() {
                found.push(path);
            } else {
                open.push(path);
            }
        }
    }
    found
}

/// Makes a move durable, the new name before the old one's end.
fn sync_parents(from: &Path, to: &Path) {
    for folder in [to.parent(), from.parent()].into_iter().flatten() {
        if let Err(error) = fs::File::open(folder).and_then(|folder| folder.sync_all()) {
            tracing::warn!(%error, folder = %folder.display(), "a move may not survive a power cut");
        }
    }
}

/// So many digits may be the beginning of an id.
pub(crate) const SHORTEST_NUMBER: usize = 6;

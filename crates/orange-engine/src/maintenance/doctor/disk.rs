//! What the home takes on disk: slots, rescues, trash, screens, logs, checks; and what of it has expired.

use crate::call::Call;
use crate::checks::request;
use crate::effects::stop_agent::SCREENS;
use crate::error::Result;
use crate::index::list::Filter;
use crate::maintenance::gc::{self, logs, rescues};
use crate::store::LOG;
use crate::views::doctor::{DiskUse, Kept, Report, SlotUse};
use crate::views::list;
use crate::{disk, rescue, trash};
use orange_core::naming::counted;
use orange_core::{Action, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Never fails: what cannot be looked at has been told of.
pub(crate) fn measure_disk(call: &Call, report: &mut Report, measure: bool, has_git: bool) {
    let rescue = if has_git {
        kept_rescues(call).unwrap_or_default()
    } else {
        Kept::default()
    };
    let trash = call.store.trash();
    let deleted: Vec<PathBuf> = trash::trashed(call)
        .into_iter()
        .map(|(place, _)| trash.join(&place.project).join(&place.name))
        .collect();
    let mut logs = logs::rotated_logs(call);
    logs.push(call.store.home().join(LOG));
    let checks = request::folder(&call.store).join("results");
    let total = measure.then(|| disk::used(call.store.home()));
    report.disk = Some(DiskUse {
        slots: measured_slots(call, measure),
        rescue,
        trash: Kept::of(&deleted, |path| path.join("history.jsonl")),
        screens: kept_screens(call).unwrap_or_default(),
        logs: Kept::of(&logs, Path::to_owned),
        checks: Kept::of(&files_in(&checks), Path::to_owned),
        total,
    });
    let past = if has_git {
        gc::sweep(call, false).unwrap_or_default()
    } else {
        return;
    };
    let past = past.iter().filter(|swept| !swept.items.is_empty());
    let past: Vec<String> = past
        .map(|swept| counted(swept.items.len(), swept.kind.noun()))
        .collect();
    if !past.is_empty() {
        let past = past.join(", ");
        report.note(text!(
            "past their time: {past}; {} removes them",
            Action::clean_up()
        ));
    }
}

fn measured_slots(call: &Call, measure: bool) -> Vec<SlotUse> {
    let entries = fs::read_dir(call.store.workspaces()).into_iter().flatten();
    let folders = entries.flatten().filter(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_folder && is_slot_name(&entry.file_name().to_string_lossy())
    });
    let mut slots: Vec<SlotUse> = folders
        .map(|entry| SlotUse {
            name: entry.file_name().to_string_lossy().into_owned(),
            bytes: measure.then(|| disk::used(&entry.path())),
        })
        .collect();
    slots.sort_by(|one, other| one.name.cmp(&other.name));
    slots
}

fn kept_rescues(call: &Call) -> Result<Kept> {
    let mut times = Vec::new();
    for project in call.projects()? {
        let found = rescue::list(&project.path, None).unwrap_or_default();
        times.extend(found.into_iter().map(|rescue| rescue.note.time));
    }
    let copies = rescues::rescue_copies(call)?;
    Ok(Kept {
        count: times.len(),
        bytes: copies.iter().map(|path| disk::used(path)).sum(),
        oldest: times.into_iter().min(),
    })
}

fn kept_screens(call: &Call) -> Result<Kept> {
    let all = Filter {
        all: true,
        ..Filter::default()
    };
    let mut files = Vec::new();
    for task in list::listed(call, &all)? {
        files.extend(files_in(&call.store.place(&task.folder).path.join(SCREENS)));
    }
    Ok(Kept::of(&files, Path::to_owned))
}

/// `shop--1`, `shop--verify`; whose project may be gone.
pub(crate) fn is_slot_name(name: &str) -> bool {
    !name.starts_with('.') && name.contains("--")
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).collect()
}

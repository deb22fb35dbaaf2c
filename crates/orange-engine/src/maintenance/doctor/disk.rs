//! What the home takes on disk: slots, rescues, trash, screens, logs, checks; and what of it has expired.

use crate::call::Call;
use crate::checks::request;
use crate::effects::stop_agent::SCREENS;
use crate::error::Result;
use crate::maintenance::every_task;
use crate::maintenance::gc::{self, logs, rescues};
use crate::store::LOG;
use crate::views::doctor::{DiskUse, DoctorReport, KeptFiles, SlotUse};
use crate::{disk, rescue, trash};
use orange_core::naming::counted;
use orange_core::{Action, text};
use orange_sys::listing;
use std::path::{Path, PathBuf};

/// Never fails: what cannot be looked at has been told of.
pub(crate) fn measure_disk(call: &Call, report: &mut DoctorReport, measure: bool, has_git: bool) {
    let rescue = has_git.then(|| kept_rescues(call).unwrap_or_default());
    let deleted: Vec<PathBuf> = trash::trashed(call)
        .iter()
        .map(|(place, _)| trash::trash_place(call, place))
        .collect();
    let mut logs = logs::rotated_logs(call);
    logs.push(call.store.home().join(LOG));
    let checks = request::folder(&call.store).join("results");
    let total = measure.then(|| disk::used(call.store.home()));
    report.disk = Some(DiskUse {
        slots: measured_slots(call, measure),
        rescue: rescue.unwrap_or_default(),
        trash: KeptFiles::of(&deleted, |path| path.join("history.jsonl")),
        screens: kept_screens(call).unwrap_or_default(),
        logs: KeptFiles::of(&logs, Path::to_owned),
        checks: KeptFiles::of(&listing::files(&checks), Path::to_owned),
        total,
    });
    let past = has_git.then(|| gc::sweep(call, false).unwrap_or_default());
    let past: Vec<String> = past
        .iter()
        .flatten()
        .filter(|swept| !swept.items.is_empty())
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
    let slot = |folder: PathBuf| {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        is_slot_name(&name).then(|| SlotUse {
            name,
            bytes: measure.then(|| disk::used(&folder)),
        })
    };
    let folders = listing::folders(&call.store.workspaces()).into_iter();
    folders.filter_map(slot).collect()
}

fn kept_rescues(call: &Call) -> Result<KeptFiles> {
    let mut times = Vec::new();
    for project in call.projects()? {
        let found = rescue::list(&project.path, None).unwrap_or_default();
        times.extend(found.into_iter().map(|rescue| rescue.note.time));
    }
    let copies = rescues::rescue_copies(call)?;
    Ok(KeptFiles {
        count: times.len(),
        bytes: copies.iter().map(|path| disk::used(path)).sum(),
        oldest: times.into_iter().min(),
    })
}

fn kept_screens(call: &Call) -> Result<KeptFiles> {
    let mut files = Vec::new();
    for task in every_task(call)? {
        let folder = call.store.place(&task.folder).path;
        files.extend(listing::files(&folder.join(SCREENS)));
    }
    Ok(KeptFiles::of(&files, Path::to_owned))
}

/// `shop--1`, `shop--verify`; whose project may be gone.
pub(crate) fn is_slot_name(name: &str) -> bool {
    !name.starts_with('.') && name.contains("--")
}

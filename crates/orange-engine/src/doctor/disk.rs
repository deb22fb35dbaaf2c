//! What the home takes on disk: slots, rescues, trash, screens, logs, checks; and what of it has expired.

use super::Report;
use crate::engine::Engine;
use crate::error::Result;
use crate::gc::SCREENS;
use crate::index::list::Filter;
use crate::store::LOG;
use crate::{disk, rescue, verify};
use orange_core::naming::counted;
use orange_core::{Action, Timestamp, text};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotUse {
    #[serde(rename = "slot")]
    pub name: String,
    /// None unless it was measured.
    pub bytes: Option<u64>,
}

/// What is kept, how much there is of it and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub count: usize,
    pub bytes: u64,
    pub oldest: Option<Timestamp>,
}

/// Everything that takes disk and is not a task's own text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskUse {
    pub slots: Vec<SlotUse>,
    /// Refs, and the bytes of the copies beside them: their commits are git's.
    pub rescue: Kept,
    pub trash: Kept,
    pub screens: Kept,
    #[serde(rename = "log")]
    pub logs: Kept,
    #[serde(rename = "verify")]
    pub checks: Kept,
    /// All of the home; None unless slots were measured.
    #[serde(rename = "total_bytes")]
    pub total: Option<u64>,
}

impl Engine {
    /// Never fails: what cannot be looked at has been told of.
    pub(super) fn look_at_disk(&self, report: &mut Report, measure: bool, has_git: bool) {
        let rescue = match has_git {
            true => self.kept_rescues().unwrap_or_default(),
            false => Kept::default(),
        };
        let trash = self.store.trash();
        let deleted: Vec<PathBuf> = self
            .trashed()
            .into_iter()
            .map(|(place, _)| trash.join(&place.project).join(&place.name))
            .collect();
        let mut logs = self.rotated_logs();
        logs.push(self.store.home().join(LOG));
        let checks = verify::folder(&self.store).join("results");
        let total = measure.then(|| disk::used(self.store.home()));
        report.disk = Some(DiskUse {
            slots: self.measured_slots(measure),
            rescue,
            trash: Kept::of(&deleted, |path| path.join("history.jsonl")),
            screens: self.kept_screens().unwrap_or_default(),
            logs: Kept::of(&logs, Path::to_owned),
            checks: Kept::of(&files_in(&checks), Path::to_owned),
            total,
        });
        let past = match has_git {
            true => self.sweep(false).unwrap_or_default(),
            false => return,
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

    fn measured_slots(&self, measure: bool) -> Vec<SlotUse> {
        let entries = fs::read_dir(self.store.workspaces()).into_iter().flatten();
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

    fn kept_rescues(&self) -> Result<Kept> {
        let mut times = Vec::new();
        for project in self.projects()? {
            let found = rescue::list(&project.path, None).unwrap_or_default();
            times.extend(found.into_iter().map(|rescue| rescue.note.time));
        }
        let copies = self.rescue_copies()?;
        Ok(Kept {
            count: times.len(),
            bytes: copies.iter().map(|path| disk::used(path)).sum(),
            oldest: times.into_iter().min(),
        })
    }

    fn kept_screens(&self) -> Result<Kept> {
        let all = Filter {
            all: true,
            ..Filter::default()
        };
        let mut files = Vec::new();
        for task in self.listed(&all)? {
            files.extend(files_in(&self.store.place(&task.folder).path.join(SCREENS)));
        }
        Ok(Kept::of(&files, Path::to_owned))
    }
}

impl Kept {
    /// Those that are there; `dated` is the file that tells how old one is.
    fn of(paths: &[PathBuf], dated: impl Fn(&Path) -> PathBuf) -> Kept {
        let there: Vec<&PathBuf> = paths.iter().filter(|path| path.exists()).collect();
        let time = |path: &&PathBuf| {
            let written = fs::metadata(dated(path)).and_then(|about| about.modified());
            Timestamp::try_from(written.ok()?).ok()
        };
        Kept {
            count: there.len(),
            bytes: there.iter().map(|path| disk::used(path)).sum(),
            oldest: there.iter().filter_map(time).min(),
        }
    }
}

/// `shop--1`, `shop--verify`; whose project may be gone.
pub(super) fn is_slot_name(name: &str) -> bool {
    !name.starts_with('.') && name.contains("--")
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).collect()
}

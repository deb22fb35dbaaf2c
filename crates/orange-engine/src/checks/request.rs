//! Checks that are asked for: a small file each, from the wish to the result, so that whoever comes after a process
//! that was killed takes it up. The lock beside it tells whether somebody is at it.

use crate::error::{IoContext, Result};
use crate::store::locks::{Lock, LockFile};
use crate::store::replace::{short_hash, write_atomic};
use crate::store::{Store, make_folder};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// One check that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckRequest {
    /// The task, as `project/name`.
    pub(crate) folder: String,
    pub(crate) head: String,
    /// A person asked: the result is wanted wherever the task goes.
    #[serde(default)]
    pub(crate) by_hand: bool,
    /// Whatever is known of the commit.
    #[serde(default)]
    pub(crate) again: bool,
}

const FOLDER: &str = "verify";

/// Where requests lie, and results below it.
pub(crate) fn folder(store: &Store) -> PathBuf {
    store.home().join(FOLDER)
}

fn name(task: &str) -> String {
    format!("{:016x}", short_hash(task.as_bytes()))
}

fn path(store: &Store, task: &str) -> PathBuf {
    folder(store).join(format!("{}.json", name(task)))
}

impl CheckRequest {
    /// Durable before anybody relies on it.
    pub(crate) fn write(&self, store: &Store) -> Result<()> {
        let folder = folder(store);
        make_folder(&folder).doing("create", &folder)?;
        let path = path(store, &self.folder);
        let text = serde_json::to_vec(self).unwrap_or_default();
        write_atomic(&path, &text).doing("write", &path)
    }

    pub(crate) fn of(store: &Store, task: &str) -> Option<CheckRequest> {
        read(&path(store, task))
    }

    pub(crate) fn remove(&self, store: &Store) {
        let _ = fs::remove_file(path(store, &self.folder));
    }
}

/// For whoever has it, when nothing is asked for any more.
pub(crate) fn forget_lock(store: &Store, task: &str) {
    let _ = fs::remove_file(store.home().join(Lock::Check(&name(task)).file()));
}

fn read(path: &PathBuf) -> Option<CheckRequest> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// All that is asked for. With nothing to do this costs one look for a folder.
pub(crate) fn all(store: &Store) -> Vec<CheckRequest> {
    let entries = fs::read_dir(folder(store)).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter_map(|path| read(&path))
        .collect()
}

/// The right to carry a task's check out; None when another process has it.
pub(crate) fn try_lock(store: &Store, task: &str) -> Result<Option<LockFile>> {
    store.try_lock(Lock::Check(&name(task)))
}

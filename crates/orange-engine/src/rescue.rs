//! Saving everything of a worktree before something destructive: as a commit under `refs/orange/rescue/<task id>/<time>`, and as
//! plain copies of what git cannot hold. Neither the index nor a file of the worktree is touched. Whatever resets, cleans or removes
//! a worktree calls `save` first; `restore.rs` puts work back.

pub mod branch;
pub mod nested;
pub mod note;
pub mod raw;
pub mod restore;
pub mod same;

use crate::error::{Result, err};
use crate::git::Site;
use crate::git::rescue::content::{Entries, TempIndex};
use crate::git::rescue::refs::{self, RescueRef};
use crate::git::rescue::{LINK, WorktreeHead};
pub use crate::rescue::note::{RescueNote, time_of};
use crate::rescue::raw::Staging;
pub use crate::rescue::restore::{
    LostCommit, Restored, ShownFile, ShownRescue, restore, show, to_branch,
};
use orange_core::{SignedDuration, Timestamp};
use orange_sys::crash_points::crash_point;
use orange_sys::environment::carried;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// Beside the pool's slots: copies of what belongs to no task that is there.
pub(crate) const STRAYS: &str = ".rescued";

/// Whose worktree is to be saved, and why.
#[derive(Debug, Clone, Copy)]
pub struct Save<'a> {
    pub slot: &'a Site,
    pub task_id: &'a str,
    /// Where raw content goes that git cannot hold: `<task folder>/rescued`.
    pub raw_folder: &'a Path,
    /// The task's branch: commits reachable from it need no rescue, those it was at before do.
    pub branch: Option<&'a str>,
    pub reason: &'a str,
    pub now: Timestamp,
}

/// What was saved, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rescue {
    /// The last part of the ref: the time.
    pub name: String,
    pub task_id: String,
    pub reference: String,
    pub commit: String,
    #[serde(flatten)]
    pub note: RescueNote,
}

/// What a worktree held when it was saved.
#[derive(Debug)]
pub(crate) struct SavedContent {
    /// The tree of all its files, except ignored files and copied folders.
    pub(crate) tree: String,
    /// Folders, relative to the worktree, that are in no tree: their copies are below `raw`.
    pub(crate) copied: Vec<PathBuf>,
    pub(crate) raw: Option<PathBuf>,
    /// The commit that was checked out.
    pub(crate) head: Option<String>,
}

/// Saves what a worktree holds. None: nothing that is not on a branch already.
pub fn save(save: &Save<'_>) -> Result<Option<Rescue>> {
    save_content(save).map(|(rescued, _)| rescued)
}

/// As [`save`]; also returns what was found, so that the caller can remove exactly that.
pub(crate) fn save_content(save: &Save<'_>) -> Result<(Option<Rescue>, SavedContent)> {
    let worktree = WorktreeHead::open_site(save.slot)?;
    let index = TempIndex::copy_of(&worktree)?;
    let (entries, staged) = read_index(&worktree, &index)?;
    let base = worktree.base_tree()?;
    let mut nested = index.add_everything(&entries)?;
    let mut tree = index.write_tree()?;
    let mut changes = worktree.changes(&base, &tree)?;
    let added: Vec<PathBuf> = changes
        .iter()
        .filter(|change| change.new_mode == LINK && change.old_mode != LINK)
        .map(|change| change.path.clone())
        .collect();
    if !added.is_empty() {
        // A link to a commit that is nowhere in this repository would be worth nothing.
        index.remove(&added)?;
        tree = index.write_tree()?;
        changes = worktree.changes(&base, &tree)?;
        nested.extend(added);
    }
    nested.extend(nested::broken(&worktree.root, &changes));
    crash_point("rescue.tree");
    let mut staging = Staging::new(save.raw_folder);
    let mut content = SavedContent {
        tree: tree.clone(),
        copied: Vec::new(),
        raw: None,
        head: worktree.head.as_ref().map(|head| head.commit.clone()),
    };
    for copy in nested::to_copy(&worktree, entries.links(), nested)? {
        staging.add(&worktree.root, &copy)?;
        if copy.files {
            content.copied.push(copy.path);
        }
    }
    let lost = worktree.lost(save.branch)?;
    let staged = staged.filter(|staged| *staged != base && *staged != tree);
    if tree == base && staged.is_none() && lost.tips.is_empty() && staging.is_empty() {
        return Ok((None, content));
    }
    let head = content.head.clone();
    let mut parents: Vec<String> = head.clone().into_iter().collect();
    let staged = match staged {
        Some(tree) => {
            Some(worktree.commit(&tree, &parents, "rescue: what was staged\n", save.now)?)
        }
        None => None,
    };
    parents.extend(staged.clone());
    parents.extend(lost.operation);
    parents.extend(lost.tips);
    let mut seen = std::collections::HashSet::new();
    parents.retain(|parent| seen.insert(parent.clone()));
    let note = RescueNote {
        reason: save.reason.to_owned(),
        task_id: save.task_id.to_owned(),
        branch: save.branch.map(str::to_owned),
        time: save.now,
        head,
        staged,
        operation: lost.operation_name.map(str::to_owned),
        files: changes.len() + staging.len(),
        commits: lost.commits,
        raw: None,
    };
    let tree = SavedTree { tree, parents };
    // A release that failed after this point, or another path to the same slot, may have saved all of this already.
    let before = if staging.is_empty() {
        same::saved_before(&worktree, save, &tree, &note)?
    } else {
        None
    };
    let rescued = match before {
        Some(rescued) => rescued,
        None => keep(&worktree, &tree, note, staging)?,
    };
    crash_point("rescue.saved");
    let raw = rescued.note.raw.as_ref();
    content.raw = raw.map(|name| save.raw_folder.join(name));
    Ok((Some(rescued), content))
}

/// All rescues of a repository, or of one task: the oldest first.
pub fn list(repository: &Path, task_id: Option<&str>) -> Result<Vec<Rescue>> {
    let below = task_id.map_or_else(|| refs::ROOT.to_owned(), task_ref);
    let mut found: Vec<Rescue> = refs::kept_below(repository, &below)?
        .into_iter()
        .filter_map(Rescue::of)
        .collect();
    found.sort_by_key(|rescue| (rescue.note.time, note::number_of(&rescue.name)));
    Ok(found)
}

/// The newest rescue that holds work. What a release saved besides, when the slot was on no branch any more, comes after
/// the work itself.
pub fn latest(all: &[Rescue]) -> Option<&Rescue> {
    let with_work = || all.iter().rev().filter(|rescue| rescue.note.holds_work());
    let newest = with_work().next()?;
    let is_of_same_release = |rescue: &&Rescue| {
        let apart = newest.note.time.duration_since(rescue.note.time);
        apart <= ONE_RELEASE
    };
    if newest.note.branch.is_some() {
        return Some(newest);
    }
    let on_branch = |rescue: &&Rescue| rescue.note.branch.is_some();
    let mut same_release = with_work().take_while(is_of_same_release);
    same_release.find(on_branch).or(Some(newest))
}

/// How long a slot is given back at most.
const ONE_RELEASE: SignedDuration = SignedDuration::from_mins(1);

/// Deletes rescues that still are what they were when they were listed, all or none. Their copies are the caller's.
pub fn forget(repository: &Site, old: &[Rescue]) -> Result<()> {
    let old = old.iter();
    let old = old.map(|rescue| (rescue.reference.as_str(), rescue.commit.as_str()));
    refs::forget(repository, old)
}

/// `refs/orange/rescue/<task id>/<name>` → task id and name.
pub(crate) fn read_reference(reference: &str) -> Option<(String, String)> {
    let inside = reference.strip_prefix(refs::ROOT)?.strip_prefix('/')?;
    let (task, name) = inside.rsplit_once('/')?;
    Some((note::unescaped(task), name.to_owned()))
}

impl Rescue {
    fn of(kept: RescueRef) -> Option<Rescue> {
        let (task_id, name) = read_reference(&kept.reference)?;
        Some(Rescue {
            note: RescueNote::parse(&kept.message)?,
            reference: kept.reference,
            commit: kept.commit,
            task_id,
            name,
        })
    }
}

pub(crate) struct SavedTree {
    tree: String,
    parents: Vec<String>,
}

/// Puts the copies and the commit under the first free name of this time.
fn keep(
    worktree: &WorktreeHead,
    tree: &SavedTree,
    mut note: RescueNote,
    mut staging: Staging,
) -> Result<Rescue> {
    for name in names(note.time) {
        // The copies first: a ref must never speak of something that is not there.
        if !staging.is_empty() {
            if !staging.place(&name)? {
                continue;
            }
            note.raw = Some(name.clone());
        }
        let commit = worktree.commit(&tree.tree, &tree.parents, &note.message(), note.time)?;
        let reference = format!("{}/{name}", task_ref(&note.task_id));
        if worktree.keep(&reference, &commit)? {
            staging.keep();
            return Ok(Rescue {
                name,
                task_id: note.task_id.clone(),
                reference,
                commit,
                note,
            });
        }
    }
    Err(too_many(note.time))
}

/// What a rescue of this time may be called.
fn names(time: Timestamp) -> impl Iterator<Item = String> {
    let time = note::name_of(time);
    (1..=MOST_AT_ONCE).map(move |attempt| match attempt {
        1 => time.clone(),
        later => format!("{time}-{later}"),
    })
}

fn too_many(time: Timestamp) -> crate::error::Error {
    let time = note::name_of(time);
    err!(Busy, "{MOST_AT_ONCE} rescues of {time} are there already").hint("try again")
}

const MOST_AT_ONCE: u32 = 1000;

fn task_ref(task_id: &str) -> String {
    format!("{}/{}", refs::ROOT, note::escaped(task_id))
}

/// What is in the index, and the index as a tree; no tree where there is no index.
fn read_index(worktree: &WorktreeHead, index: &TempIndex<'_>) -> Result<(Entries, Option<String>)> {
    if !index.exists() {
        return Ok((index.entries()?, None));
    }
    // Both read the whole index, so they do it at once. Writing the tree replaces the copy by the same entries.
    let (entries, tree) = std::thread::scope(|scope| {
        let tree = scope.spawn(carried(|| index.write_tree()));
        let entries = index.entries();
        let tree = tree.join();
        (entries, tree)
    });
    let entries = entries?;
    let tree = match tree {
        // Git refuses to write a tree of conflicts.
        _ if entries.is_unmerged() => {
            let sides = TempIndex::empty(worktree);
            sides.ensure_empty_blob()?;
            sides.put(entries.with_conflicts_as_files())?;
            sides.write_tree()?
        }
        Ok(tree) => tree?,
        Err(_) => return Err(err!(Failed, "git write-tree: it was not run")),
    };
    Ok((entries, Some(tree)))
}

/// The folder beside TASK.md for copies of what git cannot hold.
pub(crate) const RAW: &str = "rescued";

/// Serializes a path that need not be UTF-8.
pub(crate) fn lossy_path<S: Serializer>(
    path: &Path,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

pub(crate) fn lossy_paths<S: Serializer>(
    paths: &[PathBuf],
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

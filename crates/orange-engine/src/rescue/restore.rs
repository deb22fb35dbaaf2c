//! Looking into a rescue, and bringing back what it holds: into a worktree, or as a branch.

use crate::error::{IoContext, err};
use crate::git::Site;
use crate::git::rescue::{Difference, LINK, WorktreeHead, differences, refs};
use crate::git::{branch_exists, valid_branch_name};
use crate::rescue::raw::{self, copy_tree, sync_all};
use crate::rescue::{Rescue, Save, lossy_path, lossy_paths, save};
use orange_core::{Parameter, text};
use orange_sys::listing;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// What a rescue holds.
#[derive(Debug, Clone, Serialize)]
pub struct ShownRescue {
    /// Its note names the folder of copies whole, if that is still there.
    #[serde(flatten)]
    pub rescue: Rescue,
    /// Compared with where HEAD was.
    #[serde(rename = "changes")]
    pub files: Vec<ShownFile>,
    /// Commits that only rescues hold.
    #[serde(rename = "lost_commits")]
    pub commits: Vec<LostCommit>,
    /// What was copied, below that folder.
    #[serde(serialize_with = "lossy_paths")]
    pub copies: Vec<PathBuf>,
    /// The copies of what git cannot hold, if they are still there.
    #[serde(skip)]
    pub raw: Option<PathBuf>,
    /// The name of their folder, if they are gone.
    #[serde(skip)]
    pub raw_gone: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownFile {
    /// `A` added, `M` changed, `D` deleted, `T` of another kind.
    pub status: char,
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostCommit {
    pub commit: String,
    pub subject: String,
}

/// What came back.
#[derive(Debug, Clone, Serialize)]
pub struct Restored {
    pub written: usize,
    pub deleted: usize,
    /// Copied repositories that are back in their place.
    #[serde(serialize_with = "lossy_paths")]
    pub copied: Vec<PathBuf>,
    /// Those that are not, because their place is not free.
    #[serde(serialize_with = "lossy_paths")]
    pub not_copied: Vec<PathBuf>,
    /// The rescue of what was in the worktree before.
    pub before: Option<String>,
}

pub fn show(repository: &Path, rescue: &Rescue, raw_folder: &Path) -> crate::Result<ShownRescue> {
    let file = |change: Difference| ShownFile {
        status: change.status,
        path: change.path,
    };
    let files = changes_of(repository, rescue)?.into_iter().map(file);
    let raw = rescue.note.raw.as_ref().map(|name| raw_folder.join(name));
    let raw = raw.filter(|path| path.is_dir());
    let mut rescue = rescue.clone();
    let commits = refs::only_in(repository, &rescue.commit)?.into_iter();
    let whole = raw.as_ref().map(|path| path.to_string_lossy().into_owned());
    let named = std::mem::replace(&mut rescue.note.raw, whole);
    Ok(ShownRescue {
        files: files.collect(),
        commits: commits
            .map(|(commit, subject)| LostCommit { commit, subject })
            .collect(),
        copies: raw.as_deref().map(copies_in).unwrap_or_default(),
        raw_gone: named.filter(|_| raw.is_none()),
        raw,
        rescue,
    })
}

/// Brings the files back that were changed when the rescue was made; neither HEAD nor the branch nor the index
/// is moved. What is there now is saved first. The rescue may be another task's; its copies lie in `copies`.
pub fn restore(
    repository: &Path,
    rescue: &Rescue,
    copies: &Path,
    place: &Save<'_>,
) -> crate::Result<Restored> {
    let worktree = WorktreeHead::open_site(place.slot)?;
    worktree.belongs_to(repository)?;
    let changes = changes_of(repository, rescue)?;
    let in_the_way = worktree.in_the_way(&changes)?;
    if let Some(first) = in_the_way.first() {
        return Err(err!(Conflict, "{} in the workspace would be overwritten, and it cannot be saved: it is ignored, or a folder that is not empty", first.display())
        .hint(text!("move it away first, or use {}", Parameter::ToBranch)));
    }
    let before = save(place)?;
    worktree.put_back(&rescue.commit, &changes)?;
    let shown = show(repository, rescue, copies)?;
    let (mut copied, mut not_copied) = (Vec::new(), Vec::new());
    // The commits of a submodule are for git to take out of their bundle.
    for path in shown.copies.into_iter().filter(|path| !is_bundle(path)) {
        let source = shown.raw.as_deref().map(|raw| raw.join(&path));
        let target = place.slot.join(&path);
        let free = is_free(&target) && parent_inside(place.slot, &path);
        match source.filter(|_| free) {
            Some(source) => {
                bring_back(&source, &target)?;
                copied.push(path);
            }
            None => not_copied.push(path),
        }
    }
    let deleted = changes.iter().filter(|change| change.status == 'D').count();
    Ok(Restored {
        before: before.map(|saved| saved.name),
        written: changes.len() - deleted,
        deleted,
        copied,
        not_copied,
    })
}

/// Makes a branch at the rescue.
pub fn to_branch(repository: &Site, rescue: &Rescue, branch: &str) -> crate::Result<()> {
    if !valid_branch_name(branch)? {
        return Err(err!(Usage, "{branch:?} cannot be the name of a branch")
            .hint("letters, digits, - and / do, as in rescued/login"));
    }
    if branch_exists(repository, branch)? {
        return Err(
            err!(Conflict, "there is a branch {branch} already").hint("choose another name")
        );
    }
    // A branch that was saved as a whole is where it was.
    let (note, commit) = (&rescue.note, &rescue.commit);
    let at = note.head.as_ref().filter(|_| !note.holds_work());
    refs::make_branch(repository, branch, at.unwrap_or(commit))
}

fn changes_of(repository: &Path, rescue: &Rescue) -> crate::Result<Vec<Difference>> {
    let base = match &rescue.note.head {
        Some(head) => head.clone(),
        None => refs::empty_tree(repository)?,
    };
    let mut changes = differences(repository, &base, &rescue.commit)?;
    // A submodule's commit is for `git submodule` to check out.
    changes.retain(|change| change.old_mode != LINK && change.new_mode != LINK);
    Ok(changes)
}

/// The folders that were copied: the outermost ones that hold more than one folder.
fn copies_in(raw: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        for entry in listing::entries(&raw.join(&inside)) {
            let path = inside.join(entry.file_name().unwrap_or_default());
            let plain_folder = is_folder(&entry)
                && !entry.ends_with(".git")
                && !entry.join(".git").exists()
                && only_folders(&entry);
            if plain_folder {
                open.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

fn only_folders(folder: &Path) -> bool {
    let entries = listing::entries(folder);
    let is_one = |path: &PathBuf| is_folder(path) || is_bundle(path);
    !entries.is_empty() && entries.iter().all(is_one)
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() && !path.is_symlink()
}

fn is_bundle(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .ends_with(raw::BUNDLE.as_bytes())
}

/// Nothing there, or an empty folder.
fn is_free(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(_) => is_folder(path) && listing::is_empty(path),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// No folder above is a link that would lead out of the worktree.
fn parent_inside(root: &Path, path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .all(|above| fs::symlink_metadata(root.join(above)).map_or(true, |data| data.is_dir()))
}

fn bring_back(source: &Path, target: &Path) -> crate::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).doing("create", parent)?;
    }
    // An empty folder is in the way of a copy.
    let _ = fs::remove_dir(target);
    copy_tree(source, target)?;
    sync_all(target).doing("write", target)
}

//! Repositories inside a worktree: which of them hold work that git will not take into a commit of ours.

use crate::error::Result;
use crate::git::rescue::{Difference, WorktreeHead, submodule};
use orange_sys::listing;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder to copy as it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FolderCopy {
    pub(super) path: PathBuf,
    /// False where a folder above is copied already.
    pub(super) files: bool,
    /// Its commits lie in the worktree's own git directory, outside of the folder.
    pub(super) bundle: bool,
}

/// What has to be copied: every new nested repository, and submodules with something of their own.
pub(crate) fn to_copy<'p>(
    worktree: &WorktreeHead,
    links: impl Iterator<Item = &'p Path>,
    new: Vec<PathBuf>,
) -> Result<Vec<FolderCopy>> {
    let mut copies = Vec::new();
    let new: BTreeSet<PathBuf> = new.into_iter().collect();
    let links: BTreeSet<&Path> = links.filter(|link| !new.contains(*link)).collect();
    for path in &new {
        look(worktree, path, true, &mut copies)?;
    }
    for path in links {
        look(worktree, path, false, &mut copies)?;
    }
    Ok(copies)
}

/// New files beside a `.git` that git does not take for a repository: it passes over what is in there.
pub(crate) fn broken(root: &Path, changes: &[Difference]) -> Vec<PathBuf> {
    let folders: BTreeSet<&Path> = changes
        .iter()
        .filter(|change| change.status != 'D')
        .flat_map(|change| change.path.ancestors().skip(1))
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    folders
        .into_iter()
        .map(|folder| folder.join(".git"))
        .filter(|path| fs::symlink_metadata(root.join(path)).is_ok())
        .collect()
}

fn look(
    worktree: &WorktreeHead,
    path: &Path,
    new: bool,
    copies: &mut Vec<FolderCopy>,
) -> Result<()> {
    let folder = worktree.root.join(path);
    let covered = copies
        .iter()
        .any(|copy| copy.files && path.starts_with(&copy.path));
    let mut copy = |bundle: bool| {
        copies.push(FolderCopy {
            path: path.to_owned(),
            files: !covered,
            bundle,
        });
    };
    if path.ends_with(".git") {
        copy(false);
        return Ok(());
    }
    if !fs::symlink_metadata(&folder).is_ok_and(|data| data.is_dir()) {
        return Ok(());
    }
    let Ok(link) = fs::symlink_metadata(folder.join(".git")) else {
        // A submodule that was never fetched: git does not look at what somebody put there.
        if !listing::entries(&folder).is_empty() {
            copy(false);
        }
        return Ok(());
    };
    let work = new || submodule::holds_work(&folder)?;
    if link.is_dir() {
        if work {
            // With all of its own repository, so nothing inside is left to look at.
            copy(false);
            return Ok(());
        }
    } else if work {
        let git_dir = submodule::git_dir(&folder)?;
        let ours = |dir: PathBuf| {
            dir.starts_with(worktree.git_dir.join("modules"))
                || dir.starts_with(worktree.common_dir.join("modules"))
        };
        copy(git_dir.is_some_and(ours));
    }
    for inner in submodule::links(&folder)? {
        look(worktree, &path.join(inner), false, copies)?;
    }
    Ok(())
}

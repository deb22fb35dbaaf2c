//! Changes that git does not report because the index says so: entries with assume-unchanged or skip-worktree.

mod flags;

use super::Git;
use super::rescue::content::{Entries, TempIndex, is_sparse};
use super::rescue::{WorktreeHead, nul_separated};
use super::state::git_folder;
pub(super) use flags::may_have_flags;
use orange_sys::error::Result;
use std::path::Path;

/// In a sparse checkout git then looks at every file that is there, also at one that should not be.
const LOOK_EVERYWHERE: &str = "sparse.expectFilesOutsideOfPatterns=false";

/// Asks git about the changes of a worktree. Where flags in the index hide some, git looks at a copy of the index that has
/// no such flags.
pub(super) fn look_past_flags<T>(worktree: &Path, ask: impl Fn(Git) -> Result<T>) -> Result<T> {
    let git = || Git::in_slot(worktree).setting(LOOK_EVERYWHERE);
    let folder = git_folder(worktree);
    let plain = folder.is_ok_and(|folder| !may_have_flags(&folder.join("index")));
    let entries = if plain { None } else { flagged(worktree)? };
    let Some(entries) = entries else {
        return ask(git());
    };
    let worktree = WorktreeHead::open(worktree)?;
    let index = TempIndex::copy_of(&worktree)?;
    index.clear_flags(&entries)?;
    ask(git().env("GIT_INDEX_FILE", index.path()))
}

/// Does the index have anything that the index of a parked worktree does not have: flags, announced files, a part in
/// another file? What the sparse checkout of a repository leaves out is flagged, and may be.
pub(super) fn has_flags(worktree: &Path) -> Result<bool> {
    let folder = git_folder(worktree);
    if folder.is_ok_and(|folder| flags::is_plain(&folder.join("index"))) {
        return Ok(false);
    }
    Ok(flagged(worktree)?.is_some() || !is_sparse(worktree)?)
}

/// Makes git look again at every file of a sparse checkout that the index says not to look at. False: it is no such
/// checkout.
pub(super) fn clear_in_sparse(worktree: &Path) -> Result<bool> {
    if !is_sparse(worktree)? {
        return Ok(false);
    }
    if let Some(entries) = flagged(worktree)? {
        Git::in_slot(worktree)
            .args(["update-index", "--no-assume-unchanged", "-z", "--stdin"])
            .input(nul_separated(entries.assumed_unchanged()))
            .done()?;
    }
    Ok(true)
}

/// The index, if it has entries that git passes over and should not.
fn flagged(worktree: &Path) -> Result<Option<Entries>> {
    let entries = Entries::of(Git::in_slot(worktree).setting(LOOK_EVERYWHERE))?;
    let assumed = entries.assumed_unchanged().next().is_some();
    let skipped = || entries.left_out().next().is_some();
    let hidden = assumed || (skipped() && !is_sparse(worktree)?);
    Ok(hidden.then_some(entries))
}

//! Whether a worktree's content is in the task's newest rescue already, so that one release makes one rescue.

use crate::error::Result;
use crate::git::rescue::WorktreeHead;
use crate::rescue::note::RescueNote;
use crate::rescue::{Rescue, Save, SavedTree, list};
use orange_core::SignedDuration;

/// A rescue that is older would expire too soon after what is destroyed now.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The task's newest rescue, if it holds exactly this and nothing needs a copy.
pub(crate) fn saved_before(
    worktree: &WorktreeHead,
    save: &Save<'_>,
    tree: &SavedTree,
    note: &RescueNote,
) -> Result<Option<Rescue>> {
    let Some(last) = list(&worktree.root, Some(save.task_id))?.pop() else {
        return Ok(None);
    };
    let age = save.now.duration_since(last.note.time);
    let is_recent = (SignedDuration::ZERO..RECENT).contains(&age);
    if !is_recent || last.note.raw.is_some() || last.note.head != note.head {
        return Ok(None);
    }
    Ok(is_same(worktree, &last, tree, note)?.then_some(last))
}

/// Whether a rescue has the same tree, the same staged tree and all of these parents: commits that it holds are not lost any
/// more, so they are not among the parents the next time.
fn is_same(
    worktree: &WorktreeHead,
    last: &Rescue,
    tree: &SavedTree,
    note: &RescueNote,
) -> Result<bool> {
    let Some((saved_tree, saved_parents)) = tree_and_parents(worktree, &last.commit)? else {
        return Ok(false);
    };
    if saved_tree != tree.tree {
        return Ok(false);
    }
    // What was staged is a commit of its own each time.
    let mut parents = tree
        .parents
        .iter()
        .filter(|parent| Some(*parent) != note.staged.as_ref());
    if !parents.all(|parent| saved_parents.contains(parent)) {
        return Ok(false);
    }
    let staged_tree = |commit: &Option<String>| -> Result<Option<String>> {
        match commit {
            Some(commit) => Ok(tree_and_parents(worktree, commit)?.map(|(tree, _)| tree)),
            None => Ok(None),
        }
    };
    Ok(staged_tree(&last.note.staged)? == staged_tree(&note.staged)?)
}

/// None for a commit that cannot be read; then it is saved once more.
fn tree_and_parents(
    worktree: &WorktreeHead,
    commit: &str,
) -> Result<Option<(String, Vec<String>)>> {
    let format = "--format=%T%n%P";
    let git = worktree
        .git()
        .args(["log", "-1", "--no-show-signature", format]);
    let said = git.args([commit, "--"]).ask()?;
    let mut lines = said.as_deref().unwrap_or_default().lines();
    let Some(tree) = lines.next() else {
        return Ok(None);
    };
    let parents = lines.next().unwrap_or_default().split_whitespace();
    Ok(Some((
        tree.to_owned(),
        parents.map(str::to_owned).collect(),
    )))
}

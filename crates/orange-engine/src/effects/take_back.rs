//! What a review changed is taken back: saved as a rescue first, then branch and worktree are put where the turn began. Each step
//! finds out whether it was done, so that whoever comes after a kill does the rest.

use crate::call::{self, Call};
use crate::effects::merge::moving::landing_lock;
use crate::error::{Result, err};
use crate::execution;
use crate::git::landing::{BranchMove, BranchSwap};
use crate::git::state::{self, Head};
use crate::git::{commit_of, commits_ahead, parking, short, worktree};
use crate::projects::Project;
use crate::rescue::branch::{OldBranch, save_branch};
use crate::workspaces;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::tidy::tidy;
use orange_core::task::Task;
use orange_core::work::execution::Iteration;
use orange_sys::crash_points::crash_point;
use std::path::Path;

/// Puts the slot of a task and its branch back to a commit; the rescues that hold what was there, if anything was.
pub(crate) fn take_back(
    call: &Call,
    task: &Task,
    slot: &str,
    base: &str,
) -> Result<Option<String>> {
    let folder = workspaces::slot_folder(call, slot);
    let project = call::registered(call, &task.project)?;
    worktree::inside(&call.store.workspaces(), &folder)?;
    let branch = &task.branch;
    let tip = commit_of(&project.path, &format!("refs/heads/{branch}"))?;
    let tip = tip.ok_or_else(|| err!(ConditionUnmet, "the branch {branch} is gone"))?;
    if is_untouched(&folder, branch, &tip, base)? {
        return Ok(None);
    }
    let reason = format!(
        "before changes of a review were taken back, to {}",
        short(base)
    );
    let mut rescues = Vec::new();
    if tip != base {
        rescues.push(save_commits(call, task, &project, &tip, base, &reason)?);
    }
    // The branch first: what is in the slot then differs from it, and is saved as a whole.
    move_branch(call, &project, branch, &tip, base)?;
    crash_point("review.moved");
    let lock = SlotLock::take(&call.store, slot)?;
    let tidied = lock.handed_on(|| tidy(call, &task.id, &folder, base, &reason))?;
    let saved = tidied.saved.as_deref();
    let saved = saved.and_then(|reference| reference.rsplit('/').next());
    rescues.extend(saved.map(str::to_owned));
    if let Some(why) = tidied.kept {
        return Err(err!(
            Failed,
            "what the review changed cannot be taken back: {why}"
        ));
    }
    crash_point("review.cleaned");
    worktree::switch(&call.site(folder), branch)?;
    Ok((!rescues.is_empty()).then(|| rescues.join(", ")))
}

fn is_untouched(folder: &Path, branch: &str, tip: &str, base: &str) -> Result<bool> {
    let is_there = tip == base && matches!(state::head(folder), Head::Branch(now) if now == branch);
    Ok(is_there && !worktree::is_unfinished(folder)? && parking::look(folder)?.changed.is_empty())
}

fn save_commits(
    call: &Call,
    task: &Task,
    project: &Project,
    tip: &str,
    base: &str,
    reason: &str,
) -> Result<String> {
    let commits = commits_ahead(&project.path, tip, base)?.unwrap_or_default();
    let saved = save_branch(&OldBranch {
        repository: &call.site(&project.path),
        task_id: &task.id,
        name: &task.branch,
        at: tip,
        commits: usize::try_from(commits).unwrap_or(usize::MAX),
        reason,
        now: call.now(),
    })?;
    crash_point("review.saved");
    Ok(saved.name)
}

fn move_branch(call: &Call, project: &Project, branch: &str, tip: &str, base: &str) -> Result<()> {
    if tip == base {
        return Ok(());
    }
    let alive = landing_lock(call, &project.name)?;
    let swap = BranchSwap {
        branch,
        from: tip,
        to: base,
        why: "orange: changes of a review taken back",
    };
    match swap.make_backwards(&call.site(&project.path), &alive)? {
        BranchMove::Yes => Ok(()),
        BranchMove::Overtaken => Err(err!(Conflict, "{branch} has moved meanwhile")),
        BranchMove::Refused(why) | BranchMove::Failed(why) => {
            Err(err!(Failed, "{branch} was not moved: {why}"))
        }
    }
}

/// The turn of a review whose changes nobody has taken back yet: the last turn of all, and no commit is noted after it.
pub(crate) fn to_be_taken_back(call: &Call, task: &Task) -> Result<Option<Iteration>> {
    let execution = execution::execution(call, task)?;
    let last = execution.last_turn();
    let last = last.filter(|turn| turn.base.is_some() && turn.head.is_none());
    Ok(last.cloned())
}

/// Takes back what a turn of a review changed, and notes in its row where the branch is and what holds the changes.
pub(crate) fn take_back_turn(
    call: &Call,
    task: &Task,
    slot: &str,
    turn: &mut Iteration,
) -> Result<()> {
    let Some(base) = turn.base.clone() else {
        return Ok(());
    };
    let rescue = take_back(call, task, slot, &base)?;
    turn.rescue = rescue.or(turn.rescue.take());
    turn.head = Some(base);
    Ok(())
}

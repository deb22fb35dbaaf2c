//! Moving the target here, once it is known what to: fast-forwarded where it is checked out, swapped where it is not;
//! also for a merge whose process is gone.

use crate::call::Call;
use crate::effects::merge::landing::{Landing, MergeWork, failed, refused};
use crate::effects::merge::target::Target;
use crate::error::{Result, err};
use crate::git;
use crate::git::fast_forward_checkout::{HeldCheckout, could_forward};
use crate::git::landing::{self, BranchMove, BranchSwap, Checkout};
use crate::store::locks::{Lock, LockFile, about_to_wait};
use orange_core::history::payload::MergeAttempt;
use orange_core::task::Task;
use orange_core::{Action, text};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the git of a merge that was killed is waited for.
const AT_WORK: Duration = Duration::from_secs(10);

/// Where the target is brought forward.
pub(crate) struct Forward<'a> {
    pub(crate) target: &'a Target,
    pub(crate) checkout: Option<PathBuf>,
    pub(crate) held: Option<HeldCheckout>,
}

pub(crate) fn hold(call: &Call, checkout: &Path, owner: &str) -> Result<HeldCheckout> {
    HeldCheckout::take(&call.site(checkout), owner)?.map_err(|why| refused(&why))
}

/// Moves the target here. None when somebody was quicker and nothing has happened yet.
pub(crate) fn bring_forward(
    call: &Call,
    of: &Task,
    task: &MergeWork,
    place: Forward<'_>,
    mut landing: Landing,
) -> Result<Option<Landing>> {
    let Some(local) = &place.target.local else {
        return Ok(Some(landing));
    };
    let checkout = place.checkout;
    let moved = match (&checkout, place.held) {
        (Some(_), Some(held)) => held.forward(&task.target, &landing.commit)?,
        (Some(checkout), None) => match HeldCheckout::take(&call.site(checkout), &of.id)? {
            Ok(held) => held.forward(&task.target, &landing.commit)?,
            Err(why) => BranchMove::Refused(why),
        },
        (None, _) => {
            let why = format!("orange: {} merged", of.label());
            let alive = landing_lock(call, &of.project)?;
            let swap = BranchSwap {
                branch: &task.target,
                from: local,
                to: &landing.commit,
                why: &why,
            };
            swap.make(&call.site(&task.repository), &alive)?
        }
    };
    match moved {
        BranchMove::Yes => {
            landing.fast_forwarded = checkout;
            Ok(Some(landing))
        }
        BranchMove::Overtaken if !landing.pushed => Ok(None),
        BranchMove::Refused(why) if !landing.pushed => Err(refused(&why)),
        BranchMove::Failed(why) if !landing.pushed => Err(failed(&why)),
        not_moved => {
            let (target, pull) = (&task.target, Action::pull());
            call.notice(match not_moved {
                BranchMove::Refused(why) | BranchMove::Failed(why) => text!(
                    "origin has it; {target} here was left as it is: {why}; {} brings it forward",
                    pull
                ),
                BranchMove::Yes | BranchMove::Overtaken => text!(
                    "origin has it; {target} here has changed meanwhile and was left as it is: {} brings them together",
                    pull
                ),
            });
            Ok(Some(landing))
        }
    }
}

/// Locked while a git pushes a merge of this project, or moves its target.
pub(crate) fn landing_lock(call: &Call, project: &str) -> Result<LockFile> {
    when_git_is_over(call, project, AT_WORK)?.ok_or_else(|| {
        err!(Busy, "the git of a merge that was killed is still at work")
            .hint("wait until it is through, or end it; then merge again")
    })
}

/// A git that outlived its Orange may still be at work. None if it takes longer than this.
pub(crate) fn when_git_is_over(
    call: &Call,
    project: &str,
    timeout: Duration,
) -> Result<Option<LockFile>> {
    lock_within(call, Lock::Landing(project), timeout, |_| {})
}

/// Waits for a lock; None if that takes longer than this. `waits` hears how long it has waited.
pub(crate) fn lock_within(
    call: &Call,
    lock: Lock<'_>,
    timeout: Duration,
    mut waits: impl FnMut(Duration),
) -> Result<Option<LockFile>> {
    about_to_wait(lock.rank());
    let began = Instant::now();
    loop {
        let file = call.store.try_lock(lock)?;
        if file.is_some() || began.elapsed() >= timeout {
            return Ok(file);
        }
        waits(began.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Goes on with a merge that is in the target somewhere, and whose process is gone.
pub(crate) fn catch_up(
    call: &Call,
    of: &Task,
    task: &MergeWork,
    started: &MergeAttempt<'_>,
) -> Result<Landing> {
    let commit = started.commit.unwrap_or_default();
    let landing = Landing {
        commit: commit.to_owned(),
        onto: started.onto.unwrap_or_default().to_owned(),
        commits: started.commits.unwrap_or(0),
        pushed: task.push,
        ..Landing::default()
    };
    let local = git::commit_of(&task.repository, &task.local())?;
    let behind = match &local {
        Some(local) => git::is_ancestor(&task.repository, local, commit)? && local != commit,
        None => false,
    };
    let checkout = match landing::checkout_of(&task.repository, &task.target)? {
        Checkout::At(path) => Some(path),
        Checkout::Nowhere => None,
        Checkout::Busy(_) => return Ok(landing),
    };
    if !behind {
        return Ok(landing);
    }
    let target = Target {
        onto: landing.onto.clone(),
        local,
        remote: None,
        unpushed: 0,
    };
    let place = Forward {
        target: &target,
        checkout,
        held: None,
    };
    let moved = bring_forward(call, of, task, place, landing.clone())?;
    Ok(moved.unwrap_or(landing))
}

/// Could the target be moved here? Found out before the remote has what could not be had here afterwards, and before
/// files change. False when somebody else has moved it meanwhile.
pub(crate) fn could_land(
    call: &Call,
    of: &Task,
    task: &MergeWork,
    target: &Target,
    checkout: Option<&Path>,
    commit: &str,
) -> Result<bool> {
    let Some(local) = &target.local else {
        return Ok(true);
    };
    let mut answers = Vec::new();
    if task.push || checkout.is_some() {
        let name = &task.target;
        let moved =
            landing::could_move(&call.site(&task.repository), name, local, commit, task.push)?;
        answers.push(moved);
    }
    if let Some(checkout) = checkout.filter(|_| task.push) {
        answers.push(could_forward(&call.site(checkout), &of.id, commit)?);
    }
    for answer in answers {
        match answer {
            BranchMove::Yes => {}
            BranchMove::Overtaken => return Ok(false),
            BranchMove::Refused(why) => return Err(refused(&why)),
            BranchMove::Failed(why) => return Err(failed(&why)),
        }
    }
    Ok(true)
}

//! One process at a time changes git's list of a repository's worktrees. Git takes no lock for that: two `git worktree add` at
//! once can fail, and a worktree that is being made or removed looks like one whose folder is gone.

use super::said::{GitOutput, phrases};
use super::worktree::common_dir_of;
use super::{Git, spoken};
use orange_sys::error::{IoContext, Result, err};
use orange_sys::lock_order::{Held, Rank, about_to_wait, hold};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// A checkout of a large repository takes minutes. The lock ends with the processes that hold it.
const LONGEST: Duration = Duration::from_secs(10 * 60);
const PAUSE: Duration = Duration::from_millis(5);

/// The lock on the folder that all worktrees of a repository share, so that every home that uses the repository sees it. It
/// leaves no file there. Nothing else may be waited for while it is held.
pub(crate) struct WorktreeLock {
    /// None on a file system that cannot lock a folder.
    file: Option<File>,
    _held: Held,
}

impl WorktreeLock {
    pub(crate) fn take(repository: &Path) -> Result<WorktreeLock> {
        about_to_wait(Rank::Worktrees);
        let Some(common) = common_dir_of(repository)? else {
            return Ok(WorktreeLock::held(None));
        };
        let file = File::open(&common).doing("open", &common)?;
        let deadline = Instant::now() + LONGEST;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(WorktreeLock::held(Some(file))),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(%error, folder = %common.display(), "cannot be locked");
                    return Ok(WorktreeLock::held(None));
                }
            }
            if Instant::now() >= deadline {
                return Err(err!(
                    Busy,
                    "another process changes the worktrees of {}",
                    repository.display()
                )
                .hint("try again when it has finished"));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn held(file: Option<File>) -> WorktreeLock {
        WorktreeLock {
            file,
            _held: hold(Rank::Worktrees),
        }
    }

    /// Runs git, which reads the list of worktrees for many of its commands and fails when it finds one that is half made. If
    /// it did, it runs again when nobody is at work on the list.
    pub(super) fn past_half_made(folder: &Path, git: impl Fn() -> Git) -> Result<GitOutput> {
        let said = git().run()?;
        if said.success {
            return Ok(said);
        }
        if !said.failed_by(phrases::HALF_MADE_WORKTREE) {
            return Err(said.error(&spoken(&git().command)));
        }
        let _lock = WorktreeLock::take(folder)?;
        git().checked()
    }

    /// A git that holds the lock too: it goes on when this process is killed.
    pub(super) fn hand_to(&self, git: Git) -> Result<Git> {
        match &self.file {
            Some(file) => git.holding(file),
            None => Ok(git),
        }
    }
}

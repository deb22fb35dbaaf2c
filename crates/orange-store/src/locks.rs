//! Every lock of a home: its name, its file and its rank. Locks are taken from wide to narrow, so that two processes never
//! wait for each other; debug builds check that (`orange_sys::lock_order`).

pub use orange_sys::lock_order::{Held, Rank, about_to_wait, enter, hold};
use std::fs::File;
use std::ops::Deref;

/// A lock with a file of its own in the home. Tasks have theirs in their folder ([`super::lock`]), a repository's worktrees
/// in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock<'a> {
    Monitor,
    Queue,
    /// One repair of orange.db at a time.
    Repair,
    /// Of the check whose files have this name.
    Check(&'a str),
    /// Of the task, by a name made of its folder, whose weight an errand finds out.
    Classify(&'a str),
    /// Of a project.
    Merge(&'a str),
    Rescues,
    Start,
    /// Of a task, by the name of its folder.
    Starting(&'a str),
    Dependencies,
    Project(&'a str),
    /// Of a project.
    Landing(&'a str),
    Slot(&'a str),
    Pool,
    Projects,
    Config,
    Log,
}

/// A folder of the home: a file for each task that is being started, locked by the process that starts it.
pub const STARTING: &str = "starting";

impl Lock<'_> {
    /// Its file, relative to the home.
    pub fn file(self) -> String {
        self.rank_and_file().1
    }

    pub fn rank(self) -> Rank {
        self.rank_and_file().0
    }

    fn rank_and_file(self) -> (Rank, String) {
        match self {
            Lock::Monitor => (Rank::Monitor, ".monitor.lock".into()),
            Lock::Queue => (Rank::Queue, ".queue.lock".into()),
            Lock::Repair => (Rank::Queue, ".repair.lock".into()),
            Lock::Check(name) => (Rank::Check, format!("verify/{name}.lock")),
            Lock::Classify(name) => (Rank::Check, format!("classify/{name}.lock")),
            Lock::Merge(project) => (Rank::Merge, format!("tasks/{project}/.merge.lock")),
            Lock::Rescues => (Rank::Rescues, ".gc.lock".into()),
            Lock::Start => (Rank::Start, ".start.lock".into()),
            Lock::Starting(task) => (Rank::Starting, format!("{STARTING}/{task}")),
            Lock::Dependencies => (Rank::Dependencies, ".dependencies.lock".into()),
            Lock::Project(project) => (Rank::Project, format!("tasks/{project}/.lock")),
            Lock::Landing(project) => (Rank::Landing, format!("tasks/{project}/.landing.lock")),
            Lock::Slot(slot) => (Rank::Slot, format!("workspaces/.{slot}.lock")),
            Lock::Pool => (Rank::Pool, "workspaces/.pool.lock".into()),
            Lock::Projects => (Rank::Projects, ".projects.lock".into()),
            Lock::Config => (Rank::Config, ".config.lock".into()),
            Lock::Log => (Rank::Log, super::LOG_LOCK.into()),
        }
    }
}

/// A lock that is held; it is given back with the value, or when the process dies.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    _held: Held,
}

impl LockFile {
    pub(super) fn new(file: File, lock: Lock<'_>) -> LockFile {
        LockFile {
            file,
            _held: hold(lock.rank()),
        }
    }
}

impl Deref for LockFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

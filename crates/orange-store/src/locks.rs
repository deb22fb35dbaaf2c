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
    /// Of the check whose files have this name.
    Check(&'a str),
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
        match self {
            Lock::Monitor => ".monitor.lock".to_owned(),
            Lock::Queue => ".queue.lock".to_owned(),
            Lock::Check(name) => format!("verify/{name}.lock"),
            Lock::Merge(project) => format!("tasks/{project}/.merge.lock"),
            Lock::Rescues => ".gc.lock".to_owned(),
            Lock::Start => ".start.lock".to_owned(),
            Lock::Starting(task) => format!("{STARTING}/{task}"),
            Lock::Dependencies => ".dependencies.lock".to_owned(),
            Lock::Project(project) => format!("tasks/{project}/.lock"),
            Lock::Landing(project) => format!("tasks/{project}/.landing.lock"),
            Lock::Slot(slot) => format!("workspaces/.{slot}.lock"),
            Lock::Pool => "workspaces/.pool.lock".to_owned(),
            Lock::Projects => ".projects.lock".to_owned(),
            Lock::Config => ".config.lock".to_owned(),
            Lock::Log => super::LOG_LOCK.to_owned(),
        }
    }

    pub fn rank(self) -> Rank {
        match self {
            Lock::Monitor => Rank::Monitor,
            Lock::Queue => Rank::Queue,
            Lock::Check(_) => Rank::Check,
            Lock::Merge(_) => Rank::Merge,
            Lock::Rescues => Rank::Rescues,
            Lock::Start => Rank::Start,
            Lock::Starting(_) => Rank::Starting,
            Lock::Dependencies => Rank::Dependencies,
            Lock::Project(_) => Rank::Project,
            Lock::Landing(_) => Rank::Landing,
            Lock::Slot(_) => Rank::Slot,
            Lock::Pool => Rank::Pool,
            Lock::Projects => Rank::Projects,
            Lock::Config => Rank::Config,
            Lock::Log => Rank::Log,
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

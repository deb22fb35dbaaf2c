//! Every lock of a home: its name, its file and its rank. Locks are taken from wide to narrow, so that two processes never
//! wait for each other; debug builds check that (`order.rs`).

mod order;

pub(crate) use order::{Held, about_to_wait, hold};

use std::fs::File;
use std::ops::Deref;

/// The order of all locks, widest first. A thread that holds one waits only for those below it.
///
/// A lock that is only tried, not waited for, may be taken in any order: a holder of the pool tries slots, `doctor` tries
/// everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The one process that watches; held as long as it runs.
    Monitor,
    /// Held by the process that starts queued tasks.
    Queue,
    /// Held by the process that carries out the check of one task.
    Check,
    /// One merge of a project at a time.
    Merge,
    /// One `gc` of rescues at a time.
    Rescues,
    /// Held while the workers are counted that `agents.limit` allows.
    Start,
    /// A place among those workers, until the agent runs.
    Starting,
    /// Held while a dependency is added: two commands at once could close a cycle.
    Dependencies,
    /// Branches and new folders of a project.
    Project,
    /// One task.
    Task,
    /// A task of an older home that gets its key while another task, which names it, is held. Two commands that name each
    /// other's task do not wait for each other: a task that is held has its key already, and is not locked for one.
    AdoptedTask,
    /// The parent of a task whose lock is held: a task waits for its parent's lock, never the other way round. Its own
    /// parent may follow, so this rank may be taken twice.
    ParentTask,
    /// Held by a git that pushes a merge or moves its target.
    Landing,
    /// Held by the process that works in a slot, and by a git that it started.
    Slot,
    /// `.pool.json`.
    Pool,
    /// git's list of the worktrees of a repository.
    Worktrees,
    /// `projects.json`.
    Projects,
    /// `config.yaml`.
    Config,
    /// The logs, while they are renamed or removed.
    Log,
    /// A write transaction of orange.db.
    Database,
    /// A write transaction of index.db.
    Index,
}

/// For locks that something else takes: says that it is going to be waited for, and that it is held from now on.
#[track_caller]
pub(crate) fn enter(rank: Rank) -> Held {
    about_to_wait(rank);
    hold(rank)
}

/// A lock with a file of its own in the home. Tasks have theirs in their folder ([`super::lock`]), a repository's worktrees
/// in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock<'a> {
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
pub(crate) const STARTING: &str = "starting";

impl Lock<'_> {
    /// Its file, relative to the home.
    pub(crate) fn file(self) -> String {
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

    pub(crate) fn rank(self) -> Rank {
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
pub(crate) struct LockFile {
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

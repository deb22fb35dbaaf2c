//! The per-task lock: held by one process, gone with it, and the keeper of how far the journal once reached.

mod queue;
#[cfg(test)]
mod tests;

use super::locks::{Held, Rank, about_to_wait, hold};
use super::private;
use super::replace::same_file;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the lock file in a task's folder; it is never deleted or renamed by itself.
pub const LOCK_FILE: &str = ".lock";

/// Every record has this length, so that one positioned write replaces the one before completely.
pub(super) const RECORD_LEN: usize = 128;

/// Why a task could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock and the time is over.
    #[error("the task is locked by {}", holder.as_deref().unwrap_or("another process"))]
    Busy {
        /// Who holds it, as far as its record tells, e.g. `process 4711`.
        holder: Option<String>,
    },
    /// The folder was moved or deleted; look the task up again.
    #[error("the task's folder was moved or deleted")]
    Gone,
    /// The lock file cannot be used at all (read-only file system, permissions, …).
    #[error("cannot lock the task: {0}")]
    Io(#[from] io::Error),
}

/// How far the task had come when its lock was last held: a journal shorter than this has lost lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// The task's revision.
    pub revision: u64,
    /// Length of the journal in bytes.
    pub journal_bytes: u64,
    /// Names the frontmatter that was in order with that journal; 0 when there was more to say about it.
    #[serde(default)]
    pub front: u64,
}

/// The lock on one task's folder, released on drop or when the process dies.
#[derive(Debug)]
pub struct TaskLock {
    file: File,
    path: PathBuf,
    held: Held,
}

impl TaskLock {
    /// Gives the lock back before the value goes.
    pub fn release(&self) {
        let _ = self.file.unlock();
        self.held.end();
    }

    /// Locks the task, waiting up to `timeout` for another holder to finish. When it takes a while, it is told why.
    pub fn acquire_telling(
        folder: &Path,
        rank: Rank,
        timeout: Duration,
        tell: impl FnOnce(&LockError),
    ) -> Result<Self, LockError> {
        if !timeout.is_zero() {
            about_to_wait(rank);
        }
        let file = open(folder)?;
        if try_lock(&file)? {
            return Self::locked(file, folder, rank);
        }
        let busy = LockError::Busy {
            holder: holder(&file),
        };
        if timeout.is_zero() {
            return Err(busy);
        }
        match queue::wait_for(file, timeout, || tell(&busy)) {
            Some(file) => Self::locked(file?, folder, rank),
            None => Err(busy),
        }
    }

    /// Locks the task if nobody holds it right now.
    pub fn try_acquire(folder: &Path) -> Result<Option<Self>, LockError> {
        let file = open(folder)?;
        if try_lock(&file)? {
            Self::locked(file, folder, Rank::Task).map(Some)
        } else {
            Ok(None)
        }
    }

    /// What the last `set_witness` recorded, if the record is readable.
    pub fn witness(&self) -> Option<Witness> {
        LockRecord::read(&self.file).witness
    }

    /// Records how far the task has come (not synced: it only has to outlive processes, not the machine).
    pub fn set_witness(&self, witness: Witness) -> io::Result<()> {
        LockRecord {
            pid: Some(std::process::id()),
            witness: Some(witness),
        }
        .write(&self.file)
    }

    fn locked(file: File, folder: &Path, rank: Rank) -> Result<Self, LockError> {
        let path = folder.join(LOCK_FILE);
        // While we waited the holder may have moved the folder away: then this is the lock of something else.
        if !names(&path, &file)? {
            return Err(LockError::Gone);
        }
        let held = hold(rank);
        let lock = Self { file, path, held };
        lock.sign(Some(std::process::id()));
        Ok(lock)
    }

    /// Notes who holds the lock; only a hint for others, so that failing (disk full) does not matter.
    fn sign(&self, pid: Option<u32>) {
        let witness = self.witness();
        if let Err(error) = (LockRecord { pid, witness }).write(&self.file) {
            tracing::debug!(%error, path = %self.path.display(), "cannot note the lock's holder");
        }
    }
}

impl Drop for TaskLock {
    fn drop(&mut self) {
        self.sign(None);
        // Explicitly: a child forked a moment ago may still have the descriptor, and with it the lock.
        let _ = self.file.unlock();
    }
}

/// The record of a task that is not locked by us; reading it disturbs nobody.
pub fn read_witness(folder: &Path) -> Option<Witness> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(folder.join(LOCK_FILE))
        .ok()?;
    LockRecord::read(&file).witness
}

/// The same for a record that was read already.
pub(super) fn witness_in(record: &[u8]) -> Option<Witness> {
    LockRecord::from_bytes(record).witness
}

fn open(folder: &Path) -> Result<File, LockError> {
    let opened = private::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(folder.join(LOCK_FILE));
    private::unless_gone(opened)?.ok_or(LockError::Gone)
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether `path` names the very file that is open as `file`.
fn names(path: &Path, file: &File) -> io::Result<bool> {
    let ours = file.metadata()?;
    let there = private::unless_gone(fs::symlink_metadata(path))?;
    Ok(there.is_some_and(|there| same_file(&there, &ours)))
}

fn holder(file: &File) -> Option<String> {
    LockRecord::read(file)
        .pid
        .map(|pid| format!("process {pid}"))
}

/// The one line in the lock file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct LockRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(flatten)]
    witness: Option<Witness>,
}

impl LockRecord {
    /// Whatever cannot be understood counts as not there: the file may be empty, old or mangled.
    fn read(file: &File) -> Self {
        let mut bytes = [0; RECORD_LEN];
        let Ok(len) = file.read_at(&mut bytes, 0) else {
            return Self::default();
        };
        Self::from_bytes(&bytes[..len])
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    fn write(&self, file: &File) -> io::Result<()> {
        let json = serde_json::to_string(self)?;
        let line = format!("{json:<width$}\n", width = RECORD_LEN - 1);
        file.write_all_at(line.as_bytes(), 0)
    }
}

//! The log file itself: opened when first needed, appended to line by line, rotated when full.

pub(super) use orange_engine::store::{LOG as FILE_NAME, LOG_LOCK as LOCK_NAME, LOGS_KEPT as KEEP};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
const MAX_BYTES: u64 = 10 * 1024 * 1024;
/// Far longer than the system takes to append a record.
const SETTLED: Duration = Duration::from_secs(1);

/// The log file as shared by all threads of this process and by other processes.
pub(super) struct LogFile {
    path: PathBuf,
    lock_path: PathBuf,
    pub(super) max_bytes: u64,
    pub(super) keep: u32,
    open: Mutex<Option<OpenLog>>,
}

struct OpenLog {
    file: File,
    /// Device and inode: the path leads elsewhere once another process has rotated the log.
    identity: (u64, u64),
    /// The file ends in part of a line, because the disk was full. The next record must not
    /// continue it.
    torn: bool,
}

impl LogFile {
    pub(super) fn new(home: &Path) -> LogFile {
        LogFile {
            path: home.join(FILE_NAME),
            lock_path: home.join(LOCK_NAME),
            max_bytes: MAX_BYTES,
            keep: KEEP,
            open: Mutex::new(None),
        }
    }

    /// Appends one line, or drops it if that is impossible.
    pub(super) fn append(&self, line: &[u8]) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropping the record is the point: a command must not fail for its log.
        let _ = self.try_append(&mut open, line);
    }

    fn try_append(&self, open: &mut Option<OpenLog>, line: &[u8]) -> io::Result<()> {
        let mut on_disk = fs::metadata(&self.path).ok();
        if let Some(found) = &on_disk
            && self.is_full(found, line)
        {
            // If it cannot be rotated, a log that is too large is better than none.
            let _ = self.rotate(line);
            on_disk = fs::metadata(&self.path).ok();
        }
        let identity = on_disk.as_ref().map(identity);
        let current = match open.take() {
            Some(log) if Some(log.identity) == identity => log,
            _ => self.open()?,
        };
        open.insert(current).write(line)
    }

    fn is_full(&self, found: &Metadata, line: &[u8]) -> bool {
        found.len() > 0 && found.len() + line.len() as u64 > self.max_bytes
    }

    /// Readable only by its owner, since messages may quote what agents work on.
    fn open(&self) -> io::Result<OpenLog> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        let found = file.metadata()?;
        Ok(OpenLog {
            identity: identity(&found),
            torn: is_torn(&file, &found)?,
            file,
        })
    }

    /// Renames the log and its predecessors, unless another process is at it or has just done it.
    ///
    /// Nothing is lost meanwhile: a process that still has the renamed file open appends to that.
    /// The lock is only tried, so that a stopped process never holds up all others.
    fn rotate(&self, line: &[u8]) -> io::Result<()> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.lock_path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let result = self.shift_files(line);
        // Closing the file would not do: a child process that is just being started may still
        // share it, and would hold the lock for another moment.
        lock.unlock()?;
        result
    }

    /// The renaming, by the one process that holds the lock.
    fn shift_files(&self, line: &[u8]) -> io::Result<()> {
        if !self.is_full(&fs::metadata(&self.path)?, line) {
            return Ok(());
        }
        for number in (1..self.keep).rev() {
            rename_if_present(&self.numbered(number), &self.numbered(number + 1))?;
        }
        rename_if_present(&self.path, &self.numbered(1))
    }

    fn numbered(&self, number: u32) -> PathBuf {
        self.path.with_file_name(format!("{FILE_NAME}.{number}"))
    }
}

impl OpenLog {
    /// Writes the line in a single call: the system appends it in one piece, between those of
    /// other processes.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let separated;
        let bytes = if self.torn {
            separated = [b"\n", line].concat();
            &separated
        } else {
            line
        };
        let written = loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if let Some(&last) = bytes[..written].last() {
            self.torn = last != b'\n';
        }
        Ok(())
    }
}

pub(super) fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Whether the file ends in part of a line that nobody is going to complete.
///
/// While another process writes a record, a part of it can be seen for an instant. So only a file
/// that has been at rest counts as torn.
fn is_torn(file: &File, found: &Metadata) -> io::Result<bool> {
    let Some(last) = found.len().checked_sub(1) else {
        return Ok(false);
    };
    let at_rest = found.modified()?.elapsed().is_ok_and(|age| age > SETTLED);
    let mut byte = [0];
    Ok(at_rest && file.read_at(&mut byte, last)? == 1 && byte != *b"\n")
}

fn rename_if_present(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

//! Writing the feed: one line per commit, without a lock and without a sync. A writer that finds the file too long puts it aside.

use super::{FEED, FEED_BEFORE};
use crate::replace::same_file;
use crate::{Store, private};
use orange_core::Timestamp;
use orange_core::history::EventType;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A longer file is put aside.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

/// A line of feed.jsonl: a task that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedLine {
    pub time: Timestamp,
    /// `project/name`, as the index calls it.
    pub folder: String,
    pub revision: u64,
    /// What was journalled. Empty if only what is known of the task changed.
    #[serde(default)]
    pub events: Vec<EventType>,
}

impl Store {
    /// Tells processes that watch this home of a change. Errors are ignored: readers look at everything now and then.
    pub fn append_to_feed(&self, line: &FeedLine) {
        if let Err(error) = append(self.home(), line) {
            tracing::debug!(%error, "feed.jsonl was not written");
        }
    }
}

fn append(home: &Path, line: &FeedLine) -> io::Result<()> {
    /// A file that is put aside between open and write is rare; twice in a row is not worth a third attempt.
    const ATTEMPTS: usize = 2;
    let path = home.join(FEED);
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    for _ in 0..ATTEMPTS {
        let mut options = private::options();
        let mut file = open(&path, options.append(true).create(true))?;
        file.write_all(&text)?;
        let written = file.metadata()?;
        if fs::symlink_metadata(&path).is_ok_and(|current| same_file(&current, &written)) {
            if written.len() > MAX_BYTES {
                put_aside(&path, &home.join(FEED_BEFORE))?;
            }
            return Ok(());
        }
        // The file was put aside before the write: readers may have left it.
    }
    Ok(())
}

/// A reader that has the file open reads it to its end and goes on with the next.
fn put_aside(path: &Path, before: &Path) -> io::Result<()> {
    match fs::rename(path, before) {
        // Another writer was quicker. What is in its place by now has lines that nobody has read.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => fs::remove_file(path),
        Ok(()) => Ok(()),
    }
}

/// Opens a file of the feed. Something else in its place is refused, and a pipe is not waited for.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))
    }
}

//! Reading the feed: the lines that were appended since the last look, across files that were put aside.

use super::append::{FeedLine, MAX_BYTES, open};
use super::{FEED, FEED_BEFORE};
use crate::replace::same_file;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// More than writers leave in one file: such a file is not read.
const MOST_UNREAD: u64 = 4 * MAX_BYTES;

/// What a look found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FeedNews {
    /// The tasks that changed, by their folders.
    pub(super) folders: BTreeSet<String>,
    /// There may be more that cannot be told from the file.
    pub(super) lost: bool,
}

/// The end of the feed, as far as it was read.
pub(super) struct Tail {
    path: PathBuf,
    before: PathBuf,
    file: Option<File>,
    /// How far the file was read.
    read: u64,
    /// A line of which the end is not there yet.
    rest: Vec<u8>,
}

impl Tail {
    /// From the end of the feed on.
    pub(super) fn at_end(home: &Path) -> Tail {
        let (path, before) = (home.join(FEED), home.join(FEED_BEFORE));
        // One that was just put aside has no successor yet.
        let file = open_to_read(&path).or_else(|_| open_to_read(&before)).ok();
        let about = file.as_ref().and_then(|file| file.metadata().ok());
        Tail {
            path,
            before,
            file,
            read: about.map_or(0, |about| about.len()),
            rest: Vec::new(),
        }
    }

    /// Reads what is new.
    pub(super) fn look(&mut self) -> FeedNews {
        let mut news = FeedNews::default();
        let is_current = self.is_at(&self.path);
        // After that question: all that was written before another file came is in the one that is open.
        self.read_on(&mut news);
        if is_current {
            return news;
        }
        let next = open_to_read(&self.path);
        // After this one was opened: the file that was put aside last is then the one before it, or an even later one.
        let is_put_aside = self.is_at(&self.before);
        news.lost |= self.file.is_some() && !is_put_aside;
        if next.is_ok() || !is_put_aside {
            self.file = next.ok();
            self.read = 0;
            news.lost |= !self.rest.is_empty();
            self.rest.clear();
            self.read_on(&mut news);
        }
        news
    }

    /// Does the path name the file that is open?
    fn is_at(&self, path: &Path) -> bool {
        let open = self.file.as_ref().and_then(|file| file.metadata().ok());
        let there = fs::symlink_metadata(path).ok();
        open.zip(there)
            .is_some_and(|(open, there)| same_file(&open, &there))
    }

    fn read_on(&mut self, news: &mut FeedNews) {
        match self.unread() {
            Ok(Some(bytes)) => self.take_lines(&bytes, news),
            Ok(None) => {
                self.rest.clear();
                news.lost = true;
            }
            // The next rescan makes up for it.
            Err(error) => tracing::debug!(%error, "feed.jsonl was not read"),
        }
    }

    /// The bytes from where the last look ended. None: the file is shorter than that, or longer than any that Orange writes.
    fn unread(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let Some(file) = &mut self.file else {
            return Ok(Some(bytes));
        };
        let length = file.metadata()?.len();
        let unread = length.checked_sub(self.read);
        if unread.is_none_or(|unread| unread > MOST_UNREAD) {
            self.read = length;
            return Ok(None);
        }
        file.seek(SeekFrom::Start(self.read))?;
        file.take(MOST_UNREAD).read_to_end(&mut bytes)?;
        self.read += bytes.len() as u64;
        Ok(Some(bytes))
    }

    fn take_lines(&mut self, bytes: &[u8], news: &mut FeedNews) {
        self.rest.extend_from_slice(bytes);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n');
        let end = end.map_or(0, |end| end + 1);
        for line in self.rest[..end].split_inclusive(|byte| *byte == b'\n') {
            match folder_in(line) {
                Some(folder) => drop(news.folders.insert(folder)),
                None => news.lost = true,
            }
        }
        self.rest.drain(..end);
        if self.rest.len() as u64 > MAX_BYTES {
            self.rest.clear();
            news.lost = true;
        }
    }
}

fn open_to_read(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// The task that a line is about. None for what Orange did not write.
fn folder_in(line: &[u8]) -> Option<String> {
    let line: FeedLine = serde_json::from_slice(line).ok()?;
    let folder = Path::new(&line.folder);
    let is_inside = folder
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    (is_inside && line.folder.contains('/')).then_some(line.folder)
}

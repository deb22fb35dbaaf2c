//! Bringing the index up to date: look at every TASK.md's (mtime, size, inode), re-read what changed.

use super::line::{self, Line};
use super::{Entry, Index, Stamp, failed};
use crate::error::Result;
use crate::store::Store;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::Path;

/// File times come from a coarse clock: a second write within one of its ticks leaves the same mtime.
/// A file that was not clearly older than its reading is read again.
const CLOCK_TICK: i64 = 20_000_000;

/// Below this many files a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// A folder that looks like a task, and its TASK.md as stat sees it.
struct Seen {
    /// `project/name`.
    folder: String,
    stamp: Option<Stamp>,
}

/// What the index says of all folders. Their names stand end to end: thousands of them need no memory of their own.
#[derive(Default)]
pub(super) struct Known {
    names: String,
    rows: Vec<KnownRow>,
}

struct KnownRow {
    /// Where the folder's name ends.
    end: usize,
    /// None: there was nothing to read.
    stamp: Option<Stamp>,
    indexed_at: i64,
}

impl Known {
    pub(super) fn push(&mut self, line: &Line<'_>) {
        self.names.push_str(line.folder);
        self.rows.push(KnownRow {
            end: self.names.len(),
            stamp: line.stamp,
            indexed_at: line.indexed_at,
        });
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &KnownRow)> {
        let mut start = 0;
        self.rows.iter().map(move |row| {
            let name = &self.names[start..row.end];
            start = row.end;
            (name, row)
        })
    }
}

/// Does the file still look as it did when it was read, and was it old enough then?
fn is_unchanged(known: Option<Stamp>, indexed_at: i64, now: Option<Stamp>) -> bool {
    known == now && known.is_some_and(|stamp| stamp.mtime < indexed_at - CLOCK_TICK)
}

impl Index {
    /// Compares the index with the disk and re-reads what differs. Gives the number of folders read.
    pub fn refresh(&mut self, store: &Store) -> Result<usize> {
        self.refreshed(store, |index| {
            let mut known = Known::default();
            index.each_line(|_, line| known.push(&line))?;
            Ok((known, ()))
        })
        .map(|(count, ())| count)
    }

    /// Would a refresh leave this folder alone?
    pub(crate) fn is_current(&self, folder: &str, stamp: Option<Stamp>) -> bool {
        let line: rusqlite::Result<Vec<u8>> = self
            .connection
            .prepare_cached(
                "SELECT line FROM tasks JOIN lines ON lines.task = tasks.number WHERE folder = ?1",
            )
            .and_then(|mut query| query.query_row([folder], |row| row.get(0)));
        line.is_ok_and(|line| {
            line::read(&line).is_some_and(|line| is_unchanged(line.stamp, line.indexed_at, stamp))
        })
    }

    /// Goes through all tasks, by number.
    pub(super) fn each_line(&self, mut look: impl FnMut(i64, Line<'_>)) -> rusqlite::Result<()> {
        let mut query = self
            .connection
            .prepare_cached("SELECT task, line FROM lines")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            // A line that makes no sense is as good as none: its folder is read again.
            if let Some(line) = row.get_ref(1)?.as_blob().ok().and_then(line::read) {
                look(row.get(0)?, line);
            }
        }
        Ok(())
    }

    /// Reads the index while another thread looks at the disk. Should they differ, the index is brought up to
    /// date and read again. Gives the number of folders read, and what `read` gave besides their stamps.
    pub(super) fn refreshed<T>(
        &mut self,
        store: &Store,
        read: impl Fn(&Index) -> rusqlite::Result<(Known, T)>,
    ) -> Result<(usize, T)> {
        let (seen, found) = std::thread::scope(|scope| {
            let disk = scope.spawn(|| survey_disk(store.tasks()));
            // Spawned before: SQLite's part takes about as long.
            let found = read(self);
            match disk.join() {
                Ok(seen) => (seen, found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        let (known, found) = found.map_err(|error| failed(&error))?;
        let (stale, gone) = difference(&known, &seen);
        self.fresh = false;
        if stale.is_empty() && gone.is_empty() {
            return Ok((0, found));
        }
        let entries = read_all(store, &stale);
        self.store(&entries, &gone);
        let (_, found) = read(self).map_err(|error| failed(&error))?;
        Ok((entries.len(), found))
    }
}

/// What has to be read again, and what is not there any more.
fn difference(known: &Known, seen: &[Seen]) -> (Vec<String>, Vec<String>) {
    let places: HashMap<&str, usize> = seen
        .iter()
        .enumerate()
        .map(|(place, entry)| (entry.folder.as_str(), place))
        .collect();
    let mut unchanged = vec![false; seen.len()];
    let mut gone = Vec::new();
    for (folder, row) in known.iter() {
        match places.get(folder) {
            Some(&place) => {
                unchanged[place] = is_unchanged(row.stamp, row.indexed_at, seen[place].stamp);
            }
            None => gone.push(folder.to_owned()),
        }
    }
    let stale = seen
        .iter()
        .zip(unchanged)
        .filter(|(_, unchanged)| !unchanged)
        .map(|(entry, _)| entry.folder.clone())
        .collect();
    (stale, gone)
}

fn read_all(store: &Store, folders: &[String]) -> Vec<Entry> {
    in_two(folders, |part| {
        part.iter().map(|folder| store.survey(folder)).collect()
    })
}

/// Splits the work over two threads when there is enough of it.
fn in_two<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    if items.len() < WORTH_A_THREAD {
        return work(items);
    }
    let (left, right) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| work(right));
        let mut all = work(left);
        match other.join() {
            Ok(rest) => all.extend(rest),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        all
    })
}

/// Finds every task folder below `tasks/`, with the stamp of its TASK.md.
fn survey_disk(tasks: &Path) -> Vec<Seen> {
    let open = |path: &Path| {
        rustix::fs::openat(
            CWD,
            path,
            OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )
    };
    let mut all = Vec::new();
    let Ok(root) = open(tasks) else {
        return all;
    };
    let mut path = Vec::new();
    for project in folder_names(tasks) {
        let folder = tasks.join(&project);
        let Ok(below) = open(&folder) else { continue };
        for name in folder_names(&folder) {
            // Written in place and relative to its project: this is done for every task at every list.
            path.clear();
            path.extend_from_slice(name.as_bytes());
            path.extend_from_slice(b"/TASK.md\0");
            let stamp = CStr::from_bytes_with_nul(&path)
                .ok()
                .and_then(|path| stamp_at(&below, path));
            let folder = [project.as_str(), "/", &name].concat();
            if stamp.is_some() {
                all.push(Seen { folder, stamp });
            } else {
                look_deeper(tasks, &root, &folder, 0, &mut all);
            }
        }
    }
    all
}

/// Folders named after a branch nest where the branch has slashes; a journal alone is a damaged task.
fn look_deeper(
    tasks: &Path,
    root: &rustix::fd::OwnedFd,
    folder: &str,
    depth: usize,
    seen: &mut Vec<Seen>,
) {
    const DEEPEST_BRANCH: usize = 8;
    if stamp_at(root, format!("{folder}/TASK.md")).is_some()
        || stamp_at(root, format!("{folder}/history.jsonl")).is_some()
    {
        seen.push(Seen {
            folder: folder.to_owned(),
            stamp: stamp_at(root, format!("{folder}/TASK.md")),
        });
        return;
    }
    if depth < DEEPEST_BRANCH {
        for name in folder_names(&tasks.join(folder)) {
            look_deeper(tasks, root, &format!("{folder}/{name}"), depth + 1, seen);
        }
    }
}

fn stamp_at(root: &rustix::fd::OwnedFd, path: impl rustix::path::Arg) -> Option<Stamp> {
    let stat = rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(stamp_of(&stat))
}

pub(crate) fn stamp_of(stat: &rustix::fs::Stat) -> Stamp {
    #[allow(
        clippy::unnecessary_cast,
        reason = "the types differ between platforms"
    )]
    Stamp {
        mtime: (stat.st_mtime as i64)
            .saturating_mul(1_000_000_000)
            .saturating_add(stat.st_mtime_nsec as i64),
        size: stat.st_size as i64,
        inode: stat.st_ino as i64,
    }
}

/// Names of folders that can be tasks or projects: not hidden (a task being made), UTF-8, real folders.
fn folder_names(parent: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

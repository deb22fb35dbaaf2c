//! Bringing the index up to date: look at every TASK.md's (mtime, size, inode), re-read what changed.

use super::{Entry, Index, Stamp, is_damage, try_store};
use crate::error::Result;
use crate::store::Store;
use rusqlite::{Connection, params};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::collections::HashMap;
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

struct Known {
    stamp: Stamp,
    indexed_at: i64,
}

impl Index {
    /// Compares the index with the disk and re-reads what differs. Gives the number of folders read.
    pub fn refresh(&self) -> Result<usize> {
        let known = self.ask(stamps)?;
        let seen = survey_disk(self.store.tasks())?;
        let (stale, gone) = difference(&known, &seen);
        if stale.is_empty() && gone.is_empty() {
            return Ok(0);
        }
        let entries = read_all(&self.store, &stale);
        let written = try_store(&mut self.connection.borrow_mut(), &entries, &gone);
        match written {
            Ok(()) => Ok(entries.len()),
            Err(error) if is_damage(&error) => self.rebuild(),
            // Disk full, read-only, locked: the file is left alone.
            Err(error) => {
                self.go_to_memory(&error)?;
                self.reread()
            }
        }
    }

    /// Reads every folder, changed or not; gives their number.
    pub fn reread(&self) -> Result<usize> {
        let seen = survey_disk(self.store.tasks())?;
        let folders: Vec<String> = seen.into_iter().map(|entry| entry.folder).collect();
        self.store(&read_all(&self.store, &folders), &[]);
        Ok(folders.len())
    }
}

fn stamps(connection: &Connection) -> rusqlite::Result<HashMap<String, Known>> {
    let mut query =
        connection.prepare_cached("SELECT folder, mtime, size, inode, indexed_at FROM stamps")?;
    let rows = query.query_map(params![], |row| {
        Ok((
            row.get(0)?,
            Known {
                stamp: Stamp {
                    mtime: row.get(1)?,
                    size: row.get(2)?,
                    inode: row.get(3)?,
                },
                indexed_at: row.get(4)?,
            },
        ))
    })?;
    let mut known = HashMap::with_capacity(1024);
    for row in rows {
        let (folder, stamp) = row?;
        known.insert(folder, stamp);
    }
    Ok(known)
}

fn difference(known: &HashMap<String, Known>, seen: &[Seen]) -> (Vec<String>, Vec<String>) {
    let mut stale = Vec::new();
    let mut matched = 0;
    for entry in seen {
        let unchanged = known.get(&entry.folder).is_some_and(|row| {
            matched += 1;
            entry.stamp == Some(row.stamp) && row.stamp.mtime < row.indexed_at - CLOCK_TICK
        });
        if !unchanged {
            stale.push(entry.folder.clone());
        }
    }
    if matched == known.len() {
        return (stale, Vec::new());
    }
    let present: std::collections::HashSet<&str> =
        seen.iter().map(|entry| entry.folder.as_str()).collect();
    let gone = known
        .keys()
        .filter(|folder| !present.contains(folder.as_str()))
        .cloned()
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
fn survey_disk(tasks: &Path) -> Result<Vec<Seen>> {
    let mut all = Vec::new();
    for project in folder_names(tasks) {
        let names = folder_names(&tasks.join(&project));
        let folders: Vec<String> = names
            .iter()
            .map(|name| format!("{project}/{name}"))
            .collect();
        all.extend(in_two(&folders, |part| stat_part(tasks, part)));
    }
    Ok(all)
}

fn stat_part(tasks: &Path, folders: &[String]) -> Vec<Seen> {
    let Ok(root) = rustix::fs::openat(
        CWD,
        tasks,
        OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    ) else {
        return Vec::new();
    };
    let mut seen = Vec::with_capacity(folders.len());
    for folder in folders {
        let stamp = stamp_at(&root, &format!("{folder}/TASK.md"));
        if stamp.is_some() {
            seen.push(Seen {
                folder: folder.clone(),
                stamp,
            });
        } else {
            look_deeper(tasks, &root, folder, 0, &mut seen);
        }
    }
    seen
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
    if stamp_at(root, &format!("{folder}/TASK.md")).is_some()
        || stamp_at(root, &format!("{folder}/history.jsonl")).is_some()
    {
        seen.push(Seen {
            folder: folder.to_owned(),
            stamp: stamp_at(root, &format!("{folder}/TASK.md")),
        });
        return;
    }
    if depth < DEEPEST_BRANCH {
        for name in folder_names(&tasks.join(folder)) {
            look_deeper(tasks, root, &format!("{folder}/{name}"), depth + 1, seen);
        }
    }
}

fn stamp_at(root: &rustix::fd::OwnedFd, path: &str) -> Option<Stamp> {
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

//! Bringing the index up to date: look at every TASK.md's (mtime, size, inode), re-read what changed. A list looks only at
//! tasks that are not over, as long as no folder came or went.

use super::line::{self, PackedLine};
use super::rows::{IndexRow, try_store};
use super::{Index, IndexEntry, Stamp, answers, counts};
use crate::locks::{self, Rank};
use crate::{Surveyor, nanoseconds};
use orange_core::Timestamp;
use orange_sys::error::Result;
use rusqlite::{Connection, TransactionBehavior, params};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// File times come from a coarse clock: a second write within one of its ticks leaves the same mtime.
/// A file that was not clearly older than its reading is read again.
const CLOCK_TICK: i64 = 20_000_000;

/// Below this many files a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// A folder that looks like a task, and its TASK.md as stat sees it.
struct SeenFolder {
    /// `project/name`.
    folder: String,
    stamp: Option<Stamp>,
}

/// What the index says of all folders. Their names stand end to end: thousands of them need no memory of their own.
#[derive(Default)]
pub(super) struct KnownRows {
    names: String,
    rows: Vec<KnownRow>,
    /// Every line could be read.
    pub(super) complete: bool,
}

/// What is on the disk.
struct Survey {
    tasks: Vec<SeenFolder>,
    /// The folders that are no tasks, and when something in them came or went.
    folders: Vec<(String, i64)>,
}

struct KnownRow {
    /// Where the folder's name ends.
    end: usize,
    /// None: there was nothing to read.
    stamp: Option<Stamp>,
    indexed_at: i64,
}

impl KnownRows {
    pub(super) fn push(&mut self, line: &PackedLine<'_>) {
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

impl KnownRow {
    fn says(&self, stamp: Option<Stamp>) -> bool {
        self.stamp == stamp && stamp.is_some_and(|stamp| is_settled(stamp, self.indexed_at))
    }
}

/// Would a later write show in the file's stamp?
pub(super) fn is_settled(stamp: Stamp, read_at: i64) -> bool {
    stamp.mtime < read_at - CLOCK_TICK
}

/// Goes through all tasks, or through those that are not over or were later than `since`. False if there is a line that
/// makes no sense: its folder has to be read again.
pub(super) fn each_line(
    connection: &Connection,
    since: Option<i64>,
    mut look: impl FnMut(i64, PackedLine<'_>),
) -> rusqlite::Result<bool> {
    let mut query =
        connection.prepare_cached("SELECT task, line FROM lines WHERE over_at >= ?1")?;
    let mut rows = query.query([since.unwrap_or(i64::MIN)])?;
    let mut complete = true;
    while let Some(row) = rows.next()? {
        match row.get_ref(1)?.as_blob().ok().and_then(line::read) {
            Some(line) => look(row.get(0)?, line),
            None => complete = false,
        }
    }
    Ok(complete)
}

impl Index {
    /// Compares the index with the disk and re-reads what differs. Gives the number of rows that did.
    pub fn refresh(&self) -> Result<usize> {
        let (read, ()) = self.compared(&|connection: &Connection, since| {
            let mut known = KnownRows::default();
            each_line(connection, since, |_, line| known.push(&line))?;
            Ok((known, ()))
        })?;
        Ok(read)
    }

    /// As [`Index::refresh`], unless that was done a moment ago: one look serves all questions of a moment.
    pub fn freshen(&self) -> Result<()> {
        if !self.is_fresh() {
            self.refresh()?;
        }
        Ok(())
    }

    /// The next question looks at the disk, however lately that was done.
    pub fn look_again(&self) {
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn is_fresh(&self) -> bool {
        const MOMENT: Duration = Duration::from_millis(100);
        let looked = *self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.is_some_and(|then| then.elapsed() <= MOMENT)
    }

    /// Reads the index while the disk is looked at. Should they differ, the index is brought up to date and
    /// read again. Gives what `read` gave besides the stamps. Tasks that were over before `since` are looked at only if
    /// something else shows that the disk changed.
    pub(super) fn refreshed<T>(
        &self,
        since: Option<i64>,
        read: impl Fn(&Connection, Option<i64>) -> rusqlite::Result<(KnownRows, T)>,
    ) -> Result<T> {
        if since.is_some()
            && !self.is_mostly_live()
            && self.has_same_folders()
            && let Some(found) = self.compared_since(since, &read)?
        {
            return Ok(found);
        }
        let (changed, found) = self.compared(&read)?;
        match changed {
            0 => Ok(found),
            _ => self
                .ask(|connection| read(connection, since))
                .map(|(_, found)| found),
        }
    }

    /// Are most tasks to be looked at anyway, and are these many? Then a look at all of them is quicker, because the disk is
    /// read while the index is.
    fn is_mostly_live(&self) -> bool {
        let counted = self.ask(|connection| {
            let all = counts::all(connection)?;
            let live = all.saturating_sub(counts::over(connection, &[])?);
            Ok(live >= WORTH_A_THREAD && live * 2 > all)
        });
        counted.unwrap_or(false)
    }

    /// Compares only the tasks that are not over, or were later than `since`. None: everything has to be looked at.
    fn compared_since<T>(
        &self,
        since: Option<i64>,
        read: &impl Fn(&Connection, Option<i64>) -> rusqlite::Result<(KnownRows, T)>,
    ) -> Result<Option<T>> {
        let ask = || self.ask(|connection| read(connection, since));
        let (known, found) = ask()?;
        let Some(root) = open_folder(self.store.tasks())
            .ok()
            .filter(|_| known.complete)
        else {
            return Ok(None);
        };
        let mut stale = Vec::new();
        for (folder, row) in known.iter() {
            match stamp_at(&root, format!("{folder}/TASK.md")) {
                None => return Ok(None),
                stamp if row.says(stamp) => {}
                Some(_) => stale.push(folder.to_owned()),
            }
        }
        if stale.is_empty() {
            return Ok(Some(found));
        }
        let written = self.read_into(&stale, &[], Surveyor::survey);
        written.or_else(|error| self.recover(&error))?;
        ask().map(|(_, found)| Some(found))
    }

    /// Has no folder come or gone since all were looked at?
    pub(super) fn has_same_folders(&self) -> bool {
        let tasks = self.store.tasks();
        self.ask(known_folders).is_ok_and(|known| {
            let same = |(path, mtime): &(String, i64)| {
                stamp_at(CWD, tasks.join(path)).is_some_and(|stamp| stamp.mtime == *mtime)
            };
            !known.is_empty() && known.iter().all(same)
        })
    }

    /// Remembers the folders, if they are not those that are known.
    fn keep_folders(&self, folders: &[(String, i64)]) {
        if self.ask(known_folders).is_ok_and(|known| known == folders) {
            return;
        }
        self.heal(self.write(|connection| {
            let _held = locks::enter(Rank::Index);
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM folders", [])?;
            for folder in folders {
                transaction.execute(
                    "INSERT INTO folders VALUES (?1, ?2)",
                    params![folder.0, folder.1],
                )?;
            }
            transaction.commit()
        }));
    }

    /// Gives the number of rows that were wrong, and what `read` gave before they were put right.
    fn compared<T>(
        &self,
        read: &impl Fn(&Connection, Option<i64>) -> rusqlite::Result<(KnownRows, T)>,
    ) -> Result<(usize, T)> {
        let tasks = self.store.tasks();
        let (mut seen, found) = std::thread::scope(|scope| {
            let disk = scope.spawn(|| survey_disk(tasks));
            // SQLite's part takes about as long.
            let found = self.ask(|connection| read(connection, None));
            match disk.join() {
                Ok(seen) => (seen, found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        let (known, found) = found?;
        let (mut stale, mut gone) = difference(&known, &seen.tasks);
        if !gone.is_empty() {
            // The folder may have been made after that look and indexed before ours: only what is looked for
            // after its row was read, and not found, is gone.
            seen = survey_disk(tasks);
            (stale, gone) = difference(&known, &seen.tasks);
        }
        let wrong = stale.len() + gone.len();
        if wrong > 0 {
            let written = self.read_into(&stale, &gone, Surveyor::survey);
            written.or_else(|error| self.recover(&error))?;
        }
        self.keep_folders(&seen.folders);
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok((wrong, found))
    }

    /// Reads every folder, changed or not; gives their number.
    pub fn reread(&self) -> Result<usize> {
        let seen = survey_disk(self.store.tasks());
        let folders: Vec<String> = seen.tasks.into_iter().map(|entry| entry.folder).collect();
        self.heal(self.read_into(&folders, &[], Surveyor::survey_thoroughly));
        Ok(folders.len())
    }

    /// Reads folders on two threads while this one writes what they found.
    fn read_into<'s>(
        &'s self,
        folders: &[String],
        gone: &[String],
        survey: fn(&mut Surveyor<'s>, &str) -> IndexEntry,
    ) -> rusqlite::Result<()> {
        const BATCH: usize = 64;
        let store = &self.store;
        let reader = move || {
            let mut surveyor = Surveyor::new(store);
            move |folder: &String| IndexRow::of(&survey(&mut surveyor, folder))
        };
        if folders.len() < WORTH_A_THREAD {
            let rows = folders.iter().map(reader());
            return self.write(|connection| try_store(connection, folders.len(), rows, gone));
        }
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::sync_channel(BATCH);
            for part in folders.chunks(folders.len().div_ceil(2)) {
                let sender = sender.clone();
                scope.spawn(move || {
                    let mut row = reader();
                    let mut batches = part
                        .chunks(BATCH)
                        .map(|batch| batch.iter().map(&mut row).collect::<Vec<IndexRow>>());
                    // Nobody listens any more once writing has failed.
                    batches.try_for_each(|batch| sender.send(batch)).ok();
                });
            }
            drop(sender);
            let rows = receiver.into_iter().flatten();
            self.write(|connection| try_store(connection, folders.len(), rows, gone))
        })
    }
}

/// What has to be read again, and what is not there any more.
fn difference(known: &KnownRows, seen: &[SeenFolder]) -> (Vec<String>, Vec<String>) {
    let places = seen.iter().enumerate();
    let places: HashMap<&str, usize> = places
        .map(|(place, entry)| (entry.folder.as_str(), place))
        .collect();
    let mut unchanged = vec![false; seen.len()];
    let mut gone = Vec::new();
    for (folder, row) in known.iter() {
        match places.get(folder) {
            Some(&place) => unchanged[place] = row.says(seen[place].stamp),
            None => gone.push(folder.to_owned()),
        }
    }
    let stale = seen
        .iter()
        .zip(unchanged)
        .filter(|(_, unchanged)| !unchanged);
    (stale.map(|(entry, _)| entry.folder.clone()).collect(), gone)
}

/// The folders that are no tasks, as they were when all were looked at.
fn known_folders(connection: &Connection) -> rusqlite::Result<Vec<(String, i64)>> {
    let sql = "SELECT path, mtime FROM folders ORDER BY path";
    answers(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Finds every task folder below `tasks/`, with the stamp of its TASK.md.
fn survey_disk(tasks: &Path) -> Survey {
    let mut all = Survey {
        tasks: Vec::new(),
        folders: Vec::new(),
    };
    let Ok(root) = open_folder(tasks) else {
        return all;
    };
    all.look_into(&root, ".");
    let mut path = Vec::new();
    for project in folder_names(tasks) {
        let folder = tasks.join(&project);
        all.look_into(&root, &project);
        let Ok(below) = open_folder(&folder) else {
            continue;
        };
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
                all.tasks.push(SeenFolder { folder, stamp });
            } else {
                look_deeper(tasks, &root, &folder, 0, &mut all);
            }
        }
    }
    all.folders.sort();
    all
}

impl Survey {
    /// Notes a folder whose names are read next. One that changed just now may change again without a trace: 0, which no
    /// folder has.
    fn look_into(&mut self, root: &OwnedFd, folder: &str) {
        let settled = stamp_at(root, folder)
            .filter(|stamp| is_settled(*stamp, nanoseconds(Timestamp::now())));
        let mtime = settled.map_or(0, |stamp| stamp.mtime);
        self.folders.push((folder.to_owned(), mtime));
    }
}

/// Paths can be looked at relative to it.
pub(crate) fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty())
}

/// Folders named after a branch nest where the branch has slashes; a journal alone is a damaged task.
fn look_deeper(tasks: &Path, root: &OwnedFd, folder: &str, depth: usize, seen: &mut Survey) {
    const DEEPEST_BRANCH: usize = 8;
    let stamp = stamp_at(root, format!("{folder}/TASK.md"));
    let is_task = stamp.is_some() || stamp_at(root, format!("{folder}/history.jsonl")).is_some();
    // What cannot be read must not vanish from lists: it is shown as damaged, with the reason.
    let is_unreadable = || {
        std::fs::read_dir(tasks.join(folder))
            .is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    };
    if is_task || is_unreadable() {
        let folder = folder.to_owned();
        seen.tasks.push(SeenFolder { folder, stamp });
    } else if depth < DEEPEST_BRANCH {
        seen.look_into(root, folder);
        for name in folder_names(&tasks.join(folder)) {
            look_deeper(tasks, root, &format!("{folder}/{name}"), depth + 1, seen);
        }
    }
}

pub(super) fn stamp_at(root: impl rustix::fd::AsFd, path: impl rustix::path::Arg) -> Option<Stamp> {
    let stat = rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(stamp_of(&stat))
}

pub fn stamp_of(stat: &rustix::fs::Stat) -> Stamp {
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
    let entries = std::fs::read_dir(parent).into_iter().flatten();
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

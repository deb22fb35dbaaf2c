//! What an index has to know of a task folder. Reads only, and never fails: a lost index means to look at every
//! task there is, so a task that was left in order costs three files opened and two looked at.

use super::{Place, Snapshot, Store, lock, mark_of, mentions, nanoseconds};
use crate::index::refresh::{open_folder, stamp_of};
use crate::index::{IndexEntry, Noted, Stamp};
use orange_core::Timestamp;
use orange_core::reconcile::{Filed, begins_anew};
use orange_core::task::Task;
use orange_core::task_file::MAX_BYTES;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// Reads one folder after the other.
pub struct Surveyor<'s> {
    store: &'s Store,
    /// Paths are relative to `tasks/`: the kernel walks each of them once per file.
    tasks: Option<OwnedFd>,
    path: Vec<u8>,
    bytes: Vec<u8>,
}

impl Store {
    /// What an index needs to know of a folder.
    pub fn survey(&self, folder: &str) -> IndexEntry {
        Surveyor::new(self).survey(folder)
    }

    /// The same with a look into the journal, whatever the last command noted.
    pub fn survey_thoroughly(&self, folder: &str) -> IndexEntry {
        let place = self.place(folder);
        let mut snapshot = match self.read(&place) {
            Ok(snapshot) => snapshot,
            Err(error) => return damaged_entry(&place, error.message),
        };
        let witness = || lock::read_witness(&place.path);
        let verdict = snapshot.reconcile(&place, &witness, Timestamp::now(), &mut |_, _| None);
        match verdict {
            Ok(truth) => {
                // A lost journal is to be seen before a command has told the new one.
                if truth.events.iter().any(begins_anew) {
                    snapshot.history.events.extend(truth.events);
                }
                IndexEntry {
                    damaged: truth.broken.map(|broken| broken.to_string()),
                    ..snapshot.entry_of(&place, truth.task)
                }
            }
            Err(broken) => IndexEntry {
                stamp: snapshot.stamp,
                read_at: snapshot.read_at,
                ..damaged_entry(&place, broken.to_string())
            },
        }
    }
}

impl Snapshot {
    /// What the index keeps of a task whose files are in order.
    pub fn entry_of(&self, place: &Place, task: Task) -> IndexEntry {
        IndexEntry {
            folder: place.folder(),
            noted: Noted::of(&task, &self.history),
            mentions: mentions(&task, self.body()),
            damaged: None,
            task,
            stamp: self.stamp,
            read_at: self.read_at,
        }
    }
}

impl Surveyor<'_> {
    pub fn new(store: &Store) -> Surveyor<'_> {
        Surveyor {
            tasks: open_folder(store.tasks()).ok(),
            store,
            path: Vec::new(),
            bytes: Vec::new(),
        }
    }

    pub fn survey(&mut self, folder: &str) -> IndexEntry {
        self.in_order(folder)
            .unwrap_or_else(|| self.survey_thoroughly(folder))
    }

    /// With a look into the journal, whatever the last command noted.
    pub fn survey_thoroughly(&mut self, folder: &str) -> IndexEntry {
        self.store.survey_thoroughly(folder)
    }

    /// A task whose last command left both files in order and that nobody has touched since: the journal need
    /// not be read to know that it says what the frontmatter says.
    fn in_order(&mut self, folder: &str) -> Option<IndexEntry> {
        self.read(folder, lock::LOCK_FILE, lock::RECORD_LEN)?;
        let witness = lock::witness_in(&self.bytes).filter(|witness| witness.front != 0)?;
        let (journal, _) = self.look(folder, "history.jsonl")?;
        if u64::try_from(journal.size).ok()? != witness.journal_bytes {
            return None;
        }
        let read_at = nanoseconds(Timestamp::now());
        let (stamp, kind) = self.look(folder, "TASK.md")?;
        let size = usize::try_from(stamp.size).ok()?;
        if !kind.is_file() || size > MAX_BYTES {
            return None;
        }
        self.read(folder, "TASK.md", size)?;
        let text = std::str::from_utf8(&self.bytes).ok()?;
        let (project, _) = folder.split_once('/')?;
        let Filed { task, front, body } = Filed::read(text, project)?;
        (mark_of(&text[front]) == witness.front).then(|| IndexEntry {
            folder: folder.to_owned(),
            mentions: mentions(&task, &text[body..]),
            task,
            stamp: Some(stamp),
            read_at,
            ..IndexEntry::default()
        })
    }

    fn look(&mut self, folder: &str, name: &str) -> Option<(Stamp, FileType)> {
        self.set_path(folder, name);
        let tasks = self.tasks.as_ref()?;
        let stat = rustix::fs::statat(tasks, &*self.path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stamp_of(&stat), FileType::from_raw_mode(stat.st_mode)))
    }

    /// Reads a file of a known size into `bytes`; None if it has another by now.
    fn read(&mut self, folder: &str, name: &str, size: usize) -> Option<()> {
        self.set_path(folder, name);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let tasks = self.tasks.as_ref()?;
        let file = rustix::fs::openat(tasks, &*self.path, flags, Mode::empty()).ok()?;
        self.bytes.resize(size + 1, 0);
        let length = rustix::io::read(&file, &mut self.bytes[..]).ok()?;
        self.bytes.truncate(length);
        (length == size).then_some(())
    }

    fn set_path(&mut self, folder: &str, name: &str) {
        self.path.clear();
        for part in [folder, "/", name] {
            self.path.extend_from_slice(part.as_bytes());
        }
    }
}

fn damaged_entry(place: &Place, reason: String) -> IndexEntry {
    IndexEntry {
        folder: place.folder(),
        task: Task {
            id: place.name.replace('/', "-"),
            project: place.project.clone(),
            branch: place.name.clone(),
            ..Task::default()
        },
        damaged: Some(reason),
        ..IndexEntry::default()
    }
}

//! Where files wait that are being removed from a slot. A file is moved out of the slot first and compared with the rescue
//! afterwards, so that nobody can change it in between; what is not in the rescue is moved back. The folder tells a later
//! process how far a killed one came.

use crate::error::{Error, IoContext, Result};
use crate::store::private;
use crate::store::replace::is_let_go;
use crate::workspaces::files::folders::{Entered, Folders};
use orange_sys::listing;
use rustix::fs::{AtFlags, FileType, Mode, RenameFlags, renameat_with, statat, unlinkat};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// In the folder of workspaces.
pub(crate) const LEAVING: &str = ".leaving";

/// What the names of folders end in.
const DONE: &str = ".done";

const WHOLE: &str = ".whole";

const CHECKED: &str = ".checked";

const REVIVED: &str = ".revived";

/// Below a slot's own folder: its files, by their paths, and the commit at which it is being parked.
const FILES: &str = "files";

const HEAD: &str = "head";

const PARK: &str = "park";

/// How long the removal of one file waits for a process that has it open for writing.
const WRITER: Duration = Duration::from_millis(200);

pub(crate) struct Quarantine {
    slot: PathBuf,
    /// Holds what is not compared yet.
    open: PathBuf,
    /// Holds what is saved, until the slot has its new files.
    done: PathBuf,
    /// The whole slot while it is looked at for the last time.
    pub(super) whole: PathBuf,
    /// The whole slot once it was found to hold nothing that is not saved.
    checked: PathBuf,
    /// The files of a slot whose folder was deleted, while they are checked out again.
    pub(super) revived: PathBuf,
}

/// What was found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathKind {
    File,
    Link,
    Folder,
    /// A pipe, a socket or a device: git does not see it, and it holds nothing.
    Special,
}

impl Quarantine {
    pub(super) fn of(slot: &Path) -> Quarantine {
        let leaving = slot.parent().unwrap_or(slot).join(LEAVING);
        let name = slot.file_name().unwrap_or_default().to_string_lossy();
        Quarantine {
            slot: slot.to_owned(),
            open: leaving.join(name.as_ref()),
            done: leaving.join(format!("{name}{DONE}")),
            whole: leaving.join(format!("{name}{WHOLE}")),
            checked: leaving.join(format!("{name}{CHECKED}")),
            revived: leaving.join(format!("{name}{REVIVED}")),
        }
    }

    /// Is something left of a process that was killed?
    pub(super) fn is_in_use(&self) -> bool {
        [&self.open, &self.done, &self.whole, &self.checked]
            .into_iter()
            .any(|folder| fs::symlink_metadata(folder).is_ok())
    }

    /// Where moved files are, by their paths in the slot.
    pub(super) fn files(&self) -> PathBuf {
        self.open.join(FILES)
    }

    /// Makes the folder. `head`: the commit at which the slot was saved; `park`: the one that it gets.
    pub(super) fn begin(&self, head: Option<&str>, park: &str) -> Result<()> {
        let failed = |error: io::Error| Error::io("create", &self.open, &error);
        private::make_folders(&self.files()).map_err(failed)?;
        if let Some(head) = head {
            private::write(&self.open.join(HEAD), head).map_err(failed)?;
        }
        private::write(&self.open.join(PARK), park).map_err(failed)
    }

    /// The commit at which the slot was saved and the one that it was to get, if nothing of it is confirmed.
    pub(super) fn unconfirmed(&self) -> Option<(String, String)> {
        let read = |name: &str| fs::read_to_string(self.open.join(name)).ok();
        Some((read(HEAD)?, read(PARK)?))
    }

    /// Moves what is at a path of the slot out of it; None if nothing is there, or not one of the kinds.
    pub(super) fn take(&self, path: &Path, kinds: &[PathKind]) -> Result<Option<PathKind>> {
        let failed = |error: io::Error| Error::io("move", &self.slot.join(path), &error);
        let (Some(name), folder) = (path.file_name(), path.parent().unwrap_or(Path::new("")))
        else {
            return Ok(None);
        };
        let mut slot = Folders::at(&self.slot).map_err(failed)?;
        let Entered::Folder(from) = slot.enter(folder, None).map_err(failed)? else {
            return Ok(None);
        };
        let kind = match kind_at(from, name) {
            Err(Errno::NOENT) => return Ok(None),
            found => found.map_err(|error| failed(error.into()))?,
        };
        if !kinds.contains(&kind) {
            return Ok(None);
        }
        let mut files = Folders::at(&self.files()).map_err(failed)?;
        let private = |_| Mode::RWXU;
        let Entered::Folder(to) = files.enter(folder, Some(&private)).map_err(failed)? else {
            return Err(failed(Errno::NOTDIR.into()));
        };
        match renameat_with(from, name, to, name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed(error.into())),
        }
        let moved = kind_at(to, name).map_err(|error| failed(error.into()))?;
        if !kinds.contains(&moved) {
            // Somebody put something else there in this very moment.
            self.put_back(path)?;
            return Ok(None);
        }
        Ok(Some(moved))
    }

    /// Is nobody writing to a file that was moved?
    pub(super) fn is_let_go(&self, path: &Path) -> bool {
        let place = self.files().join(path);
        File::open(&place).is_ok_and(|file| is_let_go(&file, WRITER).unwrap_or(false))
    }

    /// The same for every file in a folder that was moved.
    pub(super) fn is_folder_let_go(&self, path: &Path) -> bool {
        let mut open = vec![path.to_owned()];
        while let Some(folder) = open.pop() {
            let Ok(entries) = fs::read_dir(self.files().join(&folder)) else {
                return false;
            };
            for entry in entries {
                let Ok((kind, name)) =
                    entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name())))
                else {
                    return false;
                };
                let path = folder.join(name);
                if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() && !self.is_let_go(&path) {
                    return false;
                }
            }
        }
        true
    }

    /// Moves what was taken from a path back; beside it, if there is something new.
    pub(super) fn put_back(&self, path: &Path) -> Result<()> {
        const MOST: u32 = 1000;
        let from = self.files().join(path);
        let failed = |error: io::Error| Error::io("move back", &from, &error);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut name = path.file_name().unwrap_or_default().to_owned();
        let mut slot = Folders::at(&self.slot).map_err(failed)?;
        let everybody = |_| Mode::RWXU | Mode::RWXG | Mode::RWXO;
        let is_blocked = match slot.enter(folder, Some(&everybody)).map_err(failed)? {
            Entered::Folder(_) => false,
            Entered::Missing | Entered::Blocked => true,
        };
        if is_blocked {
            // Something else is in the place of its folder: nothing may be written through it.
            name = path.to_string_lossy().replace('/', "-").into();
        }
        let to = if is_blocked {
            slot.enter(Path::new(""), None)
        } else {
            slot.enter(folder, None)
        };
        let Entered::Folder(to) = to.map_err(failed)? else {
            return Err(failed(Errno::NOTDIR.into()));
        };
        for attempt in 0..MOST {
            let mut name = name.clone();
            if attempt > 0 {
                name.push(format!(".orange-{attempt}"));
            }
            match renameat_with(rustix::fs::CWD, &from, to, &name, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Err(failed(Errno::EXIST.into()))
    }

    /// Moves everything back that a killed process, or a failed removal, left here uncompared.
    pub(super) fn put_all_back(&self) -> Result<()> {
        if fs::symlink_metadata(&self.open).is_err() {
            return Ok(());
        }
        let root = self.files();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let entries = private::unless_gone(fs::read_dir(root.join(&folder)));
            for entry in entries.doing("read", &root)?.into_iter().flatten() {
                let entry = entry.doing("read", &root)?;
                let path = folder.join(entry.file_name());
                let made_here = fs::symlink_metadata(self.slot.join(&path))
                    .is_ok_and(|there| there.is_dir())
                    && entry.file_type().is_ok_and(|kind| kind.is_dir());
                match made_here {
                    true => open.push(path),
                    // A folder that was only made to hold something.
                    false if holds_nothing(&root.join(&path)) => {}
                    false => self.put_back(&path)?,
                }
            }
        }
        remove(&self.open)
    }

    /// All that was taken is saved: from now on the slot only needs its new files.
    pub(super) fn confirm(&self) -> Result<()> {
        fs::rename(&self.open, &self.done).doing("rename", &self.open)
    }

    /// The commit of a removal that was confirmed and not ended.
    pub(super) fn confirmed(&self) -> Option<String> {
        fs::read_to_string(self.done.join(PARK)).ok()
    }

    /// Deletes what was confirmed.
    pub(super) fn end(&self) -> Result<()> {
        remove(&self.done)
    }

    /// Moves the whole slot out of its place.
    pub(super) fn take_whole(&self) -> Result<()> {
        let leaving = self.whole.parent().unwrap_or(&self.whole);
        private::make_folders(leaving)
            .and_then(|()| fs::rename(&self.slot, &self.whole))
            .doing("move", &self.slot)
    }

    /// The whole slot holds nothing that is not saved: it may be deleted once git has forgotten it.
    pub(super) fn confirm_whole(&self) -> Result<()> {
        rename_to_free(&self.whole, &self.checked)
    }

    /// Whether git has surely forgotten the checked slot: its repository is there, and has no record of it.
    pub(super) fn is_forgotten(&self) -> bool {
        let link = fs::read_to_string(self.checked.join(".git")).unwrap_or_default();
        let Some(record) = link.trim_end().strip_prefix("gitdir: ") else {
            return false;
        };
        let record = self.slot.join(record);
        let is_gone = fs::symlink_metadata(&record)
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let common = record.parent().and_then(Path::parent);
        is_gone && common.is_some_and(|common| common.join("objects").is_dir())
    }

    /// Puts the slot back into its place, checked or not; does nothing if it was not moved.
    pub(super) fn put_whole_back(&self) -> Result<()> {
        for moved in [&self.whole, &self.checked] {
            if fs::symlink_metadata(moved).is_ok() {
                rename_to_free(moved, &self.slot)?;
            }
        }
        Ok(())
    }

    /// Finishes a removal that was interrupted: deletes a checked slot that git has forgotten, and puts any other back.
    /// What was checked out for a slot that did not get its place goes: git has it.
    pub(super) fn finish_whole(&self) -> Result<()> {
        remove(&self.revived)?;
        let is_checked = fs::symlink_metadata(&self.checked).is_ok();
        if is_checked && self.is_forgotten() {
            self.delete_checked()
        } else {
            self.put_whole_back()
        }
    }

    pub(super) fn delete_checked(&self) -> Result<()> {
        remove(&self.checked)
    }

    /// Removes a special file that was taken.
    pub(super) fn delete(&self, path: &Path) -> Result<()> {
        let place = self.files().join(path);
        unlinkat(rustix::fs::CWD, &place, AtFlags::empty())
            .map_err(|error| Error::io("remove", &place, &error.into()))
    }

    /// Removes the folders above a path that are empty now.
    pub(super) fn remove_empty_above(&self, path: &Path) {
        for folder in path.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || fs::remove_dir(self.slot.join(folder)).is_err() {
                break;
            }
        }
    }
}

/// The slot that a folder belongs to, by the folder's name, and whether the folder is the whole slot.
pub(crate) fn left_of(name: &str) -> (&str, bool) {
    let ends = [
        (DONE, false),
        (WHOLE, true),
        (CHECKED, true),
        (REVIVED, false),
    ];
    let mut found = ends.into_iter();
    let found = found.find_map(|(end, is_whole)| Some((name.strip_suffix(end)?, is_whole)));
    found.unwrap_or((name, false))
}

/// The slots that a killed process was about to remove or to bring back.
pub(crate) fn wholes(workspaces: &Path) -> Vec<String> {
    let slot = |name: String| {
        let mut ends = [WHOLE, CHECKED, REVIVED].into_iter();
        let slot = ends.find_map(|end| name.strip_suffix(end));
        slot.map(str::to_owned)
    };
    let names = listing::names(&workspaces.join(LEAVING));
    names.filter_map(slot).collect()
}

/// Whether this is a folder in which there are no files, only folders.
fn holds_nothing(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    let Ok(entries) = fs::read_dir(path) else {
        return false;
    };
    let mut entries = entries.map(|entry| entry.is_ok_and(|entry| holds_nothing(&entry.path())));
    is_folder && entries.all(|empty| empty)
}

fn rename_to_free(from: &Path, to: &Path) -> Result<()> {
    let cwd = rustix::fs::CWD;
    renameat_with(cwd, from, cwd, to, RenameFlags::NOREPLACE)
        .map_err(|error| Error::io("move", from, &error.into()))
}

fn remove(folder: &Path) -> Result<()> {
    let removed = private::unless_gone(fs::remove_dir_all(folder));
    removed.map(drop).doing("remove", folder)
}

fn kind_at(folder: BorrowedFd<'_>, name: &std::ffi::OsStr) -> std::result::Result<PathKind, Errno> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => PathKind::File,
        FileType::Symlink => PathKind::Link,
        FileType::Directory => PathKind::Folder,
        _ => PathKind::Special,
    })
}

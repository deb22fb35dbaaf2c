//! Copies one file or link: first beside, then into its place, so that a kill leaves no half file.

use crate::error::plain;
use crate::workspaces::files::folders::{BLOCKED, Entered, Folders, OWN_REPOSITORY};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fchmod, mkdirat, openat, readlinkat, renameat, statat,
    symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A folder in the slot where files are until they are whole; gone when the copying ends.
const STAGING: &str = ".orange-copy";

const PART: &str = "part";

/// What became of one file.
pub(crate) enum CopiedFile {
    Copied(u64),
    /// The slot has it already.
    Kept,
    Skipped(String),
}

pub(crate) struct Copier {
    from: Folders,
    to: Folders,
    overwrite: bool,
    staging: Option<OwnedFd>,
    /// Until the file system says that it cannot share blocks.
    clones: bool,
}

impl Copier {
    pub(super) fn new(from: Folders, to: Folders, overwrite: bool) -> Copier {
        Copier {
            from,
            to,
            overwrite,
            staging: None,
            clones: true,
        }
    }

    /// An error is about the slot; trouble with the user's own file only skips it.
    pub(super) fn copy(&mut self, path: &Path) -> io::Result<CopiedFile> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let Some(name) = path.file_name() else {
            return Ok(skipped("it has no name"));
        };
        let from = match self.from.enter(folder, None) {
            Ok(Entered::Folder(from)) => from.try_clone_to_owned()?,
            Ok(Entered::Missing) => return Ok(skipped("it is gone")),
            Ok(Entered::Blocked) => return Ok(skipped(BLOCKED)),
            Err(error) => return Ok(skipped(plain(&error))),
        };
        if self.from.in_own_repository() {
            return Ok(skipped(OWN_REPOSITORY));
        }
        let stat = match statat(&from, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(skipped("it is gone")),
            Err(error) => return Ok(skipped(plain(&error.into()))),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Symlink => {}
            FileType::Directory => return Ok(skipped("it is a folder now")),
            _ => return Ok(skipped("it is neither a file nor a link")),
        }
        let modes = |depth: usize| self.from.mode(depth);
        let to = match self.to.enter(folder, Some(&modes))? {
            Entered::Folder(to) => to.try_clone_to_owned()?,
            Entered::Missing | Entered::Blocked => return Ok(skipped(BLOCKED)),
        };
        if let Ok(there) = statat(&to, name, AtFlags::SYMLINK_NOFOLLOW) {
            if FileType::from_raw_mode(there.st_mode) == FileType::Directory {
                return Ok(skipped("a folder is in its place"));
            }
            if !self.overwrite {
                return Ok(CopiedFile::Kept);
            }
        }
        let staging = self.staging()?;
        let made = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => copy_link(from.as_fd(), name, staging.as_fd())?,
            _ => self.copy_content(from.as_fd(), name, &stat, staging.as_fd())?,
        };
        if let CopiedFile::Copied(_) = made {
            renameat(&staging, PART, &to, name)?;
        }
        Ok(made)
    }

    /// The staging folder, made when first needed, empty.
    fn staging(&mut self) -> io::Result<OwnedFd> {
        if let Some(staging) = &self.staging {
            return staging.try_clone();
        }
        match mkdirat(self.to.root(), STAGING, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let staging = open_staging(&self.to)?;
        self.staging = Some(staging.try_clone()?);
        Ok(staging)
    }

    fn copy_content(
        &mut self,
        from: BorrowedFd,
        name: &OsStr,
        expected: &Stat,
        staging: BorrowedFd,
    ) -> io::Result<CopiedFile> {
        // Non-blocking, should a pipe have taken the file's place.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut source = match openat(from, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(error) => return Ok(skipped(plain(&error.into()))),
        };
        let data = source.metadata()?;
        if !data.is_file() {
            return Ok(skipped("it is neither a file nor a link"));
        }
        remove_part(staging);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else's to read before it has the mode of the original.
        let mut part = File::from(openat(staging, PART, flags, Mode::RUSR | Mode::WUSR)?);
        let bytes = if clone_blocks(&mut self.clones, &part, &source) {
            data.len()
        } else {
            io::copy(&mut source, &mut part)?
        };
        // Build tools compare times; whoever cannot set them does without.
        if let Ok(modified) = data.modified() {
            let _ = part.set_times(FileTimes::new().set_modified(modified));
        }
        let mode = Mode::from_raw_mode(expected.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
        fchmod(&part, mode)?;
        Ok(CopiedFile::Copied(bytes))
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        if self.staging.take().is_some() {
            sweep(&self.to);
        }
    }
}

/// Removes what a copy that was killed left behind, and nothing else: an agent may use the name too.
pub(crate) fn sweep(slot: &Folders) {
    if let Ok(staging) = open_staging(slot) {
        remove_part(staging.as_fd());
        let _ = unlinkat(slot.root(), STAGING, AtFlags::REMOVEDIR);
    }
}

fn open_staging(slot: &Folders) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(slot.root(), STAGING, flags, Mode::empty())?)
}

fn remove_part(staging: BorrowedFd) {
    let _ = unlinkat(staging, PART, AtFlags::empty());
}

fn copy_link(from: BorrowedFd, name: &OsStr, staging: BorrowedFd) -> io::Result<CopiedFile> {
    let target = match readlinkat(from, name, Vec::new()) {
        Ok(target) => target,
        Err(error) => return Ok(skipped(plain(&error.into()))),
    };
    remove_part(staging);
    symlinkat(&target, staging, PART)?;
    Ok(CopiedFile::Copied(target.as_bytes().len() as u64))
}

fn skipped(why: impl Into<String>) -> CopiedFile {
    CopiedFile::Skipped(why.into())
}

/// Lets both files share their blocks where the file system can: no time, no room.
#[cfg(target_os = "linux")]
fn clone_blocks(possible: &mut bool, to: &File, from: &File) -> bool {
    if *possible {
        match rustix::fs::ioctl_ficlone(to, from) {
            Ok(()) => true,
            Err(error) => {
                // Everything else is about this one file.
                *possible = !matches!(error, Errno::OPNOTSUPP | Errno::NOTTY | Errno::XDEV);
                false
            }
        }
    } else {
        false
    }
}

#[cfg(not(target_os = "linux"))]
fn clone_blocks(_: &mut bool, _: &File, _: &File) -> bool {
    false
}

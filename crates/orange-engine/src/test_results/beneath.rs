//! Opens files beneath a folder, component by component, and follows no link: what a report names may lie anywhere.

use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What is found beneath a folder.
pub(super) enum FoundBeneath {
    File(File),
    /// Something else of that name, which is not followed.
    Other(&'static str),
    Nothing,
}

pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// A folder in a folder; made where there is none, refused where it is a link.
pub(super) fn made_folder(parent: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(openat(&parent, name, FOLDER, Mode::empty())?)
}

/// The file at these components.
pub(super) fn open_beneath(root: impl AsFd, parts: &[&str]) -> io::Result<FoundBeneath> {
    let Some((name, folders)) = parts.split_last() else {
        return Ok(FoundBeneath::Nothing);
    };
    let mut inside: Option<OwnedFd> = None;
    for folder in folders {
        let parent = inside.as_ref().map_or(root.as_fd(), AsFd::as_fd);
        match openat(parent, *folder, FOLDER, Mode::empty()) {
            Ok(next) => inside = Some(next),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG) => {
                return Ok(FoundBeneath::Nothing);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let parent = inside.as_ref().map_or(root.as_fd(), AsFd::as_fd);
    // A pipe must not keep anybody waiting.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(parent, *name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => return Ok(FoundBeneath::Nothing),
        Err(Errno::LOOP) => return Ok(FoundBeneath::Other("it is a symbolic link")),
        Err(Errno::NXIO) => return Ok(FoundBeneath::Other("it is no regular file")),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_file() {
        Ok(FoundBeneath::File(file))
    } else {
        Ok(FoundBeneath::Other("it is no regular file"))
    }
}

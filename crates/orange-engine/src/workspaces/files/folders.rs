//! Walks a tree by descriptors, one name at a time and through no link, so that nobody can redirect a step.

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

pub(crate) const BLOCKED: &str = "a link or a file is in the place of its folder";

pub(crate) const OWN_REPOSITORY: &str = "it is a repository or a worktree of its own";

/// A tree, and the folders on the way to the place last visited.
pub(crate) struct Folders {
    root: OwnedFd,
    open: Vec<OpenFolder>,
}

struct OpenFolder {
    name: OsString,
    folder: OwnedFd,
    /// Has a `.git`: a repository or a worktree.
    own_repository: bool,
}

/// Where a walk ended.
pub(in crate::workspaces) enum Entered<'a> {
    Folder(BorrowedFd<'a>),
    Missing,
    /// Something that is no folder is in the way.
    Blocked,
}

/// Says what mode a missing folder of this depth gets.
pub(in crate::workspaces) type Modes<'a> = &'a dyn Fn(usize) -> Mode;

impl Folders {
    pub(in crate::workspaces) fn at(root: &Path) -> io::Result<Folders> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folders {
            root: rustix::fs::open(root, flags, Mode::empty())?,
            open: Vec::new(),
        })
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Goes to a folder, relative to the root. Paths come sorted, so most of the way is open already.
    pub(in crate::workspaces) fn enter(
        &mut self,
        folder: &Path,
        make: Option<Modes>,
    ) -> io::Result<Entered<'_>> {
        let names: Vec<&OsStr> = folder.iter().collect();
        let same = (self.open.iter().zip(&names))
            .take_while(|(open, name)| open.name == **name)
            .count();
        self.open.truncate(same);
        for (depth, name) in names.into_iter().enumerate().skip(same) {
            if let Some(make) = make {
                match mkdirat(self.last(), name, make(depth)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(self.last(), name, flags, Mode::empty()) {
                Ok(folder) => self.open.push(OpenFolder {
                    name: name.to_owned(),
                    own_repository: statat(&folder, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok(),
                    folder,
                }),
                Err(Errno::NOENT) => return Ok(Entered::Missing),
                Err(Errno::LOOP | Errno::NOTDIR) => return Ok(Entered::Blocked),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Entered::Folder(self.last()))
    }

    pub(super) fn is_blocked(&mut self, folder: &Path) -> io::Result<bool> {
        Ok(matches!(self.enter(folder, None)?, Entered::Blocked))
    }

    /// Is the last place inside a repository of its own? Git looks into one whose `.git` is broken.
    pub(super) fn in_own_repository(&self) -> bool {
        self.open.iter().any(|open| open.own_repository)
    }

    /// The permissions of an open folder, but never without the owner's.
    pub(super) fn mode(&self, depth: usize) -> Mode {
        let stat = self
            .open
            .get(depth)
            .map(|open| rustix::fs::fstat(&open.folder));
        let mode = match stat {
            Some(Ok(stat)) => Mode::from_raw_mode(stat.st_mode),
            Some(Err(_)) | None => Mode::RWXU,
        };
        mode & (Mode::RWXU | Mode::RWXG | Mode::RWXO) | Mode::RWXU
    }

    fn last(&self) -> BorrowedFd<'_> {
        self.open
            .last()
            .map_or(self.root.as_fd(), |open| open.folder.as_fd())
    }
}

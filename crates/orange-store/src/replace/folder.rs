//! A folder held open by its descriptor, so that every step of a replacement happens in the same folder even if it is moved.

use crate::private;
use orange_sys::crash_points::crash_point;
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, linkat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::sync::Arc;

/// End of the names of files that are still being written; they are worthless after a crash.
pub(super) const PART: &str = ".part";

/// An open folder and the name of the file in it that is to be replaced.
#[derive(Debug, Clone)]
pub(super) struct TargetFolder {
    dir: Arc<File>,
    pub(super) target: String,
    /// The mode of a file that stands for none that was there before.
    pub(super) new_mode: u32,
}

/// A finished, durable file that is deleted again unless it is put in place.
pub(super) struct Temp<'a> {
    folder: &'a TargetFolder,
    name: String,
}

impl TargetFolder {
    pub(super) fn of(target: &Path) -> io::Result<Self> {
        let name = target.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| invalid("not a file name in UTF-8"))?;
        let dir = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY)
            .open(private::folder_of(target))?;
        Ok(Self {
            dir: Arc::new(dir),
            target: name.to_owned(),
            new_mode: private::FILE,
        })
    }

    /// Opens a regular file for reading; links and anything else in its place are errors.
    pub(super) fn open(&self, name: &str) -> io::Result<Option<File>> {
        // Non-blocking, so that a pipe is refused below instead of waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&*self.dir, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(invalid("a symbolic link is in the file's place")),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.is_file() {
            Ok(Some(file))
        } else {
            Err(invalid("not a regular file"))
        }
    }

    /// Writes a durable file under the first free name made of `stem`, with the mode and owner of `like`.
    pub(super) fn write_temp(
        &self,
        stem: &str,
        bytes: &[u8],
        like: Option<&Metadata>,
    ) -> io::Result<Temp<'_>> {
        let (name, mut file) = self.create_part(stem, like)?;
        crash_point("write.opened");
        // From here on the half-written file is deleted on every error.
        let part = Temp {
            folder: self,
            name: format!("{name}{PART}"),
        };
        file.write_all(bytes)?;
        if let Some(like) = like {
            adopt(&file, like)?;
        }
        file.sync_all()?;
        // Only a finished file gets the name from which a crash is understood.
        self.rename(&part.name, &name)?;
        part.placed();
        Ok(Temp { folder: self, name })
    }

    /// A name that does not exist yet: `stem`, or `stem.1`, `stem.2`, …
    pub(super) fn free_name(&self, stem: &str) -> io::Result<String> {
        for number in 0_u32.. {
            let name = numbered(stem, number);
            match rustix::fs::statat(&*self.dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => {}
                Err(Errno::NOENT) => return Ok(name),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn create_part(&self, stem: &str, like: Option<&Metadata>) -> io::Result<(String, File)> {
        // Never more open than the file it stands for, not even for a moment.
        let mode = like.map_or(self.new_mode, |like| like.mode() & 0o777);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        for number in 0_u32.. {
            let name = self.free_name(&numbered(stem, number))?;
            match openat(
                &*self.dir,
                format!("{name}{PART}"),
                flags,
                Mode::from_bits_truncate(mode as _),
            ) {
                Ok(fd) => return Ok((name, File::from(fd))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn exchange(&self, one: &str, other: &str) -> rustix::io::Result<()> {
        renameat_with(&*self.dir, one, &*self.dir, other, RenameFlags::EXCHANGE)
    }

    pub(super) fn rename_to_free(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        renameat_with(&*self.dir, from, &*self.dir, to, RenameFlags::NOREPLACE)
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        renameat(&*self.dir, from, &*self.dir, to)
    }

    pub(super) fn link(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        linkat(&*self.dir, from, &*self.dir, to, AtFlags::empty())
    }

    pub(super) fn unlink(&self, name: &str) -> rustix::io::Result<()> {
        unlinkat(&*self.dir, name, AtFlags::empty())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.dir.sync_all()
    }

    /// The names in the folder that are valid UTF-8.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&*self.dir)? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}

impl Temp<'_> {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// It is in place now: what its name means from here on is no longer ours to delete.
    pub(super) fn placed(mut self) -> String {
        std::mem::take(&mut self.name)
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = self.folder.unlink(&self.name);
        }
    }
}

/// The whole content from the beginning, however often it was read before.
pub(super) fn read_all(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn numbered(stem: &str, number: u32) -> String {
    match number {
        0 => stem.to_owned(),
        number => format!("{stem}.{number}"),
    }
}

fn adopt(file: &File, like: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        // Only root may give files away; for others the file simply becomes theirs.
        let _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
    file.set_permissions(like.permissions())
}

pub(super) fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

//! Plain copies of what git cannot hold: made under a passing name, made durable, then given their name at once.

use crate::error::{Error, IoContext, Result, err, plain};
use crate::git::rescue::submodule;
use crate::rescue::nested::FolderCopy;
use crate::store::{make_folder, private};
use orange_sys::listing;
use orange_sys::process::unique_name;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes};
use std::io::{self, BufRead};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// How a folder begins that is not whole yet.
const PART: &str = ".part-";

/// What the bundle of a submodule is called, after its path.
pub(crate) const BUNDLE: &str = ".git-bundle";

/// A folder of copies in the making; gone when it is dropped before [`Staging::keep`].
pub(crate) struct Staging {
    folder: PathBuf,
    current: PathBuf,
    count: usize,
}

impl Staging {
    /// Makes nothing before the first copy.
    pub(super) fn new(folder: &Path) -> Staging {
        Staging {
            folder: folder.to_owned(),
            current: folder.join(format!("{PART}{}", unique_name())),
            count: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn add(&mut self, root: &Path, copy: &FolderCopy) -> Result<()> {
        if self.count == 0 {
            remove_leftovers(&self.folder);
            make_folder(&self.current).doing("create", &self.current)?;
        }
        self.count += 1;
        let (from, to) = (root.join(&copy.path), self.current.join(&copy.path));
        if let Some(parent) = to.parent() {
            private::make_folders(parent).doing("create", parent)?;
        }
        if copy.files {
            copy_tree(&from, &to)?;
        }
        if copy.bundle {
            submodule::bundle(&from, &bundle_of(&to))?;
        }
        Ok(())
    }

    /// Gives the copies their name; false if it is taken.
    pub(super) fn place(&mut self, name: &str) -> Result<bool> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let target = self.folder.join(name);
        if self.current.file_name().is_some_and(is_part) {
            sync_all(&self.current).doing("write", &self.current)?;
        }
        match renameat_with(CWD, &self.current, CWD, &target, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(rustix::io::Errno::EXIST) => return Ok(false),
            Err(error) => return Err(Error::io("rename", &self.current, &error.into())),
        }
        self.current = target;
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.doing("write", &self.folder)?;
        Ok(true)
    }

    /// The folder stays from now on.
    pub(super) fn keep(mut self) {
        self.count = 0;
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.count > 0 {
            let _ = fs::remove_dir_all(&self.current);
        }
    }
}

fn is_part(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PART.as_bytes())
}

pub(super) fn bundle_of(path: &Path) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(BUNDLE);
    name.into()
}

/// Copies a file, a link or a folder with all that is in it: content, modes and times.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    // Times and modes of folders come last: writing into them would need the one and change the other.
    let mut folders = Vec::new();
    while let Some((from, to)) = open.pop() {
        let failed = |error: &io::Error| unreadable(&from, error);
        let data = fs::symlink_metadata(&from).map_err(|error| failed(&error))?;
        let kind = data.file_type();
        if kind.is_dir() {
            fs::create_dir(&to).doing("create", &to)?;
            for entry in fs::read_dir(&from).map_err(|error| failed(&error))? {
                let name = entry.map_err(|error| failed(&error))?.file_name();
                open.push((from.join(&name), to.join(&name)));
            }
            folders.push((to, data));
        } else if kind.is_symlink() {
            let target = fs::read_link(&from).map_err(|error| failed(&error))?;
            symlink(target, &to).doing("create", &to)?;
        } else if kind.is_file() {
            let source = File::open(&from).map_err(|error| failed(&error))?;
            copy_file(source, &data, &to).doing("write", &to)?;
        }
        // Pipes, sockets and devices hold nothing.
    }
    for (path, data) in folders.into_iter().rev() {
        let set = File::open(&path).and_then(|folder| {
            folder.set_times(times(&data)?)?;
            folder.set_permissions(data.permissions())
        });
        set.doing("write", &path)?;
    }
    Ok(())
}

/// Does a copy hold everything that a file or a folder holds now?
pub(crate) fn is_same(now: &Path, copy: &Path) -> Result<bool> {
    let mut open = vec![(now.to_owned(), copy.to_owned())];
    while let Some((now, copy)) = open.pop() {
        let data = fs::symlink_metadata(&now).map_err(|error| unreadable(&now, &error))?;
        let kind = data.file_type();
        let Ok(copied) = fs::symlink_metadata(&copy) else {
            if kind.is_dir() || kind.is_file() || kind.is_symlink() {
                return Ok(false);
            }
            continue;
        };
        let same = if kind.is_dir() {
            for entry in fs::read_dir(&now).map_err(|error| unreadable(&now, &error))? {
                let name = entry.map_err(|error| unreadable(&now, &error))?.file_name();
                open.push((now.join(&name), copy.join(&name)));
            }
            copied.is_dir()
        } else if kind.is_symlink() {
            fs::read_link(&now).ok() == fs::read_link(&copy).ok()
        } else if kind.is_file() {
            copied.is_file() && data.len() == copied.len() && has_same_bytes(&now, &copy)?
        } else {
            true
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_same_bytes(one: &Path, other: &Path) -> Result<bool> {
    let open = |path: &Path| {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        Ok::<_, Error>(io::BufReader::with_capacity(1 << 16, file))
    };
    let (mut left, mut right) = (open(one)?, open(other)?);
    loop {
        let failed = |error: io::Error| unreadable(one, &error);
        let (a, b) = (
            left.fill_buf().map_err(failed)?,
            right.fill_buf().map_err(failed)?,
        );
        let length = a.len().min(b.len());
        if a.get(..length) != b.get(..length) || (length == 0 && a.len() != b.len()) {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        left.consume(length);
        right.consume(length);
    }
}

fn copy_file(mut source: File, data: &fs::Metadata, to: &Path) -> io::Result<()> {
    let mut target = File::create_new(to)?;
    // Shares the blocks where the file system can.
    if rustix::fs::ioctl_ficlone(&target, &source).is_err() {
        io::copy(&mut source, &mut target)?;
    }
    target.set_times(times(data)?)?;
    target.set_permissions(data.permissions())
}

fn times(data: &fs::Metadata) -> io::Result<FileTimes> {
    Ok(FileTimes::new().set_modified(data.modified()?))
}

/// Everything on its file system: one call instead of one for each of thousands of files.
pub(crate) fn sync_all(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    err!(
        Refused,
        "the work cannot be saved whole, so nothing is touched: {}: {}",
        path.display(),
        plain(error)
    )
    .hint("make it readable or move it away, then try again")
}

/// Half copies of processes that were killed.
fn remove_leftovers(folder: &Path) {
    for name in listing::names(folder) {
        let owner = name.strip_prefix(PART);
        // Older versions separate the number of the process by a dash.
        let owner = owner.and_then(|rest| rest.split(['.', '-']).next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            let _ = fs::remove_dir_all(folder.join(name));
        }
    }
}

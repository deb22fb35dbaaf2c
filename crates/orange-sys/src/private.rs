//! Orange's own files and folders: only their user may open them (0600, 0700). The mode is given when they are made and
//! not by the process's umask, which git, agents and checks would inherit.

use crate::process::unique_name;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The mode of a new file.
pub const FILE: u32 = 0o600;
/// The mode of a new folder.
pub const FOLDER: u32 = 0o700;
/// What of a mode lets others in.
pub const OTHERS: u32 = 0o077;

/// Options that make a private file if they make one.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE);
    options
}

/// What came of an attempt on a file; None where there is no such file, or no longer.
pub fn unless_gone<T>(attempt: io::Result<T>) -> io::Result<Option<T>> {
    match attempt {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        attempt => attempt.map(Some),
    }
}

/// As [`std::fs::write`]. A file that is there keeps its mode.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(content.as_ref())
}

/// As [`File::create`].
pub fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// As [`create`], where somebody else may have put a link: what is there is removed, and nothing is written through it.
pub fn create_anew(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => options().write(true).create_new(true).open(path),
    }
}

/// Makes an empty file unless there is one, for a library that would give it a mode of its own. Errors are left to
/// whoever opens the file next.
pub fn prepare(path: &Path) {
    let _ = options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
}

/// As [`std::fs::create_dir`].
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).create(path)
}

/// As [`std::fs::create_dir_all`].
pub fn make_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).recursive(true).create(path)
}

/// Makes a private folder and those above it, each durable in its parent.
pub fn make_durable_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = folder_of(path);
    make_durable_folder(parent)?;
    match make_folder(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => {
            return Err(error);
        }
        Ok(()) | Err(_) => {}
    }
    File::open(parent)?.sync_all()
}

/// The folder that a path is in.
pub fn folder_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Returns whether the file system of a folder keeps the modes that files are given. Some (FAT, many shares) do not.
pub fn are_modes_kept_in(folder: &Path, probe: &str) -> io::Result<bool> {
    let path = folder.join(format!("{probe}{}-m", unique_name()));
    let mode = create(&path)
        .and_then(|file| file.metadata())
        .map(|about| about.mode());
    let _ = std::fs::remove_file(&path);
    Ok(mode? & OTHERS == 0)
}

//! What is in a folder, sorted by name. One that is missing is empty.

use crate::private::unless_gone;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// Everything in a folder. One that cannot be read is an error.
pub fn checked(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let Some(found) = unless_gone(fs::read_dir(folder))? else {
        return Ok(Vec::new());
    };
    let mut entries = found.collect::<io::Result<Vec<DirEntry>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// Everything in a folder; here and below one that cannot be read is empty too.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    sorted(read(folder))
}

/// The folders in a folder; links are none.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    sorted(read(folder).filter(|entry| is_kind(entry, FileType::is_dir)))
}

/// The plain files in a folder; links are none.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    sorted(read(folder).filter(|entry| is_kind(entry, FileType::is_file)))
}

/// The names in a folder that are UTF-8.
pub fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let named = |path: PathBuf| Some(path.file_name()?.to_str()?.to_owned());
    entries(folder).into_iter().filter_map(named)
}

/// Whether there is such a folder and nothing in it.
pub fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut all| all.next().is_none())
}

fn read(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn is_kind(entry: &DirEntry, is_wanted: fn(&FileType) -> bool) -> bool {
    entry.file_type().is_ok_and(|kind| is_wanted(&kind))
}

fn sorted(entries: impl Iterator<Item = DirEntry>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

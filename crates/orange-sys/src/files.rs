//! What is in folders.

use crate::private::unless_gone;
use std::fs::{DirEntry, read_dir};
use std::io;
use std::path::Path;

/// What is in a folder, sorted by name; nothing where there is no such folder.
pub fn entries(path: &Path) -> io::Result<Vec<DirEntry>> {
    let Some(found) = unless_gone(read_dir(path))? else {
        return Ok(Vec::new());
    };
    let mut entries = found.collect::<io::Result<Vec<DirEntry>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

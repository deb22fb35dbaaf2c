//! What git does not see in a worktree: pipes, sockets, devices and empty folders. Ignored folders and repositories inside the
//! worktree are passed over.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Paths relative to the worktree.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    pub(super) special: Vec<PathBuf>,
    pub(super) empty: Vec<PathBuf>,
}

pub(crate) fn find(slot: &Path, ignored: &[PathBuf]) -> io::Result<Unseen> {
    let ignored: HashSet<&Path> = ignored.iter().map(PathBuf::as_path).collect();
    let mut found = Unseen::default();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let is_root = folder.as_os_str().is_empty();
        let (mut special, mut folders) = (Vec::new(), Vec::new());
        let (mut is_empty, mut is_repository) = (true, false);
        for entry in fs::read_dir(slot.join(&folder))? {
            let entry = entry?;
            is_empty = false;
            if entry.file_name() == ".git" {
                is_repository = !is_root;
                continue;
            }
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !ignored.contains(path.as_path()) {
                    folders.push(path);
                }
            } else if !kind.is_file() && !kind.is_symlink() {
                special.push(path);
            }
        }
        if is_repository {
            continue;
        }
        if is_empty && !is_root {
            found.empty.push(folder);
        }
        found.special.append(&mut special);
        open.append(&mut folders);
    }
    Ok(found)
}

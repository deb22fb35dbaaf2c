//! What git does not see in a worktree: pipes, sockets, devices and empty folders. Ignored folders and repositories inside the
//! worktree are passed over.

use crate::error::Result;
use crate::git::parking::ChangedPaths;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

/// Paths relative to the worktree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub(super) special: Vec<PathBuf>,
    pub(super) empty: Vec<PathBuf>,
}

pub(crate) fn find(slot: &Path, ignored: &[PathBuf]) -> io::Result<Unseen> {
    let mut walk = Walk::begin(slot);
    walk.leave_out(ignored);
    walk.finish()
}

/// Returns what git says of a worktree, and a walk to be finished for what git does not see. Folders are read while git
/// looks, because in a large repository that takes long. Once git has said what is ignored, that is left out and not read any
/// further.
pub(super) fn begin_while(
    slot: &Path,
    look: impl FnOnce() -> Result<ChangedPaths>,
) -> Result<(ChangedPaths, Walk<'_>)> {
    let mut walk = Walk::begin(slot);
    let is_over = AtomicBool::new(false);
    let look = thread::scope(|scope| {
        let walker = scope.spawn(|| {
            // A folder that cannot be read may be an ignored one: whether that matters shows below.
            while !is_over.load(Ordering::Relaxed) && walk.step().is_ok_and(|more| more) {
                std::hint::spin_loop()
            }
        });
        let look = look();
        is_over.store(true, Ordering::Relaxed);
        walker.join().unwrap_or_else(|panic| resume_unwind(panic));
        look
    })?;
    walk.leave_out(&look.ignored);
    Ok((look, walk))
}

/// A walk through the folders of a worktree.
pub(super) struct Walk<'s> {
    slot: &'s Path,
    found: Unseen,
    /// Folders that are still to be read.
    open: Vec<PathBuf>,
    ignored: HashSet<PathBuf>,
}

impl<'s> Walk<'s> {
    fn begin(slot: &'s Path) -> Walk<'s> {
        Walk {
            slot,
            found: Unseen::default(),
            open: vec![PathBuf::new()],
            ignored: HashSet::new(),
        }
    }

    /// Reads the folders that are left.
    pub(super) fn finish(mut self) -> io::Result<Unseen> {
        while self.step()? {}
        Ok(self.found)
    }

    /// Forgets what is in these folders, and reads no more of them.
    fn leave_out(&mut self, ignored: &[PathBuf]) {
        self.ignored = ignored.iter().cloned().collect();
        let ignored = &self.ignored;
        let counts = |folder: &Path| !folder.ancestors().any(|above| ignored.contains(above));
        self.open.retain(|folder| counts(folder));
        self.found.empty.retain(|folder| counts(folder));
        let is_in = |path: &PathBuf| path.parent().is_none_or(counts);
        self.found.special.retain(is_in);
    }

    /// Reads one folder; false if none is left. One that cannot be read stays.
    fn step(&mut self) -> io::Result<bool> {
        let Some(folder) = self.open.pop() else {
            return Ok(false);
        };
        match self.read(&folder) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.open.push(folder);
                Err(error)
            }
        }
    }

    fn read(&mut self, folder: &Path) -> io::Result<()> {
        let is_root = folder.as_os_str().is_empty();
        let (mut special, mut folders) = (Vec::new(), Vec::new());
        let (mut is_empty, mut is_repository) = (true, false);
        for entry in fs::read_dir(self.slot.join(folder))? {
            let entry = entry?;
            is_empty = false;
            let name = entry.file_name();
            if name == ".git" {
                is_repository = !is_root;
                continue;
            }
            let kind = entry.file_type()?;
            // Most are files: a path is made only for what is kept.
            if kind.is_dir() {
                let path = folder.join(name);
                if !self.ignored.contains(&path) {
                    folders.push(path);
                }
            } else if !kind.is_file() && !kind.is_symlink() {
                special.push(folder.join(name));
            }
        }
        if is_repository {
            return Ok(());
        }
        if is_empty && !is_root {
            self.found.empty.push(folder.to_owned());
        }
        self.found.special.append(&mut special);
        self.open.append(&mut folders);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn a_walk_finds_the_same_whenever_git_says_what_is_ignored() {
        let slot = tempfile::tempdir().unwrap();
        let root = slot.path();
        for folder in [
            "a/b/empty",
            "target/deep/empty",
            "nested/.git",
            "nested/empty",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for name in ["a/pipe", "target/pipe", "target/deep/pipe", "nested/pipe"] {
            let mode = Mode::from_raw_mode(0o600);
            mknodat(CWD, root.join(name), FileType::Fifo, mode, 0).unwrap();
        }
        fs::write(root.join("a/file"), "x").unwrap();
        let ignored = [PathBuf::from("target")];
        let expected = Unseen {
            special: vec![PathBuf::from("a/pipe")],
            empty: vec![PathBuf::from("a/b/empty")],
        };
        assert_eq!(find(root, &ignored).unwrap(), expected);
        let mut all = Walk::begin(root);
        let mut folders = 0;
        while all.step().unwrap() {
            folders += 1;
        }
        assert!(folders > 6 && all.found.special.len() > 1);
        for steps in 0..=folders {
            let mut walk = Walk::begin(root);
            for _ in 0..steps {
                walk.step().unwrap();
            }
            walk.leave_out(&ignored);
            assert_eq!(walk.finish().unwrap(), expected, "{steps}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_counts_unless_it_is_ignored() {
        let slot = tempfile::tempdir().unwrap();
        fs::create_dir_all(slot.path().join("target/gone")).unwrap();
        let mut walk = Walk::begin(slot.path());
        while walk.open != [PathBuf::from("target/gone")] {
            walk.step().unwrap();
        }
        fs::remove_dir(slot.path().join("target/gone")).unwrap();
        assert!(walk.step().is_err() && walk.step().is_err());
        walk.leave_out(&[PathBuf::from("target")]);
        assert_eq!(walk.finish().unwrap(), Unseen::default());
    }
}

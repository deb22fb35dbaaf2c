//! A worktree's content as trees, made through a copy of its index: the index and the files stay untouched.

mod by_hand;
mod entries;

use super::{WorktreeHead, nul_separated};
use crate::Git;
pub(super) use by_hand::is_gone;
pub use entries::Entries;
use orange_sys::error::{IoContext, Result};
use orange_sys::listing;
use orange_sys::private::unless_gone;
use orange_sys::process::unique_name;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How the copies are called, in the worktree's git directory: a split index finds its shared part only there.
pub const PREFIX: &str = "orange-rescue-";

/// A copy of an index; gone when it is dropped.
pub struct TempIndex<'a> {
    worktree: &'a WorktreeHead,
    path: PathBuf,
}

impl<'a> TempIndex<'a> {
    pub fn copy_of(worktree: &'a WorktreeHead) -> Result<TempIndex<'a>> {
        let index = TempIndex::empty(worktree);
        let real = worktree.git_dir.join("index");
        // None: nothing was ever staged here.
        unless_gone(copy_with_time(&real, &index.path)).doing("copy", &real)?;
        Ok(index)
    }

    pub fn empty(worktree: &'a WorktreeHead) -> TempIndex<'a> {
        remove_leftovers(&worktree.git_dir);
        let name = format!("{PREFIX}{}.index", unique_name());
        TempIndex {
            worktree,
            path: worktree.git_dir.join(name),
        }
    }

    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    pub fn git(&self) -> Git {
        self.worktree
            .git()
            // Nobody checks the sum of a copy that is gone in a moment; with many files it costs more than the rest.
            .setting("index.skipHash=true")
            .env("GIT_INDEX_FILE", &self.path)
    }

    pub fn read_tree(&self, tree: &str) -> Result<()> {
        self.git().args(["read-tree", tree]).done()
    }

    pub fn write_tree(&self) -> Result<String> {
        self.git().arg("write-tree").text()
    }

    pub fn entries(&self) -> Result<Entries> {
        Entries::of(self.git()).map_err(|error| {
            error.hint(
                "nothing was touched; if the index is broken, have git read it anew from HEAD",
            )
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Clears the flags by which git passes over files, so that what is in them counts as work. What a sparse checkout
    /// leaves out keeps its flag: it is absent and not deleted.
    pub fn clear_flags(&self, entries: &Entries) -> Result<()> {
        self.unmark("--no-assume-unchanged", entries.assumed_unchanged())?;
        // In a sparse checkout git itself clears the flag of each file that is there.
        if entries.left_out().next().is_some() && !is_sparse(&self.worktree.root)? {
            self.unmark("--no-skip-worktree", entries.left_out())?;
        }
        Ok(())
    }

    /// Takes in everything there is but ignored files. Gives the nested repositories without a commit, which
    /// git cannot even name.
    pub fn add_everything(&self, entries: &Entries) -> Result<Vec<PathBuf>> {
        const ATTEMPTS: usize = 5;
        self.clear_flags(entries)?;
        for _ in 1..ATTEMPTS {
            match self.add_once(entries) {
                // Somebody deletes or renames files just now.
                Err(error) if error.message.contains("No such file") => {}
                result => return result,
            }
        }
        self.add_once(entries)
    }

    fn add_once(&self, entries: &Entries) -> Result<Vec<PathBuf>> {
        let said = self
            .git()
            .args(["add", "-A", "--sparse", "--ignore-errors"])
            .run()?;
        // Git passes over a folder that it may not read, with a warning only.
        if let Some(line) = said
            .stderr
            .lines()
            .find(|line| line.contains("could not open directory"))
        {
            return Err(by_hand::refused(line.trim_start_matches("warning: ")));
        }
        if said.success {
            Ok(Vec::new())
        } else {
            self.add_by_hand(entries, &said)
        }
    }

    /// Takes paths out again.
    pub fn remove<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> Result<()> {
        self.update(&["--force-remove", "--stdin"], nul_separated(paths))
    }

    fn unmark<'p>(&self, flag: &str, paths: impl Iterator<Item = &'p Path>) -> Result<()> {
        let paths = nul_separated(paths);
        if paths.is_empty() {
            return Ok(());
        }
        self.update(&[flag, "--stdin"], paths)
    }

    fn update(&self, how: &[&str], input: Vec<u8>) -> Result<()> {
        let git = self.git().args(["update-index", "-z"]);
        git.args(how).input(input).done()
    }

    /// A file that is announced only (`add -N`) stands in an index as an empty one, which nobody has stored.
    pub fn ensure_empty_blob(&self) -> Result<()> {
        let git = self.git().args(["hash-object", "-w", "--stdin"]);
        git.input(Vec::new()).done()
    }

    /// Puts entries (`mode id stage TAB path`) in.
    pub fn put(&self, lines: Vec<u8>) -> Result<()> {
        self.update(&["--replace", "--index-info"], lines)
    }
}

impl Drop for TempIndex<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.path.with_extension("index.lock"));
    }
}

/// Whether a worktree is a sparse checkout.
pub fn is_sparse(worktree: &Path) -> Result<bool> {
    Git::in_slot(worktree).ask_bool("core.sparseCheckout")
}

/// With its time: git tells from it which files may have changed in the very moment the index was written.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = File::open(from)?;
    let written = source.metadata()?.modified()?;
    let mut target = File::create_new(to)?;
    std::io::copy(&mut source, &mut target)?;
    target.set_modified(written)
}

/// Copies that a killed process left behind.
fn remove_leftovers(git_dir: &Path) {
    for entry in listing::checked(git_dir).unwrap_or_default() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            // Older programs wrote a `-` behind the number.
            .and_then(|rest| rest.split(['.', '-']).next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

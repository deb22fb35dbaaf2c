//! Files of a rescue back into a worktree, without its index, its HEAD or its branch.

use super::content::{TempIndex, is_gone};
use super::{Difference, LINK, WorktreeHead, nul_separated};
use orange_core::{Action, Parameter, text};
use orange_sys::error::{IoContext, Result, err};
use std::fs;
use std::path::{Path, PathBuf};

impl WorktreeHead {
    /// Writes and deletes what the differences say; `tree` has the content.
    pub fn put_back(&self, tree: &str, changes: &[Difference]) -> Result<()> {
        for change in changes.iter().filter(|change| change.status == 'D') {
            self.delete(&change.path)?;
        }
        let written: Vec<&Path> = written(changes).collect();
        if written.is_empty() {
            return Ok(());
        }
        let index = TempIndex::empty(self);
        index.read_tree(tree)?;
        index
            .git()
            .args(["checkout-index", "--force", "-z", "--stdin"])
            .input(nul_separated(written))
            .done()
    }

    /// What would be overwritten although no rescue holds it: ignored files, and folders in the place of files.
    pub fn in_the_way(&self, changes: &[Difference]) -> Result<Vec<PathBuf>> {
        let deleted = changes.iter().filter(|change| change.status == 'D');
        let deleted: Vec<&Path> = deleted.map(|change| change.path.as_path()).collect();
        let mut found = Vec::new();
        let mut there = Vec::new();
        for path in written(changes) {
            // A file or a link where a folder must be is replaced too.
            let above = path.ancestors().skip(1).filter(|above| {
                fs::symlink_metadata(self.root.join(above)).is_ok_and(|data| !data.is_dir())
            });
            if let Some(outermost) = above.last() {
                there.push(outermost);
                continue;
            }
            match fs::symlink_metadata(self.root.join(path)) {
                Ok(data) if data.is_dir() && !holds_only(&self.root, path, &deleted) => {
                    found.push(path.to_owned());
                }
                Ok(_) => there.push(path),
                Err(_) => {}
            }
        }
        if !there.is_empty() {
            let said = self
                .git()
                .args(["check-ignore", "-z", "--stdin"])
                .input(nul_separated(there))
                .run()?;
            said.yes_or_no("git check-ignore")?;
            found.extend(said.parts().map(PathBuf::from));
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Deletes one file, and the folders it leaves empty.
    fn delete(&self, path: &Path) -> Result<()> {
        // Never through a link: what lies behind it is not the worktree's.
        let behind_link = path.ancestors().skip(1).any(|above| {
            fs::symlink_metadata(self.root.join(above)).is_ok_and(|data| data.is_symlink())
        });
        let full = self.root.join(path);
        if behind_link || fs::symlink_metadata(&full).is_ok_and(|data| data.is_dir()) {
            return Ok(());
        }
        match fs::remove_file(&full) {
            Err(error) if is_gone(&error) => return Ok(()),
            removed => removed.doing("delete", &full)?,
        }
        for above in path.ancestors().skip(1) {
            if above.as_os_str().is_empty() || fs::remove_dir(self.root.join(above)).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Refuses a worktree that is not one of the repository's.
    pub fn belongs_to(&self, repository: &Path) -> Result<()> {
        let own = crate::repository_of(&self.root)?;
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if own.is_some_and(|own| real(&own) == real(repository)) {
            return Ok(());
        }
        let (root, repository) = (self.root.display(), repository.display());
        let refused = err!(Conflict, "{root} is not a worktree of {repository}");
        Err(refused.hint(text!(
            "run {}; {} restores without a workspace",
            Action::check(),
            Parameter::ToBranch
        )))
    }
}

fn written(changes: &[Difference]) -> impl Iterator<Item = &Path> {
    changes
        .iter()
        .filter(|change| change.status != 'D' && change.new_mode != LINK)
        .map(|change| change.path.as_path())
}

/// Nothing is in this folder but what is deleted before.
fn holds_only(root: &Path, folder: &Path, deleted: &[&Path]) -> bool {
    let Ok(entries) = fs::read_dir(root.join(folder)) else {
        return false;
    };
    entries.flatten().all(|entry| {
        let path = folder.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => holds_only(root, &path, deleted),
            Ok(_) => deleted.contains(&path.as_path()),
            Err(_) => false,
        }
    })
}

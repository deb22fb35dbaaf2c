//! A repository inside a worktree: whether it holds something that nothing else does, and a bundle of it.

use super::content::Entries;
use super::{Git, without_line_end};
use crate::GitOutput;
use crate::hidden::look_past_flags;
use orange_sys::error::Result;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Changes that are not committed, or commits that no remote has. True too where git cannot tell.
pub fn holds_work(folder: &Path) -> Result<bool> {
    let status = look_past_flags(folder, |git| {
        git.args(["status", "--porcelain", "-z", "--untracked-files=normal"])
            .arg("--ignore-submodules=none")
            .run()
    })?;
    if !status.success || !status.stdout.is_empty() {
        return Ok(true);
    }
    let commits = Git::in_slot(folder)
        .args(["rev-list", "--max-count=1", "--all", "--not", "--remotes"])
        .run()?;
    Ok(!commits.success || !commits.stdout.is_empty())
}

pub fn git_dir(folder: &Path) -> Result<Option<PathBuf>> {
    let said = Git::in_slot(folder)
        .args(["rev-parse", "--absolute-git-dir"])
        .run()?;
    let path = |said: GitOutput| PathBuf::from(OsStr::from_bytes(without_line_end(&said.stdout)));
    Ok(said.unless_no_repository("git rev-parse")?.map(path))
}

/// The repositories inside this one, below its root.
pub fn links(folder: &Path) -> Result<Vec<PathBuf>> {
    let said = Git::in_slot(folder).args(Entries::LISTED).run()?;
    let said = said.unless_no_repository("git ls-files")?;
    let entries = said.map(|said| Entries::new(said.stdout));
    let links = entries.iter().flat_map(Entries::links);
    Ok(links.map(Path::to_owned).collect())
}

/// All its refs and its HEAD in one file; false if it has no commit.
pub fn bundle(folder: &Path, target: &Path) -> Result<bool> {
    let head = Git::in_slot(folder)
        .args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .ask()?;
    let mut git = Git::in_slot(folder)
        .args(["bundle", "create", "--quiet"])
        .arg(target)
        .arg("--all");
    match head {
        Some(_) => git = git.arg("HEAD"),
        None => {
            let any = Git::in_slot(folder).args(["for-each-ref", "--count=1"]);
            if any.text()?.is_empty() {
                return Ok(false);
            }
        }
    }
    git.done().map(|()| true)
}

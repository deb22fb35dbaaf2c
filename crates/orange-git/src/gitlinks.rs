//! Submodule commits that work points to, and whether anybody but the worktree has them.

use super::Git;
use orange_sys::error::Result;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A path of a commit that points to a commit of another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gitlink {
    pub path: PathBuf,
    pub commit: String,
}

/// The gitlinks that `head` has and `base` does not have, or has otherwise.
pub fn changed(repository: &Path, base: &str, head: &str) -> Result<Vec<Gitlink>> {
    let said = Git::at(repository)
        .args(["diff-tree", "-r", "-z", "--raw", "--no-renames"])
        .args(["--no-abbrev", "--ignore-submodules=none", base, head])
        .run()?
        .checked("git diff-tree")?;
    let mut parts = said.parts();
    let mut found = Vec::new();
    while let (Some(record), Some(path)) = (parts.next(), parts.next()) {
        found.extend(as_gitlink(record, path));
    }
    Ok(found)
}

/// `:100644 160000 OLD NEW M`, and the path.
fn as_gitlink(record: &OsStr, path: &OsStr) -> Option<Gitlink> {
    let text = record.to_str()?;
    let mut words = text.split(' ').skip(1);
    let (mode, commit) = (words.next()?, words.nth(1)?);
    (mode == "160000").then(|| Gitlink {
        path: PathBuf::from(OsStr::from_bytes(path.as_bytes())),
        commit: commit.to_owned(),
    })
}

/// Who has the commit of a gitlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// A remote branch of the submodule in the worktree has it.
    Published,
    OnlyHere,
    /// The worktree does not have the submodule, or not this commit.
    Unknown,
}

/// Asks the submodule's repository in a worktree.
pub fn availability(worktree: &Path, link: &Gitlink) -> Result<Availability> {
    let folder = worktree.join(&link.path);
    if !folder.join(".git").exists() {
        return Ok(Availability::Unknown);
    }
    let object = format!("{}^{{commit}}", link.commit);
    let known = Git::in_slot(&folder)
        .args(["cat-file", "-e", &object])
        .run()?;
    if !known.success {
        return Ok(Availability::Unknown);
    }
    let published = Git::in_slot(&folder)
        .args(["for-each-ref", "--count=1", "--format=%(refname)"])
        .arg(format!("--contains={}", link.commit))
        .arg("refs/remotes")
        .text()?;
    Ok(if published.is_empty() {
        Availability::OnlyHere
    } else {
        Availability::Published
    })
}

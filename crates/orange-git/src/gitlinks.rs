//! Submodule commits that work points to, and whether anybody but the worktree has them.

use super::Git;
use super::rescue::{Difference, LINK, differences};
use orange_sys::error::Result;
use std::path::{Path, PathBuf};

/// A path of a commit that points to a commit of another repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gitlink {
    pub path: PathBuf,
    pub commit: String,
}

/// The gitlinks that `head` has and `base` does not have, or has otherwise.
pub fn changed(repository: &Path, base: &str, head: &str) -> Result<Vec<Gitlink>> {
    let all = differences(repository, base, head)?.into_iter();
    let links = all.filter(|change| change.new_mode == LINK);
    let link = |change: Difference| Gitlink {
        path: change.path,
        commit: change.new_id,
    };
    Ok(links.map(link).collect())
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

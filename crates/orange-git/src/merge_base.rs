//! Where work started from.

use super::Git;
use orange_sys::error::Result;
use std::path::Path;

/// The newest commit that is in a commit and in a branch, here or on the remote. None if they share none.
pub fn merge_base(repository: &Path, commit: &str, branch: &str) -> Result<Option<String>> {
    let mut ask = Git::at(repository).args(["merge-base", commit]);
    for place in ["refs/heads", "refs/remotes/origin"] {
        if let Some(head) = super::commit_of(repository, &format!("{place}/{branch}"))? {
            ask = ask.arg(head);
        }
    }
    Ok(ask.ask()?.filter(|base| !base.is_empty()))
}

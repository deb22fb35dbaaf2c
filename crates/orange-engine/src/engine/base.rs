//! What new work starts from, as a name that means the same later and in every worktree.

use super::Engine;
use crate::error::Result;
use crate::git::{self, Git, worktree};
use std::path::Path;

impl Engine {
    /// A branch or a tag stays what it is called, so that work starts where it is by then. `HEAD` and its like are
    /// meant where they were typed and when: they become the commit.
    pub fn lasting_base(&self, project: &str, folder: &Path, base: &str) -> Result<String> {
        if !is_fleeting(base) {
            return Ok(base.to_owned());
        }
        let repository = self.registered(project)?.path;
        let ours = worktree::common_dir_of(&repository)?;
        // A folder without git is not in any repository.
        let here = worktree::common_dir_of(folder).ok().flatten();
        let commit = match here.is_some() && here == ours {
            true => Git::at(folder)
                .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
                .arg(format!("{base}^{{commit}}"))
                .ask()?,
            false => git::commit_of(&repository, base)?,
        };
        // What names nothing is told by whoever makes the task.
        Ok(commit.unwrap_or_else(|| base.to_owned()))
    }
}

/// Does it mean something else tomorrow, or in another worktree?
fn is_fleeting(base: &str) -> bool {
    let is_head = |name: &str| {
        name.ends_with("HEAD") && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    };
    base == "@" || is_head(base) || base.contains(['~', '^', ':']) || base.contains("@{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_last_and_ways_to_a_commit_do_not() {
        for lasting in [
            "main",
            "origin/main",
            "v1.0",
            "AHEAD/x",
            "feature/HEADER",
            "a@b",
        ] {
            assert!(!is_fleeting(lasting), "{lasting}");
        }
        for fleeting in [
            "HEAD",
            "@",
            "ORIG_HEAD",
            "main~1",
            "HEAD^",
            "main@{1}",
            ":/fix",
        ] {
            assert!(is_fleeting(fleeting), "{fleeting}");
        }
    }
}

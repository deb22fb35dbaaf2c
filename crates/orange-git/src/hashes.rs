//! The ids that git gives to the content of files and links.

use super::Git;
use orange_sys::error::{IoContext, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Git {
    /// Goes on after `hash-object`: the ids of files, in their order, by one call. It reads a name a line ([`is_line`]).
    pub(super) fn hashes(self, files: &[&Path]) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for file in files {
            names.extend_from_slice(file.as_os_str().as_bytes());
            names.push(b'\n');
        }
        self.arg("--stdin-paths").input(names).lines()
    }
}

/// Is a path one line?
pub(super) fn is_line(path: &Path) -> bool {
    !path.as_os_str().as_bytes().contains(&b'\n')
}

/// The id of a link. Where it leads is its content.
pub(super) fn link_hash(git: Git, link: &Path) -> Result<String> {
    let target = std::fs::read_link(link).doing("read", link)?;
    let git = git.args(["hash-object", "--stdin"]);
    git.input(target.as_os_str().as_bytes()).text()
}

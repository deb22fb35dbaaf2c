//! Taking in files one by one, as they are, where `git add` gives up: a filter that fails, an encoding that
//! does not fit, a nested repository without a commit.

use super::entries::push_line;
use super::{Entries, TempIndex};
use crate::{Git, GitOutput};
use orange_sys::error::{Error, Result, err, plain};
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Files that one call of git is given.
const AT_ONCE: usize = 200;

/// The first step after which something would be lost must not be taken.
pub(super) fn refused(why: &str) -> Error {
    err!(
        Refused,
        "the work cannot be saved whole, so nothing is touched: {why}"
    )
    .hint("make it readable or move it away, then try again")
}

impl TempIndex<'_> {
    pub(super) fn add_by_hand(
        &self,
        entries: &Entries,
        failed: &GitOutput,
    ) -> Result<Vec<PathBuf>> {
        tracing::info!(
            said = failed.stderr,
            "git add gave up; files are taken one by one"
        );
        let filters = self.filters()?;
        let said = without_filters(self.git(), &filters)
            .args(["ls-files", "-z", "-o", "-m", "--exclude-standard"])
            .checked()?;
        let links: HashSet<&Path> = entries.links().collect();
        let left: BTreeSet<&Path> = said.parts().map(Path::new).collect();
        let (mut gone, mut nested, mut files) = (Vec::new(), Vec::new(), Vec::new());
        let mut lines = Vec::new();
        for path in left {
            let full = self.worktree.root.join(path);
            let data = match fs::symlink_metadata(&full) {
                Ok(data) => data,
                Err(error) if is_gone(&error) => {
                    gone.push(path);
                    continue;
                }
                Err(error) => return Err(unreadable(path, &error)),
            };
            let kind = data.file_type();
            if kind.is_dir() {
                // Only a repository is named as a folder; a file that became a folder is gone.
                match path.as_os_str().as_bytes().strip_suffix(b"/") {
                    Some(name) => nested.push(PathBuf::from(std::ffi::OsStr::from_bytes(name))),
                    None if links.contains(path) => {}
                    None => gone.push(path),
                }
            } else if kind.is_symlink() {
                let target = fs::read_link(&full).map_err(|error| unreadable(path, &error))?;
                let git = self.git().args(["hash-object", "-w", "--stdin"]);
                let id = git.input(target.as_os_str().as_bytes()).text()?;
                push_line(&mut lines, b"120000", id.as_bytes(), bytes(path));
            } else if kind.is_file() {
                File::open(&full).map_err(|error| unreadable(path, &error))?;
                files.push((path, data.permissions().mode() & 0o100 != 0));
            }
            // Pipes, sockets and devices hold nothing.
        }
        for some in files.chunks(AT_ONCE) {
            let ids = self
                .git()
                .args(["hash-object", "-w", "--no-filters", "--"])
                .args(some.iter().map(|(path, _)| path))
                .text()?;
            for ((path, executable), id) in some.iter().zip(ids.lines()) {
                let mode: &[u8] = if *executable { b"100755" } else { b"100644" };
                push_line(&mut lines, mode, id.as_bytes(), bytes(path));
            }
        }
        self.remove(gone)?;
        self.put(lines)?;
        Ok(nested)
    }

    /// The names of the filters that are set up.
    fn filters(&self) -> Result<BTreeSet<String>> {
        let said = self
            .git()
            .args(["config", "-z", "--name-only", "--get-regexp", r"^filter\."])
            .run()?;
        said.yes_or_no("git config")?;
        let names = said.parts().filter_map(|key| {
            let (name, _) = key.to_str()?.strip_prefix("filter.")?.rsplit_once('.')?;
            Some(name.to_owned())
        });
        Ok(names.collect())
    }
}

/// Through the environment: a filter's name may hold a `=`, which `-c` would trip over.
fn without_filters(mut git: Git, names: &BTreeSet<String>) -> Git {
    let mut count = 0;
    for name in names {
        for (key, value) in [("clean", ""), ("process", ""), ("required", "false")] {
            git = git
                .env(
                    &format!("GIT_CONFIG_KEY_{count}"),
                    format!("filter.{name}.{key}"),
                )
                .env(&format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
    }
    git.env("GIT_CONFIG_COUNT", count.to_string())
}

/// Is there no such file?
pub(in crate::rescue) fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    refused(&format!("{}: {}", path.display(), plain(error)))
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

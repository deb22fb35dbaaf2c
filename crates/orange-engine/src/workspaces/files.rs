//! Copies ignored files of the user's checkout (`.env`, `node_modules/`) into a slot of the pool.
//!
//! Only what git ignores on both sides is copied, so that a copy never shows up in a commit. An agent may have
//! left anything in the slot, links to elsewhere included: every folder is entered by its descriptor, no link is
//! followed, nothing is written outside.

pub mod folders;
pub mod one;

use crate::error::{Error, IoContext, Result};
use crate::git::Git;
use crate::git::rescue::nul_separated;
pub(super) use crate::workspaces::files::folders::Folders;
use crate::workspaces::files::one::{CopiedFile, Copier};
use orange_core::naming::counted;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// What became of the files that match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    pub files: u64,
    pub bytes: u64,
    /// Files that the slot had already, and kept.
    pub kept: u64,
    pub skipped: Vec<Skipped>,
}

/// A file or folder that matches and was not copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Relative to the repository.
    pub path: PathBuf,
    pub why: String,
}

impl Copied {
    fn skip(&mut self, path: &Path, why: impl Into<String>) {
        self.skipped.push(Skipped {
            path: path.to_owned(),
            why: why.into(),
        });
    }
}

/// Copies what git ignores in the checkout and the patterns (as in .gitignore) ask for, to the same places in the slot.
/// Files that the slot has already are replaced only with `overwrite`. Links are copied as links.
pub fn copy_into(
    repository: &Path,
    slot: &Path,
    patterns: &[String],
    overwrite: bool,
) -> Result<Copied> {
    let mut copied = Copied::default();
    if patterns.is_empty() {
        return Ok(copied);
    }
    let open = |path: &Path| Folders::at(path).doing("open", path);
    let mut to = open(slot)?;
    // Before anything can fail: what a killed copy left must not stay in the slot.
    one::sweep(&to);
    let Some(found) = matching(repository, patterns)? else {
        return Ok(copied);
    };
    let home = home_inside(repository, slot);
    let mut wanted = Vec::new();
    for path in found {
        match refused(&path, home.as_deref()) {
            Some(why) => copied.skip(&path, why),
            None => wanted.push(path),
        }
    }
    let wanted = keep_ignored(&|| Git::at(repository).quiet(), wanted, |path| {
        copied.skip(path, "git does not ignore it");
    })?;
    let mut reachable = Vec::new();
    for path in wanted {
        // Git refuses to speak of a path beyond a link, and would of all the others too.
        match to.is_blocked(parent_of(&path)) {
            Ok(false) => reachable.push(path),
            Ok(true) => copied.skip(&path, folders::BLOCKED),
            Err(error) => return Err(Error::io("open", &slot.join(parent_of(&path)), &error)),
        }
    }
    let wanted = keep_ignored(&|| Git::in_slot(slot), reachable, |path| {
        copied.skip(
            path,
            "git does not ignore it in the workspace: it could get into a commit",
        );
    })?;
    let mut copier = Copier::new(open(repository)?, to, overwrite);
    for path in &wanted {
        let step = copier
            .copy(path)
            .doing("copy a file to", &slot.join(path))?;
        match step {
            CopiedFile::Copied(bytes) => {
                copied.files += 1;
                copied.bytes += bytes;
            }
            CopiedFile::Kept => copied.kept += 1,
            CopiedFile::Skipped(why) => copied.skip(path, why),
        }
    }
    tracing::info!(
        slot = %slot.display(),
        bytes = copied.bytes,
        kept = copied.kept,
        skipped = copied.skipped.len(),
        "{} copied",
        counted(wanted.len(), "ignored file")
    );
    Ok(copied)
}

/// Untracked files that match; None where there is no checkout to copy from. A repository inside the
/// repository is one entry that ends with `/`.
fn matching(repository: &Path, patterns: &[String]) -> Result<Option<Vec<PathBuf>>> {
    let bare = Git::at(repository)
        .args(["rev-parse", "--is-bare-repository"])
        .ask()?;
    if bare.as_deref() == Some("true") {
        return Ok(None);
    }
    let said = Git::at(repository)
        .quiet()
        .args(["ls-files", "-z", "--others", "--ignored"])
        .args(
            patterns
                .iter()
                .map(|pattern| format!("--exclude={pattern}")),
        )
        .run()?;
    if said.success {
        Ok(Some(said.parts().map(PathBuf::from).collect()))
    } else {
        Err(said.error("git ls-files"))
    }
}

/// Where Orange's own folder lies, relative to the repository, if the slot is inside of it.
fn home_inside(repository: &Path, slot: &Path) -> Option<PathBuf> {
    let (repository, slot) = (repository.canonicalize().ok()?, slot.canonicalize().ok()?);
    let inside = slot.strip_prefix(&repository).ok()?;
    let pool = inside
        .ancestors()
        .find(|folder| folder.file_name() == Some(OsStr::new("workspaces")))
        .unwrap_or(inside);
    let home = pool.parent().filter(|home| !home.as_os_str().is_empty());
    Some(home.unwrap_or(pool).to_owned())
}

/// What is never copied, whatever the patterns say.
fn refused(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")));
    if !plain {
        Some("it belongs to git, or lies outside of the repository")
    } else if home.is_some_and(|home| path.starts_with(home)) {
        Some("it belongs to Orange itself")
    } else if path.as_os_str().as_bytes().ends_with(b"/") {
        Some(folders::OWN_REPOSITORY)
    } else if path == Path::new("TASK.md") {
        Some("a workspace has the TASK.md of its own task")
    } else {
        None
    }
}

/// Keeps the paths that git ignores there; tracked ones are not ignored, whatever the rules say.
fn keep_ignored(
    git: &dyn Fn() -> Git,
    paths: Vec<PathBuf>,
    mut otherwise: impl FnMut(&Path),
) -> Result<Vec<PathBuf>> {
    if paths.is_empty() {
        return Ok(paths);
    }
    // A name that begins with `:` would be a pattern.
    let input = nul_separated(paths.iter().map(|path| Path::new(".").join(path)));
    let said = git()
        .args(["check-ignore", "-z", "--stdin"])
        .input(input)
        .run()?;
    said.yes_or_no("git check-ignore")?;
    let ignored: HashSet<&[u8]> = said
        .parts()
        .filter_map(|path| path.as_bytes().strip_prefix(b"./"))
        .collect();
    let (ignored, others): (Vec<_>, Vec<_>) = paths
        .into_iter()
        .partition(|path| ignored.contains(path.as_os_str().as_bytes()));
    others.iter().for_each(|path| otherwise(path));
    Ok(ignored)
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

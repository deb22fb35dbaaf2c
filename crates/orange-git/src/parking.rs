//! What parking a worktree asks of git. None of it overwrites or removes a file: what a commit has and the worktree lacks is
//! added, everything else in the worktree stays.

use super::hashes::{is_line, link_hash};
use super::rescue::content::TempIndex;
use super::rescue::{WorktreeHead, nul_separated};
use super::state::{self, Head};
use super::{Git, Site, hidden};
use orange_sys::error::{IoContext, Result};
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The index is written without its extensions: each of them can keep git from looking at files.
const PLAIN_INDEX: &[&str] = &["core.untrackedCache=false", "core.splitIndex=false"];

/// Detaches HEAD at a commit when it names a branch without commits, which has nothing to detach at.
pub fn leave_unborn(slot: &Site, commit: &str) -> Result<()> {
    if matches!(state::head(slot), Head::Detached(_)) {
        return Ok(());
    }
    parked_at(slot, commit).done()
}

/// Puts a detached HEAD at a commit.
pub(super) fn parked_at(slot: &Site, commit: &str) -> Git {
    slot.git_in_slot()
        .args(["update-ref", "--no-deref", "-m", "orange: parked", "HEAD"])
        .arg(commit)
}

/// Moves a detached HEAD from one commit to another; `from` is None for a HEAD that had none. Returns false if HEAD is not
/// there any more. No branch is moved, whatever is checked out meanwhile.
pub fn move_head(slot: &Site, from: Option<&str>, to: &str) -> Result<bool> {
    match state::head(slot) {
        Head::Detached(now) if now == to => return Ok(true),
        Head::Detached(now) if Some(now.as_str()) == from => {}
        Head::Detached(_) | Head::Branch(_) | Head::Missing(_) => return Ok(false),
    }
    let said = parked_at(slot, to).args(from).run()?;
    // Git may fail after it has done so, and it fails if somebody moved HEAD: what HEAD is now counts.
    match state::head(slot) {
        Head::Detached(now) if now == to => Ok(true),
        Head::Detached(now) if Some(now.as_str()) == from => Err(said.error("git update-ref")),
        Head::Detached(_) | Head::Branch(_) | Head::Missing(_) => Ok(false),
    }
}

/// Makes the index that of a commit. HEAD and branches stay. An index with flags that hide files is made anew.
pub fn reset_index(slot: &Site, commit: &str) -> Result<()> {
    if hidden::has_flags(slot)? && !hidden::clear_in_sparse(slot)? {
        let worktree = WorktreeHead::open_site(slot)?;
        let index = TempIndex::empty(&worktree);
        index.read_tree(commit)?;
        let target = worktree.git_dir.join("index");
        fs::rename(index.path(), &target).doing("replace", &target)?;
    }
    let git = slot.git_in_slot().settings(PLAIN_INDEX);
    git.args(["read-tree", "--reset", commit]).done()
}

/// Which files of the index are checked out.
pub enum MissingFiles<'a> {
    All,
    These(&'a [&'a Path]),
}

/// Checks out files that the worktree lacks. One that is there stays as it is. Returns what git said if it failed for
/// another reason than a file that is there.
pub fn check_out(slot: &Site, missing: &MissingFiles<'_>) -> Result<Option<String>> {
    let git = slot
        .git_in_slot()
        .args(["checkout-index", "--quiet", "--index"]);
    let git = match missing {
        MissingFiles::All => git.arg("--all"),
        MissingFiles::These([]) => return Ok(None),
        MissingFiles::These(paths) => git.args(["-z", "--stdin"]).input(nul_separated(*paths)),
    };
    let said = git.run()?;
    let failed = !said.success && !said.stderr.trim().is_empty();
    Ok(failed.then(|| said.error("git checkout-index").message))
}

/// What `git status` says of a worktree.
#[derive(Debug, Default)]
pub struct ChangedPaths {
    /// Changed and untracked paths.
    pub changed: Vec<PathBuf>,
    /// Ignored files and folders; what is in such a folder is not listed.
    pub ignored: Vec<PathBuf>,
}

pub fn look(slot: &Path) -> Result<ChangedPaths> {
    let said = Git::in_slot(slot)
        .args(["status", "--porcelain=v1", "-z", "--untracked-files=normal"])
        .args(["--ignored=matching", "--ignore-submodules=none"])
        .arg("--no-renames")
        .checked()?;
    let mut look = ChangedPaths::default();
    for line in said.parts() {
        let Some((what, path)) = line.as_bytes().split_at_checked(3) else {
            continue;
        };
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        match what {
            b"!! " => look.ignored.push(path),
            _ => look.changed.push(path),
        }
    }
    Ok(look)
}

/// A file, moved away, that should be what a tree has under its path.
pub struct MovedFile<'a> {
    /// Relative to the worktree.
    pub path: &'a Path,
    /// Where it is now.
    pub place: PathBuf,
    pub id: &'a str,
    pub is_link: bool,
}

/// Those of the files that are not what the tree has. `below` holds all of them, by their paths.
pub fn unsaved<'a>(
    slot: &Path,
    tree: &str,
    below: &Path,
    files: &[MovedFile<'a>],
) -> Result<Vec<&'a Path>> {
    let (links, files): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.is_link);
    let mut unsaved = unsaved_links(slot, &links)?;
    let ids = hashes(slot, &files)?;
    let differing: Vec<&&MovedFile<'a>> = files
        .iter()
        .filter(|file| ids.get(file.path).map(String::as_str) != Some(file.id))
        .collect();
    if !differing.is_empty() {
        // Git stores some files in another form than they have in the worktree.
        let paths: Vec<&Path> = differing.iter().map(|file| file.path).collect();
        let changed = differing_from(slot, tree, below, &paths)?;
        unsaved.extend(
            paths
                .into_iter()
                .filter(|path| changed.iter().any(|other| other == path)),
        );
    }
    Ok(unsaved)
}

fn hashes<'a>(slot: &Path, files: &[&MovedFile<'a>]) -> Result<HashMap<&'a Path, String>> {
    let mut found = HashMap::new();
    let (lines, others): (Vec<&MovedFile<'a>>, Vec<&MovedFile<'a>>) =
        files.iter().partition(|file| is_line(&file.place));
    let hash = || Git::in_slot(slot).args(["hash-object", "--no-filters"]);
    if !lines.is_empty() {
        let places: Vec<&Path> = lines.iter().map(|file| file.place.as_path()).collect();
        let ids = hash().hashes(&places)?;
        found.extend(lines.iter().map(|file| file.path).zip(ids));
    }
    for file in others {
        let id = hash().arg("--").arg(&file.place).text()?;
        found.insert(file.path, id);
    }
    Ok(found)
}

fn unsaved_links<'a>(slot: &Path, links: &[&MovedFile<'a>]) -> Result<Vec<&'a Path>> {
    let mut unsaved = Vec::new();
    for link in links {
        if link_hash(Git::in_slot(slot), &link.place)? != link.id {
            unsaved.push(link.path);
        }
    }
    Ok(unsaved)
}

/// Which of the files below a folder differ from a tree in the form in which git stores them: line ends and filters as
/// the attributes of the tree say.
fn differing_from(slot: &Path, tree: &str, below: &Path, paths: &[&Path]) -> Result<Vec<PathBuf>> {
    let worktree = WorktreeHead::open(slot)?;
    let index = TempIndex::empty(&worktree);
    index.read_tree(tree)?;
    let git = || {
        index
            .git()
            .env("GIT_DIR", &worktree.git_dir)
            .env("GIT_WORK_TREE", below)
    };
    let updated = git()
        .args(["update-index", "-z", "--add", "--stdin"])
        .input(nul_separated(paths))
        .run()?;
    if !updated.success {
        return Ok(paths.iter().map(|path| path.to_path_buf()).collect());
    }
    let said = git()
        .args(["diff-index", "--cached", "--name-only", "-z"])
        .args(["--no-renames", "--ignore-submodules=all", tree, "--"])
        .checked()?;
    Ok(said.parts().map(PathBuf::from).collect())
}

/// Does a submodule that was moved to another folder hold nothing but what its own repository has? `git_dir`: where that
/// repository is.
pub fn is_unchanged_submodule(git_dir: &Path, folder: &Path) -> Result<bool> {
    if hidden::may_have_flags(&git_dir.join("index")) {
        return Ok(false);
    }
    let said = Git::in_slot(folder)
        .env("GIT_DIR", git_dir)
        .env("GIT_WORK_TREE", folder)
        .args(["status", "--porcelain", "-z", "--untracked-files=normal"])
        .arg("--ignore-submodules=none")
        .run()?;
    Ok(said.success && said.stdout.is_empty())
}

//! Where a repository keeps its worktrees, read from git's own files: a process less for a question that every start
//! asks. Whatever is not as plain as a repository in its usual place is left to git.

use super::refs;
use super::state::{self, Head};
use super::worktree::Worktree;
use orange_sys::listing;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// All worktrees, the main one first; None: ask git.
pub(super) fn worktrees(repository: &Path) -> Option<Vec<Worktree>> {
    let git = repository.join(".git");
    if !is_usual(&git) || !refs::uses_files(&git) {
        return None;
    }
    let mut all = vec![at(repository.canonicalize().ok()?, &git)?];
    for entry in listing::checked(&git.join("worktrees")).ok()? {
        let folder = entry.path();
        all.push(at(linked(&folder)?, &folder)?);
    }
    Some(all)
}

/// Where a repository keeps its objects; None: ask git.
pub(super) fn objects(repository: &Path) -> Option<PathBuf> {
    let git = repository.join(".git");
    is_usual(&git).then(|| git.join("objects"))
}

/// A path that git noted in a file of this folder, absolute or relative to the folder.
pub(super) fn noted(folder: &Path, file: &str) -> Option<PathBuf> {
    let text = fs::read(folder.join(file)).ok()?;
    Some(folder.join(OsStr::from_bytes(text.trim_ascii_end())))
}

/// The `.git` of the worktree that an entry of `worktrees/` is about.
pub(super) fn link_of(folder: &Path) -> Option<PathBuf> {
    noted(folder, "gitdir")
}

/// The worktree that an entry of `worktrees/` is about.
fn linked(folder: &Path) -> Option<PathBuf> {
    let link = link_of(folder)?;
    let worktree = link.parent()?;
    // One that was deleted by hand is still remembered, by the name that git wrote down.
    Some(worktree.canonicalize().unwrap_or_else(|_| worktree.into()))
}

fn at(path: PathBuf, folder: &Path) -> Option<Worktree> {
    let branch = match state::head_in(folder)? {
        Head::Branch(name) => Some(name),
        Head::Detached(_) => None,
        Head::Missing(_) => return None,
    };
    Some(Worktree { path, branch })
}

/// Is this folder the top of a worktree of the repository with that common folder? None: ask git.
pub(super) fn belongs(slot: &Path, common: &Path) -> Option<bool> {
    let link = slot.join(".git");
    let own = state::git_folder(slot).ok()?;
    // A setting of its own could put the files elsewhere.
    if !fs::symlink_metadata(&link).ok()?.is_file() || own.join("config.worktree").exists() {
        return None;
    }
    let shared = noted(&own, "commondir")?.canonicalize().ok()?;
    if !is_usual(&shared) || state::head_in(&own).is_none() {
        return None;
    }
    let back = linked(&own)?;
    (shared == common && back == slot.canonicalize().ok()?).then_some(true)
}

/// Has it a remote of the usual name? None: ask git.
pub(super) fn has_origin(repository: &Path) -> Option<bool> {
    let text = settings(&repository.join(".git"))?;
    let may_say_more = ["[include", "[remote"];
    (!may_say_more.iter().any(|section| text.contains(section))).then_some(false)
}

/// A `.git` folder like most, with nothing in its settings that says where else to look.
fn is_usual(git: &Path) -> bool {
    let Some(text) = settings(git) else {
        return false;
    };
    let is_set = |name: &str| {
        let mut lines = text.lines().map(str::trim);
        lines.any(|line| line.starts_with(name) && !line.ends_with("false"))
    };
    git.join("objects").is_dir()
        && !git.join("commondir").exists()
        && !["bare", "worktree", "[include", "worktreeconfig"]
            .into_iter()
            .any(is_set)
}

/// In small letters, as git compares names.
fn settings(git: &Path) -> Option<String> {
    let text = fs::read(git.join("config")).ok()?;
    Some(String::from_utf8_lossy(&text).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Behalf;
    use crate::tests::git;
    use crate::worktree::{self, list};

    /// What git itself says, whatever the files say.
    fn said(repository: &Path) -> Vec<Worktree> {
        worktree::list_of_git(repository).unwrap()
    }

    #[test]
    fn the_files_say_what_git_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let repository = root.join("main");
        fs::create_dir(&repository).unwrap();
        git(&repository, &["init", "-q", "-b", "main"]);
        assert_eq!(worktrees(&repository), Some(said(&repository)));
        git(&repository, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(
            &repository,
            &["worktree", "add", "-q", "--detach", "../one"],
        );
        git(
            &repository,
            &["worktree", "add", "-q", "-b", "topic/x", "../two"],
        );
        git(&repository, &["worktree", "add", "-q", "../gone"]);
        fs::remove_dir_all(root.join("gone")).unwrap();
        let sorted = |mut all: Vec<Worktree>| {
            all.sort_by(|one, other| one.path.cmp(&other.path));
            all
        };
        let found = sorted(worktrees(&repository).unwrap());
        assert_eq!(found, sorted(said(&repository)));
        assert_eq!(found.len(), 4);
        assert_eq!(found[0].branch.as_deref(), Some("gone"));

        let common = repository.join(".git");
        assert_eq!(belongs(&root.join("one"), &common), Some(true));
        assert_eq!(belongs(&root.join("one"), &root.join("two/.git")), None);
        assert_eq!(belongs(&repository, &common), None);
        // A copy leads to the repository, but the repository does not lead to it.
        fs::create_dir(root.join("copy")).unwrap();
        fs::copy(root.join("one/.git"), root.join("copy/.git")).unwrap();
        assert_eq!(belongs(&root.join("copy"), &common), None);

        assert_eq!(has_origin(&repository), Some(false));
        git(&repository, &["remote", "add", "origin", "/nowhere"]);
        assert_eq!(has_origin(&repository), None);
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, words) in [
            ("bare", vec!["config", "core.bare", "true"]),
            ("elsewhere", vec!["config", "core.worktree", "/nowhere"]),
            ("included", vec!["config", "include.path", "/nowhere"]),
            ("damaged", vec!["symbolic-ref", "HEAD", "refs/other/x"]),
        ] {
            let repository = root.join(name);
            fs::create_dir(&repository).unwrap();
            git(&repository, &["init", "-q", "-b", "main"]);
            assert!(worktrees(&repository).is_some(), "{name}");
            let _ = Behalf::nobody()
                .at(&repository)
                .git()
                .args(&words)
                .run()
                .unwrap();
            assert_eq!(worktrees(&repository), None, "{name}");
        }
        assert!(list(&root.join("bare")).unwrap()[0].branch.is_none());
    }
}

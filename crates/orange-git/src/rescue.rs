//! What saving a worktree asks of git: where it stands, and the commits and refs that keep what is in it.

pub mod content;
pub mod lost;
pub mod put_back;
pub mod refs;
pub mod submodule;

use super::layout::noted;
use super::site::Behalf;
use super::{Git, Site};
use orange_core::Timestamp;
use orange_sys::environment::carried;
use orange_sys::error::{Result, err};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

/// For the calls that write: what a rescue holds must be on the disk before anything is destroyed, and no
/// setting of the user's may make git refuse a file or answer from a cache.
const CAREFUL: &[&str] = &[
    "core.fsync=committed,reference",
    "core.fsyncMethod=batch",
    "core.safecrlf=false",
    // The copy of an index must neither need nor write a shared part.
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "sparse.expectFilesOutsideOfPatterns=false",
    "advice.addEmbeddedRepo=false",
    "advice.updateSparsePath=false",
    "i18n.commitEncoding=UTF-8",
];

/// A commit takes this many parents from us; further ones hang below commits in between.
const PARENTS: usize = 16;

/// By this a commit of Orange's own is known.
const EMAIL: &str = "orange@localhost";

/// A worktree, and where its HEAD is.
pub struct WorktreeHead {
    pub root: PathBuf,
    /// None where it is only looked at.
    behalf: Option<Behalf>,
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    /// None before the first commit.
    pub head: Option<HeadCommit>,
    /// The full name of the ref that HEAD follows; None when it is detached.
    pub head_ref: Option<String>,
}

pub struct HeadCommit {
    pub commit: String,
    pub tree: String,
}

impl WorktreeHead {
    /// One that is to be changed, or from which something is kept.
    pub fn open_site(site: &Site) -> Result<WorktreeHead> {
        let behalf = Some(site.behalf().clone());
        Ok(WorktreeHead {
            behalf,
            ..WorktreeHead::open(site)?
        })
    }

    pub fn open(root: &Path) -> Result<WorktreeHead> {
        let careful = || Git::in_slot(root).settings(CAREFUL);
        // Three questions that do not wait for each other.
        let (said, head_ref, head) = std::thread::scope(|scope| {
            let symbolic = ["symbolic-ref", "--quiet", "HEAD"];
            let head_ref = scope.spawn(carried(move || careful().args(symbolic).ask()));
            let commit = ["rev-parse", "HEAD^{commit}", "HEAD^{tree}", "--"];
            let head = scope.spawn(carried(move || careful().args(commit).run()));
            let place = ["rev-parse", "--show-prefix", "--absolute-git-dir"];
            let said = Git::in_slot(root).args(place).run();
            (said, head_ref.join(), head.join())
        });
        let said = said?;
        let place = root.display();
        let why = match said.success {
            true => String::new(),
            false if said.found_no_repository() => format!(": {}", said.error("git")),
            false => return Err(said.error(&format!("{place}: git rev-parse"))),
        };
        // The prefix is an empty line at the root of a worktree.
        let git_dir = said.stdout.strip_prefix(b"\n").filter(|_| said.success);
        let git_dir = git_dir.map(without_line_end).ok_or_else(|| {
            err!(Failed, "{place} is not the root of a git worktree{why}")
                .hint("if its link to the repository is lost, git can repair it from there")
        })?;
        let git_dir = PathBuf::from(OsStr::from_bytes(git_dir));
        let mut worktree = WorktreeHead {
            root: root.to_owned(),
            behalf: None,
            common_dir: common_dir(&git_dir),
            git_dir,
            head: None,
            head_ref: None,
        };
        worktree.head_ref = head_ref.unwrap_or_else(|panic| resume_unwind(panic))?;
        let head = head.unwrap_or_else(|panic| resume_unwind(panic))?;
        let text = head.text();
        let mut lines = text.lines();
        match (head.success, lines.next(), lines.next()) {
            (true, Some(commit), Some(tree)) => {
                worktree.head = Some(HeadCommit {
                    commit: commit.to_owned(),
                    tree: tree.to_owned(),
                });
            }
            // An error unless HEAD is on a branch that has no commit yet.
            _ if super::worktree::head(root)?.is_none() => {}
            _ => return Err(head.error("git rev-parse")),
        }
        Ok(worktree)
    }

    pub fn git(&self) -> Git {
        let git = Git::in_slot(&self.root).settings(CAREFUL);
        match &self.behalf {
            Some(behalf) => git.on_behalf(behalf),
            None => git,
        }
    }

    /// The tree that changes are told against: HEAD's, or the empty one.
    pub fn base_tree(&self) -> Result<String> {
        match &self.head {
            Some(head) => Ok(head.tree.clone()),
            None => refs::empty_tree(&self.root),
        }
    }

    /// Makes a commit of Orange's own: it needs no name from the user and starts no hook.
    pub fn commit(
        &self,
        tree: &str,
        parents: &[String],
        message: &str,
        now: Timestamp,
    ) -> Result<String> {
        commit_with(&|| self.git(), tree, parents, message, now)
    }

    /// What differs between two trees, path by path.
    pub fn changes(&self, from: &str, to: &str) -> Result<Vec<Difference>> {
        differences(&self.root, from, to)
    }
}

/// A commit of Orange's own in a repository that need not have a worktree.
pub fn commit_in(
    repository: &Path,
    tree: &str,
    parents: &[String],
    message: &str,
    now: Timestamp,
) -> Result<String> {
    let git = || Git::at(repository).quiet().settings(CAREFUL);
    commit_with(&git, tree, parents, message, now)
}

fn commit_with(
    git: &dyn Fn() -> Git,
    tree: &str,
    parents: &[String],
    message: &str,
    now: Timestamp,
) -> Result<String> {
    let mut parents = parents.to_vec();
    while parents.len() > PARENTS {
        let rest = parents.split_off(parents.len() - PARENTS);
        parents.push(commit_with(
            git,
            tree,
            &rest,
            "rescue: further commits\n",
            now,
        )?);
    }
    let date = format!("@{} +0000", now.as_second());
    let mut commit = git().by_orange(&date);
    commit = commit.args(["commit-tree", tree, "-F", "-"]);
    for parent in &parents {
        commit = commit.args(["-p", parent]);
    }
    commit.input(message).text()
}

impl Git {
    /// Orange is author and committer of what it commits. It needs no name from the user.
    pub(super) fn by_orange(mut self, date: &str) -> Git {
        for who in ["AUTHOR", "COMMITTER"] {
            for (what, value) in [("NAME", "orange"), ("EMAIL", EMAIL), ("DATE", date)] {
                self = self.env(&format!("GIT_{who}_{what}"), value);
            }
        }
        self
    }
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub old_mode: String,
    pub new_mode: String,
    pub old_id: String,
    pub new_id: String,
    /// `A`, `M`, `D` or `T`.
    pub status: char,
    pub path: PathBuf,
}

/// A repository in a tree: a submodule, or a nested one that was added.
pub const LINK: &str = "160000";

pub fn differences(folder: &Path, from: &str, to: &str) -> Result<Vec<Difference>> {
    if from == to {
        return Ok(Vec::new());
    }
    let said = Git::at(folder)
        .quiet()
        .args(["diff-tree", "-r", "-z", "--raw", "--no-renames"])
        .args(["--no-abbrev", "--ignore-submodules=none", from, to, "--"])
        .checked()?;
    let mut parts = said.parts();
    let mut found = Vec::new();
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        // `:100644 100755 <old id> <new id> M`
        let what = what.to_string_lossy();
        let mut words = what.trim_start_matches(':').split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        found.push(Difference {
            old_mode: word(),
            new_mode: word(),
            old_id: word(),
            new_id: word(),
            status: word().chars().next().unwrap_or('M'),
            path: path.into(),
        });
    }
    Ok(found)
}

/// A linked worktree names the repository it belongs to in a file.
pub(super) fn common_dir(git_dir: &Path) -> PathBuf {
    let Some(common) = noted(git_dir, "commondir") else {
        return git_dir.to_owned();
    };
    common.canonicalize().unwrap_or(common)
}

fn without_line_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

/// Paths as `-z --stdin` wants them.
pub fn nul_separated<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_ref().as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}

//! The refs that keep rescues: made, listed and deleted, each by one call.

use super::{Git, WorktreeHead};
use crate::Site;
use orange_sys::error::Result;
use std::path::Path;

pub const ROOT: &str = "refs/orange/rescue";

/// A rescue's ref, its commit and that commit's message.
#[derive(Debug, Clone)]
pub struct RescueRef {
    pub reference: String,
    pub commit: String,
    pub message: String,
}

impl WorktreeHead {
    /// Makes a new ref; false if there is another one of that name.
    pub fn keep(&self, reference: &str, commit: &str) -> Result<bool> {
        keep_with(&|| self.git(), reference, commit)
    }
}

/// The same in a repository that need not have a worktree.
pub fn keep_in(repository: &Site, reference: &str, commit: &str) -> Result<bool> {
    let git = || repository.git().quiet().settings(super::CAREFUL);
    keep_with(&git, reference, commit)
}

fn keep_with(git: &dyn Fn() -> Git, reference: &str, commit: &str) -> Result<bool> {
    let made = git()
        .args(["update-ref", "--stdin"])
        .input(format!("create {reference} {commit}\n"))
        .run()?;
    let there = git()
        .args(["rev-parse", "--verify", "--quiet", reference])
        .ask()?;
    match (made.success, there) {
        // Git may fail after it has made the ref.
        (_, Some(there)) if there == commit => Ok(true),
        (false, Some(_)) => Ok(false),
        (true, Some(_)) | (_, None) => Err(made.error("git update-ref")),
    }
}

/// Deletes a branch that still is at the commit where it was seen; false if it is somewhere else by now.
pub fn delete_branch(repository: &Site, branch: &str, at: &str) -> Result<bool> {
    let name = format!("refs/heads/{branch}");
    let said = repository
        .git()
        .quiet()
        .args(["update-ref", "--stdin"])
        .input(format!("option no-deref\ndelete {name} {at}\n"))
        .run()?;
    match crate::commit_of(repository, &name)? {
        None => Ok(true),
        Some(now) if now != at => Ok(false),
        Some(_) => said.checked("git update-ref").map(|_| false),
    }
}

/// All rescues below a ref: `ROOT`, or that of one task.
pub fn kept_below(repository: &Path, reference: &str) -> Result<Vec<RescueRef>> {
    let said = Git::at(repository)
        .quiet()
        .arg("for-each-ref")
        .arg("--format=%(refname)%00%(objectname)%00%(contents)%00")
        .arg(format!("{reference}/"))
        .checked()?;
    let text = String::from_utf8_lossy(&said.stdout);
    let mut parts = text.split('\0');
    let mut found = Vec::new();
    while let (Some(name), Some(commit), Some(message)) = (parts.next(), parts.next(), parts.next())
    {
        found.push(RescueRef {
            reference: name.trim_start().to_owned(),
            commit: commit.to_owned(),
            message: message.to_owned(),
        });
    }
    Ok(found)
}

/// Deletes refs that still are at the commits where they were seen, all or none.
pub fn forget<'a>(repository: &Site, refs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<()> {
    let delete = |(reference, commit)| format!("delete {reference} {commit}\n");
    let lines: String = refs.map(delete).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let git = repository.git().quiet();
    git.args(["update-ref", "--stdin"]).input(lines).done()
}

/// Makes a branch at a commit; never moves one.
pub fn make_branch(repository: &Site, branch: &str, commit: &str) -> Result<()> {
    let said = repository
        .git()
        .quiet()
        .args(["update-ref", "-m", "orange: rescued work", "--stdin"])
        .input(format!("create refs/heads/{branch} {commit}\n"))
        .run()?;
    // Git may fail after it has made the branch.
    let name = format!("refs/heads/{branch}");
    if !said.success && crate::commit_of(repository, &name)?.as_deref() == Some(commit) {
        return Ok(());
    }
    said.checked("git update-ref").map(drop)
}

/// `id subject` of every commit that only this rescue holds, Orange's own left out.
pub fn only_in(repository: &Path, commit: &str) -> Result<Vec<(String, String)>> {
    let text = Git::at(repository)
        .quiet()
        .args(["log", "--no-show-signature", "--format=%H%x09%ce%x09%s"])
        .arg(commit)
        .args(["--not", &format!("--exclude={ROOT}/*"), "--glob=refs/*"])
        .arg("--")
        .text()?;
    let found = text.lines().filter_map(|line| {
        let (id, rest) = line.split_once('\t')?;
        let (email, subject) = rest.split_once('\t')?;
        (email != super::EMAIL).then(|| (id.to_owned(), subject.to_owned()))
    });
    Ok(found.collect())
}

/// The empty tree, which is there from now on.
pub fn empty_tree(repository: &Path) -> Result<String> {
    Git::at(repository)
        .quiet()
        .arg("mktree")
        .input(Vec::new())
        .text()
}

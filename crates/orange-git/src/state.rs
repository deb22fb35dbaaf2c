//! How a worktree stands, read from its files, mostly without starting git: what is checked
//! out, what is under way.

use super::{Git, SOON};
use std::fs;
use std::path::{Path, PathBuf};

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    Branch(String),
    /// At this commit, on no branch.
    Detached(String),
    /// It cannot be told, and why.
    Missing(String),
}

impl Head {
    pub fn branch(&self) -> Option<&str> {
        match self {
            Head::Branch(name) => Some(name),
            Head::Detached(_) | Head::Missing(_) => None,
        }
    }
}

orange_core::choice! {
    /// Something git has begun in a worktree and not ended.
    pub enum Operation ("git operation") {
        Merge = "merge", Rebase = "rebase", CherryPick = "cherry-pick", Revert = "revert",
        Am = "am", Bisect = "bisect",
    }
}

/// What a worktree has checked out.
pub fn head(worktree: &Path) -> Head {
    let folder = match git_folder(worktree) {
        Ok(folder) => folder,
        Err(reason) => return Head::Missing(reason),
    };
    head_in(&folder).unwrap_or_else(|| asked(worktree))
}

/// What the folder with a worktree's own HEAD says; None where only git can read it.
pub(super) fn head_in(folder: &Path) -> Option<Head> {
    let file = folder.join("HEAD");
    // Very old gits made it a link.
    if let Ok(target) = fs::read_link(&file) {
        return Some(as_head(&format!("ref: {}", target.display())));
    }
    match fs::read_to_string(&file) {
        // A repository with a reftable keeps the truth elsewhere.
        Ok(text) if text.trim_end() == "ref: refs/heads/.invalid" => None,
        Ok(text) => Some(as_head(&text)),
        Err(error) => Some(Head::Missing(format!(
            "{} cannot be read: {}",
            file.display(),
            orange_sys::error::plain(&error)
        ))),
    }
}

fn asked(worktree: &Path) -> Head {
    let ask = |words: [&str; 3]| Git::in_slot(worktree).args(words).ask().ok().flatten();
    let branch = ask(["symbolic-ref", "--quiet", "HEAD"]).map(|name| format!("ref: {name}"));
    match branch.or_else(|| ask(["rev-parse", "--verify", "HEAD^{commit}"])) {
        Some(text) => as_head(&text),
        None => Head::Missing("git cannot read its HEAD".to_owned()),
    }
}

fn as_head(text: &str) -> Head {
    let text = text.trim_end();
    let Some(reference) = text.strip_prefix("ref:").map(str::trim) else {
        let is_commit = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        return if is_commit {
            Head::Detached(text.to_owned())
        } else {
            Head::Missing("its HEAD is damaged".to_owned())
        };
    };
    match reference.strip_prefix("refs/heads/") {
        Some(branch) => Head::Branch(branch.to_owned()),
        None => Head::Missing(format!("its HEAD is {reference}, which is no branch")),
    }
}

/// What git has begun in a worktree and not ended.
pub fn operation(worktree: &Path) -> Option<Operation> {
    let folder = git_folder(worktree).ok()?;
    let has = |name: &str| folder.join(name).exists();
    // A rebase merges and picks on its way, so it is asked for first; a bisect may have anything in it.
    if has("rebase-merge") || (has("rebase-apply") && !has("rebase-apply/applying")) {
        return Some(Operation::Rebase);
    }
    let signs = [
        ("rebase-apply", Operation::Am),
        ("MERGE_HEAD", Operation::Merge),
        ("CHERRY_PICK_HEAD", Operation::CherryPick),
        ("REVERT_HEAD", Operation::Revert),
    ];
    if let Some((_, operation)) = signs.into_iter().find(|(name, _)| has(name)) {
        return Some(operation);
    }
    // Between two commits of a longer one there is no head, only the list of what is left.
    let left = fs::read_to_string(folder.join("sequencer/todo")).unwrap_or_default();
    match left.split_whitespace().next() {
        Some("revert") => Some(Operation::Revert),
        Some(_) => Some(Operation::CherryPick),
        None => has("BISECT_LOG").then_some(Operation::Bisect),
    }
}

/// Where git looks for hooks when it works in a folder, with `core.hooksPath` taken into account.
pub fn hooks_folder(folder: &Path) -> Option<PathBuf> {
    let hooks = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
    let said = Git::at(folder).args(hooks).timeout(SOON).ask();
    said.ok().flatten().map(PathBuf::from)
}

/// The folder with a worktree's own HEAD: `.git`, or the one that a file of that name leads to.
pub fn git_folder(worktree: &Path) -> Result<PathBuf, String> {
    let link = worktree.join(".git");
    let about = fs::metadata(&link).map_err(|_| {
        if worktree.is_dir() {
            "the folder is no worktree: it has no .git".to_owned()
        } else {
            "the folder is gone".to_owned()
        }
    })?;
    if about.is_dir() {
        return Ok(link);
    }
    let text = fs::read_to_string(&link).unwrap_or_default();
    let target = text
        .strip_prefix("gitdir:")
        .map(|path| worktree.join(path.trim()))
        .ok_or_else(|| "its .git file is damaged".to_owned())?;
    if target.is_dir() {
        Ok(target)
    } else {
        Err(format!(
            "its link to the repository leads nowhere: {}",
            target.display()
        ))
    }
}

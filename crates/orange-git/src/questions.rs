//! What is asked about a repository: its branches, commits and default branch, and what a worktree has checked out.

use super::said::{GitOutput, phrases};
use super::{Git, bare, hidden, refs, state};
use crate::state::Head;
use orange_sys::error::{Code, Error, Result, err};
use std::path::{Path, PathBuf};

/// The main work tree (or bare repository) that a folder belongs to; None outside of any.
pub fn repository_of(folder: &Path) -> Result<Option<PathBuf>> {
    let look = |words: &[&str]| Git::found_from(folder).arg("rev-parse").args(words);
    let output = look(&["--path-format=absolute", "--git-common-dir"]).run()?;
    if !output.success {
        return match bare::refused(folder, &output) {
            None => no_repository(folder, &output),
            found => Ok(found),
        };
    }
    let common = PathBuf::from(output.text());
    if look(&["--is-bare-repository"]).ask()?.as_deref() == Some("true") {
        return Ok(Some(common));
    }
    // In a linked worktree the common directory is the main one's .git.
    match common.file_name() {
        Some(name) if name == ".git" => Ok(common.parent().map(Path::to_owned)),
        _ => Ok(look(&["--show-toplevel"])
            .ask_leniently()?
            .map(PathBuf::from)),
    }
}

/// Git says no for two reasons: there is none, or it belongs to somebody else.
fn no_repository(folder: &Path, said: &GitOutput) -> Result<Option<PathBuf>> {
    if said.found_no_repository() {
        return Ok(None);
    }
    if !said.failed_by(phrases::ANOTHER_OWNER) {
        return Err(said.error("git rev-parse"));
    }
    Err(err!(
        Failed,
        "git does not trust {}: it belongs to another user",
        folder.display()
    )
    .hint(format!(
        "if you do, add {} to safe.directory in your git settings",
        folder.display()
    )))
}

/// The branch work usually starts from: the remote's own word, else a known name, else the current one.
pub fn default_branch(repository: &Path) -> Result<String> {
    let ask = |name: &str| {
        let git = Git::at(repository).args(["symbolic-ref", "--quiet", "--short"]);
        git.arg(name).ask()
    };
    let remote_head = ask("refs/remotes/origin/HEAD")?;
    if let Some(branch) = remote_head
        .as_deref()
        .and_then(|head| head.strip_prefix("origin/"))
    {
        return Ok(branch.to_owned());
    }
    for name in ["main", "master"] {
        if branch_exists(repository, name)? {
            return Ok(name.to_owned());
        }
    }
    Ok(ask("HEAD")?.unwrap_or_else(|| "main".to_owned()))
}

/// Asks git itself whether a name can be a branch.
pub fn valid_branch_name(name: &str) -> Result<bool> {
    if name.starts_with('-') || matches!(name, "HEAD" | "@") {
        return Ok(false);
    }
    let output = Git::anywhere()
        .args(["check-ref-format", "--branch", name])
        .run()?;
    // Git fails with this code also for a name that it does not accept.
    if !output.success && output.code != Some(128) {
        return output.yes_or_no("git check-ref-format");
    }
    // Git also accepts shorthands such as `@{-1}` here, and prints the branch they stand for.
    Ok(output.success && output.text() == name)
}

pub fn branch_exists(repository: &Path, branch: &str) -> Result<bool> {
    Ok(commit_of(repository, &format!("refs/heads/{branch}"))?.is_some())
}

/// Whether a commit has a file or folder of that path.
pub fn has_path(repository: &Path, commit: &str, path: &str) -> Result<bool> {
    let path = path.trim_end_matches('/');
    let listed = Git::at(repository)
        .arg("--literal-pathspecs")
        .args([
            "ls-tree",
            "--full-tree",
            "--name-only",
            "-z",
            commit,
            "--",
            path,
        ])
        .text()?;
    Ok(!listed.is_empty())
}

/// The commit a revision names, if it names one.
pub fn commit_of(repository: &Path, revision: &str) -> Result<Option<String>> {
    match refs::look_up(repository, revision) {
        Some(known) => Ok(known),
        None => Git::at(repository)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{revision}^{{commit}}"))
            .ask(),
    }
}

/// The same for a branch, from git's own files alone; None also where only git could tell.
pub fn commit_in_files(repository: &Path, branch: &str) -> Option<String> {
    refs::look_up(repository, &format!("refs/heads/{branch}")).flatten()
}

/// The same for several revisions, in their order, by one call of git.
pub fn commits_of(repository: &Path, revisions: &[String]) -> Result<Vec<Option<String>>> {
    let known = revisions
        .iter()
        .map(|revision| refs::look_up(repository, revision));
    if let Some(known) = known.collect() {
        return Ok(known);
    }
    let mut input = String::new();
    for revision in revisions {
        // A line is a question: what could be none names nothing.
        if !revision.contains('\n') {
            input.push_str(revision);
        }
        input.push_str("^{commit}\n");
    }
    let said = Git::at(repository)
        .args(["cat-file", "--batch-check=%(objectname)"])
        .input(input)
        .text()?;
    let mut lines = said.lines();
    // Whatever is not there is repeated with a word behind it.
    let is_id = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(revisions
        .iter()
        .map(|_| lines.next().filter(is_id).map(str::to_owned))
        .collect())
}

/// The tree of a commit.
pub(super) fn tree_of(repository: &Path, commit: &str) -> Result<String> {
    Git::at(repository)
        .args(["rev-parse", "--verify", "--end-of-options"])
        .arg(format!("{commit}^{{tree}}"))
        .text()
}

pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Commits in `of` that are not in `than`.
pub fn commits_ahead(repository: &Path, of: &str, than: &str) -> Result<Option<u64>> {
    let count = Git::at(repository)
        .args(["rev-list", "--count", "--end-of-options"])
        .arg(format!("{than}..{of}"))
        .ask_about_unknown()?;
    Ok(count.and_then(|text| text.parse().ok()))
}

/// The newest commit that is in a commit and in a branch, here or on the remote. None if they share none.
pub fn merge_base(repository: &Path, commit: &str, branch: &str) -> Result<Option<String>> {
    let mut ask = Git::at(repository).args(["merge-base", commit]);
    for place in ["refs/heads", "refs/remotes/origin"] {
        ask = ask.args(commit_of(repository, &format!("{place}/{branch}"))?);
    }
    Ok(ask.ask()?.filter(|base| !base.is_empty()))
}

/// The branches that have a commit, here and at remotes, without the name of the remote.
pub fn branches_with(repository: &Path, commit: &str) -> Result<Vec<String>> {
    let names = Git::at(repository)
        .args(["for-each-ref", "--format=%(refname)"])
        .arg(format!("--contains={commit}"))
        .args(["refs/heads", "refs/remotes"])
        .text()?;
    let short = |name: &str| {
        let local = name.strip_prefix("refs/heads/");
        let remote = || name.strip_prefix("refs/remotes/")?.split_once('/');
        local
            .or_else(|| remote().map(|(_, branch)| branch))
            .map(str::to_owned)
    };
    Ok(names.lines().filter_map(short).collect())
}

/// A commit that the repository does not have is no ancestor.
pub fn is_ancestor(repository: &Path, commit: &str, of: &str) -> Result<bool> {
    let answer = Git::at(repository)
        .args(["merge-base", "--is-ancestor", commit, of])
        .ask_about_unknown()?;
    Ok(answer.is_some())
}

/// What is changed and not committed in a worktree, a line each.
pub fn uncommitted(worktree: &Path) -> Result<Vec<String>> {
    hidden::look_past_flags(worktree, |git| {
        git.args(["status", "--porcelain=v1", "--untracked-files=normal"])
            .lines()
    })
}

/// The branch checked out in a worktree; None when HEAD is detached.
pub fn current_branch(worktree: &Path) -> Result<Option<String>> {
    let why = match state::head(worktree) {
        Head::Branch(name) => return Ok(Some(name)),
        Head::Detached(_) => return Ok(None),
        Head::Missing(why) => why,
    };
    let said = Git::in_slot(worktree)
        .args(["symbolic-ref", "--quiet", "HEAD"])
        .run()?;
    if said.found_no_repository() {
        let message = format!("{}: {why}", worktree.display());
        return Err(Error::new(Code::ConditionUnmet, message));
    }
    let is_on_branch = said.yes_or_no("git symbolic-ref")?;
    let name = is_on_branch.then(|| said.text());
    Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
}

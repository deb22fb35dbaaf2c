//! The only file that starts git. Every call pins locale, prompts and the repository it speaks of.

use crate::error::{Code, Error, Result, plain};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Variables that would make git speak of another repository (set inside hooks, for instance).
const REDIRECTING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

fn run(folder: Option<&Path>, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new("git");
    if let Some(folder) = folder {
        command.arg("-C").arg(folder);
    }
    for variable in REDIRECTING {
        command.env_remove(variable);
    }
    command
        .args(["-c", "core.quotepath=off"])
        .args(arguments)
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null());
    command.output().map_err(|error| {
        Error::new(Code::Failed, format!("cannot start git: {}", plain(&error)))
            .hint("install git 2.39 or newer and make sure it is on PATH")
    })
}

/// Runs git and gives its first line, or None when it says no.
fn ask(folder: &Path, arguments: &[&str]) -> Result<Option<String>> {
    let output = run(Some(folder), arguments)?;
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

/// The main work tree (or bare repository) that a folder belongs to; None outside of any.
pub fn repository_of(folder: &Path) -> Result<Option<PathBuf>> {
    let output = run(
        Some(folder),
        &["rev-parse", "--path-format=absolute", "--git-common-dir"],
    )?;
    if !output.status.success() {
        return no_repository(folder, &String::from_utf8_lossy(&output.stderr));
    }
    let common = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n'));
    if ask(folder, &["rev-parse", "--is-bare-repository"])?.as_deref() == Some("true") {
        return Ok(Some(common));
    }
    // In a linked worktree the common directory is the main one's .git.
    match common.file_name() {
        Some(name) if name == ".git" => Ok(common.parent().map(Path::to_owned)),
        _ => Ok(ask(folder, &["rev-parse", "--show-toplevel"])?.map(PathBuf::from)),
    }
}

/// Git says no for two reasons: there is none, or it belongs to somebody else.
fn no_repository(folder: &Path, said: &str) -> Result<Option<PathBuf>> {
    if !said.contains("dubious ownership") {
        return Ok(None);
    }
    Err(Error::new(
        Code::Failed,
        format!(
            "git does not trust {}: it belongs to another user",
            folder.display()
        ),
    )
    .hint(format!(
        "if you do: `git config --global --add safe.directory {}`",
        folder.display()
    )))
}

/// The branch work usually starts from: the remote's own word, else a known name, else the current one.
pub fn default_branch(repository: &Path) -> Result<String> {
    let remote_head = ask(
        repository,
        &[
            "symbolic-ref",
            "--quiet",
            "--short",
            "refs/remotes/origin/HEAD",
        ],
    )?;
    if let Some(branch) =
        remote_head.and_then(|head| head.strip_prefix("origin/").map(str::to_owned))
    {
        return Ok(branch);
    }
    for name in ["main", "master"] {
        if branch_exists(repository, name)? {
            return Ok(name.to_owned());
        }
    }
    let current = ask(repository, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    Ok(current.unwrap_or_else(|| "main".to_owned()))
}

/// Asks git itself whether a name can be a branch.
pub fn valid_branch_name(name: &str) -> Result<bool> {
    if name.starts_with('-') || matches!(name, "HEAD" | "@") {
        return Ok(false);
    }
    let output = run(None, &["check-ref-format", "--branch", name])?;
    // Git also accepts shorthands such as `@{-1}` here, and prints the branch they stand for.
    let meant = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && meant.trim_end_matches('\n') == name)
}

pub fn branch_exists(repository: &Path, branch: &str) -> Result<bool> {
    Ok(commit_of(repository, &format!("refs/heads/{branch}"))?.is_some())
}

/// The commit a revision names, if it names one.
pub fn commit_of(repository: &Path, revision: &str) -> Result<Option<String>> {
    ask(
        repository,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{revision}^{{commit}}"),
        ],
    )
}

pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Commits in `of` that are not in `than`.
pub fn commits_ahead(repository: &Path, of: &str, than: &str) -> Result<Option<u64>> {
    let count = ask(
        repository,
        &[
            "rev-list",
            "--count",
            "--end-of-options",
            &format!("{than}..{of}"),
        ],
    )?;
    Ok(count.and_then(|text| text.parse().ok()))
}

pub fn is_ancestor(repository: &Path, commit: &str, of: &str) -> Result<bool> {
    Ok(run(
        Some(repository),
        &["merge-base", "--is-ancestor", commit, of],
    )?
    .status
    .success())
}

/// What is changed and not committed in a worktree, a line each.
pub fn uncommitted(worktree: &Path) -> Result<Vec<String>> {
    let text = ask(
        worktree,
        &["status", "--porcelain=v1", "--untracked-files=normal"],
    )?;
    Ok(text
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect())
}

/// The branch checked out in a worktree; None when HEAD is detached.
pub fn current_branch(worktree: &Path) -> Result<Option<String>> {
    ask(worktree, &["symbolic-ref", "--quiet", "--short", "HEAD"])
}

//! Moving a branch to a commit that was computed: fast-forwarded where it is checked out, by compare-and-swap
//! where it is not, and pushed. Nobody's files are changed in any other way.

use super::{Git, worktree};
use crate::error::{Code, Error, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a push may take, the repository's own hooks included.
const PUSH: Duration = Duration::from_secs(600);

/// What became of an attempt to move a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Moved {
    Yes,
    /// Somebody else moved it meanwhile.
    Overtaken,
    /// It is not to be moved, and why.
    Refused(String),
}

/// Where a branch is checked out. In two places at once nobody can move it without one of them showing changes
/// that nobody made there.
pub(crate) fn checkout_of(repository: &Path, branch: &str) -> Result<Checkout> {
    let mut places = Vec::new();
    for found in worktree::list(repository)? {
        if found.branch.as_deref() == Some(branch) {
            places.push(found.path);
        } else if is_rebased_at(&found.path, branch) {
            return Ok(Checkout::Busy(format!(
                "{branch} is in the middle of a rebase or bisect at {}",
                found.path.display()
            )));
        }
    }
    // The main entry of a bare repository has a HEAD and no files.
    if let [only] = places.as_slice()
        && is_bare(only)
    {
        places.clear();
    }
    Ok(match places.as_slice() {
        [] => Checkout::Nowhere,
        [place] if !place.is_dir() => Checkout::Busy(format!(
            "{branch} is checked out at {}, which is not there",
            place.display()
        )),
        [place] => Checkout::At(place.clone()),
        [one, other, ..] => Checkout::Busy(format!(
            "{branch} is checked out twice, at {} and at {}",
            one.display(),
            other.display()
        )),
    })
}

/// Who shows the files of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checkout {
    Nowhere,
    At(PathBuf),
    /// It must not be moved now, and why.
    Busy(String),
}

fn is_bare(place: &Path) -> bool {
    !place.join(".git").exists()
}

/// Git detaches HEAD while it rebases a branch, and moves the branch at the end.
fn is_rebased_at(place: &Path, branch: &str) -> bool {
    let Ok(folder) = super::state::git_folder(place) else {
        return false;
    };
    let names = [
        "rebase-merge/head-name",
        "rebase-apply/head-name",
        "BISECT_START",
    ];
    names.iter().any(|name| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let name = text.trim();
        name.strip_prefix("refs/heads/").unwrap_or(name) == branch
    })
}

/// Moves a branch that is checked out nowhere, if it is still where it was.
pub(crate) fn swap(
    repository: &Path,
    branch: &str,
    to: &str,
    from: &str,
    why: &str,
) -> Result<Moved> {
    let said = Git::at(repository)
        .args(["update-ref", "-m", why])
        .args([&format!("refs/heads/{branch}"), to, from])
        .run()?;
    if said.success {
        return Ok(Moved::Yes);
    }
    let now = super::commit_of(repository, &format!("refs/heads/{branch}"))?;
    match now.as_deref() == Some(from) {
        true => Ok(Moved::Refused(said.last_words())),
        false => Ok(Moved::Overtaken),
    }
}

/// Moves a branch where it is checked out. What is edited there stays; where that is impossible, all stays.
pub(crate) fn fast_forward(checkout: &Path, branch: &str, to: &str) -> Result<Moved> {
    let said = Git::at(checkout)
        .args(["merge", "--ff-only", "--quiet", "--no-autostash"])
        // A file of the user's that git does not track must not be overwritten, ignored or not.
        .args(["--no-overwrite-ignore", "--no-stat", to])
        .run()?;
    if said.success {
        return match super::current_branch(checkout)?.as_deref() == Some(branch) {
            true => Ok(Moved::Yes),
            // Somebody switched branches in this moment.
            false => Ok(Moved::Overtaken),
        };
    }
    if said.stderr.contains("Not possible to fast-forward")
        || said.stderr.contains("Diverging branches")
    {
        return Ok(Moved::Overtaken);
    }
    Ok(Moved::Refused(in_the_way(checkout, &said.stderr)))
}

/// Would it work? Asked before something is pushed that could not be had here afterwards.
pub(crate) fn could_fast_forward(checkout: &Path, to: &str) -> Result<Moved> {
    // A file that was only touched is no change; git finds out by looking.
    Git::at(checkout)
        .args(["update-index", "--quiet", "--refresh"])
        .run()?;
    let said = Git::at(checkout)
        .args(["read-tree", "--dry-run", "-m", "-u", "HEAD", to])
        .run()?;
    match said.success {
        true => Ok(Moved::Yes),
        false => Ok(Moved::Refused(in_the_way(checkout, &said.stderr))),
    }
}

/// Which files keep git from it: it lists them below a line that says why.
fn in_the_way(checkout: &Path, stderr: &str) -> String {
    let files: Vec<&str> = stderr
        .lines()
        .filter_map(|line| line.strip_prefix('\t'))
        .chain(stderr.lines().filter_map(|line| {
            let (_, rest) = line.split_once('\'')?;
            rest.split_once('\'').map(|(file, _)| file)
        }))
        .collect();
    let place = checkout.display();
    match files.as_slice() {
        [] => {
            let mut words = stderr
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty());
            let said = words.next().unwrap_or("git does not say why");
            let said = said
                .trim_start_matches("error: ")
                .trim_start_matches("fatal: ");
            format!("{place} cannot be brought forward: {said}")
        }
        files => {
            let shown = files.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            let more = match files.len().saturating_sub(5) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{place} has changes that are not committed, in {shown}{more}")
        }
    }
}

/// What a remote answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pushed {
    Yes,
    /// It has commits that are not known here.
    Behind,
    /// It does not want it, and why.
    Refused(String),
}

/// Pushes a commit to a branch of the remote that is where we think it is (None: not there yet). The commit is
/// a later one of that branch, so nothing is overwritten by it.
pub(crate) fn push(
    repository: &Path,
    commit: &str,
    branch: &str,
    expected: Option<&str>,
) -> Result<Pushed> {
    let expected = expected.unwrap_or_default();
    let said = Git::at(repository)
        .args(["push", "--porcelain"])
        .arg(format!("--force-with-lease=refs/heads/{branch}:{expected}"))
        .args(["origin", &format!("{commit}:refs/heads/{branch}")])
        .without_terminal()
        .patience(PUSH)
        .run()?;
    if said.success {
        return Ok(Pushed::Yes);
    }
    let answers = String::from_utf8_lossy(&said.stdout).into_owned();
    let behind = [
        "(fetch first)",
        "(non-fast-forward)",
        "(stale info)",
        "cannot lock ref",
        "reference already exists",
    ];
    if behind.iter().any(|word| answers.contains(word)) {
        return Ok(Pushed::Behind);
    }
    Ok(Pushed::Refused(why_refused(&answers, &said.stderr)))
}

/// Asks the remote itself where a branch is.
pub(crate) fn remote_head(repository: &Path, branch: &str) -> Result<Option<String>> {
    let reference = format!("refs/heads/{branch}");
    let text = Git::at(repository)
        .args(["ls-remote", "origin", &reference])
        .without_terminal()
        .patience(PUSH)
        .text()?;
    let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
    let found = lines.find(|(_, name)| *name == reference);
    Ok(found.map(|(commit, _)| commit.to_owned()))
}

/// A commit that the remote's branch once had and has not any more, although it is in `local`: somebody took it back.
pub(crate) fn taken_back(
    repository: &Path,
    branch: &str,
    remote: &str,
    local: &str,
) -> Result<Option<String>> {
    let earlier = Git::at(repository)
        .args(["log", "--walk-reflogs", "--format=%H", "--max-count=200"])
        .args([&format!("refs/remotes/origin/{branch}"), "--"])
        .ask()?;
    for commit in earlier.unwrap_or_default().lines() {
        if commit != remote
            && super::is_ancestor(repository, commit, local)?
            && !super::is_ancestor(repository, commit, remote)?
        {
            return Ok(Some(commit.to_owned()));
        }
    }
    Ok(None)
}

/// Deletes a branch of the remote if it is still where it was.
pub(crate) fn delete_remote(repository: &Path, branch: &str, at: &str) -> Result<()> {
    let said = Git::at(repository)
        .args(["push", "--porcelain", "--no-verify"])
        .arg(format!("--force-with-lease=refs/heads/{branch}:{at}"))
        .args(["origin", &format!(":refs/heads/{branch}")])
        .without_terminal()
        .patience(PUSH)
        .run()?;
    if said.success || said.stderr.contains("remote ref does not exist") {
        return Ok(());
    }
    let answers = String::from_utf8_lossy(&said.stdout).into_owned();
    Err(Error::new(
        Code::Failed,
        format!(
            "branch {branch} was not deleted on origin: {}",
            why_refused(&answers, &said.stderr)
        ),
    ))
}

/// The remote's own words before git's.
fn why_refused(answers: &str, stderr: &str) -> String {
    let remote: Vec<&str> = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("remote:"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(5)
        .collect();
    let rejected = answers
        .lines()
        .find(|line| line.starts_with('!'))
        .and_then(|line| line.rsplit('\t').next());
    let mut words: Vec<String> = rejected.map(str::to_owned).into_iter().collect();
    words.extend(remote.iter().map(|line| (*line).to_owned()));
    if words.is_empty() {
        let lines = stderr.lines().map(str::trim);
        let telling = |line: &&str| !line.is_empty() && !line.starts_with("To ");
        words.extend(lines.filter(telling).take(3).map(str::to_owned));
    }
    words.join("; ")
}

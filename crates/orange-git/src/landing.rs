//! Moving a branch to a commit that was computed: fast-forwarded where it is checked out, by compare-and-swap
//! where it is not, and pushed. Nobody's files are changed in any other way.

pub(super) mod ready;

use super::said::phrases;
use super::{Git, Site, worktree};
use orange_sys::error::{Result, err};
pub use ready::could_move;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a push may take, the repository's own hooks included.
const PUSH: Duration = Duration::from_secs(600);

/// What became of an attempt to move a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchMove {
    Yes,
    /// Somebody else moved it meanwhile.
    Overtaken,
    /// Something of the user's is in the way, and what.
    Refused(String),
    /// Git itself could not do it, in its words.
    Failed(String),
}

/// Where a branch is checked out. In two places at once nobody can move it without one of them showing changes
/// that nobody made there.
pub fn checkout_of(repository: &Path, branch: &str) -> Result<Checkout> {
    if let Some(other) = stands_for(repository, branch) {
        return Ok(Checkout::Busy(format!(
            "{branch} is only another name of {other}, which has to be the target then"
        )));
    }
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
    let why = match places.as_slice() {
        [] => return Ok(Checkout::Nowhere),
        [place] if !place.is_dir() => {
            let place = place.display();
            format!("{branch} is checked out at {place}, which is not there")
        }
        [place] if !place.join(".git").exists() => {
            let place = place.display();
            format!("{branch} is checked out, and git cannot tell where: it keeps it at {place}")
        }
        [place] => match ready::unfinished(place) {
            Some(why) => why,
            None => return Ok(Checkout::At(place.clone())),
        },
        [one, other, ..] => {
            let (one, other) = (one.display(), other.display());
            format!("{branch} is checked out twice, at {one} and at {other}")
        }
    };
    Ok(Checkout::Busy(why))
}

/// Who shows the files of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    Nowhere,
    At(PathBuf),
    /// It must not be moved now, and why.
    Busy(String),
}

/// The branch that another name leads to. Whoever has it checked out would not be found by that name.
fn stands_for(repository: &Path, branch: &str) -> Option<String> {
    let folder = super::state::git_folder(repository).unwrap_or_else(|_| repository.to_owned());
    let text = std::fs::read_to_string(folder.join("refs/heads").join(branch)).ok()?;
    let other = text.strip_prefix("ref:")?.trim();
    Some(without_heads(other).to_owned())
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
        without_heads(text.trim()) == branch
    })
}

fn without_heads(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

/// Moves a branch that is checked out nowhere, if it is still where it was.
pub struct BranchSwap<'a> {
    pub branch: &'a str,
    pub from: &'a str,
    pub to: &'a str,
    pub why: &'a str,
}

impl BranchSwap<'_> {
    /// `alive` is locked as long as git is at it.
    pub fn make(&self, repository: &Site, alive: &File) -> Result<BranchMove> {
        self.swap(repository, alive, |reference| {
            has_arrived(repository, reference, self.to)
        })
    }

    /// The same for a move backwards: there a branch that has not moved is beyond its target too.
    pub fn make_backwards(&self, repository: &Site, alive: &File) -> Result<BranchMove> {
        self.swap(repository, alive, |reference| {
            let now = super::commit_of(repository, reference)?;
            Ok(now.as_deref() == Some(self.to))
        })
    }

    fn swap(
        &self,
        repository: &Site,
        alive: &File,
        has_moved: impl FnOnce(&str) -> Result<bool>,
    ) -> Result<BranchMove> {
        let reference = format!("refs/heads/{}", self.branch);
        let said = super::past_locks(repository.behalf(), || {
            repository
                .git()
                .with_short_lock_timeouts()
                .args(["update-ref", "-m", self.why])
                .args([&reference, self.to, self.from])
                .holding(alive)?
                .run()
        })?;
        if said.success || has_moved(&reference)? {
            return Ok(BranchMove::Yes);
        }
        let now = super::commit_of(repository, &reference)?;
        if now.as_deref() == Some(self.from) {
            Ok(BranchMove::Failed(reason_in(&said.stderr)))
        } else {
            Ok(BranchMove::Overtaken)
        }
    }
}

/// Is a branch at a commit, or beyond it? Git may fail after it has moved a branch: when it cannot write a reflog, or is
/// killed in that moment.
pub(super) fn has_arrived(repository: &Path, reference: &str, commit: &str) -> Result<bool> {
    match super::commit_of(repository, reference)? {
        Some(now) => Ok(now == commit || super::is_ancestor(repository, commit, &now)?),
        None => Ok(false),
    }
}

/// What a remote answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    Yes,
    /// It has it, but git complains: one of several places that it pushes to has not.
    NotEverywhere(String),
    /// It is not where we thought, in its words.
    Behind(String),
    /// It does not want it, and why.
    Refused(String),
}

/// Pushes a commit to a branch of the remote that is where we think it is (None: not there yet). The commit is
/// a later one of that branch, so nothing is overwritten by it. `alive` is locked as long as that takes, whoever of us
/// is killed meanwhile.
pub fn push(
    repository: &Site,
    commit: &str,
    branch: &str,
    expected: Option<&str>,
    alive: &File,
) -> Result<Pushed> {
    let expected = expected.unwrap_or_default();
    let said = repository
        .git()
        .args(["push", "--porcelain"])
        .pushing(branch, expected, commit)
        .holding(alive)?
        .run()?;
    if said.success {
        return Ok(Pushed::Yes);
    }
    let answers = String::from_utf8_lossy(&said.stdout);
    let why = why_refused(&answers, &said.stderr);
    let has_moved = phrases::REMOTE_MOVED
        .iter()
        .any(|phrase| answers.contains(phrase));
    if has_moved || said.failed_by(phrases::OVERTAKEN) {
        return Ok(Pushed::Behind(why));
    }
    // The remote may have taken it nevertheless: the line went dead, or what follows it here could not be written.
    if matches!(remote_head(repository, branch), Ok(Some(at)) if at == commit) {
        return Ok(Pushed::NotEverywhere(why));
    }
    Ok(Pushed::Refused(why))
}

impl Git {
    /// Goes on after `push`: a commit, or nothing, to a branch of the remote that is at `expected`.
    fn pushing(self, branch: &str, expected: &str, commit: &str) -> Git {
        self.arg(format!("--force-with-lease=refs/heads/{branch}:{expected}"))
            .args(["origin", &format!("{commit}:refs/heads/{branch}")])
            .without_terminal()
            .timeout(PUSH)
    }
}

/// Asks the remote itself where a branch is.
pub fn remote_head(repository: &Path, branch: &str) -> Result<Option<String>> {
    let reference = format!("refs/heads/{branch}");
    let text = Git::at(repository)
        .args(["ls-remote", "origin", &reference])
        .without_terminal()
        .timeout(PUSH)
        .text()?;
    let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
    let found = lines.find(|(_, name)| *name == reference);
    Ok(found.map(|(commit, _)| commit.to_owned()))
}

/// A commit that the remote's branch once had and has not any more, although it is in `local`: somebody took it back.
pub fn taken_back(
    repository: &Path,
    branch: &str,
    remote: &str,
    local: &str,
) -> Result<Option<String>> {
    let earlier = Git::at(repository)
        .args(["log", "--walk-reflogs", "--format=%H", "--max-count=200"])
        .args([&format!("refs/remotes/origin/{branch}"), "--"])
        .ask_about_unknown()?;
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

/// Deletes a branch of the remote if it is still where it was; false if it is not.
pub fn delete_remote(repository: &Site, branch: &str, at: &str) -> Result<bool> {
    let said = repository
        .git()
        .args(["push", "--porcelain", "--no-verify"])
        .pushing(branch, at, "")
        .run()?;
    if said.success || said.failed_by(phrases::NO_REMOTE_BRANCH) {
        return Ok(true);
    }
    let answers = String::from_utf8_lossy(&said.stdout);
    if answers.contains(phrases::STALE) {
        return Ok(false);
    }
    Err(err!(
        Failed,
        "branch {branch} was not deleted on origin: {}",
        why_refused(&answers, &said.stderr)
    ))
}

/// The remote's own words before git's.
fn why_refused(answers: &str, stderr: &str) -> String {
    let remote = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("remote:"));
    let remote = remote.map(str::trim).filter(|line| !line.is_empty());
    let rejected = answers.lines().find(|line| line.starts_with('!'));
    let rejected = rejected.and_then(|line| line.rsplit('\t').next());
    let reasons: Vec<&str> = rejected.into_iter().chain(remote.take(5)).collect();
    if reasons.is_empty() {
        reason_in(stderr)
    } else {
        reasons.join("; ")
    }
}

/// What git says, without its own prefixes and the advice below it. What a hook says comes before.
fn reason_in(stderr: &str) -> String {
    let mut said: Vec<&str> = Vec::new();
    for line in stderr.lines().map(str::trim) {
        let mut prefixes = ["fatal: ", "error: "].iter();
        if let Some(plain) = prefixes.find_map(|prefix| line.strip_prefix(prefix)) {
            said.push(plain);
            break;
        }
        if !line.is_empty() && !line.starts_with("To ") {
            said.push(line);
        }
    }
    match said.as_slice() {
        [] => "git does not say why".to_owned(),
        said => said[said.len().saturating_sub(4)..].join("; "),
    }
}

//! Could a branch be moved here? Asked before anything is pushed that could not be had here afterwards, and before
//! git changes files that a branch which does not follow would leave behind as somebody's edits.

use super::{BranchMove, reason_in};
use crate::{Git, Site, commit_of, past_locks, state};
use orange_sys::error::Result;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// So many files in the way are asked about; one is reason enough.
const ASKED: usize = 100;

/// What keeps everybody from moving the branch of a checkout, before any file is looked at.
pub(super) fn unfinished(checkout: &Path) -> Option<String> {
    let operation = state::operation(checkout)?;
    Some(format!(
        "a git {operation} is under way in {}",
        checkout.display()
    ))
}

/// Would git let the branch, and what follows it of the remote, be moved? A lock that was left behind or the
/// repository's own hook may keep it from that.
pub fn could_move(
    repository: &Site,
    branch: &str,
    from: &str,
    to: &str,
    pushed: bool,
) -> Result<BranchMove> {
    let reference = format!("refs/heads/{branch}");
    let mut orders = format!("start\nupdate {reference} {to} {from}\n");
    if pushed {
        orders.push_str(&format!("update refs/remotes/origin/{branch} {to}\n"));
    }
    // Everything up to the last step, and back.
    orders.push_str("prepare\nabort\n");
    let said = past_locks(repository.behalf(), || {
        repository
            .git()
            .with_short_lock_timeouts()
            .args(["update-ref", "--stdin"])
            .input(orders.clone())
            .run()
    })?;
    if said.success {
        return Ok(BranchMove::Yes);
    }
    if commit_of(repository, &reference)?.as_deref() == Some(from) {
        Ok(BranchMove::Failed(format!(
            "git cannot move {branch} in {}: {}",
            repository.display(),
            reason_in(&said.stderr)
        )))
    } else {
        Ok(BranchMove::Overtaken)
    }
}

/// Would the files of a checkout let it be fast-forwarded? `git` speaks of it with a copy of its index.
pub(crate) fn could_fast_forward(
    checkout: &Path,
    git: impl Fn() -> Git,
    to: &str,
) -> Result<BranchMove> {
    // A file that was only touched is no change; git finds out by looking.
    let refreshed = git().args(["update-index", "-q", "--refresh"]).run()?;
    refreshed.yes_or_no("git update-index")?;
    let said = git()
        .args(["read-tree", "--dry-run", "-m", "-u", "HEAD", to])
        .run()?;
    if !said.success {
        return Ok(in_the_way(checkout, &said.stderr));
    }
    if let Some(ignored) = ignored_in_the_way(checkout, to)? {
        return Ok(BranchMove::Refused(format!(
            "{} has files that git ignores and that the merge brings: {ignored}",
            checkout.display()
        )));
    }
    let is_signed = || Git::at(checkout).args(["verify-commit", to]).run();
    if Git::at(checkout).ask_bool("merge.verifySignatures")? && !is_signed()?.success {
        return Ok(BranchMove::Refused(format!(
            "your settings want signed commits only (merge.verifySignatures), and the signature of {} is not good",
            crate::short(to)
        )));
    }
    Ok(BranchMove::Yes)
}

/// Which files keep git from it: it lists them below a line that says why, or names one in quotes. Without any, git itself
/// has failed.
pub(crate) fn in_the_way(checkout: &Path, stderr: &str) -> BranchMove {
    let quoted = |line: &'_ str| {
        let named = ["error: Entry '", "error: Untracked working tree file '"];
        let rest = named.iter().find_map(|start| line.strip_prefix(start))?;
        rest.rsplit_once('\'').map(|(file, _)| file.to_owned())
    };
    let listed = stderr.lines().filter_map(|line| line.strip_prefix('\t'));
    let mut files: Vec<String> = listed.map(str::to_owned).collect();
    files.extend(stderr.lines().filter_map(quoted));
    if files.is_empty() {
        failed(checkout, &reason_in(stderr))
    } else {
        BranchMove::Refused(format!(
            "{} has changes that are not committed, in {}",
            checkout.display(),
            shown(&files)
        ))
    }
}

pub(crate) fn failed(checkout: &Path, why: &str) -> BranchMove {
    let place = checkout.display();
    BranchMove::Failed(format!("{place} cannot be brought forward: {why}"))
}

fn shown(files: &[String]) -> String {
    match files.split_at_checked(5) {
        Some((first, more)) if !more.is_empty() => {
            format!("{} and {} more", first.join(", "), more.len())
        }
        _ => files.join(", "),
    }
}

/// To `read-tree` what is ignored counts for nothing; to the person whose file it is it does.
fn ignored_in_the_way(checkout: &Path, to: &str) -> Result<Option<String>> {
    let said = Git::at(checkout)
        .args(["diff-tree", "-r", "-z", "--name-only", "--no-renames"])
        .args(["--diff-filter=AT", "HEAD", to])
        .checked()?;
    let mut there: Vec<PathBuf> = said
        .parts()
        .filter_map(|path| on_disk(checkout, path))
        .take(ASKED)
        .collect();
    there.dedup();
    if there.is_empty() {
        return Ok(None);
    }
    let said = Git::at(checkout)
        .arg("--literal-pathspecs")
        .args(["ls-files", "-z", "--others", "--ignored"])
        .args(["--exclude-standard", "--"])
        .args(&there)
        .checked()?;
    let ignored: Vec<String> = said
        .parts()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    Ok((!ignored.is_empty()).then(|| shown(&ignored)))
}

/// What stands where a new file is to come: the file itself, or one where its folder has to be.
fn on_disk(checkout: &Path, path: &OsStr) -> Option<PathBuf> {
    let path = Path::new(path);
    let about = |path: &Path| std::fs::symlink_metadata(checkout.join(path));
    if about(path).is_ok() {
        return Some(path.to_owned());
    }
    let mut above = path.ancestors().skip(1);
    let file = above.find(|above| about(above).is_ok_and(|about| !about.is_dir()))?;
    Some(file.to_owned())
}

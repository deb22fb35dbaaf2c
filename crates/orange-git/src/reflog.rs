//! Where a branch was some time ago, by git's own log of it.

use super::Git;
use orange_core::Timestamp;
use orange_sys::error::Result;
use std::path::Path;

/// More of its moves are not looked at.
const MOST: &str = "--max-count=10000";

/// Where a branch was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchAt {
    Commit(String),
    /// It was made later.
    NotYet,
    /// Git keeps no log of it.
    Unknown,
}

/// Where a branch was before a time. Git notes seconds: a move within the second of that time counts as one after it.
pub fn branch_at(repository: &Path, branch: &str, time: Timestamp) -> Result<BranchAt> {
    let branch = format!("refs/heads/{branch}");
    let log = Git::at(repository).args(["log", "--walk-reflogs", "--format=%H %gd"]);
    let asked = log
        .args([MOST, "--date=unix", &branch, "--"])
        .ask_leniently()?;
    Ok(found(asked.as_deref().unwrap_or_default(), time))
}

/// Whether a branch never had that name before, as far as git keeps a log of it: it is not that one renamed.
pub fn is_another(repository: &Path, branch: &str, name: &str) -> Result<bool> {
    let branch = format!("refs/heads/{branch}");
    let log = Git::at(repository).args(["log", "--walk-reflogs", "--format=%gs"]);
    let told = log.args([MOST, &branch, "--"]).ask_leniently()?;
    let told = told.unwrap_or_default();
    let renamed = format!("Branch: renamed refs/heads/{name} to ");
    Ok(!told.is_empty() && !told.lines().any(|line| line.starts_with(&renamed)))
}

/// In lines like `id refs/heads/login@{1700000000}`, the newest first.
fn found(log: &str, time: Timestamp) -> BranchAt {
    let mut moves = log.lines().filter_map(|line| {
        let (id, name) = line.split_once(' ')?;
        let (_, second) = name.trim_end_matches('}').rsplit_once("@{")?;
        Some((id, second.parse::<i64>().ok()?))
    });
    let mut is_logged = false;
    let before = moves.find(|(_, second)| {
        is_logged = true;
        *second < time.as_second()
    });
    match before {
        Some((id, _)) => BranchAt::Commit(id.to_owned()),
        None if is_logged => BranchAt::NotYet,
        None => BranchAt::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_move_before_a_time_counts() {
        let log = "c refs/heads/odd@{1}@{30}\nb refs/heads/odd@{1}@{20}\na refs/heads/odd@{1}@{10}";
        let at = |second| found(log, Timestamp::from_second(second).unwrap());
        let commit = |id: &str| BranchAt::Commit(id.to_owned());
        assert_eq!(at(31), commit("c"));
        assert_eq!(at(30), commit("b"));
        assert_eq!(at(11), commit("a"));
        assert_eq!(at(10), BranchAt::NotYet);
        assert_eq!(found("", Timestamp::UNIX_EPOCH), BranchAt::Unknown);
    }
}

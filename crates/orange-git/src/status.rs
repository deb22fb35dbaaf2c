//! What differs in a worktree: uncommitted changes, and commits on either side of its base, in one call.

use super::Git;
use super::hidden;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// A look must not hang on a slow disk for ever.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What is not committed, in files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Dirt {
    /// Changed, staged or not; conflicts included.
    pub changed: usize,
    /// Not known to git. A folder of which nothing is known counts as one.
    pub untracked: usize,
    /// Left by a merge for somebody to solve.
    pub conflicts: usize,
}

impl Dirt {
    pub fn is_clean(self) -> bool {
        self == Dirt::default()
    }
}

/// Commits that only one side has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AheadBehind {
    pub ahead: u64,
    pub behind: u64,
}

impl AheadBehind {
    fn read((ahead, behind): (&str, &str)) -> Option<AheadBehind> {
        let (ahead, behind) = (ahead.parse().ok()?, behind.parse().ok()?);
        Some(AheadBehind { ahead, behind })
    }
}

/// Both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeStatus {
    /// The branch checked out, in git's own words.
    pub branch: Option<String>,
    pub dirt: Dirt,
    pub distance: Option<AheadBehind>,
}

/// How far a worktree's HEAD is from a revision; None when git cannot tell.
pub fn ahead_behind(worktree: &Path, base: &str) -> Option<AheadBehind> {
    let range = format!("HEAD...{base}");
    let said = Git::in_slot(worktree)
        .timeout(TIMEOUT)
        .args(["rev-list", "--left-right", "--count", "--end-of-options"])
        .args([range.as_str(), "--"])
        .ask()
        .ok()??;
    AheadBehind::read(said.split_once('\t')?)
}

/// What is not committed and how far HEAD is from its base, of a worktree that has `branch` checked out; None when git
/// cannot tell.
///
/// One process, mostly: git's own status counts against the branch's upstream, so it is told, for this call,
/// that the base is the upstream. Where that cannot be said (an unusual upstream, a base that is no branch),
/// the commits are counted by a second one.
pub fn status(worktree: &Path, branch: Option<&str>, base: &str) -> Option<WorktreeStatus> {
    // A `=` would end the name of a setting.
    let branch = branch.filter(|name| !name.contains('='));
    let base_ref = as_reference(base);
    let output = ask(worktree, |git| match branch {
        Some(branch) => with_upstream(git, branch, &base_ref),
        None => git,
    })?;
    let mut status = parse(&output);
    if status.distance.is_none() {
        status.distance = ahead_behind(worktree, base);
    }
    Some(status)
}

fn as_reference(base: &str) -> String {
    match base {
        full if full.starts_with("refs/") => full.to_owned(),
        remote if remote.starts_with("origin/") => format!("refs/remotes/{remote}"),
        branch => format!("refs/heads/{branch}"),
    }
}

fn with_upstream(git: Git, branch: &str, base: &str) -> Git {
    const REMOTE: &str = "orange-base";
    const SOURCE: &str = "refs/orange/base";
    let short = ["refs/remotes/origin/", "refs/heads/"]
        .iter()
        .find_map(|start| base.strip_prefix(start))
        .unwrap_or(base);
    // What the branch has as its upstream already stays the first one: usually its own name, once it was
    // pushed, or the branch it was made from. Those lead to the base as well.
    let settings = [
        format!("branch.{branch}.remote={REMOTE}"),
        format!("branch.{branch}.merge={SOURCE}"),
        format!("remote.{REMOTE}.url=."),
        format!("remote.{REMOTE}.fetch={SOURCE}:{base}"),
        format!("remote.{REMOTE}.fetch=refs/heads/{branch}:{base}"),
        format!("remote.{REMOTE}.fetch=refs/heads/{short}:{base}"),
    ];
    git.settings(&settings)
}

fn ask(worktree: &Path, settings: impl Fn(Git) -> Git) -> Option<Vec<u8>> {
    let said = hidden::look_past_flags(worktree, |git| {
        settings(git)
            .timeout(TIMEOUT)
            .args([
                "status",
                "--porcelain=v2",
                "--branch",
                "--ahead-behind",
                "-z",
            ])
            .args(["--untracked-files=normal", "--no-renames"])
            .run()
    });
    let said = said.ok()?;
    said.success.then_some(said.stdout)
}

/// Reads porcelain v2. Without renames every part is one entry.
fn parse(output: &[u8]) -> WorktreeStatus {
    let mut dirt = Dirt::default();
    let (mut branch, mut distance) = (None, None);
    for entry in output.split(|byte| *byte == 0) {
        match entry.split_first() {
            Some((b'1' | b'2', _)) => dirt.changed += 1,
            Some((b'u', _)) => {
                dirt.changed += 1;
                dirt.conflicts += 1;
            }
            Some((b'?', _)) => dirt.untracked += 1,
            Some((b'#', _)) => {
                branch = branch.or_else(|| branch_in(entry));
                distance = distance.or_else(|| distance_in(entry));
            }
            Some(_) | None => {}
        }
    }
    WorktreeStatus {
        branch,
        dirt,
        distance,
    }
}

/// `# branch.head feature`
fn branch_in(header: &[u8]) -> Option<String> {
    let name = header.strip_prefix(b"# branch.head ")?;
    (name != b"(detached)").then(|| String::from_utf8_lossy(name).into_owned())
}

/// `# branch.ab +2 -1`
fn distance_in(header: &[u8]) -> Option<AheadBehind> {
    let text = std::str::from_utf8(header).ok()?;
    AheadBehind::read(text.strip_prefix("# branch.ab +")?.split_once(" -")?)
}

//! What branches have of their own: since which commit, how many commits, how many lines. Two processes for all of
//! them, because a list asks about every active task at once.

use super::rescue::refs::empty_tree;
use super::{Git, GitOutput, refs};
use orange_sys::error::{Result, err};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// What a branch has that its targets have not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where it left them; None: it shares no history with them.
    pub base: Option<String>,
    pub commits: u32,
}

/// How much two commits differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    pub files: u32,
    pub added: u32,
    pub deleted: u32,
}

/// The span of each head, in their order; one that cannot be told does not hide the others. A commit that is in any of the targets is nobody's own: a local branch and
/// the remote's of the same name may both be behind the other.
pub fn spans(
    repository: &Path,
    heads: &[&str],
    targets: &[&str],
    until: Option<Instant>,
) -> Result<Vec<Result<Span>>> {
    // Git would take other words on its input for options.
    if let Some(word) = heads.iter().chain(targets).find(|id| !refs::is_id(id)) {
        return Err(err!(Failed, "{word:?} is no commit"));
    }
    let heads_in = heads.iter().map(|head| format!("{head}\n"));
    let targets_out = targets.iter().map(|target| format!("^{target}\n"));
    let text = within(Git::at(repository).quiet(), until)
        .args(["rev-list", "--parents", "--ignore-missing", "--stdin"])
        .input(heads_in.chain(targets_out).collect::<String>())
        .text()?;
    let lines = text.lines().map(|line| line.split(' '));
    let lines = lines.filter_map(|mut ids| Some((ids.next()?, ids.collect())));
    let parents: HashMap<&str, Vec<&str>> = lines.collect();
    let span = |head: &&str| span(repository, head, targets, &parents, until);
    Ok(heads.iter().map(span).collect())
}

fn span(
    repository: &Path,
    head: &str,
    targets: &[&str],
    parents: &HashMap<&str, Vec<&str>>,
    until: Option<Instant>,
) -> Result<Span> {
    if !parents.contains_key(head) {
        return Ok(Span {
            base: Some(head.to_owned()),
            commits: 0,
        });
    }
    let (mut own, mut left) = (HashSet::from([head]), HashSet::new());
    let mut open = vec![head];
    while let Some(commit) = open.pop() {
        for parent in parents.get(commit).into_iter().flatten() {
            if !parents.contains_key(parent) {
                left.insert(*parent);
            } else if own.insert(parent) {
                open.push(parent);
            }
        }
    }
    let mut left = left.into_iter();
    let base = match (left.next(), left.next()) {
        (only, None) => only.map(str::to_owned),
        // It took in what happened on the target meanwhile: which of these commits is the last, git knows.
        (Some(_), Some(_)) => {
            let git = within(Git::at(repository).quiet(), until);
            let text = git.args(["merge-base", head]).args(targets).text()?;
            text.lines().next().map(str::to_owned)
        }
        (None, Some(_)) => None,
    };
    Ok(Span {
        base,
        commits: u32::try_from(own.len()).unwrap_or(u32::MAX),
    })
}

/// How much each pair of commits (from, to) differs; None where git did not come to an answer. What it said before
/// its time was over counts.
pub fn sizes(
    repository: &Path,
    pairs: &[(Option<&str>, &str)],
    until: Option<Instant>,
) -> Result<Vec<Option<Size>>> {
    let mut sizes = vec![None; pairs.len()];
    let line = |(from, to): &(Option<&str>, &str)| from.map(|from| format!("{to} {from}\n"));
    let input: String = pairs.iter().filter_map(line).collect();
    if !input.is_empty() {
        let said = counting(repository, until)
            // Always: one with no difference is named too.
            .args(["--always", "--stdin"])
            .input(input)
            .run()?;
        read_sizes(&said, pairs, &mut sizes);
    }
    for (size, (from, to)) in sizes.iter_mut().zip(pairs) {
        if from.is_none() {
            let tree = empty_tree(repository)?;
            let said = counting(repository, until)
                .args([tree.as_str(), to])
                .run()?;
            *size = said
                .success
                .then(|| read_size(&said.text()).unwrap_or_default());
        }
    }
    Ok(sizes)
}

fn counting(repository: &Path, until: Option<Instant>) -> Git {
    within(Git::at(repository).quiet(), until)
        .args(["diff-tree", "-r", "-M", "--shortstat"])
        .args(["--no-ext-diff", "--no-textconv"])
}

/// A line with the commit, then perhaps one with its numbers. Git says them in the order it was asked in, and passes
/// over what it does not find.
fn read_sizes(said: &GitOutput, pairs: &[(Option<&str>, &str)], sizes: &mut [Option<Size>]) {
    let text = String::from_utf8_lossy(&said.stdout);
    // The last line may be cut off when time is over, and the commit before it may have had one.
    let whole = if said.success {
        text.len()
    } else {
        text.rfind('\n').map_or(0, |end| end + 1)
    };
    let mut at = None;
    let mut next = 0;
    for line in text[..whole].lines() {
        if let Some(size) = read_size(line) {
            if let Some(at) = at {
                sizes[at] = Some(size);
            }
            continue;
        }
        let asked = |(from, to): &(Option<&str>, &str)| from.is_some() && *to == line.trim();
        at = pairs
            .iter()
            .skip(next)
            .position(asked)
            .map(|more| next + more);
        if let Some(at) = at {
            sizes[at] = Some(Size::default());
            next = at + 1;
        }
    }
    if let (false, Some(last)) = (said.success, at) {
        sizes[last] = None;
    }
}

/// ` 3 files changed, 10 insertions(+), 2 deletions(-)`
fn read_size(line: &str) -> Option<Size> {
    let mut size = Size::default();
    let mut parts = line.trim().split(", ");
    let number = |part: &str| part.split(' ').next()?.parse().ok();
    let files = parts.next()?;
    if !files.ends_with(" changed") {
        return None;
    }
    size.files = number(files)?;
    for part in parts {
        match part {
            added if added.contains("insertion") => size.added = number(added)?,
            deleted if deleted.contains("deletion") => size.deleted = number(deleted)?,
            _ => return None,
        }
    }
    Some(size)
}

pub(super) fn within(git: Git, until: Option<Instant>) -> Git {
    match until {
        None => git,
        // With no time left git is stopped at once, which is said as for any other.
        Some(until) => {
            let left = until.saturating_duration_since(Instant::now());
            git.timeout(left.max(Duration::from_millis(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::git;
    use std::fs;

    fn commit(folder: &Path, file: &str, text: &str) -> String {
        fs::write(folder.join(file), text).unwrap();
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", file]);
        git(folder, &["rev-parse", "HEAD"])
    }

    #[test]
    fn many_branches_are_what_git_says_of_each() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        git(folder, &["init", "-q", "-b", "main"]);
        commit(folder, "a", "1\n2\n");
        let root = commit(folder, "b", "1\n");
        git(folder, &["checkout", "-q", "-b", "plain"]);
        let plain = commit(folder, "a", "1\n3\n4\n");
        git(folder, &["checkout", "-q", "-b", "above"]);
        git(folder, &["mv", "b", "c"]);
        let above = commit(folder, "d", "new\n");
        let undone = {
            git(folder, &["checkout", "-q", "-b", "undone", "main"]);
            commit(folder, "e", "1\n");
            git(folder, &["revert", "--no-edit", "HEAD"]);
            git(folder, &["rev-parse", "HEAD"])
        };
        git(folder, &["checkout", "-q", "main"]);
        let main = commit(folder, "main", "1\n");
        git(folder, &["checkout", "-q", "-b", "merging", "plain"]);
        git(folder, &["merge", "-q", "--no-edit", "main"]);
        let merging = commit(folder, "f", "1\n");
        git(folder, &["checkout", "-q", "--orphan", "island"]);
        let island = commit(folder, "island", "1\n");
        let heads = [&plain, &above, &undone, &merging, &island, &root, &main];
        let heads = heads.map(String::as_str);
        let spans = spans(folder, &heads, &[&main, &root], None).unwrap();
        let spans: Vec<Span> = spans.into_iter().map(|span| span.unwrap()).collect();
        let told: Vec<_> = spans
            .iter()
            .map(|span| (span.base.as_deref(), span.commits))
            .collect();
        assert_eq!(
            told,
            [
                (Some(root.as_str()), 1),
                (Some(&root), 2),
                (Some(&root), 2),
                (Some(&main), 3),
                (None, 1),
                (Some(&root), 0),
                (Some(&main), 0),
            ]
        );
        let pairs: Vec<_> = spans
            .iter()
            .map(|span| span.base.as_deref())
            .zip(heads)
            .collect();
        let sizes = sizes(folder, &pairs, None).unwrap();
        let size = |files, added, deleted| {
            Some(Size {
                files,
                added,
                deleted,
            })
        };
        assert_eq!(sizes[..3], [size(1, 2, 1), size(3, 3, 1), size(0, 0, 0)]);
        assert_eq!(sizes[3], size(2, 3, 1));
        assert_eq!(sizes[4].map(|size| size.deleted), Some(0));
        assert_eq!(sizes[5..], [size(0, 0, 0), size(0, 0, 0)]);
        assert!(super::spans(folder, &["--all"], &[&main], None).is_err());
    }

    #[test]
    fn what_git_said_before_its_time_was_over_counts() {
        let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
        let pairs = [one.as_str(), &two, &three].map(|head| (Some("base"), head));
        let read = |stdout: String, success| {
            let mut sizes = vec![None; 3];
            let said = GitOutput {
                success,
                code: Some(i32::from(!success)),
                stdout: stdout.into_bytes(),
                stderr: String::new(),
                lock: None,
            };
            read_sizes(&said, &pairs, &mut sizes);
            sizes
                .into_iter()
                .map(|size| size.map(|size| size.files))
                .collect::<Vec<_>>()
        };
        let lines = |files: u32| format!(" {files} files changed, 1 insertion(+)\n");
        let first = format!("{one}\n{}{two}\n", lines(4));
        assert_eq!(read(first.clone(), true), [Some(4), Some(0), None]);
        // Whether the second has a line was not said any more.
        assert_eq!(read(first.clone(), false), [Some(4), None, None]);
        assert_eq!(read(format!("{first} 3 fi"), false), [Some(4), None, None]);
        // One that it did not find is passed over.
        let gap = format!("{one}\n{}{three}\n{}", lines(4), lines(5));
        assert_eq!(read(gap, true), [Some(4), None, Some(5)]);
    }
}

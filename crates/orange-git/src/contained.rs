//! Is a branch's work in another branch? Its commits may be there, or only what they change: squashed, rebased,
//! picked one by one, or typed in again.

use super::Git;
use super::questions::tree_of;
use orange_sys::error::Result;
use std::path::Path;

/// How much of a branch's work is in another branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// Its head.
    Head,
    /// All that it changes. The commit that did so, where it was a single one.
    Change(Option<String>),
    /// Not, or not as it was: so many commits of it are not there.
    No { commits: u64 },
}

/// Looks for the work that ends in `head` in the commit or branch `target`.
pub fn contained(repository: &Path, head: &str, target: &str) -> Result<Landed> {
    if super::is_ancestor(repository, head, target)? {
        return Ok(Landed::Head);
    }
    let commits = super::commits_ahead(repository, head, target)?.unwrap_or(0);
    let base = Git::at(repository).args(["merge-base", target, head]);
    // Without a common past there is no change to look for.
    let Some(base) = base.ask()? else {
        return Ok(Landed::No { commits });
    };
    // Git compares commits by what they change. So the whole change becomes one: perhaps one of the target makes it at once.
    let whole = stand_in(repository, &base, &format!("{head}^{{tree}}"))?;
    if let Some(commit) = twin(repository, &whole, target)? {
        return Ok(Landed::Change(Some(commit)));
    }
    if picked(repository, head, target)? || changes_nothing(repository, head, target)? {
        return Ok(Landed::Change(None));
    }
    Ok(Landed::No { commits })
}

/// Is each commit there under another name?
fn picked(repository: &Path, head: &str, target: &str) -> Result<bool> {
    let own = Git::at(repository)
        .quiet()
        .args(["rev-list", "--parents"])
        .arg(format!("{target}..{head}"))
        .arg("--")
        .text()?;
    for line in own.lines() {
        let mut ids = line.split(' ');
        // One that joins lines may say more than its parents do, and nobody picks it.
        let (Some(commit), Some(_), None) = (ids.next(), ids.next(), ids.next()) else {
            return Ok(false);
        };
        if twin(repository, commit, target)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The newest commit of the target that changes the same, unless that was taken back since.
fn twin(repository: &Path, commit: &str, target: &str) -> Result<Option<String>> {
    let wanted = change_of(repository, commit)?;
    for alike in alike(repository, commit, target)? {
        if change_of(repository, &alike)? == wanted {
            let undone = stand_in(repository, &alike, &format!("{alike}^1^{{tree}}"))?;
            let is_undone = !self::alike(repository, &undone, target)?.is_empty();
            return Ok((!is_undone).then_some(alike));
        }
    }
    Ok(None)
}

/// Commits that only the target has and that git takes for one of those that only the other has, newest first. Git
/// passes over blanks, which mean something in many files.
fn alike(repository: &Path, commit: &str, target: &str) -> Result<Vec<String>> {
    let marked = Git::at(repository)
        .quiet()
        .args(["rev-list", "--no-merges", "--left-only", "--cherry-mark"])
        .arg(format!("{target}...{commit}"))
        .arg("--")
        .text()?;
    let same = marked.lines().filter_map(|line| line.strip_prefix('='));
    Ok(same.map(str::to_owned).collect())
}

/// What a commit changes, wherever in its files that is.
fn change_of(repository: &Path, commit: &str) -> Result<Vec<Vec<u8>>> {
    let said = Git::at(repository)
        .quiet()
        .args(["diff-tree", "-p", "--binary", "--root", "--no-commit-id"])
        .args(["--no-ext-diff", "--no-textconv", "--no-renames", commit])
        .checked()?;
    let lines = said.stdout.split(|byte| *byte == b'\n');
    // Lines of files have a sign in front, so these are git's own.
    let lines = lines.filter(|line| !line.starts_with(b"index ") && !line.starts_with(b"@@ "));
    Ok(lines.map(<[u8]>::to_vec).collect())
}

/// A commit with these files that nothing refers to; made with the same date every time, it is the same object every
/// time.
pub(super) fn stand_in(repository: &Path, parent: &str, tree: &str) -> Result<String> {
    Git::at(repository)
        .quiet()
        .by_orange("@0 +0000")
        .args(["commit-tree", "-p", parent, "-m", "a stand-in", tree])
        .text()
}

/// Would a merge leave the target as it is?
fn changes_nothing(repository: &Path, head: &str, target: &str) -> Result<bool> {
    let merged = Git::at(repository)
        .quiet()
        .args(["merge-tree", "--write-tree", "--no-messages", target, head])
        .ask()?;
    Ok(merged.is_some() && merged == Some(tree_of(repository, target)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct World(tempfile::TempDir);

    fn lines() -> String {
        (0..10).map(|line| format!("line {line}\n")).collect()
    }

    impl World {
        /// main with a file of ten lines, and a branch `work` with two commits.
        fn new() -> World {
            let world = World(tempfile::tempdir().unwrap());
            world.git(&["init", "-q", "-b", "main"]);
            world.commit("file", &lines());
            world.git(&["switch", "-q", "-c", "work"]);
            world.commit("one", "1\n");
            world.commit("file", &lines().replace("line 5", "line five"));
            world.git(&["switch", "-q", "main"]);
            world
        }

        fn git(&self, words: &[&str]) -> String {
            crate::tests::git(self.0.path(), words)
        }

        fn commit(&self, file: &str, content: &str) -> String {
            fs::write(self.0.path().join(file), content).unwrap();
            self.git(&["add", "--all"]);
            self.git(&["commit", "-q", "-m", file]);
            self.git(&["rev-parse", "HEAD"])
        }

        fn landed(&self) -> Landed {
            contained(self.0.path(), "work", "main").unwrap()
        }
    }

    #[test]
    fn work_that_is_nowhere_else_is_not_there() {
        let world = World::new();
        assert_eq!(world.landed(), Landed::No { commits: 2 });
        world.commit("other", "elsewhere\n");
        world.git(&["cherry-pick", "work~1"]);
        assert_eq!(
            world.landed(),
            Landed::No { commits: 2 },
            "only half of it is there"
        );
    }

    #[test]
    fn merged_is_merged() {
        let world = World::new();
        world.git(&["merge", "-q", "--no-ff", "--no-edit", "work"]);
        assert_eq!(world.landed(), Landed::Head);
    }

    #[test]
    fn a_squash_is_found_and_named_even_when_its_lines_changed_again() {
        let world = World::new();
        world.commit("other", "elsewhere\n");
        world.git(&["merge", "-q", "--squash", "work"]);
        world.git(&["commit", "-q", "-m", "squashed"]);
        let squash = world.git(&["rev-parse", "HEAD"]);
        assert_eq!(world.landed(), Landed::Change(Some(squash.clone())));
        world.commit("file", "all new\n");
        assert_eq!(world.landed(), Landed::Change(Some(squash)));
    }

    #[test]
    fn commits_picked_one_by_one_are_found() {
        let world = World::new();
        world.commit("other", "elsewhere\n");
        world.git(&["cherry-pick", "work~1"]);
        world.commit("other", "in between\n");
        world.git(&["cherry-pick", "work"]);
        world.commit("one", "changed since\n");
        assert_eq!(world.landed(), Landed::Change(None));
    }

    #[test]
    fn the_same_text_typed_in_again_is_found() {
        let world = World::new();
        world.git(&["checkout", "-q", "work", "--", "file"]);
        world.git(&["commit", "-q", "-m", "by hand"]);
        world.commit("one", "1\n");
        world.commit("other", "elsewhere\n");
        assert_eq!(world.landed(), Landed::Change(None));
    }

    #[test]
    fn binary_files_are_compared_by_their_content() {
        let world = World::new();
        world.git(&["switch", "-q", "-C", "work", "main"]);
        fs::write(world.0.path().join("picture"), b"\0ours").unwrap();
        world.git(&["add", "--all"]);
        world.git(&["commit", "-q", "-m", "ours"]);
        world.git(&["switch", "-q", "main"]);
        fs::write(world.0.path().join("picture"), b"\0theirs").unwrap();
        world.git(&["add", "--all"]);
        world.git(&["commit", "-q", "-m", "theirs"]);
        assert_eq!(world.landed(), Landed::No { commits: 1 });
    }

    #[test]
    fn blanks_count() {
        let world = World::new();
        world.git(&["switch", "-q", "-C", "work", "main"]);
        world.commit("file", &lines().replace("line 5", "    line 5"));
        world.git(&["switch", "-q", "main"]);
        world.commit("file", &lines().replace("line 5", "  line 5"));
        assert_eq!(world.landed(), Landed::No { commits: 1 });
    }

    #[test]
    fn what_was_taken_back_is_not_there() {
        let squashed = World::new();
        squashed.git(&["merge", "-q", "--squash", "work"]);
        squashed.git(&["commit", "-q", "-m", "squashed"]);
        squashed.git(&["revert", "--no-edit", "HEAD"]);
        squashed.commit("other", "elsewhere\n");
        assert_eq!(squashed.landed(), Landed::No { commits: 2 });
        squashed.git(&["revert", "--no-edit", "HEAD~1"]);
        let again = squashed.git(&["rev-parse", "HEAD"]);
        assert_eq!(squashed.landed(), Landed::Change(Some(again)));

        let picked = World::new();
        picked.commit("other", "elsewhere\n");
        picked.git(&["cherry-pick", "work~1", "work"]);
        picked.git(&["revert", "--no-edit", "HEAD"]);
        assert_eq!(picked.landed(), Landed::No { commits: 2 });
    }

    #[test]
    fn a_merge_that_says_more_than_its_parents_is_not_there_when_they_are() {
        let world = World::new();
        world.commit("other", "elsewhere\n");
        world.git(&["cherry-pick", "work~1", "work"]);
        world.git(&["switch", "-q", "work"]);
        world.git(&["merge", "-q", "--no-commit", "main"]);
        world.commit("more", "in the merge itself\n");
        world.git(&["switch", "-q", "main"]);
        assert_eq!(world.landed(), Landed::No { commits: 3 });
    }

    #[test]
    fn an_unrelated_history_is_not_there() {
        let world = World::new();
        world.git(&["switch", "-q", "--orphan", "other"]);
        world.commit("file", "of its own\n");
        world.git(&["branch", "-q", "-f", "work", "other"]);
        assert_eq!(world.landed(), Landed::No { commits: 1 });
    }
}

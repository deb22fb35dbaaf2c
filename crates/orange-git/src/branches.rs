//! All branches of a repository, read at once: a list asks for many of them, and mostly they lie in files that need no
//! process. A repository that keeps its refs in another way is asked through git, once.

use super::rescue::common_dir;
use super::{Git, refs, state};
use orange_sys::error::Result;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is read; whatever else a repository has, nobody asks for here.
const ROOTS: [&str; 2] = ["refs/heads", "refs/remotes/origin"];

/// A ref may stand for another one, but not for ever.
const STEPS: usize = 5;

type Packed = HashMap<String, String>;

/// The branches as they are now, here and at `origin`.
pub enum Branches {
    Files {
        git: PathBuf,
        /// Full names. Only these are opened, so no name leads out of the folder.
        loose: HashSet<String>,
        packed: RefCell<Option<Packed>>,
    },
    Asked(Packed),
}

impl Branches {
    /// Git, where it has to be asked, may take so long. A repository that says nothing has no branches.
    pub fn of(repository: &Path, timeout: Duration) -> Branches {
        let Some(git) = files_of(repository) else {
            return Branches::Asked(asked(repository, timeout));
        };
        let mut loose = HashSet::new();
        for root in ROOTS {
            collect(&git.join(root), root, &mut loose);
        }
        Branches::Files {
            git,
            loose,
            packed: RefCell::default(),
        }
    }

    /// The names of those here, sorted.
    pub fn local(&self) -> Vec<String> {
        let short = |name: &String| name.strip_prefix("refs/heads/").map(str::to_owned);
        let mut names: Vec<String> = match self {
            Branches::Asked(all) => all.keys().filter_map(short).collect(),
            Branches::Files { git, loose, packed } => {
                // Packed ones are read by whoever asks for one.
                in_packed(git, packed, "");
                let packed = packed.borrow();
                let packed = packed.iter().flat_map(|all| all.keys());
                loose.iter().chain(packed).filter_map(short).collect()
            }
        };
        names.sort();
        names.dedup();
        names
    }

    /// The commit of a branch, by its full name.
    pub fn commit(&self, name: &str) -> Option<String> {
        match self {
            Branches::Asked(all) => all.get(name).cloned(),
            Branches::Files { git, loose, packed } => {
                let mut name = name.to_owned();
                for _ in 0..STEPS {
                    let found = if loose.contains(&name) {
                        in_file(git, packed, &name)?
                    } else {
                        in_packed(git, packed, &name)?
                    };
                    match found.strip_prefix("ref:") {
                        Some(other) => name = other.trim().to_owned(),
                        None => return refs::is_id(&found).then_some(found),
                    }
                }
                None
            }
        }
    }
}

fn in_file(git: &Path, packed: &RefCell<Option<Packed>>, name: &str) -> Option<String> {
    if let Ok(text) = fs::read_to_string(git.join(name)) {
        return Some(text.trim_end().to_owned());
    }
    // Packed since the folder was read, and perhaps after the packed ones were.
    packed.take();
    in_packed(git, packed, name)
}

/// Read only after the loose ones were looked at: git packs before it deletes.
fn in_packed(git: &Path, packed: &RefCell<Option<Packed>>, name: &str) -> Option<String> {
    let mut packed = packed.borrow_mut();
    let all = packed.get_or_insert_with(|| {
        let text = fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
        read(&text)
    });
    all.get(name).cloned()
}

/// The folder with the refs, if they are plain files.
fn files_of(repository: &Path) -> Option<PathBuf> {
    let own = if repository.join(".git").exists() {
        state::git_folder(repository).ok()?
    } else {
        // A bare one.
        repository.to_owned()
    };
    let git = common_dir(&own);
    let plain = git.join("refs/heads").is_dir() && git.join("objects").is_dir();
    (plain && refs::uses_files(&git)).then_some(git)
}

fn collect(folder: &Path, name: &str, found: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (Ok(kind), Ok(part)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        let name = format!("{name}/{part}");
        if kind.is_dir() {
            collect(&entry.path(), &name, found);
        } else if kind.is_file() && !part.ends_with(".lock") {
            found.insert(name);
        }
    }
}

fn asked(repository: &Path, timeout: Duration) -> Packed {
    let said = Git::at(repository)
        .quiet()
        .timeout(timeout)
        .args(["for-each-ref", "--format=%(objectname) %(refname)"])
        .args(ROOTS)
        .ask();
    let text = said.ok().flatten().unwrap_or_default();
    read(&text)
}

/// A line each: `id name`.
fn read(text: &str) -> Packed {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let wanted = lines.filter(|(_, name)| ROOTS.iter().any(|root| name.starts_with(root)));
    wanted
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect()
}

/// The full names of all refs below these, each of which ends in `/`.
pub fn refs_below(repository: &Path, below: &[&str]) -> Result<Vec<String>> {
    let git = Git::at(repository)
        .quiet()
        .args(["for-each-ref", "--format=%(refname)"]);
    git.args(below).lines()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit_of;
    use crate::site::Behalf;
    use crate::tests::git;

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn they_are_what_git_says() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        let tables = folder.path().join("tables");
        fs::create_dir(&plain).unwrap();
        fs::create_dir(&tables).unwrap();
        git(&plain, &["init", "-q", "-b", "main"]);
        let reftable = ["init", "-q", "-b", "main", "--ref-format=reftable"];
        // Gits of today only.
        let has_tables = Behalf::nobody()
            .at(&tables)
            .git()
            .args(reftable)
            .run()
            .unwrap()
            .success;
        for repository in [Some(&plain), has_tables.then_some(&tables)]
            .into_iter()
            .flatten()
        {
            git(repository, &["commit", "-q", "--allow-empty", "-m", "one"]);
            for name in ["packed", "a/b", "größe", "both"] {
                git(repository, &["branch", name]);
            }
            git(
                repository,
                &["update-ref", "refs/remotes/origin/main", "HEAD"],
            );
            git(repository, &["pack-refs", "--all"]);
            git(repository, &["commit", "-q", "--allow-empty", "-m", "two"]);
            git(repository, &["branch", "-f", "both", "main"]);
            git(
                repository,
                &["symbolic-ref", "refs/heads/alias", "refs/heads/a/b"],
            );
            let branches = Branches::of(repository, TIMEOUT);
            let names = ["a/b", "alias", "both", "größe", "main", "packed"];
            assert_eq!(branches.local(), names, "{repository:?}");
            for name in [
                "heads/main",
                "heads/packed",
                "heads/a/b",
                "heads/a",
                "heads/größe",
                "heads/both",
                "heads/alias",
                "heads/none",
                "heads/../heads/main",
                "heads/",
                "remotes/origin/main",
                "remotes/origin/none",
            ] {
                let full = format!("refs/{name}");
                let said = if name.contains("..") || name.ends_with('/') {
                    None
                } else {
                    commit_of(repository, &full).unwrap()
                };
                assert_eq!(branches.commit(&full), said, "{name} in {repository:?}");
            }
        }
        let bare = folder.path().join("bare");
        git(
            &plain,
            &["clone", "-q", "--bare", ".", bare.to_str().unwrap()],
        );
        let slot = folder.path().join("slot");
        git(
            &plain,
            &["worktree", "add", "-q", "--detach", slot.to_str().unwrap()],
        );
        let main = git(&plain, &["rev-parse", "main"]);
        for place in [&bare, &slot] {
            let branches = Branches::of(place, TIMEOUT);
            assert!(matches!(branches, Branches::Files { .. }), "{place:?}");
            assert_eq!(branches.commit("refs/heads/main").as_ref(), Some(&main));
        }
        let nowhere = Branches::of(&folder.path().join("none"), TIMEOUT);
        assert_eq!(nowhere.commit("refs/heads/main"), None);
    }

    #[test]
    fn a_branch_that_is_packed_meanwhile_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        git(folder, &["init", "-q", "-b", "main"]);
        git(folder, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(folder, &["branch", "topic"]);
        let branches = Branches::of(folder, TIMEOUT);
        assert_eq!(branches.commit("refs/heads/none"), None);
        git(folder, &["pack-refs", "--all"]);
        assert_eq!(
            branches.commit("refs/heads/topic"),
            branches.commit("refs/heads/main")
        );
        assert!(branches.commit("refs/heads/topic").is_some());
    }
}

//! The files of a repository that an agent CLI loads when project settings are on; which these are, says its folder. Consent is
//! bound to their git blobs; a link is refused, since it shows something else tomorrow.

use super::kind::Adapter;
use crate::error::{Error, IoContext, Result, err};
use crate::git::{self, Git, committed::text_of};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A longer file is listed without the commands in it.
const LONGEST_READ: u64 = 1024 * 1024;

/// What an agent CLI says of the files that it loads by itself.
#[derive(Debug)]
pub struct LoadedFiles {
    /// Is this a path of one, or of a folder of them?
    pub is_loaded: fn(&str) -> bool,
    /// May a file of that path say what is to be run?
    pub may_run: fn(&str) -> bool,
    /// What such a file would make it run or call, as far as Orange can tell.
    pub commands_in: fn(&str) -> Vec<String>,
}

/// A file as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectFile {
    pub path: String,
    pub blob: String,
    pub size: u64,
    /// What it would make the agent run or call, as far as Orange can tell.
    pub commands: Vec<String>,
}

/// The files that one agent CLI would load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFiles {
    kind: Adapter,
    /// By their paths.
    blobs: BTreeMap<String, Blob>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Blob {
    id: String,
    size: u64,
}

impl ProjectFiles {
    pub fn none(kind: Adapter) -> ProjectFiles {
        let blobs = BTreeMap::new();
        ProjectFiles { kind, blobs }
    }

    /// As a commit has them.
    pub fn at_commit(kind: Adapter, repository: &Path, commit: &str) -> Result<ProjectFiles> {
        let Some(loaded) = kind.project_files() else {
            return Ok(ProjectFiles::none(kind));
        };
        let said = as_committed(repository)
            .args(["ls-tree", "-r", "-l", "-z", "--full-tree"])
            .args(["--end-of-options", commit])
            .run()?;
        if !said.success {
            return Err(said.error(&format!("git ls-tree {}", git::short(commit))));
        }
        let mut found = BTreeMap::new();
        for line in said.parts() {
            // `100644 blob <object> <size>\t<path>`; a path that is not UTF-8 is refused in the worktree.
            let Some((facts, path)) = line.to_str().and_then(|line| line.split_once('\t')) else {
                continue;
            };
            if !(loaded.is_loaded)(path) {
                continue;
            }
            let facts: Vec<&str> = facts.split_ascii_whitespace().collect();
            let &[mode, _, id, size] = facts.as_slice() else {
                continue;
            };
            if !mode.starts_with("100") {
                let commit = git::short(commit);
                return Err(not_plain(kind, &format!("{path} at commit {commit}")));
            }
            let size = size.parse().unwrap_or(0);
            let id = id.to_owned();
            found.insert(path.to_owned(), Blob { id, size });
        }
        Ok(ProjectFiles { kind, blobs: found })
    }

    /// As they are in a worktree now: tracked, untracked and ignored ones.
    pub fn in_worktree(kind: Adapter, worktree: &Path) -> Result<ProjectFiles> {
        let mut paths = Vec::new();
        if let Some(loaded) = kind.project_files() {
            let walk = ProjectFileWalk {
                kind,
                loaded,
                worktree,
            };
            walk.collect(Path::new(""), false, &mut paths)?;
        }
        if paths.is_empty() {
            return Ok(ProjectFiles::none(kind));
        }
        // Without filters: what the agent reads counts, not what git would make of it.
        let input: String = paths.iter().map(|(path, _)| format!("{path}\n")).collect();
        let said = Git::in_slot(worktree)
            .args(["hash-object", "--no-filters", "--stdin-paths"])
            .input(input)
            .run()?;
        let ids = String::from_utf8_lossy(&said.stdout).into_owned();
        let ids: Vec<&str> = ids.lines().collect();
        if !said.success || ids.len() != paths.len() {
            return Err(said.error("git hash-object"));
        }
        let found = paths.into_iter().zip(ids).map(|((path, size), id)| {
            let id = id.to_owned();
            (path, Blob { id, size })
        });
        let blobs = found.collect();
        Ok(ProjectFiles { kind, blobs })
    }

    /// Who would load them.
    pub fn kind(&self) -> Adapter {
        self.kind
    }

    pub fn is_empty(&self) -> bool {
        self.blobs.is_empty()
    }

    /// What a consent is bound to.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        // No list of commands begins so.
        hash.update(self.kind.name());
        hash.update(b" project files 1\0");
        for (path, blob) in &self.blobs {
            for text in [path, &blob.id] {
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text.as_bytes());
            }
        }
        let digest = hash.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.blobs.keys().map(String::as_str)
    }

    /// The first file that is not as in `agreed`, and how it differs.
    pub fn difference<'a>(&'a self, agreed: &'a ProjectFiles) -> Option<(&'a str, &'static str)> {
        let mut paths: Vec<&String> = self.blobs.keys().chain(agreed.blobs.keys()).collect();
        paths.sort();
        paths.into_iter().find_map(|path| {
            let how = match (self.blobs.get(path), agreed.blobs.get(path)) {
                (Some(_), None) => "was added",
                (None, Some(_)) => "is missing",
                (Some(here), Some(there)) if here.id != there.id => "was changed",
                (Some(_), Some(_)) | (None, None) => return None,
            };
            Some((path.as_str(), how))
        })
    }

    pub fn contains(&self, path: &str) -> bool {
        self.blobs.contains_key(path)
    }

    /// For a person to look at.
    pub fn listed(&self, repository: &Path) -> Result<Vec<ProjectFile>> {
        let listed = self.blobs.iter().map(|(path, blob)| {
            Ok(ProjectFile {
                path: path.clone(),
                blob: blob.id.clone(),
                size: blob.size,
                commands: self.commands_of(repository, path, blob)?,
            })
        });
        listed.collect()
    }

    fn commands_of(&self, repository: &Path, path: &str, blob: &Blob) -> Result<Vec<String>> {
        let loaded = self.kind.project_files();
        let loaded = loaded.filter(|loaded| (loaded.may_run)(path) && blob.size <= LONGEST_READ);
        let Some(loaded) = loaded else {
            return Ok(Vec::new());
        };
        let said = as_committed(repository)
            .args(["cat-file", "blob", &blob.id])
            .run()?;
        if !said.success {
            return Err(said.error("git cat-file"));
        }
        let text = text_of(said.stdout);
        Ok(text.map_or_else(|_| Vec::new(), |text| (loaded.commands_in)(&text)))
    }
}

/// What was committed, and not what `git replace` shows in its place.
fn as_committed(repository: &Path) -> Git {
    Git::at(repository)
        .quiet()
        .env("GIT_NO_REPLACE_OBJECTS", "1")
}

/// A look through a worktree.
struct ProjectFileWalk<'a> {
    kind: Adapter,
    loaded: &'static LoadedFiles,
    worktree: &'a Path,
}

impl ProjectFileWalk<'_> {
    /// Collects plain files with their sizes. Links are not followed, and refused where the agent would follow them.
    fn collect(&self, below: &Path, inside: bool, found: &mut Vec<(String, u64)>) -> Result<()> {
        let folder = self.worktree.join(below);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Somebody else's folder, which the agent cannot read either.
            Err(_) if !inside && !below.as_os_str().is_empty() => return Ok(()),
            Err(error) => return Err(Error::io("read", &folder, &error)),
        };
        for entry in entries {
            let entry = entry.doing("read", &folder)?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type().doing("read", &entry.path())?;
            let wanted = inside || (self.loaded.is_loaded)(&path.to_string_lossy());
            if kind.is_dir() {
                if entry.file_name() != ".git" {
                    self.collect(&path, wanted, found)?;
                }
                continue;
            }
            if !wanted {
                continue;
            }
            let name = path.to_str().filter(|path| !path.contains(['\n', '"']));
            let name = name.ok_or_else(|| unnamable(self.kind, &path))?;
            if !kind.is_file() {
                return Err(not_plain(self.kind, name));
            }
            let size = entry.metadata().map_or(0, |found| found.len());
            found.push((name.to_owned(), size));
        }
        Ok(())
    }
}

fn not_plain(kind: Adapter, what: &str) -> Error {
    refused(kind, &format!("{what} is a link or no plain file"))
        .hint("replace it by the file itself, or set `agents.project_settings` to false")
}

fn unnamable(kind: Adapter, path: &Path) -> Error {
    refused(
        kind,
        &format!("{path:?} has a name that cannot be agreed to"),
    )
    .hint("rename or remove it, or set `agents.project_settings` to false")
}

fn refused(kind: Adapter, why: &str) -> Error {
    err!(
        ConditionUnmet,
        "{} cannot be started with the project's settings: {why}",
        kind.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> ProjectFiles {
        let files = list.iter().map(|(path, id)| {
            let id = (*id).to_owned();
            ((*path).to_owned(), Blob { id, size: 1 })
        });
        ProjectFiles {
            kind: crate::harness::list::TYPED,
            blobs: files.collect(),
        }
    }

    #[test]
    fn every_difference_is_named_and_has_a_hash_of_its_own() {
        let agreed = files(&[("a", "1"), ("b", "2")]);
        let others = [
            (files(&[("a", "1"), ("b", "3")]), ("b", "was changed")),
            (files(&[("a", "1")]), ("b", "is missing")),
            (
                files(&[("a", "1"), ("b", "2"), ("c", "1")]),
                ("c", "was added"),
            ),
        ];
        for (other, expected) in &others {
            assert_eq!(other.difference(&agreed), Some(*expected));
            assert_ne!(other.hash(), agreed.hash());
        }
        assert_eq!(agreed.difference(&agreed), None);
    }

    /// People agreed to hashes of this form: another one would ask them all again.
    #[test]
    fn consents_of_before_count() {
        let mut kinds = crate::harness::list::ALL.iter();
        let claude = kinds.find(|kind| kind.name() == "claude").unwrap();
        let given = ProjectFiles {
            kind: *claude,
            ..files(&[(".claude/settings.json", "1")])
        };
        let hash = "991c20feb925aae7ba4705b2ee7ab41e273aa12da6608981029906e0ce9117a8";
        assert_eq!(given.hash(), hash);
    }
}

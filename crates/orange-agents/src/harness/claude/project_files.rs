//! The files of a repository that claude loads when project settings are on: everything below a `.claude` folder, at any
//! depth, and `.mcp.json`. Consent is bound to their git blobs; a link is refused, since it shows something else tomorrow.

use super::sources::{SERVERS, commands_in};
use crate::error::{Error, IoContext, Result, err};
use crate::git::{self, Git, committed::text_of};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FOLDER: &str = ".claude";

/// A longer file is listed without the commands in it.
const LONGEST_READ: u64 = 1024 * 1024;

/// A file as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectFile {
    pub path: String,
    pub blob: String,
    pub size: u64,
    /// What it would make claude run or call, as far as Orange can tell.
    pub commands: Vec<String>,
}

/// Blobs by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles(BTreeMap<String, Blob>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Blob {
    id: String,
    size: u64,
}

impl ProjectFiles {
    /// As a commit has them.
    pub fn at_commit(repository: &Path, commit: &str) -> Result<ProjectFiles> {
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
            if !is_for_claude(path) {
                continue;
            }
            let facts: Vec<&str> = facts.split_ascii_whitespace().collect();
            let &[mode, _, id, size] = facts.as_slice() else {
                continue;
            };
            if !mode.starts_with("100") {
                let commit = git::short(commit);
                return Err(not_plain(&format!("{path} at commit {commit}")));
            }
            let size = size.parse().unwrap_or(0);
            let id = id.to_owned();
            found.insert(path.to_owned(), Blob { id, size });
        }
        Ok(ProjectFiles(found))
    }

    /// As they are in a worktree now: tracked, untracked and ignored ones.
    pub fn in_worktree(worktree: &Path) -> Result<ProjectFiles> {
        let mut paths = Vec::new();
        walk(worktree, Path::new(""), false, &mut paths)?;
        if paths.is_empty() {
            return Ok(ProjectFiles::default());
        }
        // Without filters: what claude reads counts, not what git would make of it.
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
        Ok(ProjectFiles(found.collect()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a consent is bound to.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        // No list of commands begins so.
        hash.update(b"claude project files 1\0");
        for (path, blob) in &self.0 {
            for text in [path, &blob.id] {
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text.as_bytes());
            }
        }
        let digest = hash.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The first file that is not as in `agreed`, and how it differs.
    pub fn difference<'a>(&'a self, agreed: &'a ProjectFiles) -> Option<(&'a str, &'static str)> {
        let mut paths: Vec<&String> = self.0.keys().chain(agreed.0.keys()).collect();
        paths.sort();
        paths.into_iter().find_map(|path| {
            let how = match (self.0.get(path), agreed.0.get(path)) {
                (Some(_), None) => "was added",
                (None, Some(_)) => "is missing",
                (Some(here), Some(there)) if here.id != there.id => "was changed",
                (Some(_), Some(_)) | (None, None) => return None,
            };
            Some((path.as_str(), how))
        })
    }

    pub fn contains(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// For a person to look at.
    pub fn listed(&self, repository: &Path) -> Result<Vec<ProjectFile>> {
        let listed = self.0.iter().map(|(path, blob)| {
            Ok(ProjectFile {
                path: path.clone(),
                blob: blob.id.clone(),
                size: blob.size,
                commands: commands_of(repository, path, blob)?,
            })
        });
        listed.collect()
    }
}

fn commands_of(repository: &Path, path: &str, blob: &Blob) -> Result<Vec<String>> {
    if !path.ends_with(".json") || blob.size > LONGEST_READ {
        return Ok(Vec::new());
    }
    let said = as_committed(repository)
        .args(["cat-file", "blob", &blob.id])
        .run()?;
    if !said.success {
        return Err(said.error("git cat-file"));
    }
    let text = text_of(said.stdout);
    Ok(text.map_or_else(|_| Vec::new(), |text| commands_in(&text)))
}

/// What was committed, and not what `git replace` shows in its place.
fn as_committed(repository: &Path) -> Git {
    Git::at(repository)
        .quiet()
        .env("GIT_NO_REPLACE_OBJECTS", "1")
}

/// In any case of letters: some file systems make no difference.
fn is_for_claude(path: &str) -> bool {
    let in_folder = path
        .split('/')
        .any(|part| part.eq_ignore_ascii_case(FOLDER));
    in_folder || path.eq_ignore_ascii_case(SERVERS)
}

/// Collects plain files with their sizes. Links are not followed, and refused where claude would follow them.
fn walk(worktree: &Path, below: &Path, inside: bool, found: &mut Vec<(String, u64)>) -> Result<()> {
    let folder = worktree.join(below);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        // Somebody else's folder, which claude cannot read either.
        Err(_) if !inside && !below.as_os_str().is_empty() => return Ok(()),
        Err(error) => return Err(Error::io("read", &folder, &error)),
    };
    for entry in entries {
        let entry = entry.doing("read", &folder)?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type().doing("read", &entry.path())?;
        let wanted = inside || is_for_claude(&path.to_string_lossy());
        if kind.is_dir() {
            if entry.file_name() != ".git" {
                walk(worktree, &path, wanted, found)?;
            }
            continue;
        }
        if !wanted {
            continue;
        }
        let name = path.to_str().filter(|path| !path.contains(['\n', '"']));
        let name = name.ok_or_else(|| unnamable(&path))?;
        if !kind.is_file() {
            return Err(not_plain(name));
        }
        let size = entry.metadata().map_or(0, |found| found.len());
        found.push((name.to_owned(), size));
    }
    Ok(())
}

fn not_plain(what: &str) -> Error {
    refused(format!("{what} is a link or no plain file"))
        .hint("replace it by the file itself, or set `agents.project_settings` to false")
}

fn unnamable(path: &Path) -> Error {
    refused(format!("{path:?} has a name that cannot be agreed to"))
        .hint("rename or remove it, or set `agents.project_settings` to false")
}

fn refused(why: String) -> Error {
    err!(
        ConditionUnmet,
        "claude cannot be started with the project's settings: {why}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_loads_is_known_by_its_path() {
        for path in [
            ".claude/x",
            "a/.claude/skills/y",
            ".mcp.json",
            ".claude",
            ".CLAUDE/x",
        ] {
            assert!(is_for_claude(path), "{path}");
        }
        for path in ["CLAUDE.md", "a/.mcp.json", "claude/x", ".claudes/x"] {
            assert!(!is_for_claude(path), "{path}");
        }
    }

    fn files(list: &[(&str, &str)]) -> ProjectFiles {
        let files = list.iter().map(|(path, id)| {
            let id = (*id).to_owned();
            ((*path).to_owned(), Blob { id, size: 1 })
        });
        ProjectFiles(files.collect())
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
}

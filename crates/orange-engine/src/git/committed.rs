//! Files as a commit has them. An agent can edit what is checked out around it, but not what was committed before it
//! came.

use super::{Git, short};
use crate::error::Result;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// What was looked for: a repository, a commit, and paths.
type Question = (PathBuf, String, Vec<OsString>);

/// A commit never changes, so its files need to be looked for once. One start asks several times.
static KNOWN: LazyLock<Mutex<HashMap<Question, Vec<Entry>>>> = LazyLock::new(Mutex::default);

/// More answers than any command needs; a process that lives long begins anew.
const MOST_KNOWN: usize = 200;

/// Some files of one commit.
pub(crate) struct Committed<'a> {
    repository: &'a Path,
    entries: Vec<Entry>,
}

/// A file, or a folder, in a commit.
#[derive(Debug, Clone)]
struct Entry {
    path: String,
    mode: String,
    object: String,
    size: u64,
}

/// A file that is there and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Where it stops being text.
    pub(crate) line: Option<usize>,
    pub(crate) reason: String,
}

impl<'a> Committed<'a> {
    /// Looks for these paths; one that ends with a slash stands for what is in that folder.
    pub(crate) fn at(
        repository: &'a Path,
        commit: &str,
        paths: &[impl AsRef<OsStr>],
    ) -> Result<Committed<'a>> {
        let paths: Vec<OsString> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        let question = (repository.to_owned(), commit.to_owned(), paths.clone());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = known().get(&question).cloned() {
            return Ok(Committed {
                repository,
                entries,
            });
        }
        let said = as_committed(repository)
            .args([
                "ls-tree",
                "-l",
                "-z",
                "--full-tree",
                "--end-of-options",
                commit,
            ])
            .args(paths)
            .run()?;
        if !said.success {
            return Err(said.error(&format!("git ls-tree {}", short(commit))));
        }
        let entries: Vec<Entry> = said.parts().filter_map(entry).collect();
        // Only an id names the same commit for ever.
        if matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let mut known = known();
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            known.insert(question, entries.clone());
        }
        Ok(Committed {
            repository,
            entries,
        })
    }

    /// Everything that was found.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.path.as_str())
    }

    /// The text of a file, if the commit has it; why it cannot be used, if it cannot.
    pub(crate) fn file(
        &self,
        path: &str,
        max_bytes: u64,
    ) -> Result<Option<std::result::Result<String, Unreadable>>> {
        let Some(entry) = self.entries.iter().find(|entry| entry.path == path) else {
            return Ok(None);
        };
        let unreadable =
            |line: Option<usize>, reason: String| Ok(Some(Err(Unreadable { line, reason })));
        if !entry.mode.starts_with("100") {
            return unreadable(None, "it is not a plain file".into());
        }
        if entry.size > max_bytes {
            return unreadable(None, format!("it is larger than {}", spoken(max_bytes)));
        }
        let said = as_committed(self.repository)
            .args(["cat-file", "blob", &entry.object])
            .run()?;
        if !said.success {
            return Err(said.error("git cat-file"));
        }
        match text_of(said.stdout) {
            Ok(text) => Ok(Some(Ok(text))),
            Err(line) => unreadable(Some(line), "it is not UTF-8".into()),
        }
    }
}

/// Nobody's `git replace` stands in for what was committed.
fn as_committed(repository: &Path) -> Git {
    Git::at(repository)
        .quiet()
        .env("GIT_NO_REPLACE_OBJECTS", "1")
}

/// `100644 blob <object> <size>\t<path>`.
fn entry(line: &OsStr) -> Option<Entry> {
    let (facts, path) = line.to_str()?.split_once('\t')?;
    let mut facts = facts.split_ascii_whitespace();
    let (mode, _kind, object, size) = (facts.next()?, facts.next()?, facts.next()?, facts.next()?);
    Some(Entry {
        path: path.to_owned(),
        mode: mode.to_owned(),
        object: object.to_owned(),
        // A folder has no size.
        size: size.parse().unwrap_or(0),
    })
}

/// Limits are whole kilobytes or megabytes.
fn spoken(bytes: u64) -> String {
    match bytes / 1024 {
        kilobytes if kilobytes % 1024 == 0 => format!("{} MB", kilobytes / 1024),
        kilobytes => format!("{kilobytes} KB"),
    }
}

/// The text, or the line that is not UTF-8.
pub(crate) fn text_of(bytes: Vec<u8>) -> std::result::Result<String, usize> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        1 + error
            .as_bytes()
            .iter()
            .take(good)
            .filter(|byte| **byte == b'\n')
            .count()
    })
}

//! Files as a commit has them. An agent can edit what is checked out around it, but not what was committed before it
//! came.

use super::refs::is_id;
use super::{Git, short};
use orange_sys::error::Result;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// A commit never changes, so its files need to be looked for once. One start asks several times.
static KNOWN: LazyLock<Mutex<HashMap<(PathBuf, String), KnownPaths>>> =
    LazyLock::new(Mutex::default);

/// More commits than any command needs; a process that lives long begins anew.
const MOST_KNOWN: usize = 200;

/// What was looked for in a commit, and what was there.
#[derive(Debug, Clone, Default)]
struct KnownPaths {
    paths: Vec<String>,
    entries: Vec<TreeEntry>,
}

/// Some files of one commit.
pub struct CommittedFiles<'a> {
    repository: &'a Path,
    entries: Vec<TreeEntry>,
}

/// A file, or a folder, in a commit.
#[derive(Debug, Clone)]
struct TreeEntry {
    path: String,
    mode: String,
    object: String,
    size: u64,
}

/// A file that is there and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableFile {
    /// Where it stops being text.
    pub line: Option<usize>,
    pub reason: String,
}

impl<'a> CommittedFiles<'a> {
    /// Looks for these paths; one that ends with a slash stands for what is in that folder.
    pub fn at(
        repository: &'a Path,
        commit: &str,
        paths: &[impl AsRef<str>],
    ) -> Result<CommittedFiles<'a>> {
        CommittedFiles::looking_ahead(repository, commit, paths, std::iter::empty())
    }

    /// The same. If git has to be asked, it is asked for `later` too: those paths are looked for next.
    pub fn looking_ahead(
        repository: &'a Path,
        commit: &str,
        paths: &[impl AsRef<str>],
        later: impl Iterator<Item = &'static str>,
    ) -> Result<CommittedFiles<'a>> {
        let all = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (repository.to_owned(), commit.to_owned());
        let known = all().get(&of).cloned();
        let is_first = known.is_none();
        let mut known = known.unwrap_or_default();
        let wanted: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
        if is_first || !known.covers(&wanted) {
            let later = later.filter(|_| is_first).map(|path| -> &str { path });
            let asked: Vec<&str> = wanted.iter().copied().chain(later).collect();
            known.look_for(repository, commit, &asked)?;
            // Only an id names the same commit for ever.
            if is_id(commit) {
                let mut all = all();
                if all.len() >= MOST_KNOWN {
                    all.clear();
                }
                all.insert(of, known.clone());
            }
        }
        let mut entries = known.entries;
        entries.retain(|entry| wanted.iter().any(|path| stands_for(path, &entry.path)));
        Ok(CommittedFiles {
            repository,
            entries,
        })
    }

    /// The names of the objects that were found, in the order of their paths.
    pub fn objects(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.object.as_str())
    }

    /// Everything that was found.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.path.as_str())
    }

    /// The path and the object of every symbolic link that was found.
    pub fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        let links = self.entries.iter().filter(|entry| entry.mode == "120000");
        links.map(|entry| (entry.path.as_str(), entry.object.as_str()))
    }

    /// The text of a file, if the commit has it; why it cannot be used, if it cannot.
    pub fn file(
        &self,
        path: &str,
        max_bytes: u64,
    ) -> Result<Option<std::result::Result<String, UnreadableFile>>> {
        let Some(entry) = self.entries.iter().find(|entry| entry.path == path) else {
            return Ok(None);
        };
        let unreadable =
            |line: Option<usize>, reason: String| Ok(Some(Err(UnreadableFile { line, reason })));
        if !entry.mode.starts_with("100") {
            return unreadable(None, "it is not a plain file".into());
        }
        if entry.size > max_bytes {
            return unreadable(None, format!("it is larger than {}", spoken(max_bytes)));
        }
        let said = Git::at(self.repository)
            .quiet()
            .args(["cat-file", "blob", &entry.object])
            .checked()?;
        match text_of(said.stdout) {
            Ok(text) => Ok(Some(Ok(text))),
            Err(line) => unreadable(Some(line), "it is not UTF-8".into()),
        }
    }
}

impl KnownPaths {
    fn covers(&self, paths: &[&str]) -> bool {
        let covers = |path: &&str| self.paths.iter().any(|known| stands_for(known, path));
        paths.iter().all(covers)
    }

    fn look_for(&mut self, repository: &Path, commit: &str, paths: &[&str]) -> Result<()> {
        let said = Git::at(repository)
            .quiet()
            .args(["ls-tree", "-l", "-z", "--full-tree", "--end-of-options"])
            .arg(commit)
            .args(paths)
            .run()?
            .checked(&format!("git ls-tree {}", short(commit)))?;
        self.entries.extend(said.parts().filter_map(entry));
        self.entries.sort_by(|one, other| one.path.cmp(&other.path));
        self.entries.dedup_by(|one, other| one.path == other.path);
        self.paths
            .extend(paths.iter().map(|path| (*path).to_owned()));
        Ok(())
    }
}

/// Does a question for that path ask for this one?
fn stands_for(asked: &str, path: &str) -> bool {
    asked == path || (asked.ends_with('/') && path.starts_with(asked))
}

/// `100644 blob <object> <size>\t<path>`.
fn entry(line: &OsStr) -> Option<TreeEntry> {
    let (facts, path) = line.to_str()?.split_once('\t')?;
    let mut facts = facts.split_ascii_whitespace();
    let (mode, _kind, object, size) = (facts.next()?, facts.next()?, facts.next()?, facts.next()?);
    Some(TreeEntry {
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
pub fn text_of(bytes: Vec<u8>) -> std::result::Result<String, usize> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to());
        1 + good.filter(|byte| **byte == b'\n').count()
    })
}

//! Diffs for people and programs: git's own, with nothing that a repository could make it run.

use super::hidden::may_have_flags;
use super::rescue::WorktreeHead;
use super::rescue::content::TempIndex;
use super::{Git, cannot_start, spoken};
use orange_sys::error::{Result, err};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Settings of the user's that would make a diff one that `git apply` does not take.
const WHOLE: &[&str] = &[
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
];

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sides {
    /// Two commits or trees of a repository.
    Commits {
        repository: PathBuf,
        from: String,
        to: String,
    },
    /// What is not committed in a worktree, with its last commit.
    Worktree(PathBuf),
}

/// What is shown of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffShape {
    /// Line by line. With binary files in it, it can be applied elsewhere; without them it can be read.
    Patch { binary: bool },
    /// A line for every file, in so many columns.
    Stat { columns: Option<usize> },
}

orange_core::choice! {
    /// What became of a file.
    pub enum FileStatus ("what became of a file") {
        Added = "added", Modified = "modified", Deleted = "deleted", Renamed = "renamed",
        Copied = "copied", TypeChanged = "type_changed", Unmerged = "unmerged",
    }
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Where it was before it was renamed or copied.
    #[serde(serialize_with = "lossy_or_null")]
    pub old_path: Option<PathBuf>,
    pub status: FileStatus,
    /// Lines; none are counted in a binary file.
    pub added: u64,
    pub deleted: u64,
    pub binary: bool,
    /// Its new content, as git names it; None for a deleted file, and where git has not stored it.
    pub blob: Option<String>,
}

fn lossy<S: Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

fn lossy_or_null<S: Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(to)
}

/// Takes what git says, piece by piece; false: it has enough.
pub type Sink<'a> = dyn FnMut(&[u8]) -> bool + 'a;

/// Git's own diff, byte by byte.
pub fn show(
    sides: &Sides,
    shape: DiffShape,
    files: &[OsString],
    sink: &mut Sink<'_>,
) -> Result<()> {
    let shape = match shape {
        // With less around a change than this, or none, it cannot be applied.
        DiffShape::Patch { binary: true } => vec!["--binary".to_owned(), "--unified=3".to_owned()],
        DiffShape::Patch { binary: false } => vec!["--patch".to_owned()],
        DiffShape::Stat { columns: None } => vec!["--stat".to_owned()],
        DiffShape::Stat {
            columns: Some(columns),
        } => vec![format!("--stat={columns}")],
    };
    with_sides(sides, |git, sides| {
        let git = git.arg("diff").args(WHOLE).args(&shape).args(sides);
        git.arg("--").args(files).stream(sink)
    })
}

/// A path as it is, whatever is in it: no pattern.
pub fn exactly(path: &Path) -> OsString {
    let mut exact = OsString::from(":(top,literal)");
    exact.push(path);
    exact
}

/// The files that differ.
pub fn files(sides: &Sides, files: &[OsString]) -> Result<Vec<FileChange>> {
    with_sides(sides, |git, sides| {
        let git = git
            .arg("diff")
            .args(WHOLE)
            .args(["--raw", "--no-abbrev", "--numstat", "-z"]);
        let said = git.args(sides).arg("--").args(files).checked()?;
        Ok(read_files(&said.stdout))
    })
}

/// A worktree is looked at through a copy of its index, in which the files that git does not know are announced. So
/// they show as new ones, and neither the index nor a file is touched.
fn with_sides<T>(sides: &Sides, look: impl FnOnce(Git, &[&str]) -> Result<T>) -> Result<T> {
    match sides {
        Sides::Commits {
            repository,
            from,
            to,
        } => look(Git::at(repository).quiet(), &[from, to]),
        Sides::Worktree(folder) => {
            let worktree = WorktreeHead::open(folder)?;
            let index = TempIndex::copy_of(&worktree)?;
            if may_have_flags(index.path()) {
                index.clear_flags(&index.entries()?)?;
            }
            // A nested repository without a commit cannot be announced; the rest is.
            let announce = ["add", "--intent-to-add", "--ignore-errors", "--", "."];
            index.git().args(announce).run()?;
            let base = worktree.base_tree()?;
            look(index.git(), &[&base])
        }
    }
}

impl Git {
    /// Runs it and hands over what it says as it comes. Whoever has enough of it ends it.
    fn stream(mut self, sink: &mut Sink<'_>) -> Result<()> {
        let words = spoken(&self.command);
        self.command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| cannot_start(&error))?;
        let errors = child.stderr.take().map(|mut pipe| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = pipe.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let all_read = child
            .stdout
            .take()
            .map_or(Ok(true), |pipe| pour(pipe, sink));
        if !matches!(all_read, Ok(true)) {
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| cannot_start(&error))?;
        let stderr = errors.and_then(|errors| errors.join().ok());
        let all_read = all_read.map_err(|error| err!(Failed, "{words}: {error}").because(error))?;
        if !all_read || status.success() {
            return Ok(());
        }
        let said = super::GitOutput {
            success: false,
            code: status.code(),
            lock: None,
            stdout: Vec::new(),
            stderr: stderr.unwrap_or_default(),
        };
        Err(said.error(&words))
    }
}

/// Returns false when the sink has enough.
fn pour(mut pipe: impl Read, sink: &mut Sink<'_>) -> std::io::Result<bool> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(true),
            Ok(count) if sink(&piece[..count]) => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `:100644 100644 id id M` and its paths for every file, then their numbers in the same order.
fn read_files(output: &[u8]) -> Vec<FileChange> {
    let as_path = |part| PathBuf::from(OsStr::from_bytes(part));
    let mut parts = output.split(|byte| *byte == 0);
    let mut found: Vec<FileChange> = Vec::new();
    let mut counted = 0;
    while let Some(part) = parts.next() {
        if part.first() == Some(&b':') {
            let mut words = part.rsplit(|byte| *byte == b' ');
            let letter = words.next();
            let blob = words.next().map(String::from_utf8_lossy);
            let blob = blob.filter(|id| id.bytes().any(|digit| digit != b'0'));
            let blob = blob.map(Cow::into_owned);
            let status = status_of(letter.and_then(|word| word.first().copied()));
            let moved = matches!(status, FileStatus::Renamed | FileStatus::Copied);
            let old_path = if moved {
                parts.next().map(as_path)
            } else {
                None
            };
            let Some(path) = parts.next().map(as_path) else {
                break;
            };
            found.push(FileChange {
                path,
                old_path,
                status,
                added: 0,
                deleted: 0,
                binary: false,
                blob,
            });
            continue;
        }
        let mut words = part.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(deleted), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let path = match name {
            // A renamed one: both its names follow.
            [] => parts.nth(1).map(as_path),
            name => Some(as_path(name)),
        };
        // Usually the next one. A file in conflict may stand in the first list only.
        let place = (counted..found.len()).find(|at| Some(&found[*at].path) == path.as_ref());
        if let Some(place) = place {
            let number = |word: &[u8]| String::from_utf8_lossy(word).parse().unwrap_or(0);
            let file = &mut found[place];
            file.binary = added == b"-";
            (file.added, file.deleted) = (number(added), number(deleted));
            counted = place + 1;
        }
    }
    found
}

/// By the letter that its name begins with.
fn status_of(letter: Option<u8>) -> FileStatus {
    let letter = letter.map(|letter| letter.to_ascii_lowercase());
    let begins = |status: &&FileStatus| status.as_str().bytes().next() == letter;
    let found = FileStatus::ALL.iter().find(begins);
    found.copied().unwrap_or(FileStatus::Modified)
}

/// Where settings are looked for that name programs: outside of any repository, so that none can name one.
fn nowhere() -> Git {
    Git::found_from(Path::new("/"))
}

/// The line of shell that the user reads long texts of this kind with; None: none at all. As git itself would choose.
pub fn pager(kind: &str) -> Option<String> {
    let own = format!("pager.{kind}");
    let own = nowhere().args(["config", "--get", &own]).ask();
    let own = own.ok().flatten().unwrap_or_default();
    let line = match own.to_lowercase().as_str() {
        "false" | "no" | "off" | "0" => return None,
        "" | "true" | "yes" | "on" | "1" => {
            nowhere().args(["var", "GIT_PAGER"]).ask().ok().flatten()?
        }
        _ => own,
    };
    (!line.trim().is_empty() && line.trim() != "cat").then_some(line)
}

/// Whether the user has diffs coloured on a terminal. As git itself would choose.
pub fn colours(folder: &Path) -> bool {
    let asked = Git::found_from(folder).args(["config", "--get-colorbool", "color.diff", "true"]);
    asked.ask().ok().flatten().as_deref() != Some("false")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_from_both_of_gits_lists() {
        let output = b":100644 100644 a b M\0one\0:100644 100644 a b R090\0old\0new\0\
            :000000 100644 a b A\0bin\tary\0\
            3\t1\tone\0\
            2\t0\t\0old\0new\0\
            -\t-\tbin\tary\0";
        let found = read_files(output);
        let names: Vec<_> = found
            .iter()
            .map(|file| file.path.to_str().unwrap())
            .collect();
        assert_eq!(names, ["one", "new", "bin\tary"]);
        assert_eq!((found[0].added, found[0].deleted), (3, 1));
        assert_eq!(found[0].blob.as_deref(), Some("b"));
        assert_eq!(found[1].old_path.as_deref(), Some(Path::new("old")));
        assert_eq!((found[1].status, found[1].added), (FileStatus::Renamed, 2));
        assert_eq!(
            (found[2].status, found[2].binary),
            (FileStatus::Added, true)
        );
        assert_eq!(read_files(b""), []);
        let found = read_files(b":0 0 a 00 U\0torn\0:0 0 a b M\0x\x001\t2\tx\0");
        assert_eq!(found[0].blob, None);
        assert_eq!((found[0].added, found[1].deleted), (0, 2));
    }
}

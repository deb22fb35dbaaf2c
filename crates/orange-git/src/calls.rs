//! Notes of what Orange has started and what may lock something in a repository: its own gits, agents, and the commands of
//! a project. A note is removed when it has ended, and what it may have left is cleared up. When it or Orange was killed, the note
//! stays, and tells whose the locks are that were left.

use super::site::{Behalf, Site};
use super::{locks, rescue, state};
use orange_sys::listing;
use orange_sys::private;
use orange_sys::process::{ProcessId, unique_name};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// The folder of the notes, in the home.
const FOLDER: &str = ".git-calls";

/// These take no lock in a repository, or only one beside an index of their own.
const READERS: &[&str] = &[
    "add",
    "bundle",
    "cat-file",
    "check-ignore",
    "check-ref-format",
    "commit-tree",
    "config",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "hash-object",
    "hook",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "merge-tree",
    "mktree",
    "rev-list",
    "rev-parse",
    "show",
    "status",
    "symbolic-ref",
    "update-index",
    "var",
    "verify-commit",
    "version",
    "write-tree",
];

/// The one way to call `git worktree` that changes nothing.
const LIST: &str = "git worktree list";

/// A note that is older than this, of a git that is dead, was given up by the Orange that wrote it.
const UNSURE: Duration = Duration::from_secs(60);

/// A note that cannot be read is removed when it is older than this.
const OLD: Duration = Duration::from_secs(3600);

/// The first line of a note; the process that was started follows on the second one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallNote {
    pub(super) words: String,
    /// The folder that all worktrees of the repository share.
    pub(super) common: PathBuf,
    /// The git directory of the worktree that it ran in. Notes of older programs have none.
    #[serde(default)]
    pub(super) own: Option<PathBuf>,
    orange: ProcessId,
    pub(super) started: SystemTime,
    /// Not a git of Orange's own but a program that may call git, for how long nobody knows: an agent, a command of a project.
    #[serde(default)]
    pub(super) is_program: bool,
}

/// Whether a git with these words may lock something in a repository.
pub(super) fn may_lock(words: &str) -> bool {
    let command = words.split(' ').nth(1).unwrap_or_default();
    !READERS.contains(&command) && words != LIST
}

/// Something that is at work in a repository.
pub struct GitCall {
    /// Where its note is kept.
    home: PathBuf,
    file: PathBuf,
    note: CallNote,
}

impl GitCall {
    /// None for a git that locks nothing, and where no note can be kept: then a lock is only named.
    pub(super) fn of_git(folder: &Path, behalf: Option<&Behalf>, words: &str) -> Option<GitCall> {
        if may_lock(words) {
            GitCall::noted(folder, behalf?, words, false)
        } else {
            None
        }
    }

    /// Notes that a program begins in this folder which may call git. None where no note can be kept.
    pub fn begin(site: &Site, words: &str) -> Option<GitCall> {
        GitCall::noted(site, site.behalf(), words, true)
    }

    fn noted(folder: &Path, behalf: &Behalf, words: &str, is_program: bool) -> Option<GitCall> {
        static OWN: OnceLock<Option<ProcessId>> = OnceLock::new();
        let orange = OWN.get_or_init(|| ProcessId::of(std::process::id()));
        let (own, common) = git_dirs_of(folder)?;
        let note = CallNote {
            words: words.to_owned(),
            common,
            own: Some(own),
            orange: orange.clone()?,
            started: SystemTime::now(),
            is_program,
        };
        let home = behalf.home()?.to_owned();
        let file = home.join(FOLDER).join(unique_name());
        create(&file)?.write_all(&line_of(&note)?).ok()?;
        Some(GitCall { home, file, note })
    }

    /// Adds who it is. A note without that still tells of the repository and the time.
    pub fn started(&self, pid: u32) {
        let line = ProcessId::of(pid).and_then(|process| line_of(&process));
        let file = File::options().append(true).open(&self.file);
        if let (Some(line), Ok(mut file)) = (line, file) {
            let _ = file.write_all(&line);
        }
    }

    /// It is gone. What was killed, or may have had something of its own killed, may have left locks.
    pub fn ended(self, killed: bool) {
        if !killed || self.note.clear_up(&self.home, Need::Now) {
            let _ = fs::remove_file(&self.file);
        }
    }
}

fn line_of(value: &impl Serialize) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(value).ok()?;
    line.push(b'\n');
    Some(line)
}

/// The home is not made for a note, only the folder in it.
fn create(file: &Path) -> Option<File> {
    match private::create(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let _ = private::make_folder(file.parent()?);
            private::create(file).ok()
        }
        opened => opened.ok(),
    }
}

/// The git directory of a worktree, and the one that it shares with the others.
fn git_dirs_of(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    // A bare repository is its own.
    let own = state::git_folder(folder).unwrap_or_else(|_| folder.to_owned());
    let own = own.canonicalize().ok()?;
    let common = rescue::common_dir(&own).canonicalize().ok()?;
    let is_repository = common.join("objects").is_dir();
    is_repository.then_some((own, common))
}

/// When the place of a lock is needed: only then are other gits in the repository waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The lock is in the way.
    Now,
    /// A later command looks again.
    Later,
}

impl CallNote {
    /// Removes the locks that this git left. False if it cannot be told yet which these are.
    fn clear_up(&self, home: &Path, need: Need) -> bool {
        locks::remove_left(&locks::Killed {
            note: self,
            workspaces: home.join("workspaces"),
            need,
        })
    }
}

/// Removes the locks of gits that are dead and whose Orange is dead too, by the notes of a home. With nothing to do it costs
/// one look at an empty folder.
pub fn clear_up(home: &Path, need: Need) {
    for entry in listing::checked(&home.join(FOLDER)).unwrap_or_default() {
        let file = entry.path();
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let mut lines = text.lines();
        let (note, git) = (lines.next(), lines.next().and_then(read::<ProcessId>));
        if git.as_ref().is_some_and(ProcessId::is_alive) {
            // Each agent that is alive has such a note, and every command comes by here: no more of it is read.
            continue;
        }
        let done = match note.and_then(read::<CallNote>) {
            // That Orange clears up itself, unless it could not tell which locks were left: it does not look a second time.
            Some(note) if note.orange.is_alive() && (git.is_none() || !is_older(&file, UNSURE)) => {
                false
            }
            Some(note) => note.clear_up(home, need),
            // Cut short, or of a later version.
            None => is_older(&file, OLD),
        };
        if done {
            let _ = fs::remove_file(&file);
        }
    }
}

fn read<T: DeserializeOwned>(line: &str) -> Option<T> {
    serde_json::from_str(line).ok()
}

fn is_older(file: &Path, than: Duration) -> bool {
    locks::age_of(file).is_some_and(|age| age > than)
}

//! What a call of git came to: its output, and whether that is a yes, a no or a failure.

use super::locks;
use orange_core::workflow::Obstacle;
use orange_sys::error::{Code, Error, Result, err};
use std::ffi::OsStr;
use std::path::PathBuf;

/// What git said.
pub struct GitOutput {
    pub success: bool,
    /// The exit code; None when git was killed.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// The lock file that kept git from its work, if that is why it failed.
    pub lock: Option<PathBuf>,
}

impl GitOutput {
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.stdout);
        text.trim_end_matches(['\n', '\r']).to_owned()
    }

    /// What it said, unless it failed.
    pub fn checked(self, command: &str) -> Result<GitOutput> {
        if self.success {
            Ok(self)
        } else {
            Err(self.error(command))
        }
    }

    /// True for yes, false for no. Git says no with the exit code 1; with any other one it has failed.
    pub fn yes_or_no(&self, command: &str) -> Result<bool> {
        match self.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(self.error(command)),
        }
    }

    /// Did it fail for this reason? One of its phrases is in what git says, with all its parts.
    pub(super) fn failed_by(&self, phrases: &[&[&str]]) -> bool {
        let is_said = |phrase: &&[&str]| phrase.iter().all(|part| self.stderr.contains(part));
        !self.success && phrases.iter().any(is_said)
    }

    /// Git found no repository in the folder, or there is no such folder.
    pub fn found_no_repository(&self) -> bool {
        self.code == Some(128) && self.failed_by(phrases::NO_REPOSITORY)
    }

    /// What it said; None if it found no repository.
    pub(super) fn unless_no_repository(self, command: &str) -> Result<Option<GitOutput>> {
        if self.found_no_repository() {
            return Ok(None);
        }
        self.checked(command).map(Some)
    }

    /// The parts of an output that `-z` separates by NUL.
    pub fn parts(&self) -> impl Iterator<Item = &OsStr> {
        use std::os::unix::ffi::OsStrExt;
        self.stdout
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty())
            .map(OsStr::from_bytes)
    }

    /// Git's last line about it.
    pub fn last_words(&self) -> &str {
        let mut lines = self.stderr.lines().map(str::trim);
        without_prefix(lines.rfind(|line| !line.is_empty()))
    }

    /// An error with git's own words.
    pub fn error(&self, command: &str) -> Error {
        if let Some(lock) = &self.lock {
            let message = format!("{command}: {}", locks::in_words(lock));
            return Error::new(Code::Failed, message)
                .hint(locks::way_out(lock, "try again"))
                .with_obstacle(Some(Obstacle::GitLock));
        }
        let mut lines = self
            .stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let fatal = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
        let first = lines.clone().find(fatal).or_else(|| lines.next_back());
        let said = without_prefix(first)
            .replace("No space left", "no space left")
            .replace("Out of diskspace", "no space left on device");
        err!(Failed, "{command}: {said}").with_obstacle(obstacle(&self.stderr))
    }
}

/// What was in git's way, by its own words.
pub fn obstacle(words: &str) -> Option<Obstacle> {
    // A server that does not let somebody in says the same with its reason behind it.
    let words = &words.replace("Permission denied (", "");
    let says = |known: &[&str]| known.iter().any(|phrase| words.contains(phrase));
    if says(phrases::DISK_FULL) {
        Some(Obstacle::DiskFull)
    } else if says(phrases::NOT_WRITABLE) {
        Some(Obstacle::NotWritable)
    } else {
        locks::named_in(words, None).map(|_| Obstacle::GitLock)
    }
}

fn without_prefix(line: Option<&str>) -> &str {
    let line = line.unwrap_or("it said nothing");
    line.trim_start_matches("fatal: ")
        .trim_start_matches("error: ")
}

/// What git says when it fails for a reason that has no exit code of its own. Its locale is pinned.
pub(crate) mod phrases {
    pub(crate) const UNKNOWN_REVISION: &[&[&str]] = &[
        &["unknown revision"],
        &["bad revision"],
        &["bad object"],
        &["Invalid revision range"],
        &["Not a valid commit name"],
        &["Not a valid object name"],
        &["not a valid object name"],
        &["Needed a single revision"],
    ];
    pub(crate) const NO_REPOSITORY: &[&[&str]] = &[
        &["not a git repository"],
        &["invalid gitfile format"],
        &["cannot change to", "No such"],
    ];
    pub(crate) const NO_WORK_TREE: &[&[&str]] = &[&["work tree"]];
    pub(crate) const ONLY_NAMED_BARE: &[&[&str]] = &[&["safe.bareRepository"]];
    pub(crate) const ANOTHER_OWNER: &[&[&str]] = &[&["dubious ownership"]];
    pub(crate) const NO_COMMON_COMMIT: &[&[&str]] = &[&["unrelated histories"]];
    pub(crate) const NO_IDENTITY: &[&[&str]] = &[&["tell me who you are"]];
    pub(crate) const HALF_MADE_WORKTREE: &[&[&str]] = &[&["/worktrees/", "failed to read"]];
    pub(crate) const DISK_FULL: &[&str] = &[
        "No space left",
        "no space left",
        "Out of diskspace",
        "Disk quota exceeded",
    ];
    pub(crate) const NOT_WRITABLE: &[&str] = &[
        "Permission denied",
        "Read-only file system",
        "Operation not permitted",
    ];
    /// A remote that somebody else pushed to in this very moment says so in its own words.
    pub(crate) const OVERTAKEN: &[&[&str]] = &[&["cannot lock ref", "but expected"]];
    pub(crate) const NO_REMOTE_BRANCH: &[&[&str]] = &[&["remote ref does not exist"]];
    /// In the answers of `push --porcelain`.
    pub(crate) const STALE: &str = "(stale info)";
    pub(crate) const REMOTE_MOVED: &[&str] = &[
        STALE,
        "(fetch first)",
        "(non-fast-forward)",
        "(failed to update ref)",
        "(incorrect old value provided)",
        "cannot lock ref",
        "reference already exists",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_read_from_what_git_says() {
        let lock = "fatal: Unable to create '/shop/.git/index.lock'";
        for (words, expected) in [
            (format!("{lock}: File exists."), Some(Obstacle::GitLock)),
            (
                format!("{lock}: No space left on device"),
                Some(Obstacle::DiskFull),
            ),
            (
                format!("{lock}: Permission denied"),
                Some(Obstacle::NotWritable),
            ),
            (
                "error: Out of diskspace".to_owned(),
                Some(Obstacle::DiskFull),
            ),
            ("fatal: bad object HEAD".to_owned(), None),
            ("git@host: Permission denied (publickey).".to_owned(), None),
        ] {
            assert_eq!(obstacle(&words), expected, "{words}");
        }
    }
}

//! What a call of git came to: its output, and whether that is a yes, a no or a failure.

use super::locks;
use orange_sys::error::{Code, Error, Result, err};
use std::ffi::OsStr;
use std::path::PathBuf;

/// What git said.
pub struct Said {
    pub success: bool,
    /// The exit code; None when git was killed.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// The lock file that kept git from its work, if that is why it failed.
    pub lock: Option<PathBuf>,
}

impl Said {
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.stdout);
        text.trim_end_matches(['\n', '\r']).to_owned()
    }

    /// What it said, unless it failed.
    pub fn checked(self, command: &str) -> Result<Said> {
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

    /// Git failed because what it was asked about does not exist in this repository.
    pub(super) fn names_nothing(&self) -> bool {
        let known = [
            "unknown revision",
            "bad revision",
            "bad object",
            "Invalid revision range",
            "Not a valid commit name",
            "Not a valid object name",
            "not a valid object name",
            "Needed a single revision",
        ];
        self.code == Some(128) && known.iter().any(|words| self.stderr.contains(words))
    }

    /// Git found no repository in the folder, or there is no such folder.
    pub fn found_no_repository(&self) -> bool {
        let known = ["not a git repository", "invalid gitfile format"];
        let is_gone = self.stderr.contains("cannot change to") && self.stderr.contains("No such");
        self.code == Some(128) && (is_gone || known.iter().any(|words| self.stderr.contains(words)))
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
    pub fn last_words(&self) -> String {
        let mut lines = self.stderr.lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty());
        last.unwrap_or("it said nothing")
            .trim_start_matches("fatal: ")
            .trim_start_matches("error: ")
            .to_owned()
    }

    /// An error with git's own words.
    pub fn error(&self, command: &str) -> Error {
        if let Some(lock) = &self.lock {
            let message = format!("{command}: {}", locks::in_words(lock));
            return Error::new(Code::Failed, message).hint(locks::way_out(lock, "try again"));
        }
        let mut lines = self
            .stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let fatal = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
        let first = lines.clone().find(fatal).or_else(|| lines.next_back());
        let said = first.unwrap_or("it said nothing");
        let said = said
            .trim_start_matches("fatal: ")
            .trim_start_matches("error: ")
            .replace("No space left", "no space left")
            .replace("Out of diskspace", "no space left on device");
        err!(Failed, "{command}: {said}")
    }
}

//! Questions to an agent's CLI: which version it is, whether it is logged in. Each has a time limit, and none of the
//! answers is shown with a secret in it. The one file that starts a CLI to ask it something; `doctor` has it ask gh and
//! ssh too.

use super::{Harness, environment, list};
use crate::error::{Code, Error, Result, err, plain};
use crate::versions;
use orange_sys::programs::located;
use orange_sys::time_limit::GroupTimeout;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A CLI that answers later than this is taken for one that does not answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long one that was killed may take to be gone.
const GRACE: Duration = Duration::from_millis(500);

/// CLIs call the file with the user's settings the same.
const SETTINGS: &str = "settings.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The first word that looks like one: `2.1.325 (Claude Code)`, `codex-cli 0.166.0`, `v0.87.1`.
    pub fn in_text(text: &str) -> Option<Version> {
        text.split_whitespace().find_map(|word| {
            let mut numbers = word.trim_start_matches('v').splitn(3, '.');
            let major = numbers.next()?.parse().ok()?;
            let minor = numbers.next()?.parse().ok()?;
            let rest = numbers.next().unwrap_or("0");
            let end = rest.find(|letter: char| !letter.is_ascii_digit());
            let patch = rest.get(..end.unwrap_or(rest.len()))?;
            Some(Version(major, minor, patch.parse().ok()?))
        })
    }
}

/// Whether a CLI has an account to work with, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "login", content = "login_detail", rename_all = "lowercase")]
pub enum Login {
    In(String),
    /// What it said, and what to do.
    Out(String),
    /// There is no way to ask, or no answer that can be read.
    Unknown(String),
}

/// What a CLI said.
pub(super) struct ProbeAnswer {
    pub(super) success: bool,
    pub(super) text: String,
}

impl Harness {
    /// Is it the CLI of the table that is asked? A program of the user's own around it may take a question for a prompt.
    pub fn can_be_asked(&self) -> bool {
        let named = Path::new(&self.program).file_name();
        let known = |program: &str| named.is_some_and(|named| named == program);
        let kind = match self.adapter.program() {
            // A command of the user's own may have the name of one in the list.
            "" => list::named(&self.name),
            _ => Some(self.adapter),
        };
        kind.is_some_and(|kind| !kind.is_own() && known(kind.program()))
    }
}

/// What a question needs to know of the world: the engine's own, in a form that several threads may use at once.
#[derive(Clone, Copy)]
pub struct Probe<'e> {
    pub home: &'e Path,
    pub user_home: Option<&'e Path>,
    pub search_path: Option<&'e OsStr>,
    pub environment: &'e BTreeMap<String, String>,
}

impl Probe<'_> {
    pub fn located(&self, harness: &Harness) -> Option<PathBuf> {
        harness.located(self.search_path).ok()
    }

    /// Its version, asked now.
    pub fn version(&self, harness: &Harness, path: &Path) -> Result<String> {
        let said = self.ask(path, &["--version"])?.text;
        let line = said.lines().find(|line| Version::in_text(line).is_some());
        line.map(|line| line.trim().to_owned()).ok_or_else(|| {
            let what = format!("`{} --version` says no version", harness.program);
            Error::new(Code::Failed, what)
        })
    }

    /// What it said of its version when it was last asked; None where it cannot be asked.
    pub fn known_version(&self, harness: &Harness, path: &Path) -> Option<String> {
        let ask = || self.version(harness, path);
        let asked = harness
            .can_be_asked()
            .then(|| versions::remembered(self.home, path, ask));
        asked?.ok()
    }

    /// The user's settings for a CLI, and their file: in the folder that a variable names, or in the usual one.
    pub(super) fn settings(&self, variable: &str, usual: &str) -> Option<(PathBuf, Value)> {
        let file = self.folder(variable, usual)?.join(SETTINGS);
        let settings = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
        Some((file, settings))
    }

    /// The file with the user's settings for a CLI and another one beside it.
    pub(super) fn credentials(
        &self,
        variable: &str,
        usual: &str,
        file: &str,
    ) -> Option<Vec<PathBuf>> {
        let folder = self.folder(variable, usual)?;
        Some(vec![folder.join(SETTINGS), folder.join(file)])
    }

    fn folder(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        match self.environment.get(variable) {
            Some(folder) => Some(PathBuf::from(folder)),
            None => Some(self.user_home?.join(usual)),
        }
    }

    /// What a program that is no agent says of itself, its first line; None where it is not installed.
    pub fn program(&self, name: &str, words: &[&str]) -> Option<Result<String>> {
        let path = located(name, self.search_path)?;
        let first = |answer: ProbeAnswer| answer.text.lines().next().unwrap_or_default().to_owned();
        Some(self.ask(&path, words).map(first))
    }

    /// Asks a CLI, with the environment that agents get.
    pub(super) fn ask(&self, program: &Path, words: &[&str]) -> Result<ProbeAnswer> {
        let asked = format!("`{} {}`", program.display(), words.join(" "));
        let failed = |why: String| err!(Failed, "{asked} {why}");
        let mut command = Command::new(program);
        orange_sys::environment::inherit(&mut command);
        command
            .args(words)
            .current_dir("/")
            .envs(self.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for name in environment::cleared() {
            command.env_remove(name);
        }
        let child = command
            .spawn()
            .map_err(|error| failed(format!("cannot be started: {}", plain(&error))))?;
        let watch = GroupTimeout::over(child.id(), TIMEOUT);
        let (tell, told) = channel();
        std::thread::spawn(move || tell.send(child.wait_with_output()));
        // What it started in a session of its own survives it, and may hold its output open.
        let output = told.recv_timeout(TIMEOUT + GRACE);
        let (Ok(output), false) = (output, watch.end()) else {
            let limit = TIMEOUT.as_secs();
            return Err(failed(format!("gave no answer within {limit} s")));
        };
        let output = output.map_err(|error| failed(plain(&error)))?;
        let said = if output.stdout.trim_ascii().is_empty() {
            output.stderr
        } else {
            output.stdout
        };
        Ok(ProbeAnswer {
            success: output.status.success(),
            text: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_clis_say() {
        let found = |text: &str| Version::in_text(text).map(|version| version.to_string());
        assert_eq!(found("2.1.325 (Claude Code)").as_deref(), Some("2.1.325"));
        assert_eq!(
            found("codex-cli 0.166.0-alpha.2").as_deref(),
            Some("0.166.0")
        );
        assert_eq!(found("v0.87").as_deref(), Some("0.87.0"));
        assert_eq!(found("usage: pi [options]"), None);
        assert!(Version(2, 1, 9) < Version(2, 1, 78) && Version(2, 1, 325) > Version(2, 1, 78));
    }
}

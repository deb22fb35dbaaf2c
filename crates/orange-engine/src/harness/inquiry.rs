//! Questions to an agent's CLI: which version it is, whether it is logged in. Each has a time limit, and none of the
//! answers is shown with a secret in it. The one file that starts a CLI to ask it something; `doctor` has it ask gh and
//! ssh too.

use super::{Adapter, Harness, row};
use crate::engine::Engine;
use crate::error::{Code, Error, Result, plain};
use crate::versions;
use orange_sys::programs::located;
use orange_sys::time_limit::Watch;
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
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one that was killed may take to be gone.
const GRACE: Duration = Duration::from_millis(500);

/// Claude and pi call the file with the user's settings the same.
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

impl Adapter {
    /// The oldest version that has all that the adapter uses, and what that is.
    pub fn oldest(self) -> Option<(Version, &'static str)> {
        match self {
            Adapter::Claude => Some((
                Version(2, 1, 78),
                "its hooks tell of a turn that failed (StopFailure)",
            )),
            Adapter::Pi => Some((
                Version(0, 87, 0),
                "its extensions and --no-approve are as Orange needs them",
            )),
            Adapter::Signals | Adapter::Screen => None,
        }
    }
}

/// Whether a CLI has an account to work with, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    In(String),
    /// What it said, and what to do.
    Out(String),
    /// There is no way to ask, or no answer that can be read.
    Unknown(String),
}

/// What a CLI said.
struct Answer {
    success: bool,
    text: String,
}

impl Harness {
    /// Is it the CLI of the table that is asked? A program of the user's own around it may take a question for a prompt.
    pub(crate) fn can_be_asked(&self) -> bool {
        let named = Path::new(&self.program).file_name();
        let known = |program: &str| named.is_some_and(|named| named == program);
        match self.adapter {
            Adapter::Claude => known("claude"),
            Adapter::Pi => known("pi"),
            Adapter::Signals | Adapter::Screen => {
                row(&self.name).is_some_and(|row| known(row.program))
            }
        }
    }
}

/// What a question needs to know of the world: the engine's own, in a form that several threads may use at once.
#[derive(Clone, Copy)]
pub(crate) struct Inquiry<'e> {
    home: &'e Path,
    user_home: Option<&'e Path>,
    search_path: Option<&'e OsStr>,
    environment: &'e BTreeMap<String, String>,
}

impl Inquiry<'_> {
    pub(crate) fn located(&self, harness: &Harness) -> Option<PathBuf> {
        harness.located(self.search_path).ok()
    }

    /// Its version, asked now.
    pub(crate) fn version(&self, harness: &Harness, path: &Path) -> Result<String> {
        let said = self.ask(path, &["--version"])?.text;
        let line = said.lines().find(|line| Version::in_text(line).is_some());
        line.map(|line| line.trim().to_owned()).ok_or_else(|| {
            let what = format!("`{} --version` says no version", harness.program);
            Error::new(Code::Failed, what)
        })
    }

    /// What it said of its version when it was last asked; None where it cannot be asked.
    pub(crate) fn known_version(&self, harness: &Harness, path: &Path) -> Option<String> {
        let ask = || self.version(harness, path);
        let asked = harness
            .can_be_asked()
            .then(|| versions::remembered(self.home, path, ask));
        asked?.ok()
    }

    /// Whether it is logged in, asked now.
    pub(crate) fn login(&self, harness: &Harness, path: &Path) -> Login {
        let answer = match harness.adapter {
            Adapter::Claude => self
                .ask(path, &["auth", "status"])
                .map(|answer| claude_login(&answer)),
            Adapter::Pi => match self.pi_provider() {
                None => return Login::Unknown("it has no default provider".into()),
                Some(provider) => {
                    let words = ["auth", "check", "--provider", &provider, "--json"];
                    let answer = self.ask(path, &words);
                    answer.map(|answer| pi_login(&provider, &answer))
                }
            },
            Adapter::Signals | Adapter::Screen => return Login::Unknown("not asked".into()),
        };
        answer.unwrap_or_else(|error| Login::Unknown(error.message))
    }

    /// Of whom pi asks by default, as its settings say.
    fn pi_provider(&self) -> Option<String> {
        let folder = self.settings_folder("PI_CODING_AGENT_DIR", ".pi/agent")?;
        let settings = settings(&folder)?;
        settings.get("defaultProvider")?.as_str().map(str::to_owned)
    }

    /// Claude's settings of the user's, if they switch all hooks off.
    pub(crate) fn claude_without_hooks(&self) -> Option<PathBuf> {
        let folder = self.settings_folder("CLAUDE_CONFIG_DIR", ".claude")?;
        let off = settings(&folder)?.get("disableAllHooks") == Some(&Value::Bool(true));
        off.then(|| folder.join(SETTINGS))
    }

    fn settings_folder(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        match self.environment.get(variable) {
            Some(folder) => Some(PathBuf::from(folder)),
            None => Some(self.user_home?.join(usual)),
        }
    }

    /// What a program that is no agent says of itself, its first line; None where it is not installed.
    pub(crate) fn program(&self, name: &str, words: &[&str]) -> Option<Result<String>> {
        let path = located(name, self.search_path)?;
        let first = |answer: Answer| answer.text.lines().next().unwrap_or_default().to_owned();
        Some(self.ask(&path, words).map(first))
    }

    /// Asks a CLI, with the environment that agents get.
    fn ask(&self, program: &Path, words: &[&str]) -> Result<Answer> {
        let asked = format!("`{} {}`", program.display(), words.join(" "));
        let failed = |why: String| Error::new(Code::Failed, format!("{asked} {why}"));
        let mut command = Command::new(program);
        crate::person_environment::inherit(&mut command);
        command
            .args(words)
            .current_dir("/")
            .envs(self.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for name in super::claude::CLEARED {
            command.env_remove(name);
        }
        let child = command
            .spawn()
            .map_err(|error| failed(format!("cannot be started: {}", plain(&error))))?;
        let watch = Watch::over(child.id(), PATIENCE);
        let (tell, told) = channel();
        std::thread::spawn(move || tell.send(child.wait_with_output()));
        // What it started in a session of its own survives it, and may hold its output open.
        let output = told.recv_timeout(PATIENCE + GRACE);
        let (Ok(output), false) = (output, watch.end()) else {
            let limit = PATIENCE.as_secs();
            return Err(failed(format!("gave no answer within {limit} s")));
        };
        let output = output.map_err(|error| failed(plain(&error)))?;
        let said = match output.stdout.trim_ascii().is_empty() {
            true => output.stderr,
            false => output.stdout,
        };
        Ok(Answer {
            success: output.status.success(),
            text: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}

fn settings(folder: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(folder.join(SETTINGS)).ok()?).ok()
}

impl Engine {
    pub(crate) fn inquiry(&self) -> Inquiry<'_> {
        Inquiry {
            home: self.store.home(),
            user_home: self.user_home.as_deref(),
            search_path: self.search_path.as_deref(),
            environment: &self.environment,
        }
    }

    /// Where a harness's program is, unless it is too old. The version is asked for once, as long as the file stays.
    pub(crate) fn fit_program(&self, harness: &Harness) -> Result<PathBuf> {
        let path = harness.located(self.search_path.as_deref())?;
        let Some((oldest, why)) = harness.adapter.oldest() else {
            return Ok(path);
        };
        // One that gives no answer may still work; if not, its own words are in the window.
        let version = self.inquiry().known_version(harness, &path);
        match version.as_deref().and_then(Version::in_text) {
            Some(found) if found < oldest => Err(too_old(harness, found, oldest, why)),
            Some(_) | None => Ok(path),
        }
    }
}

fn too_old(harness: &Harness, found: Version, oldest: Version, why: &str) -> Error {
    let update = match harness.install {
        Some(install) => format!("update it: {install}@latest"),
        None => format!("update {}", harness.program),
    };
    Error::new(
        Code::Failed,
        format!(
            "harness {} is too old: {} is version {found}, {oldest} is needed, since when {why}",
            harness.name, harness.program
        ),
    )
    .hint(format!(
        "{update}, or choose another harness with --harness"
    ))
}

fn claude_login(answer: &Answer) -> Login {
    let told: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let field = |name: &str| told.get(name).and_then(Value::as_str);
    match told.get("loggedIn").and_then(Value::as_bool) {
        Some(true) => {
            let how = field("authMethod").unwrap_or("logged in").replace('_', " ");
            match field("email") {
                Some(email) => Login::In(format!("{how}, {}", shortened(email))),
                None => Login::In(how),
            }
        }
        Some(false) => Login::Out("not logged in: start `claude` and give it /login".into()),
        None => Login::Unknown("`claude auth status` does not say".into()),
    }
}

fn pi_login(provider: &str, answer: &Answer) -> Login {
    let told: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let field = |name: &str| told.get(name).and_then(Value::as_str);
    match field("status") {
        Some("ready") if answer.success => Login::In(format!("provider {provider}")),
        Some(_) => {
            let why = field("reason").unwrap_or("not ready").replace('_', " ");
            Login::Out(format!(
                "provider {provider}: {why}: start `pi` and give it /login, or set its key"
            ))
        }
        None => Login::Unknown("`pi auth check` does not say".into()),
    }
}

/// `ma…@example.com`: enough to know which account it is.
fn shortened(email: &str) -> String {
    match email.split_once('@') {
        Some((name, host)) => {
            let start: String = name.chars().take(2).collect();
            format!("{start}…@{host}")
        }
        None => "an account".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(success: bool, text: &str) -> Answer {
        Answer {
            success,
            text: text.to_owned(),
        }
    }

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

    #[test]
    fn a_login_is_told_without_secrets() {
        let json = r#"{"loggedIn": true, "authMethod": "claude_ai", "email": "martha@example.com", "token": "s3cret"}"#;
        let login = claude_login(&answer(true, json));
        assert_eq!(login, Login::In("claude ai, ma…@example.com".into()));
        let out = claude_login(&answer(false, r#"{"loggedIn": false}"#));
        assert!(matches!(out, Login::Out(why) if why.contains("/login")));
        assert!(matches!(
            claude_login(&answer(false, "Segfault")),
            Login::Unknown(_)
        ));
        let ready = pi_login(
            "mock",
            &answer(true, r#"{"status":"ready","key":"s3cret"}"#),
        );
        assert_eq!(ready, Login::In("provider mock".into()));
        let missing = r#"{"status":"not_ready","reason":"credentials_not_configured"}"#;
        assert!(
            matches!(pi_login("mock", &answer(false, missing)), Login::Out(why) if why.contains("credentials not configured"))
        );
    }
}

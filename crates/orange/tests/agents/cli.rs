//! The real agent CLIs: where they are, an environment that leads them to the scripted model and nowhere else, and runs
//! of them.

use crate::leaving::settle;
use crate::model::Model;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Generous: only a test that fails waits so long.
const CEILING: Duration = Duration::from_secs(120);

/// All that a CLI gets to see of the environment.
pub(crate) type Variables = BTreeMap<String, OsString>;

/// The folder with the programs that the tests start.
fn programs() -> PathBuf {
    let folder = std::env::var_os("ORANGE_TEST_AGENTS").unwrap_or_else(|| {
        panic!("ORANGE_TEST_AGENTS does not say where the agent CLIs are: run make test-agents")
    });
    let programs = PathBuf::from(folder).join("bin");
    assert!(
        programs.join("claude").exists(),
        "there are no agent CLIs in {}: run make test-agents",
        programs.display()
    );
    programs
}

/// What every CLI gets: a home of its own and the pinned programs, and nothing of the caller's but the other programs.
fn basics(home: &Path) -> Variables {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [programs()].into_iter().chain(std::env::split_paths(&path));
    Variables::from([
        ("HOME".into(), home.into()),
        ("PATH".into(), std::env::join_paths(folders).unwrap()),
        ("TERM".into(), "xterm-256color".into()),
        ("LANG".into(), "C.UTF-8".into()),
    ])
}

fn write_json(file: &Path, value: &Value) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, value.to_string()).unwrap();
}

/// For claude, with every dialog answered beforehand: it is at home in `home` and trusts `repository`.
pub(crate) fn claude_env(model: &Model, home: &Path, repository: &Path) -> Variables {
    let folder = home.join(".claude");
    let repository = repository.canonicalize().unwrap();
    let trusted = json!({repository.to_str().unwrap(): {"hasTrustDialogAccepted": true}});
    write_json(
        &folder.join(".claude.json"),
        &json!({"hasCompletedOnboarding": true, "projects": trusted}),
    );
    write_json(
        &folder.join("settings.json"),
        &json!({"skipDangerousModePermissionPrompt": true}),
    );
    let mut variables = basics(home);
    variables.extend([
        ("CLAUDE_CONFIG_DIR".into(), folder.into()),
        ("ANTHROPIC_BASE_URL".into(), model.url().into()),
        ("ANTHROPIC_AUTH_TOKEN".into(), "fake".into()),
        ("DISABLE_AUTOUPDATER".into(), "1".into()),
        (
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".into(),
            "1".into(),
        ),
        // Otherwise it does not do without permissions when root starts it.
        ("IS_SANDBOX".into(), "1".into()),
    ]);
    variables
}

/// Models of pi that lead to the scripted one.
pub(crate) const PI_ANTHROPIC: &str = "scripted-anthropic/scripted";
/// The same, and one that can be told how hard to think.
pub(crate) const PI_THOUGHTFUL: &str = "scripted-anthropic/thoughtful";
pub(crate) const PI_OPENAI: &str = "scripted-openai/scripted";

/// For pi, at home in `home`. Its model is [`PI_ANTHROPIC`] or [`PI_OPENAI`].
pub(crate) fn pi_env(model: &Model, home: &Path) -> Variables {
    let folder = home.join(".pi/agent");
    let provider = |url: String, api: &str| {
        // Dollars per million tokens.
        let cost = json!({"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75});
        let models = [("scripted", false), ("thoughtful", true)].map(|(id, reasons)| {
            json!({"id": id, "reasoning": reasons, "contextWindow": 200_000, "maxTokens": 32_000, "cost": cost})
        });
        json!({"baseUrl": url, "api": api, "apiKey": "fake", "models": models})
    };
    let providers = json!({
        "scripted-anthropic": provider(model.url(), "anthropic-messages"),
        "scripted-openai": provider(model.openai_url(), "openai-completions"),
    });
    write_json(
        &folder.join("models.json"),
        &json!({"providers": providers}),
    );
    let mut variables = basics(home);
    variables.extend([
        ("PI_CODING_AGENT_DIR".into(), folder.into()),
        ("PI_OFFLINE".into(), "1".into()),
        ("PI_SKIP_VERSION_CHECK".into(), "1".into()),
        ("PI_TELEMETRY".into(), "0".into()),
    ]);
    variables
}

/// A temporary home and a repository in it, for agents that are started by hand.
pub(crate) struct Place {
    root: tempfile::TempDir,
}

/// How a CLI ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) success: bool,
    /// The lines of its output that are JSON.
    pub(crate) lines: Vec<Value>,
    pub(crate) errors: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        let root = tempfile::Builder::new().prefix("agents-").tempdir();
        let place = Place {
            root: root.unwrap(),
        };
        fs::create_dir(place.home()).unwrap();
        fs::create_dir(place.repository()).unwrap();
        let git = Command::new("git")
            .args(["init", "-q", "-b", "main"])
            .current_dir(place.repository())
            .status();
        assert!(git.unwrap().success());
        place
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.path().join("repository")
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.repository().join(file)).unwrap_or_default()
    }

    /// Runs a CLI in the repository until it ends.
    #[track_caller]
    pub(crate) fn run(&self, variables: &Variables, program: &str, arguments: &[&str]) -> Ended {
        let (out, err) = (self.root.path().join("out"), self.root.path().join("err"));
        let mut child = Command::new(programs().join(program))
            .args(arguments)
            .env_clear()
            .envs(variables)
            .current_dir(self.repository())
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        let success = wait(&mut child);
        let output = fs::read_to_string(&out).unwrap();
        let lines = output
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ended {
            success: success.unwrap_or_else(|| panic!("{program} does not end:\n{output}")),
            lines: lines.collect(),
            errors: fs::read_to_string(&err).unwrap(),
        }
    }
}

impl Drop for Place {
    /// An agent that was told to end still writes down what it knows.
    fn drop(&mut self) {
        settle(self.root.path());
    }
}

/// Whether it ended well. None if it had to be killed.
fn wait(child: &mut Child) -> Option<bool> {
    let deadline = Instant::now() + CEILING;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.success());
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Ended {
    /// It must have ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Ended {
        assert!(self.success, "{}\n{:?}", self.errors, self.lines);
        self
    }

    /// The last line of that type.
    #[track_caller]
    pub(crate) fn last(&self, kind: &str) -> &Value {
        let found = self.lines.iter().rfind(|line| line["type"] == kind);
        found.unwrap_or_else(|| panic!("no line of type {kind}: {self:?}"))
    }
}

//! Where the demo plays: a folder with a home, a repository and a tmux socket, and the programs that run in it. Nothing
//! of the user's own settings takes part, and nothing of it outlives the stage.

use super::project;
use crate::session::own_program;
use orange_engine::error::plain;
use orange_engine::{Error, Result, err};
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path of a socket has room for so much on every system; the folder's own name and `/tmux` go off it.
const LONGEST_PARENT: usize = 70;

/// What a program of the demo gets of the user's environment: where programs are, and which letters and times to use.
const INHERITED: &[&str] = &["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM"];

/// What a person at the dashboard is used to besides.
const OF_A_PERSON: &[&str] = &["NO_COLOR", "EDITOR", "VISUAL"];

pub(super) struct DemoStage {
    pub(super) root: PathBuf,
    orange: PathBuf,
    /// Nothing is to be cleared away any more.
    is_clean: bool,
}

impl DemoStage {
    pub(super) fn new() -> Result<DemoStage> {
        let stage = DemoStage {
            root: new_folder()?,
            orange: own_program()?,
            is_clean: false,
        };
        for name in ["home", "tmp", "orange", "shop"] {
            std::fs::create_dir(stage.root.join(name)).map_err(|e| cannot(&e, &stage.root))?;
        }
        Ok(stage)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("orange")
    }

    pub(super) fn shop(&self) -> PathBuf {
        self.root.join("shop")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.root.join("tmux")
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| cannot(&error, &path))?;
        Ok(path)
    }

    /// Orange as a person would call it in the repository.
    pub(super) fn orange(&self, words: &[&str]) -> Command {
        self.program(&self.orange, words)
    }

    /// The dashboard, on the terminal that the demo was started at.
    pub(super) fn dashboard(&self) -> Command {
        let mut command = self.surroundings(&self.orange);
        for name in OF_A_PERSON {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.arg("dashboard");
        command
    }

    pub(super) fn git(&self, words: &[&str]) -> Command {
        self.program(Path::new("git"), words)
    }

    pub(super) fn kill_server(&self) -> Command {
        let mut command = self.program(Path::new("tmux"), &["-S"]);
        command.arg(self.socket()).arg("kill-server");
        command
    }

    /// Begins with an empty environment, so that no setting of git, tmux or Orange and no agent's identity gets in.
    fn program(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = self.surroundings(program);
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is for the demo, which then ends what it started.
            .process_group(0);
        command
    }

    fn surroundings(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.root.join("home"))
            .env("TMPDIR", self.root.join("tmp"))
            .env("SHELL", "/bin/sh")
            .env("USER", "you")
            .env("ORANGE_HOME", self.home())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .current_dir(self.shop());
        command
    }

    /// The commands that make the repository, and its files before each.
    pub(super) fn chapters(&self) -> Result<Vec<Command>> {
        let mut commands = vec![self.git(&["init", "-q", "-b", "main"])];
        let settings = [
            ("user.name", "Demo"),
            ("user.email", "demo@localhost"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
        ];
        commands.extend(settings.map(|(name, value)| self.git(&["config", name, value])));
        for (name, text) in project::FILES {
            self.write(&format!("shop/{name}"), text)?;
        }
        for (subject, files) in project::COMMITS {
            let mut add = self.git(&["add", "--"]);
            add.args(*files);
            commands.extend([add, self.git(&["commit", "-q", "-m", subject])]);
        }
        Ok(commands)
    }

    /// The settings of its home: a tmux server of its own, and nobody but scripted agents.
    pub(super) fn configure(&self) -> Result<()> {
        let config = format!(
            "tmux:\n  server: {}\ngit:\n  fetch: never\nagents:\n  harness: sim\n  review_harness: sim\n",
            self.socket().display()
        );
        self.write("orange/config.yaml", &config).map(drop)
    }

    pub(super) fn keep(&mut self) {
        self.is_clean = true;
    }

    /// Ends every session and process and removes the folder. Gives what could not be cleared away.
    pub(super) fn clean_up(&mut self) -> Vec<String> {
        if self.is_clean {
            return Vec::new();
        }
        self.is_clean = true;
        super::cleanup::clean_up(self)
    }
}

impl Drop for DemoStage {
    /// For errors and panics.
    fn drop(&mut self) {
        self.clean_up();
    }
}

fn new_folder() -> Result<PathBuf> {
    let wanted = std::env::temp_dir();
    let short = |path: &PathBuf| path.as_os_str().as_bytes().len() <= LONGEST_PARENT;
    let parent = wanted.canonicalize().ok().filter(short);
    let parent = parent.unwrap_or_else(|| PathBuf::from("/tmp"));
    // Made by us, for us alone: a folder that is there already is somebody else's.
    let made = tempfile::Builder::new()
        .prefix("orange-demo-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(&parent);
    made.map(tempfile::TempDir::keep)
        .map_err(|error| cannot(&error, &parent))
}

pub(super) fn cannot(error: &std::io::Error, path: &Path) -> Error {
    err!(
        Storage,
        "the demo cannot write in {}: {}",
        path.display(),
        plain(error)
    )
    .hint("TMPDIR names the folder to use")
}

/// A command of the play that should have succeeded.
pub(super) fn failed(shown: &str, said: &str) -> Error {
    err!(Failed, "`{shown}` failed: {}", said.trim())
        .hint("`orange demo --keep` leaves everything there for a look")
}

//! The machine of a soak: a home, three repositories, a tmux server of its own, and the real program.

use crate::scripts::Ledger;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const PROJECTS: [&str; 3] = ["shop", "site", "tools"];

pub(crate) struct World {
    root: TempDir,
    variables: BTreeMap<&'static str, OsString>,
}

/// What a command came to.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) killed: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            code: output.status.code(),
            killed: output.status.signal().is_some(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl World {
    pub(crate) fn new() -> World {
        let root = tempfile::Builder::new().prefix("soak-").tempdir().unwrap();
        let home = root.path().join("home");
        let fixed = |text: &str| OsString::from(text);
        let variables = BTreeMap::from([
            ("PATH", std::env::var_os("PATH").unwrap()),
            ("ORANGE_HOME", home.join("orange").into()),
            ("HOME", home.clone().into()),
            ("SHELL", fixed("/bin/sh")),
            ("LC_ALL", fixed("C")),
            ("TZ", fixed("UTC")),
            ("USER", fixed("tester")),
            ("GIT_CONFIG_GLOBAL", fixed("/dev/null")),
            ("GIT_CONFIG_NOSYSTEM", fixed("1")),
            ("GIT_AUTHOR_NAME", fixed("Tester")),
            ("GIT_AUTHOR_EMAIL", fixed("tester@example.com")),
            ("GIT_COMMITTER_NAME", fixed("Tester")),
            ("GIT_COMMITTER_EMAIL", fixed("tester@example.com")),
        ]);
        let world = World { root, variables };
        // As orange would make it.
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(world.home()).unwrap();
        let config = format!(
            "tmux:\n  server: {}\nagents:\n  harness: sim\n  review_harness: sim\n  limit: 4\nmonitor:\n  interval: 1s\ngit:\n  fetch: never\nphases:\n  retries: 1\n  idle_timeout: 5s\n",
            world.socket().display()
        );
        fs::write(world.home().join("config.yaml"), config).unwrap();
        for name in PROJECTS {
            world.make_repository(name);
        }
        world
    }

    fn make_repository(&self, name: &str) {
        let folder = self.repository(name);
        fs::create_dir_all(&folder).unwrap();
        self.git(&folder, &["init", "-q", "-b", "main"]);
        self.git(&folder, &["config", "gc.auto", "0"]);
        self.git(&folder, &["config", "maintenance.auto", "false"]);
        fs::write(folder.join("README.md"), "first\n").unwrap();
        self.git(&folder, &["add", "."]);
        self.git(&folder, &["commit", "-q", "-m", "first"]);
        let path = folder.to_str().unwrap();
        let added = self.orange(&["project", "add", path, "--pool-size", "4"], None);
        assert_eq!(added.code, Some(0), "{}", added.stderr);
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home/orange")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.root().join("tmux")
    }

    pub(crate) fn repository(&self, project: &str) -> PathBuf {
        self.root().join(project)
    }

    pub(crate) fn commits(&self) -> PathBuf {
        self.root().join("commits")
    }

    pub(crate) fn left_files(&self) -> PathBuf {
        self.root().join("files")
    }

    /// What the agents of phased tasks told of their turns.
    pub(crate) fn turns(&self) -> PathBuf {
        self.root().join("turns")
    }

    /// Has an agent of this task given the command that dies?
    pub(crate) fn agent_command_died(&self, number: usize) -> bool {
        let files = self.left_files();
        PathBuf::from(format!("{}.died-{number}", files.display())).exists()
    }

    /// A script for the agents of a task, as the name of a harness.
    pub(crate) fn harness(&self, number: usize, write: impl FnOnce(&Ledger) -> String) -> String {
        let ledger = Ledger {
            commits: &self.commits(),
            files: &self.left_files(),
            turns: &self.turns(),
        };
        let path = self.root().join(format!("script-{number}.yaml"));
        fs::write(&path, write(&ledger)).unwrap();
        format!("sim:{}", path.display())
    }

    pub(crate) fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::null())
            .current_dir(self.root());
        command
    }

    /// Orange, as a process that goes on.
    pub(crate) fn orange_command(&self, words: &[&str], dies: Option<&str>) -> Command {
        let mut command = self.command(assert_cmd::cargo::cargo_bin!("orange"));
        command.args(words);
        if let Some(point) = dies {
            command.env("ORANGE_CRASH_AT", point);
        }
        command
    }

    pub(crate) fn orange(&self, words: &[&str], dies: Option<&str>) -> Said {
        self.orange_command(words, dies).output().unwrap().into()
    }

    pub(crate) fn git(&self, folder: &Path, words: &[&str]) -> String {
        let said: Said = self
            .command("git")
            .arg("-C")
            .arg(folder)
            .args(words)
            .output()
            .unwrap()
            .into();
        assert_eq!(said.code, Some(0), "git {words:?}: {}", said.stderr);
        said.stdout
    }

    pub(crate) fn tmux(&self, words: &[&str]) -> Said {
        let mut command = self.command("tmux");
        command.arg("-S").arg(self.socket()).args(words);
        command.output().unwrap().into()
    }

    /// Processes of this home, by their environment, but for this test.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let wanted = format!("ORANGE_HOME={}", self.home().display());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &u32| {
                let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                let mut entries = bytes.split(|byte| *byte == 0);
                entries.any(|entry| entry == wanted.as_bytes())
            })
            .map(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                (pid, String::from_utf8_lossy(&line).replace('\0', " "))
            })
            .collect()
    }

    /// The folder of every task, but for those that are still being made.
    pub(crate) fn tasks(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for project in PROJECTS {
            let entries = fs::read_dir(self.home().join("tasks").join(project));
            for entry in entries.into_iter().flatten().flatten() {
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                if !hidden && entry.path().join("TASK.md").is_file() {
                    found.push(entry.path());
                }
            }
        }
        found
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let bytes = fs::read(self.home().join(name)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }
}

/// Kills a process; it may be gone.
pub(crate) fn kill(pid: u32) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

impl Drop for World {
    /// Ends what a failed soak left: by its own socket and its own home.
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        for (pid, _) in self.processes() {
            kill(pid);
        }
        if std::env::var_os("SOAK_KEEP").is_some() {
            self.root.disable_cleanup(true);
        }
    }
}

//! A home with a small repository, warm slots and a tmux server that runs already.

use crate::Result;
use crate::fixture::PROJECT;
use crate::measure::run;
use crate::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// After so many looks that find no process there is none.
const QUIET_LOOKS: usize = 5;

pub(crate) struct Stage<'s> {
    scratch: &'s Scratch,
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) repository: PathBuf,
}

impl<'s> Stage<'s> {
    /// `agent` is what the harness of that name runs; it gets the prompt as its first argument.
    pub(crate) fn new(scratch: &'s Scratch, name: &str, slots: usize, agent: &str) -> Result<Self> {
        Self::at(scratch, scratch.memory.join(name), slots, agent)
    }

    pub(crate) fn at(
        scratch: &'s Scratch,
        root: PathBuf,
        slots: usize,
        agent: &str,
    ) -> Result<Self> {
        let stage = Stage {
            scratch,
            home: root.join("home"),
            repository: root.join("repository"),
            root,
        };
        fs::create_dir_all(&stage.home)?;
        fs::create_dir_all(&stage.repository)?;
        let agent = serde_json::to_string(agent)?;
        let socket = stage.socket();
        fs::write(
            stage.home.join("config.yaml"),
            format!(
                "tmux:\n  server: {}\nagents:\n  harness: tiny\n  review_harness: none\n  limit: 1000\ngit:\n  fetch: never\nharness:\n  tiny: [sh, -c, {agent}, sh, \"{{prompt}}\"]\n",
                socket.display()
            ),
        )?;
        stage.git(&["init", "--quiet", "--initial-branch=main"])?;
        for number in 0..20 {
            fs::write(
                stage.repository.join(format!("file-{number}.txt")),
                "text\n",
            )?;
        }
        stage.git(&["add", "."])?;
        stage.git(&["commit", "--quiet", "--message=start"])?;
        // Neither side pays for the start of a server.
        run(&mut stage.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "keep",
            "sleep 100000",
        ]))?;
        let path = stage.repository.display().to_string();
        let slots = slots.to_string();
        stage.orange(&[
            "project",
            "add",
            &path,
            "--name",
            PROJECT,
            "--pool-size",
            &slots,
        ])?;
        stage.orange(&["workspace", "init", &slots])?;
        Ok(stage)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.root.join("tmux")
    }

    /// A program with an environment in which nothing of the user's own counts.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .env("SHELL", "/bin/sh")
            .env("LC_ALL", "C.UTF-8")
            .env("ORANGE_HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "bench")
            .env("GIT_AUTHOR_EMAIL", "bench@example.invalid")
            .env("GIT_COMMITTER_NAME", "bench")
            .env("GIT_COMMITTER_EMAIL", "bench@example.invalid");
        command
    }

    pub(crate) fn orange_command(&self, words: &[&str]) -> Command {
        let mut command = self.program(&self.scratch.orange, &self.repository);
        command.args(words);
        command
    }

    pub(crate) fn orange(&self, words: &[&str]) -> Result<Duration> {
        run(&mut self.orange_command(words))
    }

    pub(crate) fn tmux(&self, words: &[&str]) -> Command {
        let mut command = self.program("tmux", &self.root);
        command.arg("-S").arg(self.socket()).args(words);
        command
    }

    pub(crate) fn git(&self, words: &[&str]) -> Result<Duration> {
        run(self.program("git", &self.repository).args(words))
    }

    /// The processes of this home that are alive.
    fn processes(&self) -> Vec<Pid> {
        let wanted = format!("ORANGE_HOME={}", self.home.display());
        let is_own = |environment: &[u8]| {
            let mut entries = environment.split(|byte| *byte == 0);
            entries.any(|entry| entry == wanted.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let own = entries.filter(|entry| {
            let environment = fs::read(entry.path().join("environ"));
            environment.is_ok_and(|environment| is_own(&environment))
        });
        own.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    /// Whether a run has not had its first look yet, some seconds after its start.
    pub(crate) fn has_new_run(&self) -> bool {
        let runs = fs::read_dir(self.home.join("runs"));
        let mut runs = runs.into_iter().flatten().flatten();
        runs.any(|run| run.path().join("due.json").exists())
    }

    /// What a program finds in its environment inside of a pane of this server.
    pub(crate) fn inside(&self) -> Result<[(&'static str, String); 2]> {
        let output = self
            .tmux(&["display-message", "-p", "-t", "keep", "#{pid} #{pane_id}"])
            .output()?;
        let said = String::from_utf8(output.stdout)?;
        let (pid, pane) = said.trim().split_once(' ').ok_or("tmux says nothing")?;
        let socket = self.socket();
        Ok([
            ("TMUX", format!("{},{pid},0", socket.display())),
            ("TMUX_PANE", pane.to_owned()),
        ])
    }

    /// The folder of the task that was created last.
    pub(crate) fn newest(&self, key: &str) -> Result<PathBuf> {
        let output = self
            .orange_command(&["task", "show", key, "--json"])
            .output()?;
        let shown: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let id = shown["task"]["id"].as_str().ok_or("no id")?;
        Ok(self.home.join("tasks").join(PROJECT).join(id))
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _ = run(&mut self.tmux(&["kill-server"]));
        // Every agent's end is seen to by a process, which starts what waits in the queue, an executor too and on a new server. None may
        // go on in a home that is about to be removed. In the moment of its exec a process shows no environment, so one look that
        // finds nobody is not enough.
        let mut quiet = 0;
        let _ = until("the last process", || {
            let alive = self.processes();
            for process in &alive {
                let _ = kill_process(*process, Signal::KILL);
            }
            quiet = if alive.is_empty() { quiet + 1 } else { 0 };
            quiet == QUIET_LOOKS
        });
    }
}

/// Waits for something, looking often.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    while !holds() {
        if Instant::now() >= deadline {
            return Err(format!("waited in vain for {what}").into());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

/// The time from a command's start until a file is there.
pub(crate) fn until_file(command: &mut Command, file: &Path) -> Result<Duration> {
    let start = Instant::now();
    let mut child = command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    until(&format!("{}", file.display()), || file.exists())?;
    let took = start.elapsed();
    if child.wait()?.success() {
        Ok(took)
    } else {
        Err(format!("{command:?} failed").into())
    }
}

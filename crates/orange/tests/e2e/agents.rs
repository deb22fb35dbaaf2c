//! A machine with agents: a tmux server of its own, scripted agents, and ways to wait for what they do.

// By its path: the tests with real agents share this file.
#[path = "agents/reading.rs"]
mod reading;

use crate::env::{TestEnvironment, TestTask};
use crate::run::Run;
use orange_engine::runs::ProcessId;
use serde_json::Value;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// Generous: only a test that fails waits so long.
const CEILING: Duration = Duration::from_secs(60);

/// A test environment in which tasks start agents.
pub(crate) struct Agents {
    env: TestEnvironment,
}

impl Deref for Agents {
    type Target = TestEnvironment;
    fn deref(&self) -> &TestEnvironment {
        &self.env
    }
}

impl DerefMut for Agents {
    fn deref_mut(&mut self) -> &mut TestEnvironment {
        &mut self.env
    }
}

impl Agents {
    /// With the repository `shop`, registered; tasks start with the scripted agent.
    pub(crate) fn new() -> Agents {
        Agents::configured("")
    }

    /// The same with more in config.yaml.
    pub(crate) fn configured(more: &str) -> Agents {
        let mut env = TestEnvironment::empty();
        env.unset("ORANGE_AGENTS_");
        let agents = Agents { env };
        let socket = agents.socket();
        let more = more.replace("ROOT", agents.root().to_str().unwrap());
        let config = format!(
            "tmux:\n  server: {}\nagents:\n  harness: sim\n  review_harness: sim\n{more}",
            socket.display()
        );
        agents.write("home/orange/config.yaml", config);
        let repository = agents.init_repository("shop");
        let path = repository.to_str().unwrap();
        agents
            .orange(["project", "add", path, "--pool-size", "2"])
            .ok();
        agents
    }

    /// With nothing at all, not even settings, but for the tmux server.
    pub(crate) fn bare() -> Agents {
        let mut env = TestEnvironment::empty();
        env.unset("ORANGE_AGENTS_");
        let mut agents = Agents { env };
        let socket = agents.socket();
        agents.set("ORANGE_TMUX_SERVER", socket);
        agents
    }

    pub(crate) fn set_path(&mut self, path: impl AsRef<std::ffi::OsStr>) {
        self.env.set("PATH", path.as_ref());
    }

    /// Programs of this folder are found before all others.
    pub(crate) fn put_first_in_path(&mut self, folder: &Path) {
        let path = self.env.variable("PATH");
        let all = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(all).unwrap();
        self.env.set("PATH", path);
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.root().join("tmux")
    }

    /// A script for the scripted agent, as the name of a harness; ROOT in it is this test's own folder.
    pub(crate) fn script(&self, name: &str, yaml: &str) -> String {
        let yaml = yaml.replace("ROOT", self.root().to_str().unwrap());
        let path = self.write(&format!("scripts/{name}.yaml"), yaml);
        format!("sim:{}", path.display())
    }

    /// A new task whose agents play this script.
    pub(crate) fn start(&self, summary: &str, yaml: &str) -> TestTask {
        let name: String = summary
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let harness = self.script(&name, yaml);
        let agents = ["--harness", &harness, "--review-harness", &harness];
        let branch = name.to_lowercase();
        self.create([&[branch.as_str(), summary], &agents[..]].concat())
    }

    pub(crate) fn tmux(&self, arguments: &[&str]) -> Output {
        let mut command = self.foreign("tmux");
        // The test's own tmux, whatever it lets orange find.
        command.env("PATH", std::env::var_os("PATH").unwrap());
        let command = command.arg("-S").arg(self.socket()).args(arguments);
        command.output().unwrap()
    }

    /// Every window, as `session:window`.
    pub(crate) fn windows(&self) -> Vec<String> {
        let output = self.tmux(&["list-windows", "-a", "-F", "#{session_name}:#{window_name}"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    /// The status in the task's own file.
    pub(crate) fn status(&self, task: &TestTask) -> String {
        let text = task.text();
        let line = text.lines().find_map(|line| line.strip_prefix("status: "));
        line.unwrap_or_default().to_owned()
    }

    /// Waits for a condition; a test that waits in vain says how things stood.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + CEILING;
        while !holds() {
            assert!(
                Instant::now() < deadline,
                "waited in vain for: {what}\n{}",
                self.dump()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the task has this status and its transition is finished.
    #[track_caller]
    pub(crate) fn until_status(&self, task: &TestTask, status: &str) {
        self.until(&format!("{} is {status}", task.key), || {
            self.status(task) == status && !self.is_in_flight(task)
        });
    }

    /// Waits until an event of this type is journalled; gives it.
    #[track_caller]
    pub(crate) fn until_event(&self, task: &TestTask, kind: &str) -> Value {
        self.until(&format!("{kind} of {}", task.key), || {
            task.events().iter().any(|event| event == kind)
        });
        task.last(kind)
    }

    /// Waits until the first window shows the shell that follows an agent: what is typed before is thrown away.
    #[track_caller]
    pub(crate) fn until_shell(&self) {
        self.until("a shell follows the agent", || {
            let said = self.tmux(&["list-panes", "-a", "-F", "#{pane_current_command}"]);
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            text.lines().next().is_some_and(|name| name.ends_with("sh"))
        });
    }

    pub(crate) fn count(&self, task: &TestTask, kind: &str) -> usize {
        task.events().iter().filter(|event| *event == kind).count()
    }

    /// Waits until so many events of this type are journalled, and not one more.
    #[track_caller]
    pub(crate) fn until_count(&self, task: &TestTask, kind: &str, count: usize) {
        self.until(&format!("{count} {kind} of {}", task.key), || {
            self.count(task, kind) >= count && !self.is_in_flight(task)
        });
        assert_eq!(self.count(task, kind), count, "{kind}\n{}", self.dump());
    }

    /// What a person is asked to look at.
    pub(crate) fn attention(&self, task: &TestTask) -> String {
        let shown = self.env.show(task);
        shown["attention"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn until_attention(&self, task: &TestTask, words: &str) {
        self.until(&format!("{} needs attention: {words}", task.key), || {
            self.attention(task).contains(words)
        });
    }

    pub(crate) fn resolve(&self, task: &TestTask) -> Run {
        self.say(&["task", "resolve", &task.id, "--message", "it is in"])
            .ok()
    }

    /// A look of the monitor.
    pub(crate) fn look(&self) {
        self.say(&["watch", "--once"]).ok();
    }

    /// A file at this test's root that scripts wait for.
    pub(crate) fn allow(&self, name: &str) {
        self.write(name, "");
    }

    /// Whether any process has these words on its command line.
    pub(crate) fn is_running(&self, words: &str) -> bool {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut lines =
            pids.map(|pid| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default());
        lines.any(|line| {
            String::from_utf8_lossy(&line)
                .replace('\0', " ")
                .contains(words)
        })
    }

    /// A field of TASK.md.
    pub(crate) fn field(&self, task: &TestTask, name: &str) -> String {
        self.env.show(task)[name]
            .to_string()
            .trim_matches('"')
            .to_owned()
    }

    fn is_in_flight(&self, task: &TestTask) -> bool {
        let folder = self.home().join("in-flight");
        let names = fs::read_dir(folder).into_iter().flatten().flatten();
        names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .any(|name| name.contains(&task.id))
    }

    /// The run folders that are there.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.home().join("runs"));
        entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect()
    }

    /// The `run-agent` of the newest run of a role.
    pub(crate) fn run_agent(&self, task: &TestTask, role: &str) -> u32 {
        let started = self.run_folder(task, role).join("started.json");
        let text = fs::read_to_string(started).unwrap();
        let started: Value = serde_json::from_str(&text).unwrap();
        u32::try_from(started["process"]["pid"].as_u64().unwrap()).unwrap()
    }

    pub(crate) fn run_folder(&self, task: &TestTask, role: &str) -> PathBuf {
        let spawned = task.history();
        let run = spawned
            .iter()
            .rfind(|event| event["type"] == "agent.spawned" && event["role"] == role)
            .unwrap_or_else(|| panic!("no {role} in {:?}", task.events()));
        self.home().join("runs").join(run["run"].as_str().unwrap())
    }

    /// Runs orange and gives what it printed, whatever the exit code.
    pub(crate) fn say(&self, arguments: &[&str]) -> Run {
        self.orange(arguments.iter().copied())
    }

    /// Processes of this test, by the home in their environment or, for a `run-agent`, in its arguments.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let wanted = format!("ORANGE_HOME={}", self.home().display());
        let by_argument = format!(" run-agent --home {} ", self.home().display());
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &u32| {
                let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                let mut entries = bytes.split(|byte| *byte == 0);
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                entries.any(|entry| entry == wanted.as_bytes()) || line.contains(&by_argument)
            })
            .map(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                (pid, String::from_utf8_lossy(&line).replace('\0', " "))
            })
            .collect()
    }

    /// Sends a signal. A process that is killed is dead afterwards: its files and locks are closed before it is a zombie.
    pub(crate) fn kill(&self, pid: u32, signal: &str) {
        let process = ProcessId::of(pid);
        let mut command = self.foreign("kill");
        let done = command.args([signal, &pid.to_string()]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        if let (Some(process), "-9") = (process, signal) {
            self.until("the killed process is dead", || !process.is_alive());
        }
    }

    /// How things stand, for a test that fails.
    pub(crate) fn dump(&self) -> String {
        let mut text = String::new();
        let panes = self.tmux(&[
            "list-panes",
            "-a",
            "-F",
            "#{pane_id} #{session_name}:#{window_name}",
        ]);
        for line in String::from_utf8_lossy(&panes.stdout).lines() {
            let id = line.split(' ').next().unwrap_or_default();
            let screen = self.tmux(&["capture-pane", "-p", "-t", id]);
            let screen = String::from_utf8_lossy(&screen.stdout)
                .trim_end()
                .to_owned();
            text.push_str(&format!("--- {line}\n{screen}\n"));
        }
        for entry in fs::read_dir(self.tasks().join("shop"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let journal = fs::read_to_string(entry.path().join("history.jsonl"));
            text.push_str(&format!("--- {}\n", entry.path().display()));
            for line in journal.unwrap_or_default().lines() {
                text.push_str(&line.chars().take(300).collect::<String>());
                text.push('\n');
            }
        }
        for (pid, line) in self.processes() {
            text.push_str(&format!("process {pid}: {line}\n"));
        }
        let log = fs::read_to_string(self.home().join("orange.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        text.push_str(&lines.into_iter().rev().collect::<Vec<_>>().join("\n"));
        text
    }
}

impl Drop for Agents {
    /// Ends what the test started: by its own socket, and by its own home.
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        let deadline = Instant::now() + CEILING;
        while !self.processes().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            // The end of an agent may be the start of another one, on a new server.
            self.tmux(&["kill-server"]);
        }
        for (pid, _) in self.processes() {
            let mut command = self.foreign("/bin/kill");
            let _ = command.args(["-9", &pid.to_string()]).output();
        }
    }
}

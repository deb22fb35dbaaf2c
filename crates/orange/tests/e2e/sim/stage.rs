//! A terminal of tmux's with the scripted agent in it, and its event log to wait on.

use crate::env::{TestEnvironment, TestTask};
use crate::run::program;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far beyond what any machine needs; whoever waits that long shows the pane and the log.
const CEILING: Duration = Duration::from_secs(120);

pub(super) struct Stage {
    pub(super) env: TestEnvironment,
    /// Where the agent works.
    pub(super) folder: PathBuf,
    pub(super) log: PathBuf,
    variables: Vec<(String, String)>,
    socket: PathBuf,
    arguments: Vec<String>,
}

impl Stage {
    /// In a repository that Orange does not know.
    pub(super) fn new(script: &str) -> Stage {
        let env = TestEnvironment::unregistered();
        let folder = env.shop();
        Stage::in_folder(env, folder, script)
    }

    /// In the worktree of a task that is being planned.
    pub(super) fn with_task(script: &str) -> (Stage, TestTask) {
        let env = TestEnvironment::new();
        let task = env.create(["work/form", "Add a form"]);
        env.move_to(&task, "planning").ok();
        let folder = env.slot_of(&task);
        let mut stage = Stage::in_folder(env, folder, script);
        stage.set("ORANGE_TASK_ID", &task.id);
        stage.set("ORANGE_ROLE", "worker");
        (stage, task)
    }

    fn in_folder(env: TestEnvironment, folder: PathBuf, script: &str) -> Stage {
        let script = env.write("script.yaml", script);
        let log = env.root().join("sim.log");
        Stage {
            folder,
            socket: env.root().join("t"),
            arguments: vec![
                format!("--script={}", script.display()),
                format!("--log={}", log.display()),
            ],
            log,
            env,
            variables: Vec::new(),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.into(), value.into()));
    }

    pub(super) fn tmux(&self, arguments: &[&str]) -> String {
        let output = self.tmux_command().args(arguments).output().unwrap();
        assert!(output.status.success(), "tmux {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn tmux_command(&self) -> Command {
        let mut command = self.env.foreign("tmux");
        command.args(["-f", "/dev/null", "-S"]).arg(&self.socket);
        command
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8");
        command
    }

    /// Starts the agent in a terminal. A shell around it says how it ended, and holds the terminal open.
    pub(super) fn start(&self, prompt: &str) {
        let shell = r#""$@"; echo $? > "$STAGE/ended"; stty -a > "$STAGE/stty"; sleep 1000"#;
        let mut words = vec!["new-session", "-d", "-x", "100", "-y", "30", "-c"];
        let folder = self.folder.to_str().unwrap();
        words.push(folder);
        let stage = format!("STAGE={}", self.env.root().display());
        let variables: Vec<String> = self
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .chain([stage])
            .collect();
        for variable in &variables {
            words.extend(["-e", variable]);
        }
        words.extend(["sh", "-c", shell, "sh", program().to_str().unwrap(), "sim"]);
        words.extend(self.arguments.iter().map(String::as_str));
        words.extend(["--", prompt]);
        self.tmux(&words);
    }

    /// The same without a terminal; these lines are its input.
    pub(super) fn without_terminal(&self, prompt: &str, input: &str) -> std::process::Output {
        let mut command = self.env.foreign(program().to_str().unwrap());
        let mut child = command
            .arg("sim")
            .args(&self.arguments)
            .args(["--", prompt])
            .envs(self.variables.iter().cloned())
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }

    pub(super) fn keys(&self, keys: &[&str]) {
        let mut words = vec!["send-keys"];
        words.extend(keys);
        self.tmux(&words);
    }

    /// As `orange` will: a buffer, pasted with brackets.
    pub(super) fn paste(&self, text: &str) {
        let mut load = self.tmux_command();
        load.args(["load-buffer", "-b", "m", "-"])
            .stdin(Stdio::piped());
        let mut load = load.spawn().unwrap();
        load.stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        assert!(load.wait().unwrap().success());
        self.tmux(&["paste-buffer", "-p", "-r", "-d", "-b", "m"]);
    }

    pub(super) fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        // A long line can be seen before all of it is there.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(super) fn all(&self, event: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|found| found["event"] == event);
        events
    }

    /// The texts of all events of a kind.
    pub(super) fn texts(&self, event: &str) -> Vec<String> {
        let text = |event: Value| event["text"].as_str().unwrap().to_owned();
        self.all(event).into_iter().map(text).collect()
    }

    /// The nth event of a kind, from 1.
    #[track_caller]
    pub(super) fn nth(&self, event: &str, nth: usize) -> Value {
        self.until(&format!("{event} number {nth}"), || {
            self.all(event).into_iter().nth(nth - 1)
        })
    }

    /// The first step of that name has begun.
    #[track_caller]
    pub(super) fn begun(&self, step: &str) {
        self.until(&format!("step {step}"), || {
            self.all("step-begun")
                .into_iter()
                .find(|event| event["step"] == step)
        });
    }

    #[track_caller]
    pub(super) fn until<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            if begun.elapsed() > CEILING {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                panic!("{what} did not happen\n{log}\n{}", self.screen());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    #[track_caller]
    pub(super) fn shows(&self, text: &str) {
        self.until(&format!("{text:?} on the screen"), || {
            self.screen().contains(text).then_some(())
        });
    }

    /// The exit code, as a shell has it.
    #[track_caller]
    pub(super) fn exit_code(&self) -> String {
        self.written("ended").trim().to_owned()
    }

    /// How the terminal is after the agent.
    #[track_caller]
    pub(super) fn terminal_after(&self) -> String {
        self.written("stty")
    }

    #[track_caller]
    fn written(&self, name: &str) -> String {
        let path = self.env.root().join(name);
        self.until(name, || {
            fs::read_to_string(&path)
                .ok()
                .filter(|text| text.ends_with('\n'))
        })
    }

    #[track_caller]
    pub(super) fn file(&self, path: &Path) -> String {
        self.until(&path.display().to_string(), || {
            fs::read_to_string(self.folder.join(path))
                .ok()
                .filter(|text| !text.is_empty())
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What a test that failed left behind. Nothing here may panic: that would end every other test too.
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let events = log.lines().flat_map(serde_json::from_str::<Value>);
        for event in events {
            let name = event["event"].as_str().unwrap_or_default();
            let Some(pid) = event[name].as_u64() else {
                continue;
            };
            let here = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            if here.starts_with(&self.folder) {
                let kill = ["-KILL".to_owned(), pid.to_string()];
                let _ = self.env.foreign("kill").args(kill).status();
            }
        }
        let _ = self.tmux_command().arg("kill-server").output();
    }
}

/// A field of a process's stat, from the one behind its name.
pub(super) fn stat(pid: u64, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(field).map(str::to_owned)
}

pub(super) const STATE: usize = 0;
pub(super) const GROUP: usize = 2;
pub(super) const SESSION: usize = 3;

pub(super) fn alive(pid: u64) -> bool {
    stat(pid, STATE).is_some_and(|state| state != "Z")
}

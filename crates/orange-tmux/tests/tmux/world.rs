//! A tmux server with a home of its own, ended with the test.

use orange_tmux::{NewWindow, Pane, PaneInfo, Tmux};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Far beyond what any of it takes; a test that waits this long has failed.
const CEILING: Duration = Duration::from_secs(60);

pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        // Short: the path of a socket has room for about a hundred letters.
        let root = tempfile::Builder::new().prefix("ot").tempdir_in("/tmp");
        World {
            root: root.unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("s")
    }

    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        vec![
            ("PATH".into(), path),
            ("HOME".into(), self.root.path().into()),
            ("TMUX_TMPDIR".into(), self.root.path().into()),
            ("SHELL".into(), "/bin/sh".into()),
            ("TERM".into(), "screen".into()),
        ]
    }

    pub(crate) fn tmux(&self) -> Tmux {
        Tmux::at(&self.socket()).in_environment(self.environment())
    }

    /// What a user types; the output.
    pub(crate) fn user(&self, arguments: &[&str]) -> String {
        let output = self.try_user(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn try_user(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.env_clear().envs(self.environment());
        command.args(["-u", "-S"]).arg(self.socket());
        command.args(arguments).output().unwrap()
    }

    /// A session of a task, in the root, that waits.
    pub(crate) fn session(&self, name: &str) -> Pane {
        self.run(name, &["sleep", "1000"])
    }

    /// A session of a task with a command; the name is the task's id and the run's too.
    pub(crate) fn run(&self, name: &str, command: &[&str]) -> Pane {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let new = window("worker", self.root.path(), &command, name);
        self.tmux().new_session(&new, name).unwrap().unwrap()
    }

    pub(crate) fn add_window(&self, session: &Pane, name: &str) -> Pane {
        let command = ["sleep".into(), "1000".into()];
        let new = NewWindow {
            run_id: name,
            home_tag: "",
            ..window(name, self.root.path(), &command, &session.session_name)
        };
        self.tmux().new_window(session, &new).unwrap()
    }

    pub(crate) fn pane(&self, pane: &Pane) -> Option<PaneInfo> {
        let panes = self.tmux().panes().unwrap();
        panes.into_iter().find(|info| info.pane.pane == pane.pane)
    }

    pub(crate) fn sessions(&self) -> Vec<String> {
        let output = self.try_user(&["list-sessions", "-F", "#{session_name}"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits; says what the panes show when it was in vain.
    pub(crate) fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            if start.elapsed() > CEILING {
                let panes = self.tmux().panes();
                panic!("waited in vain until {what}; panes: {panes:#?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn wait_for_file(&self, path: &Path) -> Vec<u8> {
        self.wait(&format!("{} is there", path.display()), || path.exists());
        fs::read(path).unwrap()
    }

    pub(crate) fn wait_for_screen(&self, pane: &Pane, text: &str) -> String {
        let mut screen = String::new();
        self.wait(&format!("the screen shows {text}"), || {
            screen = self.tmux().capture(pane, None).unwrap();
            screen.contains(text)
        });
        screen
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.try_user(&["kill-server"]);
    }
}

pub(crate) fn window<'a>(
    name: &'a str,
    folder: &'a Path,
    command: &'a [OsString],
    id: &'a str,
) -> NewWindow<'a> {
    NewWindow {
        window: name,
        folder,
        command,
        task_id: id,
        run_id: id,
        home_tag: "",
        title: name,
    }
}

/// Writes its folder and its arguments, each with a NUL behind it, into the file named by the first, and waits.
pub(crate) fn recorder(file: &Path, arguments: &[&OsStr]) -> Vec<OsString> {
    let script = r#"{ printf '%s\0' "$PWD"; for a; do printf '%s\0' "$a"; done; } > "$0.new"
        mv "$0.new" "$0"; exec sleep 1000"#;
    let mut command: Vec<OsString> = ["sh", "-c", script].map(OsString::from).to_vec();
    command.push(file.into());
    command.extend(arguments.iter().map(OsString::from));
    command
}

pub(crate) fn recorded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    assert_eq!(parts.pop(), Some(Vec::new()));
    parts
}

//! The one file of the scripted agent that starts outside programs: git, sh and `orange` itself.

use orange_sys::programs::located;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

const SHELL: &str = "/bin/sh";
/// More than this of what a command printed is not looked at.
const MOST_OUTPUT: u64 = 64 * 1024;
/// Linux takes no longer variable than 128 KiB.
const LONGEST_VARIABLE: usize = 100 * 1024;
/// A daemon's parent ends at once and says the daemon's number.
const DETACH: &str = r#"/bin/sh -c -- "$1" </dev/null >/dev/null 2>&1 & echo $!"#;

/// The commits of an agent are its own, whoever started it.
const IDENTITY: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "sim"),
    ("GIT_AUTHOR_EMAIL", "sim@localhost"),
    ("GIT_COMMITTER_NAME", "sim"),
    ("GIT_COMMITTER_EMAIL", "sim@localhost"),
];

/// A program about to be started.
pub(super) struct ShellProgram(Command);

/// A program that runs in a process group of its own, with its output in a file.
pub(super) struct RunningProgram {
    child: Child,
    output: File,
}

/// How a program ended and what it printed.
#[derive(Debug)]
pub(super) struct EndedProgram {
    status: ExitStatus,
    pub(super) output: String,
}

pub(super) fn git(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> ShellProgram {
    let mut command = Command::new("git");
    command
        .args(["-c", "commit.gpgSign=false", "-c", "core.editor=true"])
        .args(arguments)
        .envs(IDENTITY.iter().copied());
    ShellProgram(command)
}

/// A line for the shell. The values that texts have as variables are in its environment.
pub(super) fn shell(line: &str, variables: &[(String, String)]) -> ShellProgram {
    let mut command = Command::new(SHELL);
    command
        .args(["-c", "--", line])
        .envs(IDENTITY.iter().copied());
    command.envs(variables.iter().map(|(name, value)| (name, fitting(value))));
    if let Some(path) = path_with_orange() {
        command.env("PATH", path);
    }
    ShellProgram(command)
}

pub(super) fn orange(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> ShellProgram {
    let program = match on_path("orange") {
        Some(_) => PathBuf::from("orange"),
        None => std::env::current_exe().unwrap_or_else(|_| PathBuf::from("orange")),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    ShellProgram(command)
}

impl ShellProgram {
    /// Starts it and goes on.
    pub(super) fn start(mut self) -> io::Result<RunningProgram> {
        // A file without a name: a pipe would be held open by what a command leaves behind.
        let output = tempfile::tempfile()?;
        self.0
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .process_group(0);
        let child = self.0.spawn()?;
        Ok(RunningProgram { child, output })
    }

    /// Starts it in the background, in the agent's own process group.
    pub(super) fn start_beside(mut self) -> io::Result<Child> {
        self.0
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}

/// Starts something that leaves: a session of its own, no terminal, no parent. Gives its process number.
pub(super) fn detach(
    line: &str,
    variables: &[(String, String)],
    clear_env: bool,
) -> io::Result<u32> {
    let ShellProgram(mut command) = shell(DETACH, variables);
    command.args(["sim", line]);
    if clear_env {
        command.env_clear();
    }
    own_session(&mut command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let number = String::from_utf8_lossy(&output.stdout);
    number.trim().parse().map_err(io::Error::other)
}

#[allow(unsafe_code)]
fn own_session(command: &mut Command) {
    // SAFETY: between fork and exec only setsid is called, which is safe there.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()
                .map(|_| ())
                .map_err(io::Error::from)
        });
    }
}

impl RunningProgram {
    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> io::Result<Option<EndedProgram>> {
        let status = self.child.try_wait()?;
        status.map(|status| self.end(status)).transpose()
    }

    pub(super) fn wait(mut self) -> io::Result<EndedProgram> {
        let status = self.child.wait()?;
        self.end(status)
    }

    /// Ends it, and what it started in its group.
    pub(super) fn kill(mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }

    fn end(&mut self, status: ExitStatus) -> io::Result<EndedProgram> {
        let mut bytes = Vec::new();
        self.output.seek(SeekFrom::Start(0))?;
        (&mut self.output)
            .take(MOST_OUTPUT)
            .read_to_end(&mut bytes)?;
        Ok(EndedProgram {
            status,
            output: String::from_utf8_lossy(&bytes).into_owned(),
        })
    }
}

impl EndedProgram {
    pub(super) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// `exit code 3` or `signal 9`.
    pub(super) fn how(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "nobody knows how".into(),
        }
    }

    /// The line that says what went wrong, as far as one can tell.
    pub(super) fn telling_line(&self) -> &str {
        let says_so = |line: &&str| line.starts_with("error:") || line.starts_with("fatal:");
        let mut lines = self.output.lines().filter(|line| !line.trim().is_empty());
        let telling = self.output.lines().find(says_so);
        telling.or_else(|| lines.next_back()).unwrap_or_default()
    }
}

/// PATH with `orange` on it: a script may call it wherever the agent was started from.
fn path_with_orange() -> Option<OsString> {
    if on_path("orange").is_some() {
        return None;
    }
    let program = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(program.parent()?.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).ok()
}

fn on_path(name: &str) -> Option<PathBuf> {
    located(name, std::env::var_os("PATH").as_deref())
}

/// As much of a value as a variable can hold.
fn fitting(value: &str) -> String {
    let mut end = value.len().min(LONGEST_VARIABLE);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value[..end].replace('\0', "")
}

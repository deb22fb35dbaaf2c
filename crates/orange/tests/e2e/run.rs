//! Running the program once, and what it said.

use crate::env::TestTask;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The program under test.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> =
        LazyLock::new(|| assert_cmd::cargo::cargo_bin!("orange").to_path_buf());
    &PROGRAM
}

const YES: &str = "--yes";

/// What ends tasks needs a word without a terminal, and most tests mean it.
fn with_yes(mut arguments: Vec<String>) -> Vec<String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["task", "cancel" | "delete", _, ..] = words[..]
        && !words.contains(&YES)
    {
        arguments.insert(2, YES.to_owned());
    }
    arguments
}

/// A command about to run.
pub(crate) struct Call<'e> {
    surroundings: &'e BTreeMap<String, OsString>,
    arguments: Vec<String>,
    folder: PathBuf,
    variables: Vec<(String, String)>,
    input: Option<Vec<u8>>,
}

impl<'e> Call<'e> {
    pub(crate) fn new(
        surroundings: &'e BTreeMap<String, OsString>,
        folder: PathBuf,
        arguments: Vec<String>,
    ) -> Call<'e> {
        Call {
            surroundings,
            arguments: with_yes(arguments),
            folder,
            variables: Vec::new(),
            input: None,
        }
    }

    /// With the arguments as they were given: nobody says yes.
    pub(crate) fn without_yes(mut self) -> Self {
        self.arguments.retain(|argument| argument != YES);
        self
    }

    pub(crate) fn at(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    pub(crate) fn var(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// As the agent of a task.
    pub(crate) fn agent(self, task: &TestTask, role: &str) -> Self {
        self.var("ORANGE_TASK_ID", &task.id)
            .var("ORANGE_ROLE", role)
    }

    pub(crate) fn input(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.input = Some(text.into());
        self
    }

    /// Starts it and goes on; for tests that kill it.
    pub(crate) fn spawn(self) -> std::process::Child {
        Command::new(program())
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.surroundings)
            .envs(self.variables)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) fn run(self) -> Run {
        let mut command = assert_cmd::Command::from_std(Command::new(program()));
        command
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.surroundings)
            .envs(self.variables)
            .timeout(std::time::Duration::from_secs(60));
        // Never a terminal, and never the test runner's own.
        command.write_stdin(self.input.unwrap_or_default());
        let output = command.output().unwrap();
        Run {
            command: self.arguments.join(" "),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

/// What a command said.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    command: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "------- stderr -------\n{}", self.stderr)?;
        }
        if self.code != 0 {
            writeln!(f, "[exit status: {}]", self.code)?;
        }
        Ok(())
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn ok(self) -> Run {
        self.fails_with(0)
    }

    #[track_caller]
    pub(crate) fn fails_with(self, code: i32) -> Run {
        assert_eq!(self.code, code, "orange {}\n{self}", self.command);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Run {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(all.contains(text), "no {text:?} in\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn silent_about(self, text: &str) -> Run {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(!all.contains(text), "{text:?} in\n{self}");
        self
    }

    /// The one JSON value on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in\n{self}"))
    }

    /// The JSON error: exactly one value on stdout, nothing on stderr.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let mut value = self.json();
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(names, ["error"], "{self}");
        let error = value["error"].take();
        let mut names: Vec<&String> = error.as_object().unwrap().keys().collect();
        // A hint that names commands or options has them as data too.
        names.retain(|name| !["actions", "parameters"].contains(&name.as_str()));
        assert_eq!(names, ["code", "message", "hint"], "{self}");
        assert!(error["message"].is_string(), "{self}");
        error
    }

    /// Checks code, message and hint of a refusal, as text and as JSON.
    #[track_caller]
    pub(crate) fn refuses(&self, exit: i32, code: &str) -> Value {
        assert_eq!(self.code, exit, "orange {}\n{self}", self.command);
        let error = self.error();
        assert_eq!(error["code"], code, "{self}");
        error
    }
}

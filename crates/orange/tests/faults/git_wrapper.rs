//! A `git` before the real one on PATH: it notes every call and fails, or dies, at the one that a test names.

use crate::env::Env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file beside the wrapper, made when the call comes that goes wrong.
const FIRED: &str = "fired";

/// How a call of git goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    FailsBefore,
    FailsAfter,
    KilledBefore,
    KilledAfter,
    /// Killed when it is about to put the first file in place that it has locked: the locks stay.
    KilledMidway,
}

impl Way {
    pub(crate) const ALL: [Way; 5] = [
        Way::FailsBefore,
        Way::FailsAfter,
        Way::KilledBefore,
        Way::KilledAfter,
        Way::KilledMidway,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::FailsBefore => "fails before",
            Way::FailsAfter => "fails after",
            Way::KilledBefore => "killed before",
            Way::KilledAfter => "killed after",
            Way::KilledMidway => "killed midway",
        }
    }

    fn script(self) -> &'static str {
        const FAIL: &str = "echo 'fatal: made to fail' >&2; exit 128";
        match self {
            Way::FailsBefore => FAIL,
            Way::FailsAfter => "\"$real\" \"$@\"; echo 'fatal: made to fail' >&2; exit 128",
            Way::KilledBefore => "kill -9 $$",
            Way::KilledAfter => "\"$real\" \"$@\"; kill -9 $$",
            // With what it starts; but the far side of a push is another repository.
            Way::KilledMidway => {
                "case \"$*\" in *' push '*) all=;; *) all=-f;; esac; \
                 exec strace $all -o /dev/null -e trace=rename \
                 -e inject=rename:signal=SIGKILL:when=1 \"$real\" \"$@\""
            }
        }
    }
}

/// The folder of the wrapper, which must be the first one on PATH.
pub(crate) struct Wrapper {
    folder: PathBuf,
}

impl Wrapper {
    /// Notes all calls and does no more.
    pub(crate) fn noting(env: &Env) -> Wrapper {
        Wrapper::with(env, "")
    }

    /// Lets the nth call go wrong.
    pub(crate) fn failing_at(env: &Env, call: usize, way: Way) -> Wrapper {
        let script = format!(
            "if [ \"$mine\" = {call} ]; then : > \"$dir/{FIRED}\"; {}; fi",
            way.script()
        );
        Wrapper::with(env, &script)
    }

    /// Runs a script before the real git: `$*` are the words, `$real` is git, `$mine` counts the calls.
    pub(crate) fn with(env: &Env, script: &str) -> Wrapper {
        let folder = env.folder().join("bin");
        fs::create_dir_all(&folder).unwrap();
        let real = real_git();
        // No process but the shell: a matrix makes many thousands of calls.
        let text = format!(
            "#!/bin/sh\nreal={real}\ndir=${{0%/*}}\nprintf '%s %s\\n' \"$$\" \"$*\" >> \"$dir/calls\"\n\
             n=0; while read -r pid rest; do n=$((n+1)); [ \"$pid\" = $$ ] && mine=$n; done < \"$dir/calls\"\n\
             {script}\nexec \"$real\" \"$@\"\n",
            real = real.display()
        );
        let file = folder.join("git");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        for left in ["calls", FIRED] {
            let _ = fs::remove_file(folder.join(left));
        }
        Wrapper { folder }
    }

    /// Makes a command of Orange find this git.
    pub(crate) fn before(&self, mut command: Command) -> Command {
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.folder.display()));
        command
    }

    pub(crate) fn run(&self, env: &Env, arguments: &[&str]) -> Output {
        self.before(env.command(arguments)).output().unwrap()
    }

    /// Whether the call came that was to go wrong.
    pub(crate) fn has_fired(&self) -> bool {
        self.folder.join(FIRED).exists()
    }

    /// The words of every call, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        let words = |line: &str| line.split_once(' ').map(|(_, words)| words.to_owned());
        text.lines().filter_map(words).collect()
    }
}

/// The lock files anywhere in the repository.
pub(crate) fn locks(env: &Env) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![env.repository().join(".git")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|end| end == "lock") => {
                    found.push(path.display().to_string());
                }
                false => {}
            }
        }
    }
    found
}

fn real_git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("git"));
    places.find(|file: &PathBuf| Path::is_file(file)).unwrap()
}

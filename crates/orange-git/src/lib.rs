//! Every call of git, a file per purpose. This one alone starts it, with locale, prompts and the repository pinned; the others build
//! on `Git`. Read `questions.rs`, `worktree.rs` and `merge.rs` next.

pub mod bare;
pub mod branches;
pub mod calls;
pub mod checkpoint;
pub mod committed;
pub mod conflicts;
pub mod contained;
pub mod diff;
pub mod diff_stat;
pub mod fast_forward_checkout;
pub mod gitlinks;
mod hashes;
mod hidden;
pub mod landing;
mod layout;
pub mod locks;
pub mod merge;
pub mod own_state;
pub mod parking;
mod questions;
pub mod reflog;
mod refs;
pub mod rescue;
mod said;
pub mod site;
pub mod state;
pub mod status;
#[cfg(test)]
mod tests;
mod trace;
pub mod worktree;
mod worktree_lock;

use calls::GitCall;
pub use locks::past_locks;
use orange_sys::environment;
use orange_sys::error::{Code, Error, Result, copied, err, plain};
use orange_sys::programs::located;
use orange_sys::time_limit::{GroupTimeout, LimitOfThread};
pub use questions::{
    branch_exists, branches_with, commit_in_files, commit_of, commits_ahead, commits_of,
    current_branch, default_branch, has_path, is_ancestor, merge_base, repository_of, short,
    uncommitted, valid_branch_name,
};
use said::phrases;
pub use said::{GitOutput, obstacle};
use site::Behalf;
pub use site::Site;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Variables that would make git speak of another repository (set inside hooks, for instance).
pub const REDIRECTING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Variables that make git read the objects that commits name. Replace refs and grafts are in the repository, where an
/// agent can write them: git would show other content than the content that is merged.
pub const REAL_OBJECTS: &[(&str, &str)] = &[
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // Git prints a hint about every grafts file that it can open, even an empty one. This path cannot exist.
    ("GIT_GRAFT_FILE", "/dev/null/no-grafts"),
];

/// What a slot of the pool is worked on with: nothing of the user's that could fail, wait or start something.
/// The repository's own hooks are off.
const QUIET: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "submodule.recurse=false",
    "commit.gpgSign=false",
];

/// What git says of itself: `git version 2.47.3`.
pub fn version() -> Result<String> {
    Git::anywhere().arg("version").timeout(SOON).text()
}

/// For a question that needs no repository.
const SOON: Duration = Duration::from_secs(5);

/// One call of git about a folder.
pub struct Git {
    command: Command,
    /// Where it works; None for a question that needs no repository.
    folder: Option<PathBuf>,
    /// None for a git that locks nothing.
    behalf: Option<Behalf>,
    input: Option<Vec<u8>>,
    held: Option<File>,
    timeout: Option<Duration>,
    own_session: bool,
}

impl Git {
    /// For a repository that a person registered, or a worktree of one. A bare repository counts as named.
    pub fn at(repository: &Path) -> Git {
        let mut git = Git::found_from(repository);
        if bare::is_bare(repository) {
            git.command.arg("--bare");
        }
        git
    }

    /// For any other folder: git looks for a repository there and above, and never uses a bare one.
    pub fn found_from(folder: &Path) -> Git {
        let mut git = Git::anywhere();
        git.command.arg("-C").arg(folder);
        git.folder = Some(folder.to_owned());
        git
    }

    fn anywhere() -> Git {
        let mut command = Command::new("git");
        environment::inherit(&mut command);
        for variable in REDIRECTING {
            command.env_remove(variable);
        }
        trace::keep_off_stderr(&mut command);
        command
            .args(["-c", "core.quotepath=off"])
            // The variable is not passed on to the git that looks into a submodule; a setting is.
            .args(["-c", "core.useReplaceRefs=false"])
            .envs(REAL_OBJECTS.iter().copied())
            .args(["-c", bare::ONLY_NAMED])
            // A program that a repository's settings name, and an agent can write those.
            .args(["-c", "core.fsmonitor=false"])
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0");
        Git {
            command,
            folder: None,
            behalf: None,
            input: None,
            held: None,
            timeout: None,
            own_session: false,
        }
    }

    /// For a slot of the pool: git never looks for a repository above the slot, should the slot's own link to
    /// its repository be gone, and starts none of the repository's hooks.
    pub fn in_slot(slot: &Path) -> Git {
        let mut git = Git::found_from(slot).quiet();
        if let Some(above) = slot.parent() {
            git = git.env("GIT_CEILING_DIRECTORIES", above);
        }
        git
    }

    fn on_behalf(mut self, behalf: &Behalf) -> Git {
        self.behalf = Some(behalf.clone());
        self
    }

    pub fn quiet(self) -> Git {
        self.settings(QUIET)
    }

    /// Settings for this call alone. Before any argument.
    fn settings(self, settings: &[impl AsRef<OsStr>]) -> Git {
        settings.iter().fold(self, Git::setting)
    }

    /// A setting for this call alone. Before any argument.
    pub fn setting(mut self, setting: impl AsRef<OsStr>) -> Git {
        self.command.arg("-c").arg(setting);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Git {
        self.command.env(name, value);
        self
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Git {
        self.command.arg(argument);
        self
    }

    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Git {
        self.command.args(arguments);
        self
    }

    /// What git reads from its standard input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Git {
        self.input = Some(bytes.into());
        self
    }

    /// Ends git, and what it started, when it takes longer.
    pub fn timeout(mut self, timeout: Duration) -> Git {
        self.timeout = Some(timeout);
        self
    }

    /// Away from the terminal: what asks for a password fails at once, instead of waiting where nobody sees it.
    pub fn without_terminal(mut self) -> Git {
        self.own_session = true;
        self
    }

    /// The lock on this file is held as long as git runs, even if we do not live to see its end; and no Ctrl-C at
    /// our terminal stops it halfway.
    pub fn holding(mut self, lock: &File) -> Result<Git> {
        let lock = lock
            .try_clone()
            .map_err(|error| Error::new(Code::Failed, plain(&error)).because(error))?;
        // What git starts itself does not get its standard input.
        self.held = Some(lock);
        Ok(self)
    }

    /// Runs it, whatever it answers.
    pub fn run(mut self) -> Result<GitOutput> {
        if self.timeout.is_none() && self.held.is_none() {
            self.timeout = LimitOfThread::now();
        }
        if self.own_session {
            orange_sys::time_limit::own_session(&mut self.command);
        } else if self.timeout.is_some() || self.held.is_some() {
            self.command.process_group(0);
        }
        let stdin = match (&self.input, self.held) {
            (Some(_), _) => Stdio::piped(),
            (None, Some(lock)) => lock.into(),
            (None, None) => Stdio::null(),
        };
        self.command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let folder = self.folder.as_deref();
        let behalf = self.behalf.as_ref();
        let words = spoken(&self.command);
        debug_assert!(
            behalf.is_some() || has_own_index(&self.command) || !calls::may_lock(&words),
            "{words}: nobody would clear up after it"
        );
        let call = folder.and_then(|folder| GitCall::of_git(folder, behalf, &words));
        let mut child = self.command.spawn().map_err(|error| cannot_start(&error))?;
        if let Some(call) = &call {
            call.started(child.id());
        }
        let writer = self.input.zip(child.stdin.take()).map(|(bytes, mut pipe)| {
            std::thread::spawn(move || {
                // Git may stop reading early; what it answers says whether that is bad.
                let _ = pipe.write_all(&bytes);
            })
        });
        let watch = self
            .timeout
            .map(|timeout| GroupTimeout::over(child.id(), timeout));
        let output = child
            .wait_with_output()
            .map_err(|error| cannot_start(&error))?;
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        let timed_out = watch.is_some_and(GroupTimeout::end);
        if let Some(call) = call {
            call.ended(output.status.signal().is_some());
        }
        let mut stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if timed_out {
            stderr.push_str("it took too long and was stopped");
        } else if let Some(signal) = output.status.signal() {
            stderr.push_str(&format!("\nfatal: it was killed by signal {signal}\n"));
        }
        let success = output.status.success();
        let lock = (!success).then(|| locks::named_in(&stderr, folder));
        Ok(GitOutput {
            success,
            code: output.status.code(),
            stdout: output.stdout,
            lock: lock.flatten(),
            stderr,
        })
    }

    /// Starts it and goes on; nobody hears what it says.
    pub fn leave(mut self) -> Result<()> {
        self.command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = self.command.spawn();
        child.map(drop).map_err(|error| cannot_start(&error))
    }

    /// Runs it and gives its output without the last line end, or None when it says no. A git that failed or was killed
    /// has not answered: that is an error.
    pub fn ask(self) -> Result<Option<String>> {
        let words = spoken(&self.command);
        let said = self.run()?;
        Ok(said.yes_or_no(&words)?.then(|| said.text()))
    }

    /// As `ask`, but any failure counts as no. Only for questions that nothing destructive depends on.
    pub fn ask_leniently(self) -> Result<Option<String>> {
        let said = self.run()?;
        Ok(said.success.then(|| said.text()))
    }

    /// As `ask`, for a question about a name that git may not know.
    pub fn ask_about_unknown(self) -> Result<Option<String>> {
        let words = spoken(&self.command);
        let said = self.run()?;
        match said.yes_or_no(&words) {
            Ok(yes) => Ok(yes.then(|| said.text())),
            Err(_) if said.code == Some(128) && said.failed_by(phrases::UNKNOWN_REVISION) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs it; git's own words are the error when it fails.
    pub fn checked(self) -> Result<GitOutput> {
        let words = spoken(&self.command);
        self.run()?.checked(&words)
    }

    /// As `checked`, where what it says does not matter.
    pub fn done(self) -> Result<()> {
        self.checked().map(drop)
    }

    /// As `checked`; gives its output without the last line end.
    pub fn text(self) -> Result<String> {
        Ok(self.checked()?.text())
    }

    /// As `checked`; gives the lines of its output.
    fn lines(self) -> Result<Vec<String>> {
        Ok(self.text()?.lines().map(str::to_owned).collect())
    }

    /// Is a yes-or-no setting on?
    fn ask_bool(self, name: &str) -> Result<bool> {
        let value = self.args(["config", "--type=bool", "--get", name]).ask()?;
        Ok(value.as_deref() == Some("true"))
    }
}

/// Whether a call works on an index of Orange's own, and locks that alone.
fn has_own_index(command: &Command) -> bool {
    let mut variables = command.get_envs();
    variables.any(|(name, value)| name == "GIT_INDEX_FILE" && value.is_some())
}

/// `git worktree add`: what a message calls a command.
fn spoken(command: &Command) -> String {
    let mut words = vec!["git".to_owned()];
    let mut arguments = command.get_args();
    while let Some(word) = arguments.next() {
        if word == "-C" || word == "-c" {
            arguments.next();
            continue;
        } else if word == "--bare" || word == "--literal-pathspecs" {
            continue;
        }
        let word = word.to_string_lossy();
        if word.starts_with('-') || words.len() > 2 {
            break;
        }
        words.push(word.into_owned());
    }
    words.join(" ")
}

fn cannot_start(error: &std::io::Error) -> Error {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "it is not installed, or not on PATH".to_owned(),
        _ => plain(error),
    };
    err!(Failed, "cannot start git: {why}")
        .because(copied(error))
        .hint("install git 2.39 or newer and make sure it is on PATH")
}

/// Refuses early where there is no git at all; nothing is started to find out.
pub fn must_be_there(search_path: Option<&OsStr>) -> Result<()> {
    if search_path.is_none() || located("git", search_path).is_some() {
        return Ok(());
    }
    Err(cannot_start(&std::io::ErrorKind::NotFound.into()))
}

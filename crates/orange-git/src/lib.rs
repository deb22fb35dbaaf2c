//! The only file that starts git. Every call pins locale, prompts and the repository it speaks of.

pub mod bare;
pub mod branches;
pub mod calls;
pub mod committed;
pub mod contained;
pub mod diff;
pub mod diff_stat;
pub mod fast_forward_checkout;
pub mod gitlinks;
mod hidden;
pub mod landing;
mod layout;
pub mod locks;
pub mod merge;
pub mod merge_base;
pub mod own_state;
pub mod parking;
mod refs;
pub mod rescue;
mod said;
pub mod state;
pub mod status;
#[cfg(test)]
mod tests;
mod trace;
pub mod worktree;
mod worktree_lock;

use calls::Call;
pub use locks::past_locks;
use orange_sys::environment;
use orange_sys::error::{Code, Error, Result, copied, plain};
use orange_sys::programs::located;
use orange_sys::time_limit::Watch;
use refs::Found;
pub use said::Said;
use state::Head;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
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

/// In seconds; 0: git may take all the time it needs.
static LONGEST: AtomicU64 = AtomicU64::new(0);

/// For a process that only looks: no git of it that has no time limit of its own takes longer than this.
pub fn be_patient_for(longest: Duration) {
    LONGEST.store(longest.as_secs(), Ordering::Relaxed);
}

/// What git says of itself: `git version 2.47.3`.
pub fn version() -> Result<String> {
    Git::anywhere().arg("version").patience(SOON).text()
}

/// For a question that needs no repository.
const SOON: Duration = Duration::from_secs(5);

/// One call of git about a folder.
pub struct Git {
    command: Command,
    /// Where it works; None for a question that needs no repository.
    folder: Option<PathBuf>,
    input: Option<Vec<u8>>,
    held: Option<File>,
    patience: Option<Duration>,
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
            input: None,
            held: None,
            patience: None,
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

    pub fn quiet(mut self) -> Git {
        for setting in QUIET {
            self.command.args(["-c", setting]);
        }
        self
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
    pub fn patience(mut self, patience: Duration) -> Git {
        self.patience = Some(patience);
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
    pub fn run(mut self) -> Result<Said> {
        let longest = LONGEST.load(Ordering::Relaxed);
        if self.patience.is_none() && self.held.is_none() && longest > 0 {
            self.patience = Some(Duration::from_secs(longest));
        }
        if self.own_session {
            orange_sys::time_limit::own_session(&mut self.command);
        } else if self.patience.is_some() || self.held.is_some() {
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
        let call = match &self.folder {
            Some(folder) => Call::of_git(folder, &spoken(&self.command)),
            None => None,
        };
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
            .patience
            .map(|patience| Watch::over(child.id(), patience));
        let output = child
            .wait_with_output()
            .map_err(|error| cannot_start(&error))?;
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        let timed_out = watch.is_some_and(Watch::end);
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
        let lock = (!success).then(|| locks::named_in(&stderr, self.folder.as_deref()));
        Ok(Said {
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
            Err(_) if said.names_nothing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Runs it and gives its output without the last line end; git's own words are the error when it fails.
    pub fn text(self) -> Result<String> {
        let words = spoken(&self.command);
        let said = self.run()?;
        if said.success {
            Ok(said.text())
        } else {
            Err(said.error(&words))
        }
    }
}

/// `git worktree add`: what a message calls a command.
fn spoken(command: &Command) -> String {
    let mut words = vec!["git".to_owned()];
    let mut arguments = command.get_args();
    while let Some(word) = arguments.next() {
        if word == "-C" || word == "-c" {
            arguments.next();
            continue;
        }
        if word == "--bare" {
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
    Error::new(Code::Failed, format!("cannot start git: {why}"))
        .because(copied(error))
        .hint("install git 2.39 or newer and make sure it is on PATH")
}

/// Refuses early where there is no git at all; nothing is started to find out.
pub fn must_be_there(search_path: Option<&OsStr>) -> Result<()> {
    match search_path {
        Some(path) if located("git", Some(path)).is_none() => {
            Err(cannot_start(&std::io::ErrorKind::NotFound.into()))
        }
        Some(_) | None => Ok(()),
    }
}

fn run(folder: Option<&Path>, arguments: &[&str]) -> Result<Said> {
    let git = folder.map_or_else(Git::anywhere, Git::at);
    git.args(arguments).run()
}

/// Runs git and gives its output, or None when it says no.
fn ask(folder: &Path, arguments: &[&str]) -> Result<Option<String>> {
    Git::at(folder).args(arguments).ask()
}

/// The main work tree (or bare repository) that a folder belongs to; None outside of any.
pub fn repository_of(folder: &Path) -> Result<Option<PathBuf>> {
    let look = |words: &[&str]| Git::found_from(folder).arg("rev-parse").args(words);
    let output = look(&["--path-format=absolute", "--git-common-dir"]).run()?;
    if !output.success {
        return match bare::refused(folder, &output.stderr) {
            None => no_repository(folder, &output),
            found => Ok(found),
        };
    }
    let common = PathBuf::from(output.text());
    if look(&["--is-bare-repository"]).ask()?.as_deref() == Some("true") {
        return Ok(Some(common));
    }
    // In a linked worktree the common directory is the main one's .git.
    match common.file_name() {
        Some(name) if name == ".git" => Ok(common.parent().map(Path::to_owned)),
        _ => Ok(look(&["--show-toplevel"])
            .ask_leniently()?
            .map(PathBuf::from)),
    }
}

/// Git says no for two reasons: there is none, or it belongs to somebody else.
fn no_repository(folder: &Path, said: &Said) -> Result<Option<PathBuf>> {
    if said.found_no_repository() {
        return Ok(None);
    }
    if !said.stderr.contains("dubious ownership") {
        return Err(said.error("git rev-parse"));
    }
    Err(Error::new(
        Code::Failed,
        format!(
            "git does not trust {}: it belongs to another user",
            folder.display()
        ),
    )
    .hint(format!(
        "if you do: `git config --global --add safe.directory {}`",
        folder.display()
    )))
}

/// The branch work usually starts from: the remote's own word, else a known name, else the current one.
pub fn default_branch(repository: &Path) -> Result<String> {
    let remote_head = ask(
        repository,
        &[
            "symbolic-ref",
            "--quiet",
            "--short",
            "refs/remotes/origin/HEAD",
        ],
    )?;
    if let Some(branch) =
        remote_head.and_then(|head| head.strip_prefix("origin/").map(str::to_owned))
    {
        return Ok(branch);
    }
    for name in ["main", "master"] {
        if branch_exists(repository, name)? {
            return Ok(name.to_owned());
        }
    }
    let current = ask(repository, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    Ok(current.unwrap_or_else(|| "main".to_owned()))
}

/// Asks git itself whether a name can be a branch.
pub fn valid_branch_name(name: &str) -> Result<bool> {
    if name.starts_with('-') || matches!(name, "HEAD" | "@") {
        return Ok(false);
    }
    let output = run(None, &["check-ref-format", "--branch", name])?;
    // Git fails with this code also for a name that it does not accept.
    if !output.success && output.code != Some(128) {
        return output.yes_or_no("git check-ref-format");
    }
    // Git also accepts shorthands such as `@{-1}` here, and prints the branch they stand for.
    Ok(output.success && output.text() == name)
}

pub fn branch_exists(repository: &Path, branch: &str) -> Result<bool> {
    Ok(commit_of(repository, &format!("refs/heads/{branch}"))?.is_some())
}

/// The commit a revision names, if it names one.
pub fn commit_of(repository: &Path, revision: &str) -> Result<Option<String>> {
    match refs::look_up(repository, revision) {
        Found::Commit(commit) => return Ok(Some(commit)),
        Found::Nothing => return Ok(None),
        Found::Unknown => {}
    }
    ask(
        repository,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{revision}^{{commit}}"),
        ],
    )
}

/// The same for a branch, from git's own files alone; None also where only git could tell.
pub fn commit_in_files(repository: &Path, branch: &str) -> Option<String> {
    match refs::look_up(repository, &format!("refs/heads/{branch}")) {
        Found::Commit(commit) => Some(commit),
        Found::Nothing | Found::Unknown => None,
    }
}

/// The same for several revisions, in their order, by one call of git.
pub fn commits_of(repository: &Path, revisions: &[String]) -> Result<Vec<Option<String>>> {
    let known: Vec<Found> = revisions
        .iter()
        .map(|revision| refs::look_up(repository, revision))
        .collect();
    if !known.contains(&Found::Unknown) {
        let commit = |found| match found {
            Found::Commit(commit) => Some(commit),
            Found::Nothing | Found::Unknown => None,
        };
        return Ok(known.into_iter().map(commit).collect());
    }
    let mut input = String::new();
    for revision in revisions {
        // A line is a question: what could be none names nothing.
        if !revision.contains('\n') {
            input.push_str(revision);
        }
        input.push_str("^{commit}\n");
    }
    let said = Git::at(repository)
        .args(["cat-file", "--batch-check=%(objectname)"])
        .input(input)
        .run()?;
    if !said.success {
        return Err(said.error("git cat-file"));
    }
    let text = said.text();
    let mut lines = text.lines();
    // Whatever is not there is repeated with a word behind it.
    let is_id = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(revisions
        .iter()
        .map(|_| lines.next().filter(is_id).map(str::to_owned))
        .collect())
}

pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Commits in `of` that are not in `than`.
pub fn commits_ahead(repository: &Path, of: &str, than: &str) -> Result<Option<u64>> {
    let count = Git::at(repository)
        .args(["rev-list", "--count", "--end-of-options"])
        .arg(format!("{than}..{of}"))
        .ask_about_unknown()?;
    Ok(count.and_then(|text| text.parse().ok()))
}

/// The branches that have a commit, here and at remotes, without the name of the remote.
pub fn branches_with(repository: &Path, commit: &str) -> Result<Vec<String>> {
    let names = Git::at(repository)
        .args(["for-each-ref", "--format=%(refname)"])
        .arg(format!("--contains={commit}"))
        .args(["refs/heads", "refs/remotes"])
        .text()?;
    let short = |name: &str| {
        let local = name.strip_prefix("refs/heads/");
        let remote = || name.strip_prefix("refs/remotes/")?.split_once('/');
        local
            .or_else(|| remote().map(|(_, branch)| branch))
            .map(str::to_owned)
    };
    Ok(names.lines().filter_map(short).collect())
}

/// A commit that the repository does not have is no ancestor.
pub fn is_ancestor(repository: &Path, commit: &str, of: &str) -> Result<bool> {
    let answer = Git::at(repository)
        .args(["merge-base", "--is-ancestor", commit, of])
        .ask_about_unknown()?;
    Ok(answer.is_some())
}

/// What is changed and not committed in a worktree, a line each.
pub fn uncommitted(worktree: &Path) -> Result<Vec<String>> {
    let text = hidden::look_past_flags(worktree, |git| {
        git.args(["status", "--porcelain=v1", "--untracked-files=normal"])
            .text()
    })?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// The branch checked out in a worktree; None when HEAD is detached.
pub fn current_branch(worktree: &Path) -> Result<Option<String>> {
    let why = match state::head(worktree) {
        Head::Branch(name) => return Ok(Some(name)),
        Head::Detached(_) => return Ok(None),
        Head::Missing(why) => why,
    };
    let said = Git::in_slot(worktree)
        .args(["symbolic-ref", "--quiet", "HEAD"])
        .run()?;
    if said.found_no_repository() {
        let message = format!("{}: {why}", worktree.display());
        return Err(Error::new(Code::ConditionUnmet, message));
    }
    let name = if said.yes_or_no("git symbolic-ref")? {
        said.text()
    } else {
        return Ok(None);
    };
    Ok(name.strip_prefix("refs/heads/").map(str::to_owned))
}

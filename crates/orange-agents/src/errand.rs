//! Errands: Orange started by Orange, away from any terminal, to finish what its caller may not live to finish.
//! In a session of its own, without a run's tag, and passed over when a run's processes are ended.

pub mod pass;

use crate::agent_run::fence;
use crate::error::{Code, Error, Result, copied, plain};
use crate::person_environment;
use orange_core::config::Config;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The word on the command line by which an errand is known.
pub const WORD: &str = "errand";

/// Starts an errand and gives its process's number. Whoever lives longer than it has to reap it.
pub fn start(orange: &Path, home: &Path, words: &[&str]) -> Result<u32> {
    start_with(orange, home, words, &BTreeMap::new(), &[])
}

/// The same, with more in its environment, and without some of it.
pub fn start_with(
    orange: &Path,
    home: &Path,
    words: &[&str],
    more: &BTreeMap<String, String>,
    less: &[String],
) -> Result<u32> {
    let child = spawn(orange, home, words, more, less)?;
    let pid = child.id();
    started().push(child);
    Ok(pid)
}

/// Errands that this process has started and not waited for.
fn started() -> MutexGuard<'static, Vec<Child>> {
    static STARTED: Mutex<Vec<Child>> = Mutex::new(Vec::new());
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts an errand and waits for its end. False if it could not do what it was to, and said why in orange.log; one
/// that was killed says nothing.
pub fn carry_out(orange: &Path, home: &Path, words: &[&str]) -> Result<bool> {
    let mut child = spawn(orange, home, words, &BTreeMap::new(), &[])?;
    let code = child.wait().ok().and_then(|status| status.code());
    Ok(code.is_none_or(|code| code == 0))
}

/// Reaps errands that have ended, for a process that lives on. Other children are left to the threads that wait for them.
pub fn reap_ended() {
    started().retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

#[allow(unsafe_code)]
fn spawn(
    orange: &Path,
    home: &Path,
    words: &[&str],
    more: &BTreeMap<String, String>,
    less: &[String],
) -> Result<Child> {
    let cannot = |error: &std::io::Error| {
        let message = format!("{} cannot be started: {}", orange.display(), plain(error));
        Error::new(Code::Failed, message).because(copied(error))
    };
    let mut command = Command::new(orange);
    person_environment::inherit(&mut command);
    for name in [
        "ORANGE_TASK_ID",
        "ORANGE_ROLE",
        "ORANGE_RUN_ID",
        "TMUX",
        "TMUX_PANE",
    ] {
        command.env_remove(name);
    }
    for name in less {
        command.env_remove(name);
    }
    if std::env::var_os("ORANGE_TASK_ID").is_some() {
        let keys = Config::known_keys().iter();
        for key in keys.filter(|key| !Config::may_be_an_agents(key)) {
            command.env_remove(Config::variable(key));
        }
    }
    for (name, value) in fence::undone(person_environment::inherited) {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .arg(WORD)
        .args(words)
        .env("ORANGE_HOME", home)
        .envs(more)
        // It must not live in a slot.
        .current_dir(if home.is_dir() { home } else { Path::new("/") })
        .stdin(pass::issue(words).map_err(|error| cannot(&error))?)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: between fork and exec only setsid is called, which is safe there.
    unsafe {
        command.pre_exec(|| {
            let session = rustix::process::setsid();
            session.map(|_| ()).map_err(std::io::Error::from)
        });
    }
    command.spawn().map_err(|error| cannot(&error))
}

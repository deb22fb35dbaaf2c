//! The process inside a tmux window: starts an agent on its terminal, stays beside it, hands it messages, ends
//! all it started, and records how it ended. It knows nothing of workflows: what follows from an end or from a
//! turn is the business of an errand, which a newer Orange may carry out.

mod alarms;
mod courier;
pub mod fence;

use crate::errand;
use crate::error::{IoContext, Result, err, plain};
use crate::git::REAL_OBJECTS;
use crate::git::calls::GitCall;
use crate::git::site::Behalf;
use crate::harness::environment;
use crate::harness::watch::{self, MessageQueue, Watched};
use crate::runs::{self, Due, DueFor, Ended, ProcessId, RunFolder, RunSpec, Started};
use crate::screen_tail::screen_tail;
use crate::tmux::Tmux;
use alarms::Alarms;
use courier::Courier;
pub use fence::without as without_fence;
use orange_core::Timestamp;
use orange_core::workflow::Role;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the process in the window is told.
#[derive(Debug, Clone)]
pub struct AgentRun {
    pub home: PathBuf,
    pub run: String,
    /// This program.
    pub orange: PathBuf,
    /// What the user gets when the agent is gone.
    pub shell: OsString,
    /// What the agent gets of the environment of whoever started it.
    pub environment: BTreeMap<String, String>,
}

/// An argument of a process cannot be longer than this; a longer prompt is named by its file.
const LONGEST_ARGUMENT: usize = 120 * 1024;

/// How long another process may look at the lock while we want it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// What was typed for the agent has arrived when nothing more comes for so long; and how long that may take.
const QUIET: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
const TYPING: Duration = Duration::from_secs(5);

/// Between two looks while something is under way, and while nothing is.
const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_millis(500);

/// A look that is due is asked for again after so long, unless somebody has looked.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// Between two looks at the last screen of an agent, which the terminal may still be about to show; and how many.
const SETTLING: Duration = Duration::from_millis(20);
const MOST_LOOKS: usize = 10;

/// Gives back a terminal as a shell expects it: main screen, cursor, no paste brackets, no mouse, no colour.
const CLEAN: &str =
    "\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[0m\r\n";

/// Runs the agent to its end. Gives the shell to go on with, if there is still somebody to use it.
pub fn run(mut this: AgentRun) -> Result<Option<Command>> {
    let folder = RunFolder::new(&this.home, &this.run);
    this.environment.extend(folder.take_environment());
    let this = &this;
    let spec = folder
        .spec()
        .ok_or_else(|| err!(NotFound, "there is no run {}", this.run))?;
    let Some(lock) = lock(&folder)? else {
        return Err(err!(Busy, "run {} has its agent already", this.run));
    };
    if folder.started().is_some() {
        return Err(err!(
            Conflict,
            "run {} was started before; an agent runs once",
            this.run
        ));
    }
    let terminal = rustix::termios::tcgetattr(std::io::stdin()).ok();
    let mut alarms = Alarms::install()?;
    begin(&folder)?;
    let site = Behalf::new(&this.home, |_| {}).at(&spec.worktree);
    let at_work = GitCall::begin(&site, &format!("{} of {}", spec.role, spec.task));
    let mut ended = if folder.is_to_stop() {
        ended("stopped by orange before it began".into(), None, true)
    } else {
        live(this, &folder, &spec, &mut alarms, at_work.as_ref())
    };
    if spec.role == Role::Reviewer {
        // At once: what is written later is not the reviewer's.
        ended.review = folder.review_now(&spec);
    }
    if !ended.stopped && ended.code.is_some_and(|code| code != 0) {
        ended.last_words = read_screen_tail(&folder);
    }
    ended.seal = runs::seal_of_end(&this.home, &this.run, &ended);
    give_back_terminal(terminal.as_ref());
    end_all(&mut alarms);
    if let Err(error) = folder.note_ended(&ended) {
        // A full disk, say. That it is gone shows without it, and the person gets a shell anyway.
        tracing::error!(%error, run = this.run, "how the agent ended is not noted");
    }
    if let Some(at_work) = at_work {
        // Its git may just have been killed, by us or by the agent itself.
        at_work.ended(true);
    }
    say(&format!("the {} has ended: {}\r\n", spec.role, ended.how));
    drop(lock);
    if ended.stopped {
        return Ok(None);
    }
    let errand = tend(this);
    // Meanwhile: only the shell has to wait until the terminal is quiet, not what follows from the end.
    let is_quiet = discard_typed(terminal.as_ref());
    if let Ok(pid) = errand {
        alarms.wait_for(pid);
    }
    if alarms.terminal_is_gone() || !is_quiet {
        return Ok(None);
    }
    // What the person starts from now on is not ours to look after.
    let _ = rustix::process::set_child_subreaper(None);
    Ok(Some(shell(this, &spec)))
}

pub(crate) fn lock(folder: &RunFolder) -> Result<Option<File>> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        let lock = folder.lock().doing("lock", folder.path())?;
        // Somebody who only looks whether we live holds it for an instant.
        if lock.is_some() || folder.started().is_some() || Instant::now() >= deadline {
            return Ok(lock);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Records that this process carries a run out. What its agents detach becomes a child of this process.
pub(crate) fn begin(folder: &RunFolder) -> Result<()> {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let process = ProcessId::of(std::process::id()).ok_or_else(|| {
        err!(
            Failed,
            "this system does not tell about its processes (/proc)"
        )
    })?;
    folder.note_started(&Started {
        process,
        at: Timestamp::now(),
    })?;
    Ok(())
}

/// How a run ends whose terminal is gone.
const WINDOW_CLOSED: &str = "its window was closed";

/// From the start of the agent to its end.
fn live(
    this: &AgentRun,
    folder: &RunFolder,
    spec: &RunSpec,
    alarms: &mut Alarms,
    at_work: Option<&GitCall>,
) -> Ended {
    let pid = match start(this, folder, spec) {
        Ok(pid) => pid,
        Err(error) => {
            return ended(format!("not started: {}", plain(&error)), Some(127), false);
        }
    };
    alarms.watch(pid);
    if let Some(at_work) = at_work {
        at_work.started(pid);
    }
    let mut courier = Courier::new(folder.clone(), spec.clone());
    let mut watch = watch::of_run(&Watched {
        folder,
        spec,
        pid,
        environment: &this.environment,
    });
    let nothing_waits = MessageQueue::default();
    let mut told_late = false;
    let mut wait = SHORT;
    let end = loop {
        alarms.wait(wait);
        if let Some(end) = alarms.reap() {
            if alarms.ended_with_terminal(end) && !folder.is_to_stop() {
                break ended(WINDOW_CLOSED.into(), None, false);
            }
            break ended(end.to_string(), end.code(), folder.is_to_stop());
        }
        if folder.is_to_stop() {
            end_all(alarms);
            break ended("stopped by orange".into(), None, true);
        }
        if alarms.terminal_is_gone() {
            end_all(alarms);
            break ended(WINDOW_CLOSED.into(), None, false);
        }
        let pane = || folder.pane().map(|pane| (Tmux::at(&pane.socket), pane));
        if let Some(watch) = &mut watch {
            watch.look(Instant::now(), courier.transcript(), &pane);
        }
        let queue = watch.as_ref().map_or(&nothing_waits, |watch| watch.queue());
        let news = courier.step(Instant::now(), queue, pane);
        if is_due(folder, courier.has_begun(), &mut told_late) || news {
            // Reaped with everything else that ends here.
            let _ = tend(this);
        }
        wait = if courier.is_busy() { SHORT } else { LONG };
    };
    if let Some(watch) = &mut watch {
        courier.read_signals();
        watch.end(courier.transcript());
    }
    end
}

/// Is it time for somebody to look at the run? `told_late`: somebody was told that the agent has not begun.
fn is_due(folder: &RunFolder, begun: bool, told_late: &mut bool) -> bool {
    if *told_late && begun {
        *told_late = false;
        return true;
    }
    let Some(due) = folder.due().filter(|due| due.at <= Timestamp::now()) else {
        return false;
    };
    if due.reason == DueFor::Start {
        if begun {
            folder.forget_due();
            return false;
        }
        *told_late = true;
    }
    let at = Timestamp::now() + ASK_AGAIN;
    if let Err(error) = folder.note_due(Due { at, ..due }) {
        tracing::warn!(%error, "when to look again is not noted");
    }
    true
}

/// What an agent that failed left on its screen, once that stands still.
fn read_screen_tail(folder: &RunFolder) -> String {
    let mut before = String::new();
    for _ in 0..MOST_LOOKS {
        std::thread::sleep(SETTLING);
        // Whoever opened the window notes it a moment after that; an agent may be gone sooner.
        let Some(pane) = folder.pane() else {
            continue;
        };
        let Ok(screen) = Tmux::at(&pane.socket).capture(&pane, None) else {
            break;
        };
        if !screen.is_empty() && screen == before {
            break;
        }
        before = screen;
    }
    screen_tail(&before)
}

/// Sees to what has happened. An agent that is started because of it gets what this one got.
fn tend(this: &AgentRun) -> Result<u32> {
    let words = ["tend", this.run.as_str()];
    let stale = environment::stale(&this.environment);
    errand::start_with(&this.orange, &this.home, &words, &this.environment, &stale)
}

/// Ends the agent, and everything else that runs below this process.
fn end_all(alarms: &mut Alarms) {
    runs::end_tree(std::process::id(), || {
        alarms.reap();
    });
}

fn start(this: &AgentRun, folder: &RunFolder, spec: &RunSpec) -> std::io::Result<u32> {
    let prompt = std::fs::read_to_string(folder.prompt_file())?.replace('\0', "");
    let file = folder.prompt_file().display().to_string();
    let as_argument = if prompt.len() > LONGEST_ARGUMENT {
        format!("Your instructions are in the file {file}. Read all of it, then follow it.")
    } else {
        spec.adapter.as_words(&prompt)
    };
    let mut words = spec.command.iter();
    let program = words.next().map(String::as_str).unwrap_or_default();
    let mut command = Command::new(program);
    // In this order: what a person wrote into the prompt is not looked at again.
    command.args(words.map(|word| {
        match word.as_str() {
            "{prompt}" => as_argument.clone(),
            word => word
                .replace("{prompt_file}", &file)
                .replace("{prompt}", &as_argument),
        }
    }));
    command.current_dir(&spec.worktree);
    for name in environment::stale(&this.environment) {
        command.env_remove(name);
    }
    command.envs(&this.environment);
    let withheld = spec.withheld.iter().map(String::as_str);
    let cleared = environment::cleared().map(|name| -> &str { name });
    for name in cleared.chain(withheld) {
        command.env_remove(name);
    }
    command
        .env("ORANGE_TASK_ID", &spec.task)
        .env("ORANGE_ROLE", spec.role.as_str())
        .env("ORANGE_RUN_ID", &spec.run)
        .env("ORANGE_HOME", &this.home);
    let path = own_first(&this.orange, spec.search_path.as_deref().map(OsStr::new));
    let fence = fence::put_up(folder.path(), &spec.worktree)?;
    let settings = fence.git_settings(|name| variable(&command, name));
    command
        .env("PATH", fence.search_path(&path)?)
        .envs(settings)
        .envs(REAL_OBJECTS.iter().copied());
    alarms::start(&mut command)
}

/// As the command would have it.
fn variable(command: &Command, name: &str) -> Option<String> {
    let mut set = command.get_envs();
    match set.find(|(known, _)| *known == name) {
        Some((_, value)) => value?.to_str().map(str::to_owned),
        None => std::env::var(name).ok(),
    }
}

/// A PATH with Orange first, so that an agent finds the one it belongs to; `rest`: instead of this process's own.
pub(crate) fn own_first(orange: &Path, rest: Option<&OsStr>) -> OsString {
    let inherited = || std::env::var_os("PATH");
    let rest = rest.map(OsStr::to_owned).or_else(inherited);
    let rest = rest.unwrap_or_default();
    let own = orange.parent().map(PathBuf::from);
    let others = std::env::split_paths(&rest).filter(|folder| Some(folder) != own.as_ref());
    std::env::join_paths(own.clone().into_iter().chain(others)).unwrap_or_default()
}

fn ended(how: String, code: Option<i32>, stopped: bool) -> Ended {
    Ended {
        at: Timestamp::now(),
        how,
        code,
        stopped,
        last_words: String::new(),
        review: None,
        seal: None,
    }
}

/// The shell that the user gets: it is no agent's any more.
fn shell(this: &AgentRun, spec: &RunSpec) -> Command {
    let mut command = Command::new(&this.shell);
    if spec.worktree.is_dir() {
        command.current_dir(&spec.worktree);
    } else {
        command.current_dir(&this.home);
    }
    for name in ["ORANGE_TASK_ID", "ORANGE_ROLE", "ORANGE_RUN_ID"] {
        command.env_remove(name);
    }
    // A person looks there at what the agent made: they see what a merge takes.
    command.envs(REAL_OBJECTS.iter().copied());
    command.env("ORANGE_HOME", &this.home);
    command
}

/// An agent that died may have left the terminal in any state, and in the hands of a group that is gone.
fn give_back_terminal(settings: Option<&rustix::termios::Termios>) {
    alarms::take_terminal();
    if let Some(settings) = settings {
        let now = rustix::termios::OptionalActions::Now;
        let _ = rustix::termios::tcsetattr(std::io::stdin(), now, settings);
    }
    say(CLEAN);
}

/// Throws away what the agent did not live to read: a shell would carry it out. False if it does not end.
fn discard_typed(settings: Option<&rustix::termios::Termios>) -> bool {
    use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcsetattr};
    let Some(settings) = settings else {
        return true;
    };
    let input = std::io::stdin();
    // Line by line the terminal would take no more than a few kilobytes, and tmux keep the rest for the shell.
    let mut raw = settings.clone();
    raw.make_raw();
    let _ = tcsetattr(&input, OptionalActions::Flush, &raw);
    let deadline = Instant::now() + TYPING;
    let is_quiet = loop {
        let _ = tcflush(&input, QueueSelector::IFlush);
        let mut sources = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut sources, Some(&QUIET)) {
            Ok(0) => break true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break true,
            // Hung up: there will be no shell either.
            Ok(_) if !sources[0].revents().contains(PollFlags::IN) => break true,
            Ok(_) if sources[0].revents().contains(PollFlags::HUP) => break true,
            Ok(_) => {}
        }
        if Instant::now() >= deadline {
            break false;
        }
    };
    let _ = tcsetattr(&input, OptionalActions::Flush, settings);
    is_quiet
}

/// Tells the window something. Nobody may be there to read it.
fn say(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

//! Runs setup and teardown commands in a slot: with a time limit, all output in a log, a failure shown and not
//! swallowed. The one file that starts `sh`.

pub mod group;
pub mod output;

use crate::error::{Code, Error, plain};
use crate::git::Site;
use crate::git::calls::GitCall;
use crate::git::{REAL_OBJECTS, REDIRECTING};
use crate::person_environment::{self, PersonEnvironment};
pub(crate) use crate::workspaces::commands::group::end_left;
use crate::workspaces::commands::output::CommandOutput;
use orange_core::workflow::Obstacle;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, io};

const SHELL: &str = "/bin/sh";

/// What a command gets between being asked to end and being killed.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// How long the output of a command that has ended is waited for, should something it left behind hold it open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long to wait before looking again; doubled while nothing happens.
const SHORTEST_NAP: Duration = Duration::from_millis(1);

pub(crate) const LONGEST_NAP: Duration = Duration::from_millis(20);

/// A command that did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFailed {
    pub command: String,
    pub end: CommandEnd,
    /// The last lines of its output, safe to show.
    pub tail: Vec<String>,
    /// Where all of it is.
    pub log: PathBuf,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    Exit(i32),
    Signal(i32),
    /// It took longer than this and was killed.
    TimedOut(Duration),
    /// It never ran; the reason.
    NotStarted(String),
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandEnd::Exit(code) => write!(f, "exit code {code}"),
            CommandEnd::Signal(signal) => write!(f, "ended by signal {signal}"),
            CommandEnd::TimedOut(limit) => write!(f, "stopped after {} s", limit.as_secs_f64()),
            CommandEnd::NotStarted(why) => write!(f, "not started: {why}"),
        }
    }
}

impl fmt::Display for CommandFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` failed: {}", first_line(&self.command), self.end)?;
        self.tail
            .iter()
            .try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl From<CommandFailed> for Error {
    fn from(failed: CommandFailed) -> Error {
        let mut hint = format!("all of its output is in {}", failed.log.display());
        if let CommandEnd::TimedOut(_) = failed.end {
            hint.push_str("; `workspace.timeout` in config.yaml allows more time");
        }
        let full = |line: &String| line.to_lowercase().contains("no space left");
        let obstacle = failed.tail.iter().any(full).then_some(Obstacle::DiskFull);
        Error::new(Code::Failed, failed.to_string())
            .hint(hint)
            .with_obstacle(obstacle)
    }
}

/// What the commands find in their environment.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// These and no others; None: what this process has.
    pub of_person: Option<PersonEnvironment>,
    /// In addition.
    pub more: Vec<(String, String)>,
}

/// Runs commands one after the other, each with `/bin/sh -c` in the slot and with this much time; the first failure
/// ends it. What a command leaves running in the background stays, but its output is not followed any further.
pub fn run(
    slot: &Site,
    commands: &[String],
    timeout: Duration,
    env: &Variables,
    log: &Path,
) -> Result<(), CommandFailed> {
    end_left(log);
    for command in commands {
        let failed = |end: CommandEnd, tail: Vec<String>| CommandFailed {
            command: command.clone(),
            end,
            tail,
            log: log.to_owned(),
        };
        let not_started =
            |error: io::Error| failed(CommandEnd::NotStarted(plain(&error)), Vec::new());
        let mut output = CommandOutput::to(log, command).map_err(not_started)?;
        let at_work = GitCall::begin(slot, command);
        let end = match start(slot, command, env, &mut output) {
            Ok(child) => {
                let _remembered = group::Remembered::new(log, child.id());
                if let Some(at_work) = &at_work {
                    at_work.started(child.id());
                }
                watch(child, timeout, &mut output)
            }
            Err(error) => CommandEnd::NotStarted(plain(&error)),
        };
        if let Some(at_work) = at_work {
            at_work.ended(end != CommandEnd::Exit(0));
        }
        output.finish(&end.to_string());
        tracing::info!(slot = %slot.display(), command, %end, "workspace command");
        if end != CommandEnd::Exit(0) {
            return Err(failed(end, output.tail()));
        }
    }
    Ok(())
}

fn start(
    slot: &Path,
    command: &str,
    env: &Variables,
    output: &mut CommandOutput,
) -> io::Result<Child> {
    // By its path: whoever starts this may have put another one first.
    let mut shell = Command::new(SHELL);
    match &env.of_person {
        Some(person) => person.give_to(&mut shell),
        None => person_environment::inherit(&mut shell),
    }
    // Whoever starts this may be an agent; the command is none.
    let agents = ["ORANGE_TASK_ID", "ORANGE_ROLE", "ORANGE_RUN_ID"];
    for variable in REDIRECTING.iter().chain(&agents) {
        shell.env_remove(variable);
    }
    shell
        // A command that begins with a dash is no option.
        .args(["-c", "--", command])
        .envs(env.more.iter().map(|(name, value)| (name, value)))
        .envs(REAL_OBJECTS.iter().copied())
        .current_dir(slot)
        .stdin(Stdio::null());
    let (stdout, stderr) = output.pipe()?;
    shell.stdout(stdout).stderr(stderr);
    orange_sys::time_limit::own_session(&mut shell);
    shell.spawn()
}

/// Follows a command until it has ended, if need be by force.
fn watch(mut child: Child, timeout: Duration, output: &mut CommandOutput) -> CommandEnd {
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = |signal: Signal| leader.map(|group| kill_process_group(group, signal));
    let in_time = follow(output, timeout, |_| has_ended(leader));
    if !in_time {
        signal(Signal::TERM);
        // What is stopped hears nothing else.
        signal(Signal::CONT);
        follow(output, GRACE, |output| {
            has_ended(leader) && output.is_over()
        });
    }
    // The group is ended before its leader is reaped: after that, its number may be somebody else's.
    if !in_time || !succeeded(leader) {
        signal(Signal::KILL);
    }
    let status = child.wait();
    follow(output, LAST_WORDS, CommandOutput::is_over);
    match status {
        _ if !in_time => CommandEnd::TimedOut(timeout),
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => CommandEnd::Exit(code),
            (None, signal) => CommandEnd::Signal(signal.unwrap_or_default()),
        },
        Err(error) => CommandEnd::NotStarted(plain(&error)),
    }
}

/// Takes in output until `done`, but not longer than this; says whether it was done.
fn follow(
    output: &mut CommandOutput,
    limit: Duration,
    done: impl Fn(&CommandOutput) -> bool,
) -> bool {
    let deadline = Instant::now().checked_add(limit);
    let mut nap = SHORTEST_NAP;
    loop {
        // Asked first, so that what was written before the end is read after it.
        let over = done(output);
        let more = output.take_in();
        if over {
            return true;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return done(output);
        }
        if more {
            nap = SHORTEST_NAP;
        } else {
            std::thread::sleep(nap);
            nap = (nap * 2).min(LONGEST_NAP);
        }
    }
}

fn has_ended(leader: Option<Pid>) -> bool {
    peek(leader).is_none_or(|status| status.is_some())
}

fn succeeded(leader: Option<Pid>) -> bool {
    peek(leader)
        .flatten()
        .is_some_and(|status| status.exit_status() == Some(0))
}

/// How it ended, without reaping it; the outer None where nobody can say.
fn peek(leader: Option<Pid>) -> Option<Option<WaitIdStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(leader?), options).ok()
}

fn first_line(command: &str) -> String {
    match command.split_once('\n') {
        Some((first, _)) => format!("{first} …"),
        None => command.to_owned(),
    }
}

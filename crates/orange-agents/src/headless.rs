//! One turn of an agent without a terminal: a prompt goes in, what it says, used and did wrong comes out. The one file
//! that starts an agent outside of a window.

use crate::agent_run::fence;
use crate::error::{Error, Result, copied, err, plain};
use crate::git::REAL_OBJECTS;
use crate::harness::model::ModelChoice;
use crate::harness::probe::Probe;
use crate::harness::{self, Harness};
use crate::runs::{ProcessId, end_marked};
use orange_core::config::Permissions;
use orange_core::usage::Usage;
use orange_core::{Action, text};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// By this variable its processes are found, wherever they went.
const MARK: &str = "ORANGE_HEADLESS_ID";

/// Between two looks whether it ended or is to end.
const LOOK: Duration = Duration::from_millis(20);

/// How long the output of an agent that has ended is waited for, should something that it left hold it open.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

/// A line that is longer is none that a harness writes.
const LONGEST_LINE: u64 = 32 * 1024 * 1024;

/// So much of what it said on standard error is kept.
const LONGEST_COMPLAINT: usize = 4 * 1024;

/// What is asked of an agent.
#[derive(Debug, Clone)]
pub struct Request {
    pub harness: String,
    /// Where it works.
    pub folder: PathBuf,
    pub prompt: String,
    pub permissions: Permissions,
    /// Unless said: what the settings say, else the harness's own.
    pub choice: ModelChoice,
    /// The conversation to go on with.
    pub resume: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// Where its fence stands: named like that of a run, by which a fence is known.
const FENCE: &str = "harness/runs/headless";

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    pub harness: String,
    /// By this name the conversation can be resumed.
    pub conversation: Option<String>,
    /// What it said last.
    pub text: String,
    /// Of the whole conversation so far, earlier turns included.
    pub usage: Usage,
    pub is_error: bool,
    pub error: Option<String>,
    /// None for an end by signal.
    pub exit: Option<i32>,
    /// Lines of its output that mean nothing.
    pub junk_lines: usize,
}

/// How a harness is started without a terminal, and how its output is understood.
pub struct Way {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// Takes in a line of its output.
    pub hear: fn(&mut Heard, &Value),
    /// What a line of standard error says, as if it were a line of output.
    pub aside: Option<Aside>,
    /// How it complains of a conversation that is not there.
    pub unknown_conversation: &'static str,
}

pub type Aside = fn(&[u8]) -> Option<Value>;

/// What its lines have said so far.
#[derive(Debug, Default)]
pub struct Heard {
    pub conversation: Option<String>,
    pub text: String,
    pub usage: Usage,
    pub error: Option<String>,
    /// The harness said that the turn is over.
    pub finished: bool,
    junk: usize,
    /// The end of what it said on standard error.
    complaint: Vec<u8>,
}

/// Refuses what no agent can be asked.
pub fn check(request: &Request) -> Result<()> {
    if request.prompt.trim().is_empty() {
        return Err(err!(Usage, "the prompt is empty").hint("say what to do"));
    }
    match request.resume.as_deref().filter(|id| !is_plain(id)) {
        Some(id) => Err(err!(NotFound, "{id:?} is not the name of a conversation")
            .hint("names are letters, digits, - and _; `--json` prints that of a turn")),
        None => Ok(()),
    }
}

/// Runs one turn to its end, or until `stop` says so.
pub fn take_turn(
    harness: &Harness,
    program: &Path,
    request: &Request,
    world: &Probe<'_>,
    stop: &AtomicBool,
) -> Result<Turn> {
    let way = harness
        .adapter
        .headless(request, world)
        .ok_or_else(|| cannot(&harness.name))??;
    let mark = uuid::Uuid::new_v4().to_string();
    let path = world.search_path.unwrap_or_default();
    let cannot_write = |error| Error::io("write", world.home, &error);
    let fence = fence::put_up(&world.home.join(FENCE), &request.folder).map_err(cannot_write)?;
    let fenced = fence.search_path(path).map_err(cannot_write)?;
    // It has no task: its first run, in the first round.
    let own = harness.arguments.iter();
    let own = own.map(|word| word.replace("{round}", "1").replace("{attempt}", "1"));
    let mut command = Command::new(program);
    command
        .args(own)
        .args(&way.arguments)
        .current_dir(&request.folder)
        .envs(world.environment)
        .envs(&way.environment)
        .envs(fence.git_settings(|name| std::env::var(name).ok()))
        .envs(REAL_OBJECTS.iter().copied())
        .env("PATH", fenced)
        .env(MARK, &mark);
    for name in harness::environment::cleared() {
        command.env_remove(name);
    }
    let words = harness.adapter.as_words(&request.prompt);
    let mut heard = Heard::default();
    let (status, stopped) = run(
        command,
        words,
        &way,
        request.timeout,
        stop,
        &mark,
        &mut heard,
    )
    .map_err(|error| not_started(&harness.name, program, &error))?;
    let exit = status.and_then(|status| status.code());
    turn(harness, request, &way, heard, exit, stopped)
}

/// Nothing that a CLI would take for an option.
fn is_plain(id: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !id.is_empty() && !id.starts_with('-') && id.chars().all(letter)
}

pub fn cannot(name: &str) -> Error {
    err!(Usage, "harness {name} cannot be run without a terminal").hint(format!(
        "{} can, and your own that are like them",
        harness::without_terminal()
    ))
}

fn not_started(name: &str, program: &Path, error: &std::io::Error) -> Error {
    let (program, why) = (program.display(), plain(error));
    err!(
        NoCommand,
        "harness {name} cannot be started: {program}: {why}"
    )
    .hint(text!(
        "{} looks at the harnesses that are installed",
        Action::check()
    ))
    .because(copied(error))
}

/// Gives its end and, where that was forced, why.
fn run(
    mut command: Command,
    prompt: String,
    way: &Way,
    timeout: Duration,
    stop: &AtomicBool,
    mark: &str,
    heard: &mut Heard,
) -> std::io::Result<(Option<ExitStatus>, Option<String>)> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let process = ProcessId::of(child.id());
    let deadline = Instant::now() + timeout;
    tracing::info!(pid = child.id(), mark, "headless turn began");
    // Through standard input: an argument could not be so long. One that ended before it read everything says why.
    let writer = child
        .stdin
        .take()
        .map(|mut input| std::thread::spawn(move || drop(input.write_all(prompt.as_bytes()))));
    let (tell, lines) = channel();
    let complaints = child
        .stderr
        .take()
        .map(|errors| listen(errors, tell.clone(), Told::Error));
    let answers = child
        .stdout
        .take()
        .map(|output| listen(output, tell, Told::Line));
    let mut stopped = None;
    let status = loop {
        hear(&lines, LOOK, way, heard);
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if stop.load(Ordering::Relaxed) {
            stopped = Some("it was interrupted".to_owned());
            break None;
        }
        if Instant::now() >= deadline {
            stopped = Some(format!(
                "it took longer than {} and was ended",
                span(timeout)
            ));
            break None;
        }
    };
    if status.is_some() {
        let end = Instant::now() + OUTPUT_TIMEOUT;
        while hear(&lines, LOOK, way, heard) && Instant::now() < end {}
    }
    // Whatever it left running would go on without anybody who knows of it.
    end_marked(process.as_ref(), MARK, mark, || drop(child.try_wait()));
    let status = status.or_else(|| {
        // It was killed: its end is only to be fetched.
        let _ = child.kill();
        child.wait().ok()
    });
    drop(lines);
    for thread in [writer, complaints, answers].into_iter().flatten() {
        if thread.is_finished() {
            let _ = thread.join();
        }
    }
    Ok((status, stopped))
}

/// What comes from the agent.
enum Told {
    Line(Vec<u8>),
    Error(Vec<u8>),
}

fn listen(
    source: impl Read + Send + 'static,
    tell: Sender<Told>,
    kind: fn(Vec<u8>) -> Told,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut source = BufReader::new(source);
        loop {
            let mut line = Vec::new();
            let read = source
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line);
            if !matches!(read, Ok(1..)) || tell.send(kind(line)).is_err() {
                return;
            }
        }
    })
}

/// Takes in the lines that are there, waiting a little for the next. False when no more can come.
fn hear(lines: &Receiver<Told>, timeout: Duration, way: &Way, heard: &mut Heard) -> bool {
    let mut next = lines.recv_timeout(timeout);
    loop {
        match next {
            Ok(Told::Line(line)) => heard.take(&line, way.hear),
            Ok(Told::Error(line)) => match way.aside.and_then(|aside| aside(&line)) {
                Some(said) => (way.hear)(heard, &said),
                None => heard.complain(&line),
            },
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(timeout);
                return false;
            }
        }
        next = lines.recv_timeout(Duration::ZERO);
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], hear: fn(&mut Heard, &Value)) {
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if value.is_object() => hear(self, &value),
            Ok(_) | Err(_) if line.trim_ascii().is_empty() => {}
            Ok(_) | Err(_) => self.junk += 1,
        }
    }

    fn complain(&mut self, line: &[u8]) {
        self.complaint.extend_from_slice(line);
        let excess = self.complaint.len().saturating_sub(LONGEST_COMPLAINT);
        self.complaint.drain(..excess);
    }
}

fn turn(
    harness: &Harness,
    request: &Request,
    way: &Way,
    heard: Heard,
    exit: Option<i32>,
    stopped: Option<String>,
) -> Result<Turn> {
    let complaint = String::from_utf8_lossy(&heard.complaint);
    let complaint = complaint.trim();
    let said = [heard.error.as_deref().unwrap_or_default(), complaint];
    if let Some(id) = &request.resume
        && said
            .iter()
            .any(|text| text.contains(way.unknown_conversation))
    {
        let name = &harness.name;
        return Err(
            err!(NotFound, "{name} knows no conversation {id:?} here")
                .hint("it keeps conversations by folder, and not for ever; leave out --resume to begin a new one"),
        );
    }
    let failed = exit != Some(0) || !heard.finished;
    let unfinished = || failed.then(|| unfinished(harness, exit, complaint));
    let error = stopped.or(heard.error).or_else(unfinished);
    Ok(Turn {
        harness: harness.name.clone(),
        conversation: heard.conversation,
        text: heard.text,
        usage: heard.usage,
        is_error: error.is_some(),
        error,
        exit,
        junk_lines: heard.junk,
    })
}

fn unfinished(harness: &Harness, exit: Option<i32>, complaint: &str) -> String {
    let how = match exit {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    match complaint {
        "" => format!("{} ended in the middle of the turn: {how}", harness.name),
        complaint => format!("{complaint} ({how})"),
    }
}

/// `90s`, `10m`
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds > 0 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

pub fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

pub fn count_of(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_mean_nothing_are_counted_and_do_no_harm() {
        let mut heard = Heard::default();
        let lines: [&[u8]; 5] = [
            b"npm warn\n",
            b"\n",
            b"12\n",
            b"{\"type\":\n",
            b"\xff\xfe\n",
        ];
        let hear = |heard: &mut Heard, line: &Value| {
            heard.text = text_of(line, "said").unwrap_or_default().to_owned();
        };
        for line in lines {
            heard.take(line, hear);
        }
        heard.take(b"{\"said\":\"Done.\"}", hear);
        assert_eq!((heard.junk, heard.text.as_str()), (4, "Done."));
    }

    #[test]
    fn of_complaints_the_end_is_kept() {
        let mut heard = Heard::default();
        heard.complain(&[b'x'; 2 * LONGEST_COMPLAINT]);
        heard.complain(b"the reason");
        assert_eq!(heard.complaint.len(), LONGEST_COMPLAINT);
        assert!(heard.complaint.ends_with(b"the reason"));
    }
}

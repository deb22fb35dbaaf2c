//! The process of a turn: a group of its own, its output as it comes, its time limits, and its end with everything that
//! it started.

use crate::runs::{ProcessId, descendants, end_marked, end_strays};
use orange_sys::process::pid_of;
use rustix::process::{Signal, kill_process_group};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks whether it ended or is to end: while its output is open, and after that.
const LOOK: Duration = Duration::from_millis(20);
const SHORT_LOOK: Duration = Duration::from_millis(1);

/// How long the output of an agent that has ended is waited for, should something that got away hold it open.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

/// So much is read at once, and so many of these wait to be heard: an agent that says more waits.
const PIECE: usize = 64 * 1024;
const WAITING: usize = 16;

/// How long a turn may take, and how long it may say nothing.
pub(super) struct TurnLimits {
    pub(super) timeout: Duration,
    pub(super) idle: Option<Duration>,
}

/// Who ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedBy {
    Itself,
    Timeout,
    IdleTimeout,
    Stop,
}

/// A piece of what comes from it.
pub(super) enum OutputPiece {
    Output(Vec<u8>),
    Complaint(Vec<u8>),
}

/// The variable by which its processes are found, wherever they went.
pub(super) struct ProcessMark<'a> {
    pub(super) variable: &'a str,
    pub(super) value: &'a str,
}

/// Runs it to its end, or until its time is over or `stop` says so.
pub(super) fn run(
    mut command: Command,
    prompt: String,
    limits: &TurnLimits,
    mark: &ProcessMark<'_>,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(OutputPiece),
) -> io::Result<(Option<ExitStatus>, EndedBy)> {
    let others = Others::now();
    let mut child = command
        .env(mark.variable, mark.value)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let process = ProcessId::of(child.id());
    tracing::info!(pid = child.id(), mark = mark.value, "headless turn began");
    let (threads, pieces) = connect(&mut child, prompt);
    let (status, ended_by) = wait(&mut child, &pieces, limits, stop, hear)?;
    if status.is_some() {
        hear_the_rest(&pieces, hear);
    }
    if status.is_none()
        && let Some(group) = pid_of(child.id())
    {
        let _ = kill_process_group(group, Signal::TERM);
    }
    // Whatever it left running would go on without anybody who knows of it. One that is asked to end may still have
    // something to say.
    end_marked(process.as_ref(), mark.variable, mark.value, || {
        drop(child.try_wait());
        drain(&pieces, Duration::ZERO, hear);
    });
    let status = status.or_else(|| {
        // It was killed: its end is only to be fetched.
        let _ = child.kill();
        child.wait().ok()
    });
    others.end_the_rest();
    hear_the_rest(&pieces, hear);
    drop(pieces);
    for thread in threads.into_iter().flatten() {
        if thread.is_finished() {
            let _ = thread.join();
        }
    }
    Ok((status, ended_by))
}

fn wait(
    child: &mut Child,
    pieces: &Receiver<OutputPiece>,
    limits: &TurnLimits,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(OutputPiece),
) -> io::Result<(Option<ExitStatus>, EndedBy)> {
    let deadline = Instant::now() + limits.timeout;
    let mut said = Instant::now();
    loop {
        match drain(pieces, LOOK, hear) {
            OutputEvent::Came => said = Instant::now(),
            OutputEvent::Quiet => {}
            OutputEvent::Closed => std::thread::sleep(SHORT_LOOK),
        }
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), EndedBy::Itself));
        }
        if stop() {
            return Ok((None, EndedBy::Stop));
        }
        if Instant::now() >= deadline {
            return Ok((None, EndedBy::Timeout));
        }
        if limits.idle.is_some_and(|idle| said.elapsed() >= idle) {
            return Ok((None, EndedBy::IdleTimeout));
        }
    }
}

type Threads = [Option<JoinHandle<()>>; 3];

/// Gives it its prompt, and listens to it.
fn connect(child: &mut Child, prompt: String) -> (Threads, Receiver<OutputPiece>) {
    // Through standard input: an argument could not be so long. One that ended before it read everything says why.
    let writer = child
        .stdin
        .take()
        .map(|mut input| std::thread::spawn(move || drop(input.write_all(prompt.as_bytes()))));
    let (tell, pieces) = sync_channel(WAITING);
    let complaints = child
        .stderr
        .take()
        .map(|errors| listen(errors, tell.clone(), OutputPiece::Complaint));
    let answers = child
        .stdout
        .take()
        .map(|output| listen(output, tell, OutputPiece::Output));
    ([writer, complaints, answers], pieces)
}

fn listen(
    mut source: impl Read + Send + 'static,
    tell: SyncSender<OutputPiece>,
    kind: fn(Vec<u8>) -> OutputPiece,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        loop {
            let read = match source.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return,
                Ok(read) => read,
            };
            let piece = buffer.get(..read).unwrap_or_default().to_vec();
            if tell.send(kind(piece)).is_err() {
                return;
            }
        }
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputEvent {
    Came,
    Quiet,
    Closed,
}

/// Hears what is there, waiting a little for the first of it.
fn drain(
    pieces: &Receiver<OutputPiece>,
    timeout: Duration,
    hear: &mut dyn FnMut(OutputPiece),
) -> OutputEvent {
    let first = match pieces.recv_timeout(timeout) {
        Ok(first) => first,
        Err(RecvTimeoutError::Timeout) => return OutputEvent::Quiet,
        Err(RecvTimeoutError::Disconnected) => return OutputEvent::Closed,
    };
    hear(first);
    // Not without end: somebody has to look at the clock.
    pieces.try_iter().take(WAITING).for_each(hear);
    OutputEvent::Came
}

/// Hears what is on its way from an agent that has ended: on a busy machine the last line, with what the turn cost, comes late.
fn hear_the_rest(pieces: &Receiver<OutputPiece>, hear: &mut dyn FnMut(OutputPiece)) {
    let end = Instant::now() + OUTPUT_TIMEOUT;
    while drain(pieces, LOOK, hear) != OutputEvent::Closed && Instant::now() < end {}
}

/// The processes below this one before a turn. To a process that gets those without a parent, everything below it
/// afterwards belongs to the turn, even what left its group and threw its environment away.
struct Others(Option<Vec<ProcessId>>);

impl Others {
    fn now() -> Others {
        let adopts = matches!(rustix::process::child_subreaper(), Ok(Some(_)));
        Others(adopts.then(|| descendants(std::process::id())))
    }

    fn end_the_rest(&self) {
        if let Some(known) = &self.0 {
            end_strays(known);
        }
    }
}

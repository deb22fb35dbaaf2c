//! One turn of an agent without a terminal: a prompt goes in, what it says, used and did wrong comes out. The one place
//! that starts an agent outside of a window. `headless/process.rs` has the process, `headless/lines.rs` takes its output
//! apart, `headless/heard.rs` sums up what was said, `headless/failure.rs` what went wrong.

mod failure;
mod heard;
mod lines;
mod process;
#[cfg(test)]
mod tests;

use crate::agent_run::{fence, own_first};
use crate::error::{Error, Result, copied, err, plain};
use crate::git::REAL_OBJECTS;
use crate::harness::model::ModelChoice;
use crate::harness::probe::Probe;
use crate::harness::{self, Harness};
use crate::runs::Conversation;
pub use failure::{FailureKind, kind_of_status, kind_of_word};
use heard::Ears;
pub use heard::{AgentOutput, Heard, Listener, tool_use, usage_of};
use orange_core::config::Permissions;
use orange_core::usage::Usage;
use orange_core::work::plan::McpServer;
use orange_core::workflow::Role;
use orange_core::{Action, Parameter, Timestamp, text};
use process::{EndedBy, OutputPiece, ProcessMark, TurnLimits};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// By this variable its processes are found, wherever they went.
const MARK: &str = "ORANGE_HEADLESS_ID";

/// What is asked of an agent.
#[derive(Debug, Clone)]
pub struct TurnRequest {
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
    pub extras: TurnExtras,
}

/// What the executor of a plan asks besides.
#[derive(Debug, Clone, Default)]
pub struct TurnExtras {
    /// The name of the conversation that begins; a name is used once. Not with `resume`.
    pub begin: Option<String>,
    /// How long it may say nothing.
    pub idle_timeout: Option<Duration>,
    /// What earlier turns of the conversation have been counted with; for one that begins there were none.
    pub used_before: Option<Usage>,
    /// What it belongs to.
    pub turn_of: Option<TurnOf>,
    /// Servers that it gets, where its harness can be told.
    pub mcp_servers: Vec<McpServer>,
    /// Of these the ones whose tools it may use without asking, by their names.
    pub allowed_servers: Vec<String>,
    /// Folders beside its own that it may write.
    pub folders: Vec<PathBuf>,
    /// Variables that it gets.
    pub environment: BTreeMap<String, String>,
}

/// The task, the run and the iteration that a turn belongs to: its environment tells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOf {
    /// The task's id.
    pub task: String,
    /// None: nobody's, as when a weight is found out.
    pub run: Option<String>,
    pub role: Role,
    /// The phase, or another word for what is asked, such as `classify`.
    pub phase: String,
    pub iteration: u32,
    pub attempt: u32,
    /// This program, which comes first on the PATH.
    pub orange: PathBuf,
    /// The rest of the PATH; None: this process's own.
    pub search_path: Option<String>,
    /// Variables that it does not get.
    pub withheld: Vec<String>,
}

/// Where its fence stands when it belongs to no run: named like that of a run, by which a fence is known.
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
    /// Of this turn alone. For one that goes on: the difference to [`TurnExtras::used_before`] where the harness tells the
    /// sum only; without that, what the harness told of the turn itself.
    pub used: Usage,
    /// The model that answered last, where the harness tells.
    pub model: Option<String>,
    pub is_error: bool,
    pub error: Option<String>,
    pub failure: Option<FailureKind>,
    /// When a usage limit ends: there is one for [`FailureKind::Limit`] only.
    pub until: Option<Timestamp>,
    /// None for an end by signal.
    pub exit: Option<i32>,
    /// Lines of its output that mean nothing.
    pub junk_lines: usize,
    /// MCP servers that it should have had, each with what went wrong.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_servers: BTreeMap<String, String>,
}

/// How a harness is started without a terminal, and how its output is understood.
pub struct HeadlessStart {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// Variables that a turn of a task does not get.
    pub withheld: Vec<String>,
    /// Takes in a line of its output.
    pub hear: Hear,
    /// What a line of standard error says, as if it were a line of output.
    pub aside: Option<Aside>,
    /// How it complains of a conversation that is not there.
    pub unknown_conversation: &'static str,
    /// How it complains, on standard error too, that nobody is logged in.
    pub logged_out: &'static [&'static str],
}

/// Takes in a line of output; what the agent says or does in it goes to the listener too.
pub type Hear = fn(&mut Heard, &Value, &mut Listener<'_>);

pub type Aside = fn(&[u8]) -> Option<Value>;

impl TurnRequest {
    /// The conversation that this turn goes on with or begins, by its name.
    pub fn conversation(&self) -> Conversation {
        match (&self.resume, &self.extras.begin) {
            (None, Some(id)) => Conversation::New(id.clone()),
            (resume, _) => Conversation::resumed_or_new(resume.clone()),
        }
    }

    /// The folder for what it is started with: that of its run, if it belongs to one.
    pub fn own_folder(&self, home: &Path) -> PathBuf {
        let of = self.extras.turn_of.as_ref();
        match of.and_then(|of| of.run.as_deref()) {
            Some(run) => home.join("runs").join(run),
            None => home.join(FENCE),
        }
    }
}

impl TurnOf {
    fn environment(&self) -> impl Iterator<Item = (&'static str, String)> {
        let run = self.run.clone().map(|run| ("ORANGE_RUN_ID", run));
        run.into_iter().chain([
            ("ORANGE_TASK_ID", self.task.clone()),
            ("ORANGE_ROLE", self.role.as_str().to_owned()),
            ("ORANGE_PHASE", self.phase.clone()),
            ("ORANGE_ITERATION", self.iteration.to_string()),
            ("ORANGE_ATTEMPT", self.attempt.to_string()),
        ])
    }
}

/// Refuses what no agent can be asked.
pub fn check(request: &TurnRequest) -> Result<()> {
    if request.prompt.trim().is_empty() {
        return Err(err!(Usage, "the prompt is empty").hint("say what to do"));
    }
    match request.resume.as_deref().filter(|id| !is_plain(id)) {
        Some(id) => Err(err!(NotFound, "{id:?} is not the name of a conversation")
            .hint("names are letters, digits, - and _; the result of a turn has that of its conversation")),
        None => Ok(()),
    }
}

/// Runs one turn to its end, or until `stop` says so.
pub fn take_turn(
    harness: &Harness,
    program: &Path,
    request: &TurnRequest,
    world: &Probe<'_>,
    stop: &AtomicBool,
) -> Result<Turn> {
    let stop = || stop.load(Ordering::Relaxed);
    listen_to_turn(harness, program, request, world, &stop, &mut |_| {})
}

/// The same with somebody who hears what it says as it comes: nothing of it is kept but its last text. `stop` is asked
/// all the time, so it must be quick; the listener may take its time, the agent waits.
pub fn listen_to_turn(
    harness: &Harness,
    program: &Path,
    request: &TurnRequest,
    world: &Probe<'_>,
    stop: &dyn Fn() -> bool,
    listener: &mut Listener<'_>,
) -> Result<Turn> {
    let way = harness
        .adapter
        .headless(request, world)
        .ok_or_else(|| cannot(&harness.name))??;
    let cannot_write = |error| Error::io("write", world.home, &error);
    let command = command(harness, program, request, &way, world).map_err(cannot_write)?;
    let limits = TurnLimits {
        timeout: request.timeout,
        idle: request.extras.idle_timeout,
    };
    let mark = ProcessMark {
        variable: MARK,
        value: &uuid::Uuid::new_v4().to_string(),
    };
    let words = harness.adapter.as_words(&request.prompt);
    let mut ears = Ears::new(&way, listener);
    let mut hear = |piece: OutputPiece| match piece {
        OutputPiece::Output(bytes) => ears.output(&bytes),
        OutputPiece::Complaint(bytes) => ears.complaint(&bytes),
    };
    let (status, ended_by) = process::run(command, words, &limits, &mark, stop, &mut hear)
        .map_err(|error| not_started(&harness.name, program, &error))?;
    ears.end();
    let exit = status.and_then(|status| status.code());
    turn(harness, request, &way, ears.heard, exit, ended_by)
}

/// The agent's program with its arguments and its environment.
fn command(
    harness: &Harness,
    program: &Path,
    request: &TurnRequest,
    way: &HeadlessStart,
    world: &Probe<'_>,
) -> std::io::Result<Command> {
    let of = request.extras.turn_of.as_ref();
    let fence = fence::put_up(&request.own_folder(world.home), &request.folder)?;
    let path = match of {
        Some(of) => own_first(&of.orange, of.search_path.as_deref().map(OsStr::new)),
        None => world.search_path.unwrap_or_default().to_owned(),
    };
    // Without a task it is its first run, in the first round.
    let attempt = of.map_or(1, |of| of.attempt).to_string();
    let own = harness.arguments.iter();
    let own = own.map(|word| word.replace("{round}", "1").replace("{attempt}", &attempt));
    let mut command = Command::new(program);
    command
        .args(own)
        .args(&way.arguments)
        .current_dir(&request.folder);
    if of.is_some() {
        // A window of tmux has the environment of the server, which may be days old.
        for name in harness::environment::stale(world.environment) {
            command.env_remove(name);
        }
    }
    command
        .envs(world.environment)
        .envs(&way.environment)
        .envs(fence.git_settings(|name| std::env::var(name).ok()))
        .envs(REAL_OBJECTS.iter().copied())
        .env("PATH", fence.search_path(&path)?);
    let withheld = of
        .into_iter()
        .flat_map(|of| of.withheld.iter().chain(&way.withheld));
    let cleared = harness::environment::cleared().map(|name| -> &str { name });
    for name in cleared.chain(withheld.map(String::as_str)) {
        command.env_remove(name);
    }
    command.envs(&request.extras.environment);
    if let Some(of) = of {
        command
            .envs(of.environment())
            .env("ORANGE_HOME", world.home);
    }
    Ok(command)
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

/// With [`crate::error::Code::NoCommand`]: the harness is missing.
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

fn turn(
    harness: &Harness,
    request: &TurnRequest,
    way: &HeadlessStart,
    heard: Heard,
    exit: Option<i32>,
    ended_by: EndedBy,
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
                .hint(text!(
                    "it keeps conversations by folder, and not for ever; leave out {} to begin a new one",
                    Parameter::Resume
                )),
        );
    }
    let began = request.resume.is_none();
    let before = request.extras.used_before;
    let before = before.or(began.then(Usage::default));
    let (usage, used) = (heard.of_conversation(), heard.of_turn(before));
    let is_unfinished = exit != Some(0) || !heard.finished;
    let unfinished = || is_unfinished.then(|| unfinished(harness, exit, complaint));
    let stopped = ended_for(ended_by, request);
    let (stop_kind, stopped) = stopped.unzip();
    let is_logged_out = way
        .logged_out
        .iter()
        .any(|words| said.iter().any(|text| text.contains(words)));
    let told = heard
        .kind
        .or(is_logged_out.then_some(FailureKind::LoggedOut));
    let kind = stop_kind.or(told).unwrap_or(FailureKind::Failed);
    let error = stopped.or(heard.error).or_else(unfinished);
    let failure = error
        .is_some()
        .then(|| failure::with_end(kind, heard.until));
    Ok(Turn {
        harness: harness.name.clone(),
        conversation: heard.conversation,
        text: heard.text,
        usage,
        used,
        model: heard.model,
        is_error: error.is_some(),
        error,
        failure: failure.map(|(kind, _)| kind),
        until: failure.and_then(|(_, until)| until),
        exit,
        junk_lines: heard.junk,
        failed_servers: heard.failed_servers,
    })
}

/// Why it was ended, where it did not end by itself.
fn ended_for(ended_by: EndedBy, request: &TurnRequest) -> Option<(FailureKind, String)> {
    let was_ended = |time: Duration| format!("longer than {} and was ended", span(time));
    Some(match ended_by {
        EndedBy::Itself => return None,
        EndedBy::Stop => (FailureKind::Interrupted, "it was interrupted".to_owned()),
        EndedBy::Timeout => {
            let why = format!("it took {}", was_ended(request.timeout));
            (FailureKind::TimedOut, why)
        }
        EndedBy::IdleTimeout => {
            let idle = request.extras.idle_timeout.unwrap_or_default();
            let why = format!("it said nothing for {}", was_ended(idle));
            (FailureKind::Idle, why)
        }
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
        0 => format!("{}ms", time.as_millis()),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

pub fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

pub fn count_of(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

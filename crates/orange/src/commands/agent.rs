//! Commands that Orange and agents run, not people: the process of a window, errands, and the signals of a harness.

use crate::error::{CommandError, Result};
use crate::session::{self, Session};
use clap::{Args, Subcommand};
use orange_core::Timestamp;
use orange_core::workflow::Role;
use orange_engine::agent_run::{self, AgentRun};
use orange_engine::harness::{Adapter, claude};
use orange_engine::runs::{RunFolder, Signal, SignalKind};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

/// Run an agent in this window (Orange starts this by itself)
#[derive(Debug, Args)]
pub(crate) struct RunAgentArgs {
    #[arg(long)]
    home: PathBuf,
    /// The task, so that its agent's commands are known by their ancestors
    #[arg(long)]
    task: String,
    #[arg(long, value_parser = super::task::word::<Role>)]
    role: Role,
    #[arg(long)]
    run: String,
}

/// Finish what another orange process began (Orange starts this by itself)
#[derive(Debug, Subcommand)]
pub(crate) enum Errand {
    /// See to a run: its end, its messages, a turn that is over
    Tend { run: String },
    /// Finish the hooks of a task's last transition
    Finish { folder: String },
    /// Start what waits in the queue
    Queue,
    /// Run the user's `notify.command`
    Notify,
}

/// Report what an agent does (a harness's own hooks run this)
#[derive(Debug, Args)]
#[command(after_help = "\
For a harness of your own: run this in its hooks, with the environment that its agent has.

Examples:
  orange signal turn-done --text \"what it said last\"
  orange signal prompt-taken --text-file prompt.txt
  orange signal turn-failed --text \"out of credit\" --error billing_error
  orange signal permission-asked --text \"run rm -r build?\"")]
pub(crate) struct SignalArgs {
    /// What it does: prompt-taken, working, turn-done, turn-failed, interrupted, permission-asked or input-asked
    #[arg(value_parser = super::task::word::<SignalKind>, required_unless_present = "from")]
    signal: Option<SignalKind>,
    /// Take the report of a harness's own hook from standard input
    #[arg(long, value_name = "HARNESS", value_parser = super::task::word::<Adapter>, hide = true)]
    #[arg(conflicts_with_all = ["signal", "text", "text_file"])]
    from: Option<Adapter>,
    /// The prompt, the last line of the turn, or what permission is asked for
    #[arg(long, allow_hyphen_values = true, conflicts_with = "text_file")]
    text: Option<String>,
    /// The same from a file; - is standard input
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    /// What kind of failure a turn-failed is: rate_limit, server_error, authentication_failed, billing_error …
    #[arg(long, value_name = "KIND", conflicts_with = "from")]
    error: Option<String>,
    /// When the usage limit ends that a turn-failed tells of, such as 2026-11-15T14:05:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "from")]
    until: Option<Timestamp>,
    /// The run; the one in ORANGE_RUN_ID unless given
    #[arg(long, env = "ORANGE_RUN_ID", value_name = "ID")]
    run: Option<String>,
}

pub(crate) fn run_agent(args: &RunAgentArgs) -> Result<()> {
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    let this = AgentRun {
        environment: BTreeMap::new(),
        home: args.home.clone(),
        run: args.run.clone(),
        orange: session::own_program()?,
        shell: shell.unwrap_or_else(|| OsString::from("/bin/sh")),
    };
    crate::log::init(
        &this.home,
        &std::env::var("ORANGE_LOG_LEVEL").unwrap_or_default(),
    )
    .map_err(|message| CommandError::usage(message, "unset ORANGE_LOG_LEVEL"))?;
    tracing::info!(run = args.run, task = args.task, role = %args.role, "agent window opened");
    match agent_run::run(this)? {
        Some(mut shell) => {
            let error = shell.exec();
            let program = shell.get_program().display();
            Err(CommandError::usage(
                format!("{program} cannot be started: {error}"),
                "set SHELL",
            ))
        }
        None => Ok(()),
    }
}

pub(crate) fn errand(errand: &Errand) -> Result<()> {
    let mut session = Session::for_errand()?;
    match errand {
        Errand::Tend { run } => session.engine.tend(run)?,
        Errand::Finish { folder } => session.engine.finish(folder)?,
        Errand::Queue => {}
        Errand::Notify => return Ok(session.engine.notify()?),
    }
    session.engine.serve_queue()?;
    Ok(())
}

pub(crate) fn signal(args: &SignalArgs) -> Result<()> {
    let run = args
        .run
        .as_deref()
        .filter(|run| is_plain(run))
        .ok_or_else(|| {
            CommandError::usage(
                "which run is meant? ORANGE_RUN_ID is not set",
                "only an agent that orange started gives signals",
            )
        })?;
    let stdin = args.from.map(|_| PathBuf::from("-"));
    let text = match args.text_file.as_ref().or(stdin.as_ref()) {
        Some(file) => read(file).map_err(|error| {
            CommandError::usage(
                format!(
                    "{}: {}",
                    file.display(),
                    orange_engine::error::plain(&error)
                ),
                "give a text file, or --text TEXT",
            )
        })?,
        None => args.text.clone().unwrap_or_default(),
    };
    let folder = RunFolder::new(&session::home()?, run);
    let Some(spec) = folder.spec() else {
        return Err(CommandError(
            orange_engine::Error::new(
                orange_engine::Code::NotFound,
                format!("there is no run {run}, or it is over"),
            )
            .hint("signals are for agents that orange started"),
        ));
    };
    if !folder.is_its_agents(&spec) {
        // An agent within an agent: what it does is a part of the outer one's turn.
        return Ok(());
    }
    let signal = match (args.from, args.signal) {
        (Some(Adapter::Claude), _) => hook_report(&text)
            .and_then(|report| claude::signal(&report))
            .map(with_limit),
        (_, Some(kind)) => Some(Signal {
            text,
            error: args.error.clone(),
            until: args.until,
            ..Signal::now(kind)
        }),
        (_, None) => None,
    };
    let Some(signal) = signal else {
        return Ok(());
    };
    folder
        .signal(&signal)
        .map_err(|error| CommandError(orange_engine::Error::io("write", folder.path(), &error)))?;
    folder.wake();
    Ok(())
}

/// With the end of a usage limit that only the message tells, in the time of this machine.
fn with_limit(mut signal: Signal) -> Signal {
    if signal.error.as_deref() == Some("rate_limit") && signal.until.is_none() {
        let now = signal.at.to_zoned(jiff::tz::TimeZone::system());
        signal.until = claude::limit_in_words(&signal.text, &now);
    }
    signal
}

/// A report that cannot be read says nothing; a hook that failed would only disturb the agent.
fn hook_report(text: &str) -> Option<serde_json::Value> {
    serde_json::from_str(text)
        .inspect_err(|error| tracing::warn!(%error, "a hook's report cannot be read"))
        .ok()
}

fn read(file: &PathBuf) -> std::io::Result<String> {
    const LARGEST: u64 = 4 * 1024 * 1024;
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().take(LARGEST).read_to_end(&mut bytes)?;
    } else {
        let opened = std::fs::File::open(file)?;
        opened.take(LARGEST).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// An id of ours: nothing that leads out of the folder of runs.
fn is_plain(run: &str) -> bool {
    !run.is_empty()
        && run
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '+'))
}

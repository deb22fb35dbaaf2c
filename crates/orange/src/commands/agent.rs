//! Commands that Orange and agents run, not people: the process of a window, errands, and the signals of a harness.

mod window;

use crate::completion::files;
use crate::errand_access;
use crate::input;
use crate::output;
use crate::session::{self, Session};
use clap::{Args, Subcommand};
use orange_core::Timestamp;
use orange_core::workflow::Role;
use orange_engine::agent_run::{self, AgentRun};
use orange_engine::background::{notify, queue, verify};
use orange_engine::error::plain;
use orange_engine::harness::Adapter;
use orange_engine::phases::{self, classify};
use orange_engine::runs::{
    Ancestors, Asked, IN_ITS_WINDOW, Question, RunFolder, Signal, SignalKind,
};
use orange_engine::verbs::handle_signals;
use orange_engine::{Result, err, recovery};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use window::Window;

const LARGEST: u64 = 4 * 1024 * 1024;

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

/// Execute a task's plan in this window (Orange starts this by itself)
#[derive(Debug, Args)]
pub(crate) struct RunPhasesArgs {
    #[command(flatten)]
    run: RunAgentArgs,
}

/// Finish what another orange process began (Orange starts this by itself)
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Errand {
    /// See to a run: its end, its messages, a turn that is over
    Tend { run: String },
    /// Finish the hooks of a task's last transition
    Finish { folder: String },
    /// Start what waits in the queue
    Queue,
    /// Check a commit that was handed over
    Verify { folder: String },
    /// Find out how large a task is
    Classify { folder: String },
    /// Tell the person by `notify.command` and `notify.webhook`
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
  orange signal permission-asked --text \"run rm -r build?\" --wait
  orange signal working --answered           it was answered in the agent's own window")]
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
    #[arg(long, value_name = "FILE", add = files())]
    text_file: Option<PathBuf>,
    /// What kind of failure a turn-failed is: rate_limit, server_error, authentication_failed, billing_error …
    #[arg(long, value_name = "KIND", conflicts_with = "from")]
    error: Option<String>,
    /// When the usage limit ends (with turn-failed), such as 2026-11-15T14:05:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "from")]
    until: Option<Timestamp>,
    /// Wait until a person answers what is asked, and print the answer as JSON; ends without one when it is over
    #[arg(long)]
    wait: bool,
    /// The question was answered in the agent's own window
    #[arg(long, conflicts_with = "wait")]
    answered: bool,
    /// The run (default: the one in ORANGE_RUN_ID)
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
    session::start_log_at(this.home.clone())?;
    tracing::info!(run = args.run, task = args.task, role = %args.role, "agent window opened");
    match agent_run::run(this)? {
        Some(mut shell) => {
            let error = shell.exec();
            let program = shell.get_program().display();
            Err(err!(Usage, "{program} cannot be started: {error}").hint("set SHELL"))
        }
        None => Ok(()),
    }
}

pub(crate) fn run_phases(args: RunPhasesArgs) -> Result<()> {
    let args = args.run;
    let session = Session::for_executor(args.home)?;
    tracing::info!(run = args.run, task = args.task, role = %args.role, "executor window opened");
    let window = Window::open();
    phases::run_phases(&session.call, &args.run, &|progress| window.show(progress))
}

impl Errand {
    /// As it stands on the command line.
    fn words(&self) -> Vec<&str> {
        match self {
            Errand::Tend { run } => vec!["tend", run],
            Errand::Finish { folder } => vec!["finish", folder],
            Errand::Queue => vec!["queue"],
            Errand::Verify { folder } => vec!["verify", folder],
            Errand::Classify { folder } => vec!["classify", folder],
            Errand::Notify => vec!["notify"],
        }
    }
}

pub(crate) fn errand(errand: &Errand) -> Result<()> {
    errand_access::check(&session::home()?, &errand.words())?;
    let session = Session::for_errand()?;
    match errand {
        Errand::Tend { run } => handle_signals::tend(&session.call, run)?,
        Errand::Finish { folder } => recovery::finish(&session.call, folder)?,
        Errand::Verify { folder } => verify::verify(&session.call, folder)?,
        Errand::Classify { folder } => classify::classify(&session.call, folder)?,
        Errand::Queue => {}
        Errand::Notify => {
            let about = notify::VARIABLES.iter().filter_map(|name| {
                let value = std::env::var_os(name)?.to_string_lossy().into_owned();
                Some(((*name).to_owned(), value))
            });
            return notify::notify(&session.call, &about.collect());
        }
    }
    queue::serve_queue(&session.call)?;
    Ok(())
}

pub(crate) fn signal(args: &SignalArgs) -> Result<()> {
    let run = args
        .run
        .as_deref()
        .filter(|run| is_plain(run))
        .ok_or_else(|| {
            err!(Usage, "no run given, and ORANGE_RUN_ID is not set")
                .hint("only an agent that orange started gives signals")
        })?;
    let home = session::home()?;
    let above = Ancestors::of_this_process()
        .run(&home)
        .and_then(|above| above.run);
    if let Some(own) = above.filter(|own| own != run) {
        return Err(err!(
            NotAllowed,
            "an agent of run {own} gives no signals for run {run}"
        )
        .hint("leave ORANGE_RUN_ID as it was"));
    }
    let stdin = args.from.map(|_| PathBuf::from("-"));
    let text = match args.text_file.as_ref().or(stdin.as_ref()) {
        Some(file) => {
            let bytes = input::bytes(file, LARGEST).map_err(|error| {
                err!(Usage, "{}: {}", file.display(), plain(&error))
                    .hint("give a text file, or --text TEXT")
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        None => args.text.clone().unwrap_or_default(),
    };
    let folder = RunFolder::new(&home, run);
    let Some(spec) = folder.spec() else {
        return Err(err!(NotFound, "there is no run {run}, or it is over")
            .hint("signals are for agents that orange started"));
    };
    if !folder.is_its_agents(&spec) {
        // An agent within an agent: what it does is a part of the outer one's turn.
        return Ok(());
    }
    let asks = [SignalKind::PermissionAsked, SignalKind::InputAsked];
    if args.wait && !args.signal.is_some_and(|kind| asks.contains(&kind)) {
        return Err(err!(
            Usage,
            "--wait waits for an answer, and this signal asks nothing"
        )
        .hint("leave it out, or signal permission-asked or input-asked"));
    }
    let Some(adapter) = args.from else {
        return report(&folder, args, text);
    };
    let Some(reported) = hook_report(&text) else {
        return Ok(());
    };
    let variable = |name: &str| std::env::var_os(name);
    if let Some(answer) = adapter.take_report(&folder, &reported, &variable)? {
        output::print_json_text(&answer);
    }
    Ok(())
}

fn report(folder: &RunFolder, args: &SignalArgs, text: String) -> Result<()> {
    let Some(kind) = args.signal else {
        return Ok(());
    };
    if args.answered {
        for question in folder.questions() {
            folder.settle(&question.id, kind, IN_ITS_WINDOW)?;
        }
    }
    let signal = Signal {
        text: text.clone(),
        error: args.error.clone(),
        until: args.until,
        ..Signal::now(kind)
    };
    if !args.wait {
        return folder.give_signal(&signal);
    }
    let mut question = Question::new(text.clone());
    if kind == SignalKind::InputAsked {
        question.asked = vec![Asked {
            question: text,
            options: Vec::new(),
        }];
    }
    folder.ask(&question, signal)?;
    if let Some(answer) = folder.wait_for_answer(&question, || None)? {
        output::print_json(&answer);
    }
    Ok(())
}

/// A report that cannot be read says nothing; a hook that failed would only disturb the agent.
fn hook_report(text: &str) -> Option<Value> {
    serde_json::from_str(text)
        .inspect_err(|error| tracing::warn!(%error, "a hook's report cannot be read"))
        .ok()
}

/// An id of ours: nothing that leads out of the folder of runs.
fn is_plain(run: &str) -> bool {
    !run.is_empty()
        && run
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '+'))
}

//! `orange headless`: one turn of an agent without a terminal, in the folder one is in.

use super::task::word;
use crate::completion::{harnesses, words};
use crate::input;
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::clean_block;
use clap::Args;
use orange_core::config::{DEFAULT_TIMEOUT, Effort, Permissions, time_span};
use orange_core::{Action, text};
use orange_engine::harness::model::ModelChoice;
use orange_engine::headless::{Turn, TurnExtras, TurnRequest};
use orange_engine::verbs::headless;
use orange_engine::{Result, err, settings};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// In megabytes; longer ones fit into no model's window.
const LONGEST_PROMPT: u64 = 16;

/// Let an agent take one turn without a terminal, here
#[derive(Debug, Args)]
#[command(after_help = "\
Prints what the agent said last. With --json also the conversation, by which it can be resumed, tokens and cost of the whole conversation, and what went wrong. No task is needed, and none is changed. Exits with 1 if the turn failed.

Examples:
  orange headless --harness claude \"Which tests are slow here?\"
  orange headless --harness pi --permissions ask --json - < prompt.md
  orange headless --harness claude --resume 0b6e7a52 \"And why?\"")]
pub(crate) struct HeadlessArgs {
    /// The agent, one that `orange harness list` calls headless, or your own that is like it (default: `agents.harness`)
    #[arg(long, value_name = "NAME", add = harnesses())]
    harness: Option<String>,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// What it may do: full, edits or ask; what would be asked is refused, as nobody is there. Default: the mode of the project
    /// you are in, then `agents.permissions`, else full
    #[arg(long, value_name = "MODE", value_parser = word::<Permissions>, add = words(Permissions::WORDS))]
    permissions: Option<Permissions>,
    /// The model, as the harness calls it
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How hard it should think: low, medium, high …
    #[arg(long, value_name = "LEVEL", add = words(Effort::WORDS))]
    effort: Option<String>,
    /// How long it may take, such as 90s, 10m or 1h (default: 10m)
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// What to tell it; - reads standard input
    #[arg(allow_hyphen_values = true)]
    prompt: String,
}

fn time(text: &str) -> std::result::Result<Duration, String> {
    time_span(text).ok_or_else(|| "a time above 0 is needed: 90s, 10m, 1h".to_owned())
}

pub(crate) fn run(session: &Session, args: &HeadlessArgs) -> Result<()> {
    let prompt = match args.prompt.as_str() {
        "-" => input::text(Path::new("-"), LONGEST_PROMPT)?,
        prompt => prompt.to_owned(),
    };
    let agents = settings::config(&session.call)?.agents.clone();
    let request = TurnRequest {
        harness: match &args.harness {
            Some(named) => named.clone(),
            None => settings::harness::usual_worker(&session.call)?,
        },
        folder: session.folder.clone(),
        prompt,
        permissions: match args.permissions {
            Some(mode) => mode,
            None => mode_here(session)?
                .or(agents.permissions)
                .unwrap_or_default(),
        },
        choice: ModelChoice {
            model: args.model.clone(),
            effort: args.effort.clone(),
        },
        resume: args.resume.clone(),
        timeout: args.timeout.unwrap_or(DEFAULT_TIMEOUT),
        extras: TurnExtras::default(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        let _ = signal_hook::flag::register(signal, stop.clone());
    }
    let turn = headless::headless(&session.call, request, &stop)?;
    show(session, &turn)?;
    if stop.load(Ordering::Relaxed) {
        std::process::exit(130);
    }
    match &turn.error {
        None => Ok(()),
        // The value says what went wrong; the exit code is for scripts.
        Some(_) if session.json => std::process::exit(1),
        Some(error) => Err(err!(Failed, "{}: {error}", turn.harness).hint(
            // One that has used nothing was never written.
            match turn
                .conversation
                .as_ref()
                .filter(|_| !turn.usage.is_empty())
            {
                Some(id) => text!("the conversation can be resumed: --resume {id}"),
                None => text!(
                    "{} looks at the harnesses that are installed",
                    Action::check()
                ),
            },
        )),
    }
}

/// What the project says whose repository one is in.
fn mode_here(session: &Session) -> Result<Option<Permissions>> {
    let Some(name) = session.project(None)? else {
        return Ok(None);
    };
    let projects = session.call.projects()?;
    let here = projects.iter().find(|project| project.name == name);
    Ok(here.and_then(|project| project.permissions))
}

fn show(session: &Session, turn: &Turn) -> Result<()> {
    session.finish(named("turn", turn), || match turn.text.trim_end() {
        _ if turn.is_error => String::new(),
        "" => String::new(),
        text => format!("{}\n", clean_block(text)),
    })?;
    if turn.junk_lines > 0 && !session.json {
        let lines = orange_core::naming::counted(turn.junk_lines, "line");
        output::note(&format!("{lines} of its output meant nothing"));
    }
    Ok(())
}

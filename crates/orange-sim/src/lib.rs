//! `orange sim`: a scripted agent. A real process that behaves like a coding agent at a terminal, does what a script
//! says, and reports as a harness would. It knows of Orange what any agent knows: `orange` as a command, and files.

mod agent;
mod events;
mod headless;
mod input;
mod keys;
mod program;
mod script;
mod signals;
mod steps;
mod task_file;
mod terminal;
mod text;
mod typing;

use agent::SimAgent;
use events::Events;
pub use headless::Headless;
use orange_core::workflow::Role;
use orange_sys::Result;
use orange_sys::error::{err, plain};
pub use script::BUILT_IN;
use script::{JUDGE, Script, ScriptStep, WhichRun};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use terminal::AgentTerminal;

/// What the command line and the environment say.
pub struct SimSettings {
    pub script: Option<PathBuf>,
    pub role: Role,
    /// None: the task's own.
    pub round: Option<u32>,
    pub attempt: u32,
    /// The phase of a plan that it is asked for one turn in, and which of them.
    pub phase: Option<String>,
    pub iteration: u32,
    pub log: Option<PathBuf>,
    pub prompt: Option<String>,
    /// Signals are sent for this run only.
    pub run_id: Option<String>,
    pub folder: PathBuf,
    pub display: Display,
    /// One turn without a terminal.
    pub headless: Option<Headless>,
}

/// How text is made safe to show, and how wide the terminal is.
#[derive(Clone, Copy)]
pub struct Display {
    /// One line.
    pub line: fn(&str) -> String,
    /// Several lines.
    pub block: fn(&str) -> String,
    pub width: fn() -> usize,
}

/// Plays the script. Comes back only if it cannot begin.
pub fn run(mut settings: SimSettings) -> Result<()> {
    let in_task = || {
        task_file::field(&settings.folder, "review_round")?
            .parse()
            .ok()
    };
    let phase = settings.phase.take();
    let judged = phase
        .as_deref()
        .and_then(|phase| phase.strip_prefix(JUDGE)?.strip_prefix(' '));
    let run = WhichRun {
        role: settings.role,
        judges: judged.is_some(),
        round: settings.round.or_else(in_task).unwrap_or(1).max(1),
        attempt: settings.attempt.max(1),
        phase: judged.map(str::to_owned).or(phase.clone()),
        iteration: settings.iteration.max(1),
    };
    let (key, steps) = choose(settings.script.as_deref(), &run)?;
    let events = Events::to(settings.log.as_deref())?;
    signals::watch(&events)
        .map_err(|error| err!(Failed, "signals cannot be watched: {}", plain(&error)))?;
    let headless = settings.headless.take();
    let headless = headless.map(Headless::begin).transpose()?;
    let terminal = match headless {
        Some(_) => AgentTerminal::none(settings.display),
        None => AgentTerminal::take(settings.display),
    };
    if headless.is_some() {
        settings.prompt = Some(Headless::prompt()?);
        settings.run_id = None;
    }
    let list = (key.as_str(), steps.len());
    events.write("started", &about(&settings, &run, list, &terminal));
    // The number of an iteration says where in the script a turn of a phase is.
    let goes_on = run.phase.is_none();
    let mut agent = SimAgent::new(settings, run, terminal, events);
    if let Some(headless) = headless {
        agent.played = if goes_on { headless.turns() } else { 0 };
        agent.headless = Some(headless);
    }
    let code = agent.live(&steps);
    agent.tell_end()?;
    drop(agent);
    std::process::exit(code)
}

/// The steps of this run. A script that says nothing of a role leaves it to the built-in one.
fn choose(script: Option<&Path>, run: &WhichRun) -> Result<(String, Vec<ScriptStep>)> {
    let select = |name: &str, source: &str| {
        let read = Script::read(source).map_err(|mut error| {
            error.message = format!("{name}: {}", error.message);
            error
        });
        Ok(read?.select(run).map(|list| (list.key, list.steps)))
    };
    if let Some(path) = script {
        let source = std::fs::read_to_string(path).map_err(|error| {
            let (path, why) = (path.display(), plain(&error));
            err!(Usage, "cannot read the script {path}: {why}")
                .hint("`orange sim --show-default` prints one to begin with")
        })?;
        if let Some(own) = select(&path.display().to_string(), &source)? {
            return Ok(own);
        }
    }
    Ok(select("the built-in script", BUILT_IN)?.unwrap_or_default())
}

fn about(
    settings: &SimSettings,
    run: &WhichRun,
    list: (&str, usize),
    terminal: &AgentTerminal,
) -> Value {
    let prompt = settings.prompt.as_deref().unwrap_or_default();
    let hash = Sha256::digest(prompt.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "role": run.role.as_str(),
        "round": run.round,
        "attempt": run.attempt,
        "phase": run.phase,
        "judges": run.judges,
        "iteration": run.iteration,
        "task": std::env::var("ORANGE_TASK_ID").ok(),
        "run": settings.run_id,
        "list": list.0,
        "steps": list.1,
        "terminal": terminal.interactive,
        "prompt_length": prompt.len(),
        "prompt_sha256": hash,
    })
}

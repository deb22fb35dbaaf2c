//! `orange sim`: the arguments of the scripted agent.

use crate::caller;
use crate::commands::program::variable;
use crate::completion::{files, words};
use crate::output;
use crate::ui::{clean, clean_block, terminal_width};
use clap::{Args, ValueHint};
use orange_core::work::plan::PhaseKind;
use orange_core::workflow::Role;
use orange_engine::{Result, err};
use orange_sim::{BUILT_IN, Display, Headless, SimSettings};
use std::path::PathBuf;

/// Play a scripted agent, to rehearse without spending tokens
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange sim \"Add a login form\"             play the built-in script here
  orange sim --show-default > mine.yaml     a script to begin with
  orange sim --script mine.yaml --role reviewer --round 2 -- \"Review it\"
  echo \"go on\" | orange sim --log sim.log   without a terminal: a message a line

Keys: Enter sends, Escape interrupts, Ctrl-C twice or Ctrl-D quits. docs/contributing/sim.md explains scripts.")]
pub(crate) struct SimArgs {
    /// What it does, in YAML (default: $ORANGE_SIM_SCRIPT or the built-in script)
    #[arg(long, value_name = "FILE", add = files())]
    script: Option<PathBuf>,
    /// worker, reviewer or executor (default: $ORANGE_ROLE or worker)
    #[arg(long, value_parser = super::task::word::<Role>, add = words(Role::WORDS))]
    role: Option<Role>,
    /// Which review round this is (default: the task's own; 1 before the first)
    #[arg(long, value_name = "N")]
    round: Option<u32>,
    /// Which run of this role it is, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    attempt: u32,
    /// The phase of a plan that its turn is for (default: $ORANGE_PHASE)
    #[arg(long, value_name = "PHASE", add = words(PhaseKind::WORDS))]
    phase: Option<String>,
    /// Which turn of that phase it is (default: $ORANGE_ITERATION or 1)
    #[arg(long, value_name = "N")]
    iteration: Option<u32>,
    /// Write a JSON line per event to this file (default: $ORANGE_SIM_LOG)
    #[arg(long, value_name = "FILE", add = files())]
    log: Option<PathBuf>,
    /// Print the built-in script and do nothing else
    #[arg(long)]
    show_default: bool,
    /// Take one turn without a terminal, as part of this conversation: the prompt comes through standard input
    #[arg(
        long,
        value_name = "ID",
        hide = true,
        requires = "conversations",
        conflicts_with = "prompt"
    )]
    turn: Option<String>,
    /// Where conversations are kept
    #[arg(long, value_name = "DIR", hide = true, value_hint = ValueHint::DirPath)]
    conversations: Option<PathBuf>,
    /// The conversation is there already
    #[arg(long, hide = true, requires = "turn")]
    resume: bool,
    /// Answer every question with yes; else with no
    #[arg(long, hide = true, requires = "turn")]
    allow: bool,
    /// What it is asked to do first; without it, it waits for a message
    prompt: Option<String>,
}

/// A variable that an executor sets for its turns.
fn word(name: &str) -> Option<String> {
    variable(name)?
        .into_string()
        .ok()
        .filter(|word| !word.is_empty())
}

pub(crate) fn run(args: SimArgs) -> Result<()> {
    if args.show_default {
        output::print(BUILT_IN);
        return Ok(());
    }
    let folder = std::env::current_dir().map_err(|error| {
        let message = format!("the current folder cannot be read: {error}");
        err!(Usage, "{message}").hint("change to a folder that exists")
    })?;
    orange_sim::run(SimSettings {
        script: args
            .script
            .or_else(|| variable("ORANGE_SIM_SCRIPT").map(PathBuf::from)),
        role: match args.role {
            Some(role) => role,
            None => caller::role("unset it, or say --role")?,
        },
        round: args.round,
        attempt: args.attempt,
        phase: args.phase.or_else(|| word("ORANGE_PHASE")),
        iteration: args
            .iteration
            .or_else(|| word("ORANGE_ITERATION")?.parse().ok())
            .unwrap_or(1),
        log: args
            .log
            .or_else(|| variable("ORANGE_SIM_LOG").map(PathBuf::from)),
        prompt: args.prompt,
        run_id: variable("ORANGE_RUN_ID").map(|id| id.to_string_lossy().into_owned()),
        folder,
        headless: args
            .turn
            .zip(args.conversations)
            .map(|(conversation, folder)| Headless {
                conversation,
                resumes: args.resume,
                folder,
                allows: args.allow,
            }),
        display: Display {
            line: |text| clean(text).into_owned(),
            block: |text| clean_block(text).into_owned(),
            width: terminal_width,
        },
    })
}

//! `orange demo`: the arguments of the demo.

use crate::demo;
use crate::session;
use clap::{Args, ValueEnum};
use orange_engine::runs::Ancestors;
use orange_engine::{Result, err};
use std::io::IsTerminal;

/// The demo ends within a minute, clearing away included.
const LIMIT: u64 = 50;

/// Run three scripted tasks from creation to merge
#[derive(Debug, Args)]
#[command(after_help = "\
It has a home, a repository and a tmux server of its own, spends no tokens, and leaves nothing. Exit code 0 if every task got where it should.

Examples:
  orange demo
  orange demo --dashboard             play it yourself, in the dashboard
  orange demo --keep                  look around afterwards
  orange demo --json                  what came of it, as one JSON value")]
pub(crate) struct DemoArgs {
    /// Play it yourself in the dashboard; quitting it ends the demo
    #[arg(long)]
    pub(crate) dashboard: bool,
    /// Leave everything there, and say where
    #[arg(long)]
    pub(crate) keep: bool,
    /// Without pauses for readers
    #[arg(long, hide = true, value_enum, default_value = "normal")]
    speed: Speed,
    /// Give up after so many seconds
    #[arg(long, hide = true, value_name = "SECONDS", default_value_t = LIMIT)]
    pub(crate) limit: u64,
}

impl DemoArgs {
    pub(crate) fn is_fast(&self) -> bool {
        self.speed == Speed::Fast
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Speed {
    Normal,
    Fast,
}

pub(crate) fn run(args: &DemoArgs, json: bool) -> Result<()> {
    // Its commands would be taken for those of this agent, about a task that their home does not know.
    if Ancestors::of_this_process()
        .run(&session::home()?)
        .is_some()
    {
        return Err(err!(NotAllowed, "an agent cannot play the demo")
            .hint("run it in a terminal of your own"));
    }
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if args.dashboard && (json || !is_terminal) {
        return Err(err!(ConditionUnmet, "the dashboard needs a terminal")
            .hint("`orange demo` alone plays by itself and prints what happens"));
    }
    match demo::run(args, json)? {
        0 => Ok(()),
        code => std::process::exit(i32::from(code)),
    }
}

//! `orange demo`: the arguments of the demo.

use crate::demo;
use crate::session;
use clap::{Args, ValueEnum};
use orange_engine::runs::Ancestors;
use orange_engine::{Result, err};

/// The demo ends within a minute, clearing away included.
const LIMIT: u64 = 50;

/// Run three scripted tasks from creation to merge
#[derive(Debug, Args)]
#[command(after_help = "\
It has a home, a repository and a tmux server of its own, spends no tokens, and leaves nothing. Exit code 0 if every task got where it should.

Examples:
  orange demo
  orange demo --keep                  look around afterwards
  orange demo --json                  what came of it, as one JSON value")]
pub(crate) struct DemoArgs {
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
    match demo::run(args, json)? {
        0 => Ok(()),
        code => std::process::exit(i32::from(code)),
    }
}

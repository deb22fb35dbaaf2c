//! `orange completions SHELL`: what a shell reads to complete orange's commands.

use crate::completion::Shell;
use crate::output;
use clap::{Args, ValueEnum};
use orange_engine::Result;
use serde_json::json;

/// Print completions for bash, zsh or fish
#[derive(Debug, Args)]
#[command(after_help = "\
Completes commands and flags, and what is here now: tasks by key, id and branch, projects, branches, harnesses, \
settings, rescues. Asks Orange each time, so it need not be written again.

Examples:
  source <(orange completions bash)             in ~/.bashrc
  source <(orange completions zsh)              in ~/.zshrc
  orange completions fish | source              in ~/.config/fish/config.fish
  orange completions bash > ~/.local/share/bash-completion/completions/orange")]
pub(crate) struct CompletionsArgs {
    /// The shell that the script is for
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, wants_json: bool) -> Result<()> {
    let script = args.shell.script();
    if !wants_json {
        output::print(script);
        return Ok(());
    }
    let name = args.shell.to_possible_value();
    let name = name.map(|value| value.get_name().to_owned());
    let value = json!({"completions": {"shell": name, "script": script}});
    output::print_json(&value);
    Ok(())
}

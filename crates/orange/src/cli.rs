//! The command line: what can be typed. A file per command holds its arguments; their comments are the help.

mod suggestions;

use crate::commands::{
    agent, completions, config, cost, dashboard, demo, doctor, gc, harness, headless, help, inbox,
    log, man, permissions, project, prompt, search, sim, status, task, watch, workflow, workspace,
};
use crate::completion::assignments;
use crate::help::{groups, of_tasks};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::mem::ManuallyDrop;

const AFTER: &str = "\
Examples:
  orange demo                             see what it does, in 15 seconds
  orange project add .                    register the repository you are in
  orange new Add a login form             create a task
  orange ls                               what is going on
  orange search login                     find a task by what is said in it
  orange why TASK-001                     what a task waits for
  cd \"$(orange path TASK-001)\"            go where the work is
  orange workspace list                   who works where

Every command of `orange task` can be given without that word; `orange task --help` lists all of them. `orange help` also lists topics: the workflow, TASK.md, exit codes, settings, files \
and more. `--config KEY=VALUE` sets a setting for one command. State is in ~/orange (ORANGE_HOME overrides).";

/// Runs many coding agents on your own repositories and keeps you in charge.
#[derive(Debug, Parser)]
#[command(name = "orange", version, after_help = AFTER, propagate_version = false)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Print one JSON value instead of text
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,

    /// Use this setting for this command alone (`merge.strategy=rebase`)
    // Told once, below the commands: it would be in the way in the help of each.
    #[arg(long, global = true, hide = true, value_name = "KEY=VALUE", add = assignments())]
    pub(crate) config: Vec<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Everything that can be typed, with the arguments of every command.
fn whole() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// The same with its help.
pub(crate) fn command() -> clap::Command {
    let command = whole();
    // Of the verbs of `task` only the daily ones are listed a second time.
    let verbs = of_tasks(&command);
    let command = command.mut_subcommands(|below| {
        let name = below.get_name();
        let is_rare = verbs.iter().any(|verb| verb == name) && !groups::has(name);
        if is_rare { below.hide(true) } else { below }
    });
    let template = groups::template(&command);
    command.help_template(template)
}

pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let arguments = &search::with_exclusions(arguments.to_vec());
    match parse_once(arguments) {
        // The groups are put together only for those who read them.
        Err(error) if is_help(error.kind()) => Err(command()
            .try_get_matches_from(arguments)
            .err()
            .unwrap_or(error)),
        parsed => parsed.map_err(|error| suggestions::with_tip(error, arguments)),
    }
}

/// As [`Parser::try_parse_from`]. What was put together for it is not taken apart again: a process parses once, and taking a
/// hundred commands apart costs as much as parsing.
fn parse_once(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = ManuallyDrop::new(Cli::command());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    let parsed = Cli::from_arg_matches_mut(&mut matches);
    parsed.map_err(|error| error.format(&mut command))
}

fn is_help(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

// Only the arguments of the command that is given are put together; see `whole`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Register repositories and look at them
    #[command(
        subcommand,
        after_help = "Examples:\n  orange project add .\n  orange project list"
    )]
    Project(project::ProjectCommand),
    /// Create, inspect and move tasks
    #[command(
        subcommand,
        after_help = "Examples:\n  orange task create \"Add a login form\"\n  orange task list --ready\n  orange task why TASK-001\n  orange task update TASK-001 --status planning"
    )]
    Task(Box<task::TaskCommand>),
    /// Look at the pool of worktrees that tasks work in
    #[command(
        subcommand,
        after_help = "Examples:\n  orange workspace list\n  orange workspace init --project shop\n  orange workspace gc"
    )]
    Workspace(workspace::WorkspaceCommand),
    /// Look at a workflow's table
    #[command(
        subcommand,
        after_help = "Example:\n  orange workflow show --format mermaid"
    )]
    Workflow(workflow::WorkflowCommand),
    /// Look at what agents are told
    #[command(
        subcommand,
        after_help = "Examples:\n  orange prompt list\n  orange prompt show reviewer --task TASK-001"
    )]
    Prompt(prompt::PromptCommand),
    /// Look at the agent CLIs that Orange can start
    #[command(subcommand, after_help = "Example:\n  orange harness list")]
    Harness(harness::HarnessCommand),
    /// Look at what agents may do without asking again
    #[command(
        subcommand,
        after_help = "Examples:\n  orange permissions list\n  orange permissions remove 1"
    )]
    Permissions(permissions::PermissionsCommand),
    /// Look at settings and change them
    #[command(
        subcommand,
        after_help = "Examples:\n  orange config show\n  orange config set merge.strategy rebase\n  orange config edit"
    )]
    Config(config::ConfigCommand),
    Doctor(doctor::DoctorArgs),
    Gc(gc::GcArgs),
    Watch(watch::WatchArgs),
    Dashboard(dashboard::DashboardArgs),
    Inbox(inbox::InboxArgs),
    Search(search::SearchArgs),
    Log(log::LogArgs),
    Status(status::StatusArgs),
    Cost(cost::CostArgs),
    Headless(headless::HeadlessArgs),
    Demo(demo::DemoArgs),
    Sim(sim::SimArgs),
    Help(help::HelpArgs),
    Man(man::ManArgs),
    Completions(completions::CompletionsArgs),
    New(Box<task::create::NewArgs>),
    Ls(Box<task::list::LsArgs>),
    // The same verbs as those of `task`, which can be left out.
    #[command(flatten)]
    Verb(Box<task::TaskCommand>),
    /// Report what an agent does (a harness's own hooks run this)
    #[command(hide = true)]
    Signal(agent::SignalArgs),
    #[command(hide = true)]
    RunAgent(agent::RunAgentArgs),
    #[command(hide = true)]
    RunPhases(agent::RunPhasesArgs),
    #[command(hide = true, subcommand)]
    Errand(agent::Errand),
}

//! The command line: what can be typed. A file per command holds its arguments; their comments are the help.

use crate::commands::{
    agent, demo, doctor, gc, harness, headless, project, prompt, sim, task, watch, workflow,
    workspace,
};
use clap::{Parser, Subcommand};

const AFTER: &str = "\
Examples:
  orange demo                                see what it does, in a quarter of a minute
  orange project add .                       register the repository you are in
  orange new \"Add a login form\"              create a task
  orange ls                                  what is going on
  orange task why TASK-001                   what a task waits for
  orange task update TASK-001 --status planning
  cd \"$(orange task path TASK-001)\"         go where the work is
  orange workspace list                      who works where

Exit codes: 0 ok, 1 failed, 2 usage, 3 refused by a gate or precondition,
4 not found or ambiguous, 130 interrupted.

State lies in ~/orange (ORANGE_HOME overrides). ORANGE_LOG_LEVEL sets the level of orange.log.";

/// Runs many coding agents on your own repositories and keeps you in charge.
#[derive(Debug, Parser)]
#[command(name = "orange", version, after_help = AFTER, propagate_version = false)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Print one JSON value instead of text
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
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
    /// Check the machine, the home and all that is in it, and repair what can be repaired
    Doctor(doctor::DoctorArgs),
    /// Remove what is past its time: old rescues, deleted tasks, screens and rotated logs
    Gc(gc::GcArgs),
    /// Start tasks that nothing holds back
    Run(task::start::RunArgs),
    /// Watch over all agents, and print what happens
    Watch(watch::WatchArgs),
    /// Let an agent take one turn without a terminal, here
    Headless(headless::HeadlessArgs),
    /// See three tasks with scripted agents go their way, on a throw-away repository
    Demo(demo::DemoArgs),
    /// Play a scripted agent: rehearse a workflow without spending tokens
    Sim(sim::SimArgs),
    /// Short for `task create`
    New(Box<task::create::CreateArgs>),
    /// Short for `task list`
    Ls(Box<task::list::ListArgs>),
    /// Short for `task attach`
    Attach(task::talk::AttachArgs),
    /// Short for `task diff`
    Diff(task::diff::DiffArgs),
    /// Short for `task send`
    Send(task::talk::SendArgs),
    /// Short for `task merge`
    Merge(task::merge::MergeArgs),
    /// Report what an agent does (a harness's own hooks run this)
    #[command(hide = true)]
    Signal(agent::SignalArgs),
    #[command(hide = true)]
    RunAgent(agent::RunAgentArgs),
    #[command(hide = true, subcommand)]
    Errand(agent::Errand),
}

//! From a parsed command line to the function that carries it out.

pub(crate) mod doctor;
pub(crate) mod project;
pub(crate) mod task;
pub(crate) mod workflow;
pub(crate) mod workspace;

use crate::cli::{Cli, Command};
use crate::error::Result;
use crate::session::Session;

pub(crate) fn run(cli: Cli) -> Result<()> {
    if let Command::Workflow(command) = &cli.command {
        // Needs no home: the table is part of the program.
        return workflow::run(command, cli.json);
    }
    let mut session = Session::open(cli.json)?;
    match cli.command {
        Command::Project(command) => project::run(&mut session, command),
        Command::Task(command) => task::run(&mut session, *command),
        Command::Workspace(command) => workspace::run(&mut session, &command),
        Command::Workflow(_) => Ok(()),
        Command::Doctor(args) => doctor::run(&mut session, &args),
        Command::New(args) => task::create::run(&mut session, *args),
        Command::Ls(args) => task::list::run(&mut session, &args),
    }
}

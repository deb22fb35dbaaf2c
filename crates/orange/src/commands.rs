//! From a parsed command line to the function that carries it out.

pub(crate) mod agent;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod harness;
pub(crate) mod headless;
pub(crate) mod project;
pub(crate) mod prompt;
pub(crate) mod sim;
pub(crate) mod task;
pub(crate) mod watch;
pub(crate) mod workflow;
pub(crate) mod workspace;

use crate::cli::{Cli, Command};
use crate::error::Result;
use crate::session::Session;

pub(crate) fn run(cli: Cli) -> Result<()> {
    // These need no home: the table is part of the program, an agent knows of Orange only what it is told, the demo
    // has a home of its own, and the others are part of a run, whoever calls them.
    let command = match cli.command {
        Command::Workflow(command) => return workflow::run(&command, cli.json),
        Command::Sim(args) => return sim::run(args),
        Command::Demo(args) => return demo::run(&args, cli.json),
        Command::RunAgent(args) => return agent::run_agent(&args),
        Command::Errand(what) => return agent::errand(&what),
        Command::Signal(args) => return agent::signal(&args),
        command => command,
    };
    let mut session = Session::open(cli.json)?;
    match command {
        Command::Project(command) => project::run(&mut session, command),
        Command::Task(command) => task::run(&mut session, *command),
        Command::Workspace(command) => workspace::run(&mut session, &command),
        Command::Prompt(command) => prompt::run(&mut session, &command),
        Command::Doctor(args) => doctor::run(&mut session, &args),
        Command::Gc(args) => gc::run(&mut session, &args),
        Command::Harness(command) => harness::run(&mut session, &command),
        Command::Headless(args) => headless::run(&mut session, &args),
        Command::New(args) => task::create::run(&mut session, *args),
        Command::Run(args) => task::start::run_ready(&mut session, &args),
        Command::Watch(args) => watch::run(&mut session, &args),
        Command::Attach(args) => task::talk::attach(&mut session, &args),
        Command::Diff(args) => task::diff::run(&mut session, &args),
        Command::Send(args) => task::talk::send(&mut session, &args),
        Command::Merge(args) => task::merge::run(&mut session, &args),
        Command::Workflow(_)
        | Command::Sim(_)
        | Command::Demo(_)
        | Command::RunAgent(_)
        | Command::Errand(_)
        | Command::Signal(_) => Ok(()),
        Command::Ls(args) => task::list::run(&mut session, &args),
    }
}

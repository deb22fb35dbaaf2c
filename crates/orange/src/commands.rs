//! From a parsed command line to the function that carries it out.

pub(crate) mod agent;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod cost;
pub(crate) mod dashboard;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod harness;
pub(crate) mod headless;
pub(crate) mod help;
pub(crate) mod inbox;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod permissions;
pub(crate) mod program;
pub(crate) mod project;
pub(crate) mod prompt;
pub(crate) mod search;
pub(crate) mod sim;
pub(crate) mod status;
pub(crate) mod task;
pub(crate) mod watch;
pub(crate) mod workflow;
pub(crate) mod workspace;

use crate::cli::{Cli, Command};
use crate::session::{Access, Session};
use orange_engine::{Result, err};

pub(crate) fn run(cli: Cli) -> Result<()> {
    // These need no home: the table is part of the program, an agent knows of Orange only what it is told, the demo
    // has a home of its own, and the others are part of a run, whoever calls them.
    let of_no_use = matches!(
        cli.command,
        Command::Workflow(_)
            | Command::Sim(_)
            | Command::Demo(_)
            | Command::RunAgent(_)
            | Command::RunPhases(_)
            | Command::Errand(_)
            | Command::Signal(_)
    );
    if of_no_use && !cli.config.is_empty() {
        let message = "--config: this command has no use for settings";
        return Err(err!(Usage, "{message}").hint("leave it out"));
    }
    let access = access(&cli.command);
    let open = || Session::open(cli.json, &cli.config, access);
    match cli.command {
        Command::Workflow(command) => workflow::run(&command, cli.json),
        Command::Sim(args) => sim::run(args),
        Command::Help(args) => help::run(&args, cli.json),
        Command::Man(args) => man::run(&args, cli.json),
        Command::Completions(args) => completions::run(&args, cli.json),
        Command::Config(ref command) if config::without_home(command, cli.json) => Ok(()),
        Command::Demo(args) => demo::run(&args, cli.json),
        Command::RunAgent(args) => agent::run_agent(&args),
        Command::RunPhases(args) => agent::run_phases(args),
        Command::Status(args) => status::run(&args, cli.json),
        Command::Errand(what) => agent::errand(&what),
        Command::Signal(args) => agent::signal(&args),
        Command::Project(command) => project::run(&open()?, command),
        Command::Task(command) | Command::Verb(command) => task::run(&open()?, *command),
        Command::Workspace(command) => workspace::run(&open()?, &command),
        Command::Prompt(command) => prompt::run(&open()?, &command),
        Command::Permissions(command) => permissions::run(&open()?, &command),
        Command::Config(command) => config::run(&open()?, &command),
        Command::Doctor(args) => doctor::run(&open()?, &args),
        Command::Gc(args) => gc::run(&open()?, &args),
        Command::Harness(command) => harness::run(&open()?, &command),
        Command::Headless(args) => headless::run(&open()?, &args),
        Command::Cost(args) => cost::run(&open()?, &args),
        Command::Search(args) => search::run(&open()?, &args),
        Command::New(args) => task::create::run_new(&open()?, *args),
        Command::Log(args) => log::run(&open()?, &args),
        Command::Watch(args) => watch::run(&open()?, &args),
        Command::Dashboard(args) => dashboard::run(&open()?, &args),
        Command::Inbox(args) => inbox::run(&open()?, &args),
        Command::Ls(args) => task::list::run(&open()?, &args.list),
    }
}

fn access(command: &Command) -> Access {
    match command {
        Command::Doctor(args) if !args.repairs() => Access::ReadMistakes,
        Command::Config(command) if !config::changes(command) => Access::ReadMistakes,
        command if only_reads(command) => Access::Read,
        _ => Access::Change,
    }
}

/// Whether a command only looks. `config` and `doctor` tell of mistakes in their own way.
fn only_reads(command: &Command) -> bool {
    match command {
        Command::Ls(_)
        | Command::Inbox(_)
        | Command::Search(_)
        | Command::Cost(_)
        | Command::Log(_)
        | Command::Watch(_)
        | Command::Prompt(_)
        | Command::Harness(_) => true,
        Command::Task(command) | Command::Verb(command) => task::only_reads(command),
        Command::Project(command) => matches!(command, project::ProjectCommand::List),
        Command::Workspace(command) => matches!(command, workspace::WorkspaceCommand::List(_)),
        Command::Permissions(command) => {
            matches!(command, permissions::PermissionsCommand::List(_))
        }
        _ => false,
    }
}

/// A number of things to show: none would look as if there were none.
pub(crate) fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("0 would show nothing".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use std::ffi::OsString;

    fn access_of(line: &str) -> Access {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        access(&cli::parse(&words).unwrap().command)
    }

    #[test]
    fn a_verb_needs_the_same_access_with_and_without_the_word_task() {
        for (verb, expected) in [
            ("show 1", Access::Read),
            ("why 1", Access::Read),
            ("list", Access::Read),
            ("diff 1", Access::Read),
            ("rescue list", Access::Read),
            ("rescue restore 1 latest --to-branch x", Access::Change),
            ("update 1 --priority high", Access::Change),
            ("attach 1", Access::Change),
            ("create", Access::Change),
        ] {
            assert_eq!(access_of(&format!("orange {verb}")), expected, "{verb}");
            assert_eq!(access_of(&format!("orange task {verb}")), expected);
        }
        assert_eq!(access_of("orange ls"), Access::Read);
        assert_eq!(access_of("orange log 1"), Access::Read);
        assert_eq!(access_of("orange new x"), Access::Change);
    }
}

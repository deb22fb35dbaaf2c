//! The `orange` program: reads the command line, hands it to the engine, prints what comes back.

mod bus_error;
mod caller;
mod cli;
mod commands;
mod completion;
mod demo;
mod errand_access;
mod error;
mod help;
mod input;
mod log;
mod man;
mod output;
mod pager;
mod question;
mod session;
mod signals;
mod terminal;
mod ui;

use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if let Some(shell) = std::env::var_os(completion::VARIABLE) {
        return completion::answer(&shell, arguments);
    }
    if arguments.len() == 1 && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        arguments.push("dashboard".into());
    }
    // What follows `--` belongs to somebody else's command.
    let mut own = arguments.iter().take_while(|argument| *argument != "--");
    let wants_json = own.any(|argument| argument == "--json");
    bus_error::report(wants_json);
    let outcome = match cli::parse(&arguments) {
        Ok(cli) => commands::run(cli),
        Err(error) => return error::usage(&error, &arguments, wants_json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error::report(&error, wants_json),
    }
}

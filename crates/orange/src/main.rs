//! The `orange` program: reads the command line, hands it to the engine, prints what comes back.

mod caller;
mod cli;
mod commands;
mod demo;
mod error;
mod log;
mod output;
mod question;
mod session;
mod sim;
mod ui;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = commands::search::with_exclusions(std::env::args_os().collect());
    // What follows `--` belongs to somebody else's command.
    let mut own = arguments.iter().take_while(|argument| *argument != "--");
    let wants_json = own.any(|argument| argument == "--json");
    let outcome = match cli::Cli::try_parse_from(&arguments) {
        Ok(cli) => commands::run(cli),
        Err(error) => return error::usage(&error, wants_json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(wants_json),
    }
}

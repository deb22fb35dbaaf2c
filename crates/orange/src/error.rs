//! Errors on their way out: an exit code, a message and a hint on stderr, or one JSON value on stdout.

mod clap_error;

use crate::output;
use crate::ui::command::spelled;
use crate::ui::{Extent, Palette, Style, clean_block, wrapped, wrapped_under};
use clap::error::ErrorKind;
use orange_core::text::TextPart;
use orange_core::{Action, Text};
use orange_engine::{Code, Error};
use serde::Serialize;
use std::ffi::OsString;
use std::process::ExitCode;

/// An error for programs: what can be done is in the hint as commands, and beside it as data.
#[derive(Serialize)]
pub(crate) struct ErrorView<'a> {
    code: Code,
    message: &'a str,
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<&'a Action>,
    /// What the hint names of the command at hand, with the value that is to be given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<&'a TextPart>,
}

impl ErrorView<'_> {
    pub(crate) fn of(error: &Error) -> ErrorView<'_> {
        ErrorView {
            code: error.code,
            message: &error.message,
            hint: error.hint.as_ref().map(spelled),
            actions: error.hint.iter().flat_map(Text::actions).collect(),
            parameters: error.hint.iter().flat_map(Text::parameters).collect(),
        }
    }
}

/// Prints the error that a command ends with.
pub(crate) fn report(error: &Error, json: bool) -> ExitCode {
    log(error);
    if json {
        output::print_json(&output::named("error", ErrorView::of(error)));
    } else if error.code == Code::Declined {
        // A declined question needs no hint.
        let line = format!("{}\n", clean_block(&error.message));
        output::say(&wrapped(&line, Extent::stderr()));
    } else {
        let palette = Palette::stderr();
        labelled(palette.red("error:"), "error: ", &error.message);
        if let Some(hint) = &error.hint {
            labelled(
                palette.paint(Style::Cyan, "hint:"),
                "hint: ",
                &spelled(hint),
            );
        }
    }
    ExitCode::from(exit_code(error.code))
}

/// A line of a message, which goes on under its first word.
fn labelled(label: impl std::fmt::Display, plain: &str, words: &str) {
    let line = format!("{label} {}\n", clean_block(words));
    output::say(&wrapped_under(&line, plain.len(), Extent::stderr()));
}

/// What failed, and who wanted it: in orange.log only.
fn log(error: &Error) {
    let agent = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (role, task) = (agent("ORANGE_ROLE"), agent("ORANGE_TASK_ID"));
    let by = role.as_deref().unwrap_or("you");
    let code = error.code.as_str();
    let command = typed();
    let source = error.source.as_ref().map(ToString::to_string);
    // A level is part of the call.
    macro_rules! log {
        ($level:ident) => {
            tracing::$level!(target: "command", code, by, task, command, source, "{}", error.message)
        };
    }
    match (exit_code(error.code), error.code, role.is_some()) {
        // An agent that tried what it may not do is something to know of.
        (_, Code::NotAllowed, true) => log!(warn),
        // Usage errors and gates or checks that refused are expected: they are logged as info.
        (2..=4, _, _) | (_, Code::Problems, _) => log!(info),
        _ => log!(error),
    }
}

/// The command line, or its beginning, for the log.
pub(crate) fn typed() -> String {
    const LONGEST: usize = 200;
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ").chars().take(LONGEST).collect()
}

/// What programs that start Orange can rely on.
pub(crate) const EXIT_CODES: [(u8, &str); 7] = [
    (0, "ok"),
    (1, "failed: something went wrong, or a check did not pass"),
    (2, "usage: the command line, a setting or a value is wrong"),
    (3, "refused by a gate or precondition, or by a person"),
    (4, "not found, or the name fits more than one"),
    (
        127,
        "a program that you named (a command, an editor) cannot be started",
    ),
    (130, "interrupted"),
];

/// One of [`EXIT_CODES`].
pub(crate) fn exit_code(code: Code) -> u8 {
    match code {
        Code::Failed
        | Code::Problems
        | Code::Damaged
        | Code::Busy
        | Code::Storage
        | Code::NewerVersion => 1,
        Code::Usage => 2,
        Code::Refused
        | Code::Declined
        | Code::GateUnmet
        | Code::ConditionUnmet
        | Code::IllegalTransition
        | Code::NotAllowed
        | Code::Conflict => 3,
        Code::NotFound | Code::Ambiguous => 4,
        // As a shell says it: the codes of a command that did run are its own.
        Code::NoCommand => 127,
    }
}

/// A command line that clap did not understand, or a request for help.
pub(crate) fn usage(error: &clap::Error, arguments: &[OsString], json: bool) -> ExitCode {
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked_for {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // `orange` alone is the dashboard, and where there is no terminal for it, the help.
    if arguments.len() == 1 && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::print(&error.render().to_string());
        return ExitCode::SUCCESS;
    }
    // Whoever typed only a part of a command gets its help.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !json {
        let text = error.render();
        let text = if Palette::stderr().enabled {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        output::say(&wrapped(&text, Extent::stderr()));
        return ExitCode::from(2);
    }
    report(&clap_error::of(error, arguments), json)
}

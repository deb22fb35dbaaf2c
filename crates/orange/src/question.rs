//! Questions to a person at a terminal.

use crate::output;
use crate::session::Session;
use crate::ui::{Extent, wrapped};
use orange_engine::{Error, Result, err};
use std::io::{BufRead, IsTerminal};

/// Only a person at a terminal is asked; a script said what it wants by calling.
pub(crate) fn asks(session: &Session, yes: bool) -> bool {
    !yes && !session.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

pub(crate) fn confirm(session: &Session, sure: bool, question: &str) -> Result<()> {
    if !asks(session, sure) || yes(question)? {
        return Ok(());
    }
    Err(err!(Declined, "nothing was changed"))
}

/// As [`confirm`], for what a script must not do by accident: where nobody can be asked, it has to say `--yes`.
pub(crate) fn confirm_always(
    session: &Session,
    sure: bool,
    question: &str,
    unanswered: impl FnOnce() -> Error,
) -> Result<()> {
    if sure || asks(session, sure) {
        confirm(session, sure, question)
    } else {
        Err(unanswered())
    }
}

pub(crate) fn yes(question: &str) -> Result<bool> {
    let answer = line(&format!("{question} [y/N] ")).map_err(|error| error.hint("add --yes"))?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}

/// What is typed on one line, without the blanks around it; empty at the end of input.
pub(crate) fn line(prompt: &str) -> Result<String> {
    output::say(&wrapped(prompt, Extent::stderr()));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| err!(Usage, "no answer: {error}"))?;
    if !answer.ends_with('\n') {
        // Ctrl-D leaves the cursor behind the question.
        output::say("\n");
    }
    Ok(answer.trim().to_owned())
}

//! Writing to stdout: whole texts, and a reader that has gone away is no error.

use crate::ui::command::spelled;
use crate::ui::{Extent, clean_block, escaped_controls, wrapped_under};
use orange_core::Text;
use orange_engine::error::plain;
use orange_engine::{Error, Result, err};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::time::Duration;

/// Prints a text. A closed pipe ends the output quietly: `orange ls | head` is normal use. A full disk does
/// not: a script must not take an empty file for an answer.
pub(crate) fn print(text: &str) {
    print_piece(text.as_bytes());
}

/// The same for a piece of something long; false: nobody reads on.
pub(crate) fn print_piece(bytes: &[u8]) -> bool {
    write(bytes).unwrap_or_else(|error| end(&error))
}

/// Prints a value as JSON on a line of its own; false: nobody reads on.
pub(crate) fn print_json(value: &impl Serialize) -> bool {
    as_json(value).map_or_else(|error| end(&error), |json| print_json_text(&json))
}

/// The same for a value that is JSON already.
pub(crate) fn print_json_text(json: &str) -> bool {
    write_json(json).unwrap_or_else(|error| end(&error))
}

/// Fails for a value that has no JSON, such as a path that is not UTF-8.
pub(crate) fn as_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| not_written(&error))
}

/// The only way that JSON is written.
pub(crate) fn write_json(json: &str) -> Result<bool> {
    write(escaped_controls(&format!("{json}\n")).as_bytes())
}

/// Writes to stdout; false: nobody reads on.
pub(crate) fn write(bytes: &[u8]) -> Result<bool> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(not_written(&plain(&error))),
    }
}

fn not_written(why: &dyn Display) -> Error {
    err!(Storage, "the result could not be written: {why}")
}

fn end(error: &Error) -> ! {
    say(&format!("error: {}\n", error.message));
    std::process::exit(1)
}

/// A value under a name: `{"tasks": …}`.
pub(crate) fn named<T: Serialize>(name: &'static str, value: T) -> impl Serialize {
    BTreeMap::from([(name, value)])
}

/// Waits so long, and tells whether nobody reads on: who follows something may have nothing to print for hours.
pub(crate) fn is_closed(wait: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let wait = Timespec::try_from(wait).ok();
    // A signal ends the wait; the caller looks at it.
    let found = poll(&mut watched, wait.as_ref());
    let gone = PollFlags::ERR | PollFlags::NVAL;
    found.is_ok() && watched.iter().any(|fd| fd.revents().intersects(gone))
}

/// What the engine has to say besides the result.
pub(crate) fn notices(texts: &[Text]) {
    texts.iter().for_each(|text| note(&spelled(text)));
}

/// Something besides the result, for the person.
pub(crate) fn note(text: &str) {
    let line = format!("note: {}\n", clean_block(text));
    say(&wrapped_under(&line, "note: ".len(), Extent::stderr()));
}

/// Writes to standard error, in one go. Write errors are ignored.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

//! Writing to stdout: whole texts, and a reader that has gone away is no error.

use crate::ui::command::spelled;
use crate::ui::{Extent, clean_block, escaped_controls, wrapped_under};
use orange_core::Text;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::time::Duration;

/// Prints a text. A closed pipe ends the output quietly: `orange ls | head` is normal use. A full disk does
/// not: a script must not take an empty file for an answer.
pub(crate) fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// The same for a path, which need not be text.
pub(crate) fn print_bytes(bytes: &[u8]) {
    print_piece(bytes);
}

/// Prints a value as JSON on a line of its own; false: nobody reads on.
pub(crate) fn print_json(value: &impl Serialize) -> bool {
    print_json_text(&as_json(value))
}

/// The JSON of a value. One that has none, such as a path that is not UTF-8, ends the program as a full disk does.
pub(crate) fn as_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| not_written(&error))
}

/// The same for a value that is JSON already. The only way that JSON is printed.
pub(crate) fn print_json_text(json: &str) -> bool {
    print_piece(escaped_controls(&format!("{json}\n")).as_bytes())
}

/// A value under a name: `{"tasks": …}`.
pub(crate) fn named<T: Serialize>(name: &'static str, value: T) -> impl Serialize {
    BTreeMap::from([(name, value)])
}

/// The same for a piece of something long; false: nobody reads on.
pub(crate) fn print_piece(bytes: &[u8]) -> bool {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    if let Err(error) = &written
        && error.kind() != ErrorKind::BrokenPipe
    {
        not_written(&orange_engine::error::plain(error));
    }
    written.is_ok()
}

fn not_written(why: &dyn Display) -> ! {
    let line = format!("error: the result could not be written: {why}");
    let _ = writeln!(std::io::stderr(), "{line}");
    std::process::exit(1)
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

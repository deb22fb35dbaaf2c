//! Writing to stdout: whole texts, and a reader that has gone away is no error.

use std::io::Write;

/// Prints a text. A closed pipe ends the output quietly: `orange ls | head` is normal use.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Something besides the result, for the person.
pub(crate) fn note(text: &str) {
    let line = format!("note: {}\n", crate::ui::clean_block(text));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

//! Writing to stdout: whole texts, and a reader that has gone away is no error.

use std::io::{ErrorKind, Write};

/// Prints a text. A closed pipe ends the output quietly: `orange ls | head` is normal use. A full disk does
/// not: a script must not take an empty file for an answer.
pub(crate) fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// The same for a path, which need not be text.
pub(crate) fn print_bytes(bytes: &[u8]) {
    print_piece(bytes);
}

/// The same for a piece of something long; false: nobody reads on.
pub(crate) fn print_piece(bytes: &[u8]) -> bool {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    if let Err(error) = &written
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = writeln!(
            std::io::stderr(),
            "error: the result could not be written: {}",
            orange_engine::error::plain(error)
        );
        std::process::exit(1);
    }
    written.is_ok()
}

/// Something besides the result, for the person.
pub(crate) fn note(text: &str) {
    let line = format!("note: {}\n", crate::ui::clean_block(text));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

//! The output of one command: all of it (within reason) to a log, its last lines kept for the error message.

use crate::store::private;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What one command may write to its log; more is dropped, with a note.
const LOG_LIMIT: u64 = 10 * 1024 * 1024;

/// The end of the output that is remembered; its last lines are in it, or it is one line too long to show.
const WINDOW: usize = 16 * 1024;

const TAIL_LINES: usize = 10;

const TAIL_COLUMNS: usize = 500;

/// What is read at most before somebody looks at the clock again.
const BITE: usize = 1024 * 1024;

pub(crate) struct CommandOutput {
    log: File,
    room: u64,
    reader: Option<PipeReader>,
    window: VecDeque<u8>,
    whole: bool,
}

impl CommandOutput {
    /// Appends to the log, which begins anew (the last one kept beside it) when it has grown long.
    pub(super) fn to(log: &Path, command: &str) -> io::Result<CommandOutput> {
        if let Some(parent) = log.parent() {
            private::make_folders(parent)?;
        }
        if std::fs::symlink_metadata(log).is_ok_and(|data| data.len() > LOG_LIMIT) {
            let mut old = log.as_os_str().to_owned();
            old.push(".old");
            std::fs::rename(log, old)?;
        }
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            // Commands print secrets now and then.
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(log)?;
        writeln!(file, "$ {}", command.replace('\n', "\n> "))?;
        Ok(CommandOutput {
            log: file,
            room: LOG_LIMIT,
            reader: None,
            window: VecDeque::new(),
            whole: true,
        })
    }

    /// The ends of a pipe for a command to write to.
    pub(super) fn pipe(&mut self) -> io::Result<(PipeWriter, PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        // Reading never waits: whoever holds the other end may hold it for ever.
        fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
        self.reader = Some(reader);
        Ok((writer.try_clone()?, writer))
    }

    /// Has everybody who could write closed it?
    pub(super) fn is_over(&self) -> bool {
        self.reader.is_none()
    }

    /// Reads what is there now; false if there was nothing.
    pub(super) fn take_in(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        let mut taken = 0;
        while taken < BITE {
            let Some(reader) = &mut self.reader else {
                break;
            };
            match reader.read(&mut buffer) {
                Ok(0) => self.reader = None,
                Ok(count) => {
                    taken += count;
                    self.keep(buffer.get(..count).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.reader = None,
            }
        }
        taken > 0
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.room > 0 {
            let fitting = bytes
                .len()
                .min(usize::try_from(self.room).unwrap_or(usize::MAX));
            self.room -= fitting as u64;
            let mut written = self.log.write_all(bytes.get(..fitting).unwrap_or_default());
            if self.room == 0 {
                let note = "\n[the rest of the output was dropped: more than 10 MB]\n";
                written = written.and_then(|()| self.log.write_all(note.as_bytes()));
            }
            // A full disk stops the log, not the command.
            if written.is_err() {
                self.room = 0;
            }
        }
        self.window.extend(bytes);
        let surplus = self.window.len().saturating_sub(WINDOW);
        if surplus > 0 {
            self.window.drain(..surplus);
            self.whole = false;
        }
    }

    /// Writes how it ended; nothing is read any more.
    pub(super) fn finish(&mut self, end: &str) {
        self.reader = None;
        let line_end = match self.window.back() {
            None | Some(b'\n') => "",
            Some(_) => "\n",
        };
        let _ = writeln!(self.log, "{line_end}[{end}]");
    }

    /// The last lines, without anything that acts on a terminal.
    pub(super) fn tail(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.window.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> = text.lines().map(shown).collect();
        // The first line may lack its beginning; it is shown only if there is no other.
        let cut = usize::from(!self.whole && lines.len() > 1);
        let lines = lines.into_iter().skip(cut).filter(|line| !line.is_empty());
        let mut lines: Vec<String> = lines.collect();
        lines.split_off(lines.len().saturating_sub(TAIL_LINES))
    }
}

/// A line as it would stand there at last: what a carriage return overwrote is gone, and so are escape
/// sequences and control characters.
pub(crate) fn shown(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or_default();
    let mut out = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_sequence(&mut letters),
            '\t' => out.push(' '),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    let out = out.trim_end();
    match out.char_indices().nth(TAIL_COLUMNS) {
        Some((end, _)) => format!("{}…", out.get(..end).unwrap_or_default()),
        None => out.to_owned(),
    }
}

/// Skips what follows an escape character: `[…m` and its like, `]…BEL`, or one letter.
fn skip_sequence(letters: &mut std::str::Chars) {
    match letters.next() {
        Some('[') => {
            letters.find(|letter| ('@'..='~').contains(letter));
        }
        Some(']' | 'P' | '_' | '^') => {
            letters.find(|letter| matches!(letter, '\u{7}' | '\\'));
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn nothing_acts_on_the_terminal() {
        assert_eq!(shown("\u{1b}[1;31mred\u{1b}[0m\u{7} end\u{8}  "), "red end");
        assert_eq!(shown("\u{1b}]0;title\u{7}text"), "text");
        assert_eq!(shown("10%\r50%\r100% done\r"), "100% done");
        assert_eq!(shown("a\tb\u{9b}c"), "a bc");
        assert_eq!(shown(&"x".repeat(600)).chars().count(), 501);
        assert_eq!(shown("\u{1b}[never ends"), "ever ends");
    }
}

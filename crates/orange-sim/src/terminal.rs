//! The screen: what the agent says, and below it the line being typed. Nothing here fails: a terminal that is gone
//! shows nothing.

use super::Display;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use std::io::{IsTerminal, stdin, stdout};
use std::sync::Mutex;
use unicode_width::UnicodeWidthChar;

/// How the terminal was, as long as it is not that way now.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

const PASTE_ON: &[u8] = b"\x1b[?2004h";
const PASTE_OFF: &[u8] = b"\x1b[?2004l";
const CLEAR_LINE: &str = "\r\x1b[K";

/// The terminal in an agent's hands; given back when this is dropped.
pub(super) struct AgentTerminal {
    /// Whether keys come one by one and the input line is drawn.
    pub(super) interactive: bool,
    /// Nothing is shown: standard output is for a program.
    silent: bool,
    display: Display,
}

impl AgentTerminal {
    /// For a turn without a terminal.
    pub(super) fn none(display: Display) -> AgentTerminal {
        AgentTerminal {
            interactive: false,
            silent: true,
            display,
        }
    }

    pub(super) fn take(display: Display) -> AgentTerminal {
        let interactive = stdin().is_terminal() && take_keys().is_ok();
        if interactive {
            send(PASTE_ON);
        }
        AgentTerminal {
            interactive,
            silent: false,
            display,
        }
    }

    /// Shows a text above the input line.
    pub(super) fn say(&self, text: &str, line: &str) {
        if self.silent {
            return;
        }
        let text = (self.display.block)(text);
        let text = text.trim_end_matches('\n');
        if self.interactive {
            send(format!("{CLEAR_LINE}{text}\n").as_bytes())
        } else {
            send(format!("{text}\n").as_bytes())
        }
        self.draw(line);
    }

    /// Shows what is being typed, its end if it is long.
    pub(super) fn draw(&self, line: &str) {
        if self.interactive {
            let shown = end_of(
                line,
                (self.display.width)().saturating_sub(4),
                self.display.line,
            );
            send(format!("{CLEAR_LINE}> {shown}").as_bytes());
        }
    }
}

impl Drop for AgentTerminal {
    fn drop(&mut self) {
        if self.interactive {
            send(CLEAR_LINE.as_bytes());
        }
        restore();
    }
}

/// Leaves the terminal as it was found. May be called from any thread, and twice.
pub(super) fn restore() {
    let before = match BEFORE.lock() {
        Ok(mut before) => before.take(),
        Err(poisoned) => poisoned.into_inner().take(),
    };
    if let Some(before) = before {
        // A terminal that takes nothing must not keep the agent from ending.
        if takes_output() {
            send(PASTE_OFF);
        }
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}

/// No echo, no lines, no keys that the terminal keeps for itself. Output stays as it is.
fn take_keys() -> rustix::io::Result<()> {
    let before = tcgetattr(stdin())?;
    let mut now = before.clone();
    now.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
    now.input_modes
        .remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON);
    now.special_codes[SpecialCodeIndex::VMIN] = 1;
    now.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &now)?;
    if let Ok(mut kept) = BEFORE.lock() {
        *kept = Some(before);
    }
    Ok(())
}

/// Writes all of it, or as much as can be written.
pub(super) fn send(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let stdout = stdout();
                let _ = poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}

fn takes_output() -> bool {
    let stdout = stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::OUT)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(1))
}

/// As much of the end of a text as fits into so many columns.
fn end_of(text: &str, columns: usize, clean: fn(&str) -> String) -> String {
    // Only the end can be shown, and a paste may be large.
    let tail: Vec<char> = text.chars().rev().take(columns).collect();
    let tail: String = tail.into_iter().rev().collect();
    let shown = clean(&tail.replace('\n', "⏎"));
    let mut room = columns;
    let fits = shown.chars().rev().take_while(|character| {
        let width = character.width().unwrap_or(0);
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    });
    let end: Vec<char> = fits.collect();
    end.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::end_of;

    fn visible(text: &str) -> String {
        text.replace('\u{1b}', "?")
    }

    #[test]
    fn the_input_line_never_wraps() {
        assert_eq!(end_of("short", 20, visible), "short");
        assert_eq!(end_of("0123456789", 4, visible), "6789");
        assert_eq!(end_of("one\ntwo", 20, visible), "one⏎two");
        assert_eq!(end_of("日本語", 5, visible), "本語");
        assert_eq!(end_of("x", 0, visible), "");
        assert!(!end_of("a\u{1b}[31mb", 20, visible).contains('\u{1b}'));
    }
}

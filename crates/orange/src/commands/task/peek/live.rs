//! A window drawn on the user's terminal, in place. Only text gets there: no escape of the agent's own.

use crate::output;
use crate::ui::{Palette, Style, fitted, terminal_width};
use orange_engine::engine::Screen;
use std::fmt::Write;

const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

pub(super) struct Live {
    /// What is drawn, and how large the terminal was then.
    drawn: Option<(String, (usize, usize))>,
}

impl Live {
    pub(super) fn begin() -> Live {
        output::print(ENTER);
        Live { drawn: None }
    }

    /// False: nobody looks any more.
    pub(super) fn draw(&mut self, screen: &Screen) -> bool {
        let size = (terminal_width(), terminal_height());
        let frame = frame(screen, size);
        let now = Some((frame, size));
        if self.drawn == now {
            return true;
        }
        let resized = self
            .drawn
            .as_ref()
            .is_none_or(|(_, before)| *before != size);
        let clear = if resized { "\x1b[2J" } else { "" };
        let frame = now.as_ref().map_or("", |(frame, _)| frame.as_str());
        let written = output::print_piece(format!("{clear}\x1b[H{frame}").as_bytes());
        self.drawn = now;
        written
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        output::print(LEAVE);
    }
}

/// The end of the window's text, as much as fits, and below it whose it is.
fn frame(screen: &Screen, (width, height): (usize, usize)) -> String {
    let room = height.saturating_sub(1);
    let lines: Vec<&str> = screen.text.trim_end().lines().collect();
    let skip = lines.len().saturating_sub(room);
    let mut frame = String::new();
    for line in lines.iter().skip(skip) {
        let _ = write!(frame, "\x1b[K{}\r\n", fitted(line, width));
    }
    // What was below is cleared, and the last line stands at the bottom.
    let _ = write!(frame, "\x1b[J\x1b[{height};1H");
    let state = if screen.alive { "" } else { ", ended" };
    let words = format!(
        "{} {}: {}{state} (Ctrl-C ends this view)",
        screen.task.label(),
        screen.task.status,
        screen.role,
    );
    let words = fitted(&words, width);
    let _ = write!(
        frame,
        "\x1b[K{}",
        Palette::stdout().paint(Style::Dim, &words)
    );
    frame
}

/// 24 where the terminal does not say.
fn terminal_height() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let rows = size.map(|size| usize::from(size.ws_row));
    rows.filter(|rows| *rows > 0).unwrap_or(24)
}

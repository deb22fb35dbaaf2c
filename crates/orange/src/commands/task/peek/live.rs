//! A window drawn on the user's terminal, in place. Only text gets there: no escape of the agent's own.

use crate::output;
use crate::terminal::Terminal;
use crate::ui::{Palette, Style, fitted, terminal_size, terminal_width};
use orange_engine::verbs::peek::Screen;
use std::fmt::Write;
use std::time::Duration;

const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

pub(super) struct Live {
    terminal: Terminal,
    drawn: Option<DrawnFrame>,
}

/// A picture, how large the terminal was then, and how often it had been taken.
#[derive(PartialEq)]
struct DrawnFrame {
    frame: String,
    size: (usize, usize),
    times: usize,
}

impl Live {
    pub(super) fn begin() -> Live {
        Live {
            terminal: Terminal::take(ENTER, LEAVE),
            drawn: None,
        }
    }

    /// False: nobody looks any more.
    pub(super) fn draw(&mut self, screen: &Screen) -> bool {
        let rows = terminal_size().map_or(0, |(_, rows)| usize::from(rows));
        // 24 where the terminal does not say.
        let size = (terminal_width(), if rows > 0 { rows } else { 24 });
        let now = DrawnFrame {
            frame: frame(screen, size),
            size,
            times: self.terminal.times(),
        };
        if self.drawn.as_ref() == Some(&now) {
            return true;
        }
        let fits = |before: &DrawnFrame| before.size == size && before.times == now.times;
        let clear = if self.drawn.as_ref().is_some_and(fits) {
            ""
        } else {
            "\x1b[2J"
        };
        let picture = format!("{clear}\x1b[H{}", now.frame);
        let Some(hold) = self.terminal.hold() else {
            return true;
        };
        let written = output::print_piece(picture.as_bytes());
        drop(hold);
        self.drawn = Some(now);
        written
    }

    /// Waits so long, or until somebody wants to see no more.
    pub(super) fn asked_to_end(&mut self, wait: Duration) -> bool {
        self.terminal.asked_to_end(wait)
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
        "{} {}: {}{state} (q ends this view)",
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

//! Signs and colours. Only the 16 colours of the terminal's own theme are used, on its own background, so that light and
//! dark both work; yellow is kept for what needs the person.

use orange_core::workflow::Tone;
use orange_engine::sessions::SessionState;
use orange_engine::views::dashboard::OverviewRow;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

/// How things look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    pub colour: bool,
    /// Nothing but ASCII reaches the terminal.
    pub ascii: bool,
}

impl Theme {
    fn coloured(self, colour: Color) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    pub fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What needs the person.
    pub fn need(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub fn trouble(self) -> Style {
        self.coloured(Color::Red)
    }

    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Keys in the footer and in the help.
    pub fn key(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Headings of a diff.
    pub fn heading(self) -> Style {
        self.coloured(Color::Cyan)
    }

    pub fn tone(self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Progress | Tone::Work => self.coloured(Color::LightBlue),
            Tone::Question | Tone::Decision => self.need(),
            Tone::Trouble => self.trouble(),
            Tone::Success => self.good(),
            Tone::Faded => self.dim(),
        }
    }

    /// The sign of a row's status, and its colour.
    pub fn sign(self, row: &OverviewRow) -> (&'static str, Style) {
        match row.info() {
            Some(info) => (info.icon, self.tone(info.tone)),
            None => ("✗", self.trouble()),
        }
    }

    pub fn session(self, state: SessionState) -> (&'static str, Style) {
        match state {
            SessionState::Alive => ("●", self.good()),
            SessionState::Gone => ("✗", self.trouble()),
            SessionState::None => ("○", self.dim()),
        }
    }

    /// Takes everything that is not ASCII out of a frame, where that is wanted. At one place, so that nothing escapes it.
    pub fn finish(self, buffer: &mut Buffer) {
        if !self.ascii {
            return;
        }
        for cell in &mut buffer.content {
            if !cell.symbol().is_ascii() {
                let plain = plain(cell.symbol());
                cell.set_symbol(plain);
            }
        }
    }
}

/// What stands for a sign in ASCII.
fn plain(symbol: &str) -> &'static str {
    match symbol {
        "·" => ".",
        "✎" => "p",
        "▶" | "▸" | "▌" | "→" => ">",
        "◎" => "@",
        "★" => "+",
        "⇉" => "=",
        "✓" | "▾" => "v",
        "–" | "−" | "─" => "-",
        "✗" => "x",
        "●" => "*",
        "○" => "o",
        "│" | "┃" => "|",
        "┌" | "┐" | "└" | "┘" | "├" | "┤" => "+",
        "↳" => "\\",
        "…" => "~",
        "≥" => ">",
        "⏎" => "<",
        "↓" => "v",
        "“" | "”" | "„" => "\"",
        "‘" | "’" => "'",
        "×" => "x",
        _ => "?",
    }
}

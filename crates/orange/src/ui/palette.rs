//! Decides whether to use colour and wraps text in the few styles Orange uses.
//!
//! Only the basic 16 colours are used: the user's terminal theme chooses the actual shades, so
//! they suit its background.

use orange_core::display::{clean, clean_width};
use std::fmt::{self, Write as _};
use std::io::{IsTerminal, stdout};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Blue,
    Cyan,
    Magenta,
}

impl Style {
    /// The escape sequence that starts the style.
    ///
    /// Blue is the bright one, since plain blue can hardly be read on black; yellow is the plain
    /// one, since bright yellow can hardly be read on white. Dim is "faint" instead of bright
    /// black, which some dark themes draw in the colour of the background.
    const fn start(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Bold => "\x1b[1m",
            Style::Dim => "\x1b[2m",
            Style::Red => "\x1b[31m",
            Style::Green => "\x1b[32m",
            Style::Yellow => "\x1b[33m",
            Style::Blue => "\x1b[94m",
            Style::Cyan => "\x1b[36m",
            Style::Magenta => "\x1b[35m",
        }
    }
}

const RESET: &str = "\x1b[0m";

/// Whether output is styled. The default is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Palette {
    pub(crate) enabled: bool,
}

impl Palette {
    pub(crate) fn stdout() -> Palette {
        Palette::for_stream(stdout().is_terminal())
    }

    pub(crate) fn stderr() -> Palette {
        Palette::for_stream(std::io::stderr().is_terminal())
    }

    fn for_stream(is_tty: bool) -> Palette {
        let var = |name| std::env::var(name).ok();
        Palette::decide(
            is_tty,
            var("NO_COLOR").as_deref(),
            var("TERM").as_deref(),
            var("CLICOLOR_FORCE").as_deref(),
        )
    }

    /// `NO_COLOR` is a wish of the user and wins over everything; `CLICOLOR_FORCE` replaces the
    /// guess from the terminal.
    pub(crate) fn decide(
        is_tty: bool,
        no_color: Option<&str>,
        term: Option<&str>,
        force: Option<&str>,
    ) -> Palette {
        let is_set = |value: Option<&str>| value.is_some_and(|text| !text.is_empty());
        let forced = is_set(force) && force != Some("0");
        let capable = is_tty && term != Some("dumb");
        Palette {
            enabled: !is_set(no_color) && (forced || capable),
        }
    }

    /// `text` in `style`, made safe for one line, for use in `write!` and `format!`.
    /// A width in the format (`{:20}`) counts terminal columns and leaves the escapes out.
    pub(crate) fn paint(self, style: Style, text: &str) -> Painted<'_> {
        Painted {
            palette: self,
            style,
            text,
        }
    }

    pub(crate) fn bold(self, text: &str) -> Painted<'_> {
        self.paint(Style::Bold, text)
    }

    pub(crate) fn red(self, text: &str) -> Painted<'_> {
        self.paint(Style::Red, text)
    }

    /// The sequences around a text in `style`; empty where nothing is to be styled.
    pub(crate) fn around(self, style: Style) -> (&'static str, &'static str) {
        if self.enabled && style != Style::Plain {
            (style.start(), RESET)
        } else {
            ("", "")
        }
    }
}

/// A text in a style; shows itself through `Display`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painted<'a> {
    palette: Palette,
    style: Style,
    text: &'a str,
}

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = clean(self.text);
        let (start, end) = self.palette.around(self.style);
        f.write_str(start)?;
        f.write_str(&text)?;
        f.write_str(end)?;
        let Some(wanted) = f.width() else {
            return Ok(());
        };
        for _ in clean_width(&text)..wanted {
            f.write_char(' ')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Palette = Palette { enabled: true };

    #[test]
    fn colour_needs_a_capable_terminal_and_no_objection() {
        let decide =
            |is_tty, no_color, term, force| Palette::decide(is_tty, no_color, term, force).enabled;
        let xterm = Some("xterm-256color");
        assert!(decide(true, None, xterm, None));
        assert!(decide(true, Some(""), xterm, None));
        assert!(decide(true, None, None, None));
        assert!(!decide(false, None, xterm, None));
        assert!(!decide(true, Some("1"), xterm, None));
        assert!(!decide(true, None, Some("dumb"), None));
        assert!(decide(false, None, None, Some("1")));
        assert!(decide(false, None, Some("dumb"), Some("1")));
        assert!(!decide(false, None, xterm, Some("0")));
        assert!(!decide(false, None, xterm, Some("")));
        assert!(!decide(true, Some("1"), xterm, Some("1")));
    }

    #[test]
    fn styles_wrap_the_text_only_when_enabled() {
        assert_eq!(ON.red("failed").to_string(), "\x1b[31mfailed\x1b[0m");
        assert_eq!(ON.paint(Style::Plain, "x").to_string(), "x");
        assert_eq!(Palette::default().red("failed").to_string(), "failed");
    }

    #[test]
    fn painted_text_is_clean_and_padded_by_columns() {
        assert_eq!(format!("{}", ON.red("a\x1bb")), "\x1b[31ma␛b\x1b[0m");
        assert_eq!(format!("{:4}|", ON.bold("漢")), "\x1b[1m漢\x1b[0m  |");
    }
}

//! Everything Orange writes to a terminal passes through here: making foreign text safe, fitting
//! it into columns, colours, relative times and the two layouts (`Table`, `KeyValues`).
//!
//! Nothing here prints. Functions fill a `String`; the caller writes it out in one go.

pub(crate) mod command;
mod json;
mod key_values;
mod palette;
mod size;
mod table;
mod time;
mod wrap;

pub(crate) use json::escaped_controls;
pub(crate) use key_values::KeyValues;
pub(crate) use orange_core::display::time::{ago, lasting, relative};
pub(crate) use orange_core::display::{clean, clean_block, fitted};
pub(crate) use palette::{Palette, Style};
pub(crate) use size::size;
use std::io::{IsTerminal, stderr, stdout};
use std::os::fd::AsFd;
pub(crate) use table::{Cell, Column, Table};
pub(crate) use time::{local, time_of_day};
pub(crate) use wrap::{wrapped, wrapped_prose, wrapped_under};

/// The width assumed where neither the terminal nor `COLUMNS` says anything.
const FALLBACK_WIDTH: usize = 80;

/// How much room a layout has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A terminal of this many columns: lines are made to fit.
    Columns(usize),
    /// A pipe or a file: nothing is dropped or cut, because a program may be reading it.
    Unlimited,
}

impl Extent {
    pub(crate) fn stdout() -> Extent {
        Extent::of(stdout())
    }

    pub(crate) fn stderr() -> Extent {
        Extent::of(stderr())
    }

    fn of(stream: impl IsTerminal + AsFd) -> Extent {
        if stream.is_terminal() {
            Extent::Columns(width_of(stream))
        } else {
            Extent::Unlimited
        }
    }
}

/// Columns and rows of the terminal on standard output; None where that is none.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    stdout().is_terminal().then_some((size.ws_col, size.ws_row))
}

/// The number of columns of the terminal on standard output, else `COLUMNS`, else 80.
pub(crate) fn terminal_width() -> usize {
    width_of(stdout())
}

fn width_of(terminal: impl AsFd) -> usize {
    let reported = rustix::termios::tcgetwinsize(terminal)
        .ok()
        .map(|size| size.ws_col);
    let columns = std::env::var("COLUMNS").ok();
    choose_width(reported, columns.as_deref())
}

/// Some terminals (serial lines, fresh ptys) report zero columns, which means "unknown".
fn choose_width(reported: Option<u16>, columns: Option<&str>) -> usize {
    let reported = reported.map(usize::from).filter(|&width| width > 0);
    let from_env = || {
        columns
            .and_then(|text| text.trim().parse().ok())
            .filter(|&width| width > 0)
    };
    reported.or_else(from_env).unwrap_or(FALLBACK_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_wins_over_columns_and_columns_over_the_fallback() {
        assert_eq!(choose_width(Some(120), Some("60")), 120);
        assert_eq!(choose_width(None, Some(" 60 ")), 60);
        assert_eq!(choose_width(Some(0), Some("60")), 60);
        assert_eq!(choose_width(None, Some("wide")), 80);
        assert_eq!(choose_width(None, Some("0")), 80);
        assert_eq!(choose_width(None, None), 80);
    }
}

//! A table: in columns where all of it has room, else a row at a time in words.

use super::Flow;
use crate::theme::Theme;
use orange_core::display::{clean, clean_width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Between two columns.
const GAP: usize = 2;

pub(super) fn write(flow: &mut Flow, rows: &[Vec<String>], theme: Theme, width: usize) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| clean_width(&clean(cell)));
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let needed = widths.iter().sum::<usize>() + columns.saturating_sub(1) * GAP;
    for (place, row) in rows.iter().enumerate() {
        let style = if place == 0 {
            theme.bold()
        } else {
            Style::new()
        };
        if needed > width {
            flow.begin(Vec::new(), vec![Span::raw(" ".repeat(GAP))]);
            flow.words(&row.join(" · "), style);
            flow.end();
            continue;
        }
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell = clean(cell);
            line.push_str(&cell);
            line.push_str(&" ".repeat(width - clean_width(&cell) + GAP));
        }
        flow.line(Line::styled(line.trim_end().to_owned(), style));
    }
    flow.gap();
}

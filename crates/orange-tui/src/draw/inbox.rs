//! The inbox: what needs the person, the longest wait first, with the question in full and the key that answers.

use super::panel;
use crate::app::App;
use crate::app::offered::offered;
use crate::draw::list::padded;
use orange_core::display::{clean_width, fitted, time::relative};
use orange_engine::views::dashboard::OverviewRow;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Columns of a line that its question has not.
pub(super) const INDENT: u16 = 6;

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, body: Rect) {
    let rows = app.inbox();
    if rows.is_empty() {
        let text = if app.loaded && !app.narrowed.text().is_empty() {
            " nothing that matches needs you: Esc shows all"
        } else if app.loaded {
            " nothing needs you"
        } else {
            " reading …"
        };
        frame.render_widget(Paragraph::new(text), body);
        return;
    }
    let entries = entries(app, &rows, body);
    let top = top(app, &entries, body);
    let lines = entries.into_iter().flat_map(|(_, lines)| lines);
    let shown: Vec<Line<'static>> = lines.skip(top).take(body.height.into()).collect();
    frame.render_widget(Paragraph::new(shown), body);
}

/// Each task with its lines.
fn entries<'r>(
    app: &App,
    rows: &[&'r OverviewRow],
    body: Rect,
) -> Vec<(&'r OverviewRow, Vec<Line<'static>>)> {
    let width = usize::from(body.width);
    let longest = rows.iter().map(|row| clean_width(row.name.seen_from(None)));
    let names = longest.max().unwrap_or(0).clamp(8, 24);
    let rows = rows.iter();
    rows.map(|row| (*row, entry(app, row, names, width)))
        .collect()
}

/// From which line on they are shown, so that the selected one is.
fn top(app: &App, entries: &[(&OverviewRow, Vec<Line<'static>>)], body: Rect) -> usize {
    let mut start = 0;
    for (row, lines) in entries {
        if app.cursor.as_deref() == Some(row.folder.as_str()) {
            let end = start + lines.len();
            return end.saturating_sub(body.height.into()).min(start);
        }
        start += lines.len();
    }
    0
}

/// The task at a place of the screen.
pub(crate) fn folder_at(app: &App, body: Rect, place: Position) -> Option<String> {
    let rows = app.inbox();
    let entries = entries(app, &rows, body);
    let mut left = top(app, &entries, body) + usize::from(place.y.checked_sub(body.y)?);
    for (row, lines) in entries {
        if left < lines.len() {
            return Some(row.folder.clone());
        }
        left -= lines.len();
    }
    None
}

fn entry(app: &App, row: &OverviewRow, names: usize, width: usize) -> Vec<Line<'static>> {
    let is_selected = app.cursor.as_deref() == Some(row.folder.as_str());
    let (sign, style) = app.theme.sign(row);
    let name = row.name.seen_from(None);
    let mut head = vec![
        Span::styled(if is_selected { "▌" } else { " " }, app.theme.need()),
        Span::styled(sign, style),
        Span::raw(" "),
        padded(Span::styled(name.to_owned(), app.theme.bold()), names),
        Span::raw(" "),
        Span::styled(format!("{:<14}", fitted(&row.word, 13)), style),
        Span::styled(
            format!("{:>4}  ", relative(app.now, row.since)),
            app.theme.dim(),
        ),
    ];
    let taken: usize = head.iter().map(Span::width).sum();
    let room = width.saturating_sub(taken);
    head.push(Span::raw(fitted(&row.summary, room)));
    let mut lines = vec![Line::from(head)];
    // The selected one in full; of the others what its row says.
    if is_selected {
        for text in panel::reason(app, width.saturating_sub(INDENT.into())) {
            lines.push(Line::styled(format!("    {text}"), app.theme.need()));
        }
        let mut keys = vec![Span::raw("    ")];
        for (action, label) in offered(row, app.focused()).into_iter().take(5) {
            keys.push(Span::styled(
                app.keymap.key(action).to_owned(),
                app.theme.key(),
            ));
            keys.push(Span::raw(format!(" {label}  ")));
        }
        lines.push(Line::from(keys));
    } else if let Some(note) = &row.note {
        let text = fitted(&app.spelled(note), width.saturating_sub(6));
        lines.push(Line::styled(format!("    {text}"), app.theme.dim()));
    }
    lines
}

//! The board: a column for each whose turn it is.

use crate::app::App;
use crate::app::rows::{COLUMNS, column};
use orange_core::display::{clean_width, fitted};
use orange_engine::views::dashboard::OverviewRow;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, body: Rect) {
    let width = body.width / u16::try_from(COLUMNS.len()).unwrap_or(1);
    // The same key is in several projects.
    let mut projects = app.overview.rows.iter().map(|row| &row.project);
    let first = projects.next();
    let several = projects.any(|project| Some(project) != first);
    for (number, title) in COLUMNS.iter().enumerate() {
        let x = body.x + width * u16::try_from(number).unwrap_or(0);
        let area = Rect { x, width, ..body };
        let rows = app.narrowed_rows();
        let rows: Vec<&OverviewRow> = rows.filter(|row| column(row) == number).collect();
        let room = usize::from(width).saturating_sub(2);
        let heading = fitted(&format!(" {} {}", title, rows.len()), room);
        let mut lines = vec![Line::styled(heading, app.theme.bold())];
        let height = usize::from(body.height) - 1;
        let is_selected = |row: &&OverviewRow| app.cursor.as_deref() == Some(row.folder.as_str());
        let at = rows.iter().position(is_selected).unwrap_or(0);
        let top = (at + 1)
            .saturating_sub(height / 2)
            .min(rows.len().saturating_sub(height / 2));
        for row in rows.iter().skip(top).take(height / 2) {
            let (sign, style) = app.theme.sign(row);
            let name = name_of(row, several, room.saturating_sub(3));
            let mark = if is_selected(row) { "▌" } else { " " };
            let head = vec![
                Span::styled(mark, app.theme.need()),
                Span::styled(sign, style),
                Span::styled(if app.is_marked(row) { "*" } else { " " }, app.theme.key()),
                Span::styled(name, app.theme.bold()),
            ];
            let text = fitted(&row.summary, room.saturating_sub(3));
            let body = if is_selected(row) {
                Style::new().add_modifier(Modifier::BOLD)
            } else {
                Style::new()
            };
            lines.push(Line::from(head));
            lines.push(Line::styled(format!("   {text}"), body));
        }
        frame.render_widget(Paragraph::new(lines), area);
    }
}

/// A key, after its project where there are several. The project is cut, the key is not.
fn name_of(row: &OverviewRow, several: bool, room: usize) -> String {
    let name = row.name.seen_from(None);
    if several && clean_width(name) <= room {
        return name.to_owned();
    }
    let left = room.saturating_sub(clean_width(&row.label) + 1);
    if several && left >= 2 {
        return format!("{}:{}", fitted(&row.project, left), row.label);
    }
    fitted(&row.label, room)
}

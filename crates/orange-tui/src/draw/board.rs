//! The board: a column for each whose turn it is.

use crate::app::App;
use crate::app::rows::{COLUMNS, column, has_several};
use orange_core::display::{clean_width, fitted};
use orange_engine::views::dashboard::OverviewRow;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Where each column is.
fn areas(body: Rect) -> impl Iterator<Item = (usize, Rect)> {
    let width = body.width / u16::try_from(COLUMNS.len()).unwrap_or(1);
    (0..COLUMNS.len()).map(move |number| {
        let x = body.x + width * u16::try_from(number).unwrap_or(0);
        (number, Rect { x, width, ..body })
    })
}

fn of_column(app: &App, number: usize) -> Vec<&OverviewRow> {
    let rows = app.narrowed_rows();
    rows.filter(|row| column(row) == number).collect()
}

fn is_selected(app: &App, row: &OverviewRow) -> bool {
    app.cursor.as_deref() == Some(row.folder.as_str())
}

/// A card has its key, its summary and why it needs the person, if it does.
fn height(row: &OverviewRow) -> usize {
    2 + usize::from(row.note.is_some())
}

/// The cards of a column that are on a screen of so many lines below its heading, each with its first line. The selected one
/// is among them.
fn on_screen<'r>(
    app: &App,
    rows: &[&'r OverviewRow],
    lines: usize,
) -> Vec<(usize, &'r OverviewRow)> {
    let at = rows.iter().position(|row| is_selected(app, row));
    let mut top = at.unwrap_or(0);
    let mut used = rows.get(top).map_or(0, |row| height(row));
    while let Some(before) = top.checked_sub(1) {
        used += height(rows[before]);
        if used > lines {
            break;
        }
        top = before;
    }
    let mut line = 0;
    let mut shown = Vec::new();
    for row in &rows[top.min(rows.len())..] {
        if line + height(row) > lines {
            break;
        }
        shown.push((line, *row));
        line += height(row);
    }
    shown
}

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, body: Rect) {
    // The same key is in several projects.
    let several = has_several(app.narrowed_rows());
    for (number, area) in areas(body) {
        let rows = of_column(app, number);
        let room = usize::from(area.width).saturating_sub(2);
        let heading = fitted(&format!(" {} {}", COLUMNS[number], rows.len()), room);
        let mut lines = vec![Line::styled(heading, app.theme.bold())];
        for (_, row) in on_screen(app, &rows, usize::from(body.height) - 1) {
            lines.extend(card(app, row, several, room.saturating_sub(3)));
        }
        frame.render_widget(Paragraph::new(lines), area);
    }
}

fn card(app: &App, row: &OverviewRow, several: bool, room: usize) -> Vec<Line<'static>> {
    let (sign, style) = app.theme.sign(row);
    let (mark, summary) = if is_selected(app, row) {
        ("▌", Style::new().add_modifier(Modifier::BOLD))
    } else {
        (" ", Style::new())
    };
    let head = vec![
        Span::styled(mark, app.theme.need()),
        Span::styled(sign, style),
        Span::styled(if app.is_marked(row) { "*" } else { " " }, app.theme.key()),
        Span::styled(name_of(row, several, room), app.theme.bold()),
    ];
    let text = fitted(&row.summary, room);
    let mut lines = vec![
        Line::from(head),
        Line::styled(format!("   {text}"), summary),
    ];
    if let Some(note) = &row.note {
        let style = if row.needs_me {
            app.theme.need()
        } else {
            app.theme.dim()
        };
        let text = fitted(&app.spelled(note), room);
        lines.push(Line::from(vec![
            Span::styled(" ↳ ", app.theme.dim()),
            Span::styled(text, style),
        ]));
    }
    lines
}

/// The task whose card is at a place of the screen.
pub(crate) fn folder_at(app: &App, body: Rect, place: Position) -> Option<String> {
    let (number, area) = areas(body).find(|(_, area)| area.contains(place))?;
    let line = usize::from(place.y - area.y).checked_sub(1)?;
    let rows = of_column(app, number);
    let shown = on_screen(app, &rows, usize::from(body.height) - 1);
    let mut cards = shown.into_iter();
    let found = cards.find(|(first, row)| (*first..first + height(row)).contains(&line));
    found.map(|(_, row)| row.folder.clone())
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

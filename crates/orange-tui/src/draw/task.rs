//! One task: timeline, changes, screen, TASK.md, agents and phases.

use super::layout::ScreenLayout;
use super::{panel, phases, texts};
use crate::app::{App, Tab};
use orange_core::display::fitted;
use orange_engine::views::dashboard::OverviewRow;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, body: Rect) {
    let Some(row) = app.selected().filter(|row| !app.is_deleted(row)) else {
        frame.render_widget(Paragraph::new(" this task is gone: Esc goes back"), body);
        return;
    };
    let width = usize::from(body.width);
    let head = head(app, row, width);
    let area = below(body, head.len());
    let above = Rect {
        height: area.y - body.y,
        ..body
    };
    frame.render_widget(Paragraph::new(head), above);
    let height = usize::from(area.height);
    let lines = match (app.tab, app.focused()) {
        (Tab::Changes, _) => return super::changes::draw(frame, app, area),
        (Tab::Screen, _) => panel::screen(app, height),
        (_, None) => vec![Line::raw(" reading …")],
        (Tab::Phases, Some(focus)) => phases::lines(app, focus, width, height),
        (Tab::Timeline | Tab::File | Tab::Agents, Some(_)) => {
            let lines = texts::lines(app, width);
            let top = app.scroll.min(lines.len().saturating_sub(height));
            lines.iter().skip(top).take(height).cloned().collect()
        }
    };
    frame.render_widget(Paragraph::new(lines), area);
}

/// How far the text of the open tab can be scrolled.
pub(crate) fn furthest(app: &App) -> usize {
    let body = ScreenLayout::of(app, app.size).body;
    let height = usize::from(text_area(app, body).height);
    texts::lines(app, body.width.into())
        .len()
        .saturating_sub(height)
}

/// Where the text of the open tab is.
pub(super) fn text_area(app: &App, body: Rect) -> Rect {
    let lines = app.selected().map_or(0, |row| {
        let width = usize::from(body.width);
        head(app, row, width).len()
    });
    below(body, lines)
}

fn below(body: Rect, lines: usize) -> Rect {
    let height = u16::try_from(lines).unwrap_or(body.height).min(body.height);
    Rect {
        y: body.y + height,
        height: body.height - height,
        ..body
    }
}

/// How many lines below the title and the tabs tell why the task is where it is.
pub(super) fn reason_room(app: &App, row: &OverviewRow) -> usize {
    if !row.needs_me || app.tab == Tab::Changes {
        2
    } else {
        6
    }
}

/// The task's name and state, the tabs, and why it is where it is.
fn head(app: &App, row: &OverviewRow, width: usize) -> Vec<Line<'static>> {
    let (sign, style) = app.theme.sign(row);
    let cost = app
        .focused()
        .and_then(|focus| focus.usage)
        .map(|usage| usage.in_brief());
    let title = format!("{} {}", row.name.seen_from(None), row.summary);
    let reason = row.reason.map(|reason| format!(" ({reason})"));
    let word = format!("{}{}", row.word, reason.unwrap_or_default());
    let state = format!("  {sign} {word}  {}", cost.unwrap_or_default());
    let room = width.saturating_sub(state.chars().count() + 2);
    let mut head = vec![Line::from(vec![
        Span::raw(" "),
        Span::styled(fitted(&title, room), app.theme.bold()),
        Span::styled(state, style),
    ])];
    let tabs = Tab::ALL
        .iter()
        .enumerate()
        .flat_map(|(number, (tab, name))| {
            let number = number + 1;
            // A bracket too: dim is not told from bold everywhere.
            let (text, style) = if *tab == app.tab {
                (format!("[{number} {name}]"), app.theme.key())
            } else {
                (format!(" {number} {name} "), app.theme.dim())
            };
            [Span::styled(text, style)]
        });
    head.push(Line::from(tabs.collect::<Vec<_>>()));
    let why = panel::reason(app, width.saturating_sub(2));
    let shown = reason_room(app, row);
    let tone = if row.needs_me {
        app.theme.need()
    } else {
        app.theme.dim()
    };
    head.extend(
        why.into_iter()
            .take(shown)
            .map(|text| Line::styled(format!(" {text}"), tone)),
    );
    head.push(Line::raw(""));
    head
}

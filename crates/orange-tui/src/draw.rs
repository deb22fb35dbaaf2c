//! Draws the dashboard. Only what is on the screen is formatted; texts of others pass through `display` first.

pub(crate) mod board;
pub(crate) mod changes;
mod flow;
pub(crate) mod inbox;
pub(crate) mod layout;
mod list;
mod markdown;
pub(crate) mod overlay;
pub(crate) mod panel;
mod phases;
pub(crate) mod task;
pub(crate) mod texts;

use crate::app::marks::MARKED;
use crate::app::offered::offered;
use crate::app::{App, Tab, View};
use flow::width_of;
use layout::ScreenLayout;
use orange_core::display::fitted;
use orange_core::keys::KeyAction;
use orange_core::naming::counted;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

/// The smallest screen on which anything can be told.
const LEAST: (u16, u16) = (40, 8);
/// From so many columns on the preview stands beside the list, from so many lines on below it.
const BESIDE: u16 = 110;
const BELOW: u16 = 36;
/// Lines of a question that are shown below a list without a preview.
const QUESTION: u16 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Right,
    Below,
}

/// Where the preview is, if there is room for one.
pub fn preview_side((columns, rows): (u16, u16)) -> Option<Side> {
    if columns >= BESIDE {
        Some(Side::Right)
    } else if rows >= BELOW {
        Some(Side::Below)
    } else {
        None
    }
}

/// Nothing can be shown there, so no key but those that leave may do anything.
pub fn is_too_small((columns, rows): (u16, u16)) -> bool {
    columns < LEAST.0 || rows < LEAST.1
}

pub fn draw(frame: &mut Frame<'_>, app: &App) {
    let area = frame.area();
    if is_too_small((area.width, area.height)) {
        let (columns, rows) = LEAST;
        let quits = if app.may_quit() {
            format!("{} quits", app.keymap.key(KeyAction::Quit))
        } else {
            "Ctrl-C quits, and what you wrote or what runs ends with it".to_owned()
        };
        let text = format!("too small: at least {columns} × {rows}; {quits}");
        let lines = panel::wrapped(&text, area.width.into());
        frame.render_widget(Paragraph::new(lines.join("\n")), area);
        app.theme.finish(frame.buffer_mut());
        return;
    }
    let size = (area.width, area.height);
    let layout = ScreenLayout::of(app, size);
    let (body, told) = (layout.body, layout.told);
    frame.render_widget(header(app, area.width.into()), Rect { height: 1, ..area });
    match app.view {
        View::List => list::draw(frame, app, &layout),
        View::Inbox => inbox::draw(frame, app, body),
        View::Board => board::draw(frame, app, body),
        View::Task => task::draw(frame, app, body),
    }
    frame.render_widget(Clear, told);
    frame.render_widget(Paragraph::new(message(app, area.width.into())), told);
    frame.render_widget(footer(app, area.width.into()), layout.footer);
    if let Some(overlay) = &app.overlay {
        overlay::draw(frame, app, overlay, body);
    }
    app.theme.finish(frame.buffer_mut());
}

/// Spans that fit into a width; the first that does not is left out with all that follow.
fn fitting(spans: Vec<Vec<Span<'static>>>, width: usize) -> Line<'static> {
    let mut line = Vec::new();
    let mut used = 0;
    for group in spans {
        let needed = width_of(&group);
        if used + needed > width {
            break;
        }
        used += needed;
        line.extend(group);
    }
    Line::from(line)
}

fn header(app: &App, width: usize) -> Paragraph<'static> {
    let overview = &app.overview;
    let scope = match app.projects.as_slice() {
        [] => "all projects".to_owned(),
        projects => projects.join(", "),
    };
    let need = match overview.needs_me {
        0 => vec![Span::styled("nothing needs you", app.theme.dim())],
        1 => vec![Span::styled("1 needs you", app.theme.need())],
        count => vec![Span::styled(format!("{count} need you"), app.theme.need())],
    };
    let mut groups = vec![
        vec![Span::styled(
            format!(" {}   ", fitted(&scope, 30)),
            app.theme.bold(),
        )],
        need,
    ];
    if overview.need_elsewhere > 0 {
        let text = format!(", {} elsewhere", overview.need_elsewhere);
        groups.push(vec![Span::styled(text, app.theme.need())]);
    }
    let mut add =
        |text: String, style: Style| groups.push(vec![Span::styled(format!(" · {text}"), style)]);
    let narrowed = app.narrowed.text();
    if app.is_searching || !narrowed.is_empty() {
        let end = if app.is_searching { "▏" } else { "" };
        let text = if narrowed.is_empty() {
            "/".to_owned()
        } else {
            narrowed
        };
        add(format!("{}{end}", fitted(&text, 40)), app.theme.key());
    }
    if app.marked_count() > 0 {
        add(format!("{} marked", app.marked_count()), app.theme.key());
    }
    let plain = Style::new();
    add(
        format!("{} of {} agents", overview.agents, overview.agent_limit),
        plain,
    );
    add(
        format!("{} of {} workspaces", overview.slots_held, overview.slots),
        plain,
    );
    if overview.queued > 0 {
        add(format!("{} queued", overview.queued), plain);
    }
    if let Some(cost) = overview.today.and_then(|usage| usage.cost_in_words()) {
        add(format!("{cost} today"), plain);
    }
    add(app.monitor.to_owned(), app.theme.dim());
    if overview.older > 0 {
        add(counted(overview.older, "older task"), app.theme.dim());
    }
    Paragraph::new(fitting(groups, width))
}

/// What was done, or why not; else what runs. A text that is too long for a line takes a few of those above.
fn message(app: &App, width: usize) -> Vec<Line<'static>> {
    const MOST: usize = 4;
    let Some(message) = &app.message else {
        let running = app.busy.iter().next().map(|(folder, what)| {
            let mut rows = app.overview.rows.iter();
            let row = rows.find(|row| row.folder == *folder);
            let label = match row {
                Some(row) => &row.label,
                None if folder == MARKED => "marked tasks",
                None => "new task",
            };
            format!(" {label}: {what} …")
        });
        return vec![Line::styled(running.unwrap_or_default(), app.theme.dim())];
    };
    let style = if message.is_error {
        app.theme.trouble()
    } else {
        Style::new()
    };
    let text = match &message.hint {
        Some(hint) => format!("{} · {hint}", message.text),
        None => message.text.clone(),
    };
    let lines = panel::wrapped(&text, width.saturating_sub(2)).into_iter();
    lines
        .take(MOST)
        .map(|line| Line::styled(format!(" {line}"), style))
        .collect()
}

/// The keys that work on the selected task now, or on those that are marked, as far as there is room.
fn footer_keys(app: &App, width: usize) -> Vec<(KeyAction, Vec<Span<'static>>)> {
    let mut keys: Vec<(KeyAction, &'static str)> = app
        .at_hand()
        .map(|row| offered(row, app.focused()))
        .unwrap_or_default();
    if app.acts_on_marks() {
        keys = App::offered_for_marks();
    } else if app.view == View::Task {
        let is_among_phases = app.tab == Tab::Phases && app.selected_phase().is_some();
        keys.retain(|(action, _)| match action {
            KeyAction::View => is_among_phases,
            KeyAction::Diff => is_among_phases,
            KeyAction::Skip | KeyAction::Rewind => is_among_phases,
            _ => true,
        });
        for (action, label) in &mut keys {
            if *action == KeyAction::View {
                *label = "transcript";
            }
        }
        if app.tab == Tab::Changes && !app.changes.files().is_empty() {
            let here = [
                (KeyAction::Mark, "viewed"),
                (KeyAction::NextHunk, "hunk"),
                (KeyAction::Diff, "since"),
            ];
            keys.splice(0..0, here);
        }
    } else {
        keys.push((KeyAction::Create, "new"));
        keys.push((KeyAction::NextNeed, "next"));
        keys.push((KeyAction::NextView, "views"));
    }
    let group = |(action, label): (KeyAction, &'static str)| {
        let spans = vec![
            Span::styled(format!(" {}", app.keymap.key(action)), app.theme.key()),
            Span::raw(format!(" {label} ")),
        ];
        (action, spans)
    };
    // The help is always offered: whatever has no room is found there.
    let help = group((KeyAction::Help, "help"));
    let mut room = width.saturating_sub(width_of(&help.1));
    let mut shown: Vec<_> = keys.into_iter().map(group).collect();
    let fit = shown.iter().take_while(|(_, spans)| {
        let left = room.checked_sub(width_of(spans));
        room = left.unwrap_or(room);
        left.is_some()
    });
    let fit = fit.count();
    shown.truncate(fit);
    shown.push(help);
    shown
}

fn footer(app: &App, width: usize) -> Paragraph<'static> {
    let keys = footer_keys(app, width).into_iter();
    let spans: Vec<Span<'static>> = keys.flat_map(|(_, spans)| spans).collect();
    Paragraph::new(Line::from(spans))
}

/// The key of the last line at a column, for a click.
pub fn footer_key_at(app: &App, column: u16) -> Option<KeyAction> {
    let mut end = 0;
    let mut keys = footer_keys(app, app.size.0.into()).into_iter();
    let found = keys.find(|(_, spans)| {
        end += width_of(spans);
        usize::from(column) < end
    });
    found.map(|(action, _)| action)
}

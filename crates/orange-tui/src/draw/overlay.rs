//! Questions, texts and lists over a view.

use crate::app::{App, Confirm, CreateForm, FIELDS, Overlay};
use crate::draw::panel::wrapped;
use orange_core::display::{clean_width, fitted};
use orange_core::keys::{KEYS, KeyGroup};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, overlay: &Overlay, body: Rect) {
    match overlay {
        Overlay::Confirm(confirm) => {
            let all = confirm_lines(app.size, confirm);
            let room = confirm_room(app.size);
            let more = all.len().saturating_sub(confirm.scroll + room);
            let shown = all.into_iter().skip(confirm.scroll).take(room);
            let mut lines: Vec<Line<'static>> = shown
                .map(|(is_against, text)| {
                    let style = if is_against {
                        app.theme.need()
                    } else {
                        Style::new()
                    };
                    Line::styled(text, style)
                })
                .collect();
            lines.push(Line::raw(""));
            lines.push(if more > 0 {
                keys(app, &[("↓", "more to read"), ("Esc", "no")])
            } else {
                keys(app, &[("y", confirm.yes), ("Esc", "no")])
            });
            boxed(frame, app, body, &confirm.title, lines);
        }
        Overlay::Compose(compose) => {
            let area = place(body, 9);
            let block = titled(app, &compose.title, area.width);
            let inner = block.inner(area);
            clear(frame, area);
            frame.render_widget(block, area);
            let text = Rect {
                height: inner.height.saturating_sub(1),
                ..inner
            };
            let mut field = compose.area.clone();
            field.set_cursor_line_style(Style::new());
            frame.render_widget(&field, text);
            let hint = keys(
                app,
                &[
                    ("⏎", "send"),
                    ("Alt-⏎", "new line"),
                    ("Esc", "keeps the draft"),
                ],
            );
            let below = Rect {
                y: inner.y + text.height,
                height: 1,
                ..inner
            };
            frame.render_widget(Paragraph::new(hint), below);
        }
        Overlay::Form(form) => draw_form(frame, app, form, body),
        Overlay::Choose(choose) => {
            let choices = choose.choices.iter();
            let mut lines: Vec<Line<'static>> = choices
                .map(|(letter, text, _)| {
                    Line::from(vec![
                        Span::styled(format!("{letter} "), app.theme.key()),
                        Span::raw(fitted(text, inner_width(body).saturating_sub(2))),
                    ])
                })
                .collect();
            lines.push(keys(app, &[("Esc", "back")]));
            boxed(frame, app, body, &choose.title, lines);
        }
        Overlay::Text {
            title,
            lines,
            scroll,
        } => {
            let room = text_room(app.size);
            let end = (*scroll).clamp(room.min(lines.len()), lines.len());
            let width = inner_width(body);
            let shown = lines.iter().take(end).skip(end.saturating_sub(room));
            let mut shown: Vec<Line<'static>> =
                shown.map(|line| Line::raw(fitted(line, width))).collect();
            shown.push(keys(app, &[("↑ ↓", "scroll"), ("Esc", "back")]));
            boxed(frame, app, body, title, shown);
        }
        Overlay::Help { typed, scroll } => help(frame, app, typed, *scroll, body),
        Overlay::Palette { typed, at } => {
            let found = crate::app::found_actions(typed);
            let at = (*at).min(found.len().saturating_sub(1));
            let mut lines = vec![Line::raw(format!(":{typed}▏"))];
            let most = usize::from(body.height).saturating_sub(5);
            let from = (at + 1).saturating_sub(most);
            for (place, action) in found.iter().enumerate().skip(from).take(most) {
                let row = action.row();
                let style = if place == at {
                    Style::new().add_modifier(Modifier::REVERSED)
                } else {
                    Style::new()
                };
                let text = format!("{:<5} {}", app.keymap.key(*action), row.about);
                lines.push(Line::styled(fitted(&text, inner_width(body)), style));
            }
            boxed(frame, app, body, "commands", lines);
        }
    }
}

/// What is to be read before a yes, in lines; true: it speaks against it.
pub(crate) fn confirm_lines(size: (u16, u16), confirm: &Confirm) -> Vec<(bool, String)> {
    let width = inner_width(Rect::new(0, 1, size.0, size.1.saturating_sub(3)));
    let mut lines = Vec::new();
    for (is_against, text) in &confirm.lines {
        let mark = if *is_against { "! " } else { "  " };
        let texts = wrapped(text, width.saturating_sub(2)).into_iter();
        lines.extend(texts.enumerate().map(|(number, text)| {
            let mark = if number == 0 { mark } else { "  " };
            (*is_against, format!("{mark}{text}"))
        }));
    }
    lines
}

/// How many of them are shown at once.
pub(crate) fn confirm_room((_, rows): (u16, u16)) -> usize {
    usize::from(rows).saturating_sub(7).max(1)
}

/// How many lines of a text are shown at once.
pub(crate) fn text_room((_, rows): (u16, u16)) -> usize {
    usize::from(rows).saturating_sub(6).max(1)
}

/// Empties an area. A letter that is two cells wide and begins left of it goes too: its second half would cover the frame.
fn clear(frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    let Some(left) = area.x.checked_sub(1) else {
        return;
    };
    for y in area.top()..area.bottom() {
        if let Some(cell) = frame.buffer_mut().cell_mut((left, y))
            && clean_width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

/// Where an overlay of that height lies.
fn place(body: Rect, height: u16) -> Rect {
    let width = body.width.saturating_sub(4).min(100);
    let height = height.min(body.height);
    Rect {
        x: body.x + (body.width - width) / 2,
        y: body.y + (body.height - height) / 3,
        width,
        height,
    }
}

fn inner_width(body: Rect) -> usize {
    usize::from(place(body, 3).width).saturating_sub(4)
}

fn titled(app: &App, title: &str, width: u16) -> Block<'static> {
    let title = fitted(title, usize::from(width).saturating_sub(4));
    Block::bordered().title(Span::styled(format!(" {title} "), app.theme.bold()))
}

fn boxed(frame: &mut Frame<'_>, app: &App, body: Rect, title: &str, lines: Vec<Line<'static>>) {
    let height = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    let area = place(body, height);
    let block = titled(app, title, area.width);
    let inner = block.inner(area);
    let inner = Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    };
    clear(frame, area);
    frame.render_widget(block, area);
    // The keys that answer stay visible, whatever has no room.
    let room = usize::from(inner.height);
    let mut lines = lines;
    if lines.len() > room
        && let Some(last) = lines.pop()
    {
        lines.truncate(room.saturating_sub(1));
        lines.push(last);
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

fn keys(app: &App, keys: &[(&str, &str)]) -> Line<'static> {
    let mut spans = Vec::new();
    for (key, label) in keys {
        spans.push(Span::styled((*key).to_owned(), app.theme.key()));
        spans.push(Span::raw(format!(" {label}  ")));
    }
    Line::from(spans)
}

fn draw_form(frame: &mut Frame<'_>, app: &App, form: &CreateForm, body: Rect) {
    let height = u16::try_from(FIELDS.len()).unwrap_or(9) + 4;
    let area = place(body, height);
    let block = titled(app, "new task", area.width);
    let inner = block.inner(area);
    clear(frame, area);
    frame.render_widget(block, area);
    for (number, (name, empty)) in FIELDS.iter().enumerate() {
        let Ok(row) = u16::try_from(number) else {
            continue;
        };
        if row >= inner.height.saturating_sub(1) {
            break;
        }
        let is_here = number == form.at;
        let line = Rect {
            y: inner.y + row,
            height: 1,
            ..inner
        };
        let style = if is_here {
            app.theme.key()
        } else {
            Style::new()
        };
        frame.render_widget(
            Paragraph::new(Line::styled(format!(" {name}"), style)),
            line,
        );
        let field = Rect {
            x: line.x + 13,
            width: line.width.saturating_sub(14),
            ..line
        };
        let text = form.text(number);
        if is_here {
            let mut area = form.fields[number].clone();
            area.set_cursor_line_style(Style::new());
            frame.render_widget(&area, field);
        } else if text.is_empty() {
            frame.render_widget(Paragraph::new(Line::styled(*empty, app.theme.dim())), field);
        } else {
            let first = fitted(&text, field.width.into());
            frame.render_widget(Paragraph::new(first), field);
        }
    }
    let below = Rect {
        x: inner.x + 1,
        y: inner.y + inner.height.saturating_sub(1),
        width: inner.width.saturating_sub(1),
        height: 1,
    };
    let hint = keys(
        app,
        &[
            ("⏎", "create"),
            ("Alt-⏎", "create, do not start"),
            ("Tab", "field"),
            ("Esc", "keeps the draft"),
        ],
    );
    frame.render_widget(Paragraph::new(hint), below);
}

fn help(frame: &mut Frame<'_>, app: &App, typed: &str, scroll: usize, body: Rect) {
    let wanted = typed.to_lowercase();
    let mut lines = Vec::new();
    for group in KeyGroup::ALL {
        let of_group = KEYS.iter().filter(|row| row.group == group);
        let found: Vec<_> = of_group
            .filter(|row| {
                let text = format!("{} {} {}", row.name, row.label, row.about).to_lowercase();
                text.contains(&wanted)
            })
            .collect();
        for (number, row) in found.into_iter().enumerate() {
            let title = if number == 0 { group.title() } else { "" };
            let about = wrapped(row.about, inner_width(body).saturating_sub(14));
            for (line, text) in about.into_iter().enumerate() {
                let (title, key) = match line {
                    0 => (title, app.keymap.key(row.action)),
                    _ => ("", ""),
                };
                lines.push(Line::from(vec![
                    Span::styled(format!("{title:<8}"), app.theme.dim()),
                    Span::styled(format!("{key:<5} "), app.theme.key()),
                    Span::raw(text),
                ]));
            }
        }
    }
    let room = usize::from(body.height).saturating_sub(3);
    let scroll = scroll.min(lines.len().saturating_sub(room));
    let mut shown: Vec<Line<'static>> = lines.into_iter().skip(scroll).take(room).collect();
    shown.push(Line::styled(
        "type to find a key, arrows scroll, Esc closes",
        app.theme.dim(),
    ));
    let title = if typed.is_empty() {
        "keys".to_owned()
    } else {
        format!("keys: {typed}")
    };
    boxed(frame, app, body, &title, shown);
}

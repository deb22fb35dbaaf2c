//! One task: timeline, changes, screen, TASK.md and agents.

use super::panel;
use crate::app::{App, Changes, Tab};
use jiff::tz::TimeZone;
use orange_core::Timestamp;
use orange_core::display::{clean_block, fitted};
use orange_core::timeline::Weight;
use orange_engine::views::dashboard::{Focus, OverviewRow};
use orange_engine::views::diff::DiffOf;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, body: Rect) {
    let Some(row) = app.selected().filter(|row| !app.is_deleted(row)) else {
        frame.render_widget(Paragraph::new(" this task is gone: Esc goes back"), body);
        return;
    };
    let width = usize::from(body.width);
    let (sign, style) = app.theme.sign(row);
    let cost = app
        .focused()
        .and_then(|focus| focus.usage)
        .map(|usage| usage.in_brief());
    let title = format!("{} {}", row.name.seen_from(None), row.summary);
    let state = format!("  {sign} {}  {}", row.word, cost.unwrap_or_default());
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
            let text = format!(" {} {name} ", number + 1);
            let style = if *tab == app.tab {
                app.theme.key()
            } else {
                app.theme.dim()
            };
            [Span::styled(text, style)]
        });
    head.push(Line::from(tabs.collect::<Vec<_>>()));
    let why = panel::reason(app, width.saturating_sub(2));
    let shown = reason_room(row, body);
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
    let height = u16::try_from(head.len())
        .unwrap_or(body.height)
        .min(body.height);
    frame.render_widget(Paragraph::new(head), Rect { height, ..body });
    let area = Rect {
        y: body.y + height,
        height: body.height - height,
        ..body
    };
    let lines = match (app.tab, app.focused()) {
        (Tab::Changes, _) => return changes(frame, app, area),
        (Tab::Screen, _) => panel::screen(app, area.height.into()),
        (_, None) => vec![Line::raw(" reading …")],
        (Tab::Timeline, Some(focus)) => timeline(app, focus, width),
        (Tab::File, Some(focus)) => file(app, focus, width),
        (Tab::Agents, Some(focus)) => agents(app, focus, width),
    };
    let scrolled = if app.tab == Tab::Screen {
        0
    } else {
        app.scroll
    };
    let shown = lines.into_iter().skip(scrolled).take(area.height.into());
    frame.render_widget(Paragraph::new(shown.collect::<Vec<_>>()), area);
}

/// How many lines below the title and the tabs tell why the task is where it is.
pub(super) fn reason_room(row: &OverviewRow, body: Rect) -> usize {
    let most = if row.needs_me { 6 } else { 2 };
    most.min(usize::from(body.height).saturating_sub(2))
}

fn clock(time: Timestamp) -> String {
    let zoned = time.to_zoned(TimeZone::system());
    zoned.strftime("%d %b %H:%M").to_string()
}

/// What happened, the newest first.
fn timeline(app: &App, focus: &Focus, width: usize) -> Vec<Line<'static>> {
    let entries = focus.timeline.iter().rev();
    entries
        .map(|entry| {
            let text = format!("{:<9} {}", entry.who, app.spelled(&entry.words));
            let style = match entry.weight {
                Weight::Trouble => app.theme.trouble(),
                Weight::Story => Style::new(),
                _ => app.theme.dim(),
            };
            Line::from(vec![
                Span::styled(format!(" {}  ", clock(entry.at)), app.theme.dim()),
                Span::styled(fitted(&text, width.saturating_sub(16)), style),
            ])
        })
        .collect()
}

/// TASK.md: headings stand out, the words stay as they are.
fn file(app: &App, focus: &Focus, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for text in panel::wrapped(&focus.body, width.saturating_sub(2)) {
        let style = if text.starts_with('#') {
            app.theme.heading()
        } else {
            Style::new()
        };
        lines.push(Line::styled(format!(" {text}"), style));
    }
    lines
}

fn agents(app: &App, focus: &Focus, width: usize) -> Vec<Line<'static>> {
    if focus.agents.is_empty() {
        return vec![Line::raw(" it has had no agent yet")];
    }
    let mut lines = Vec::new();
    for agent in focus.agents.iter().rev() {
        let doing = agent
            .doing
            .as_ref()
            .map(|doing| app.spelled(&doing.words()));
        let state = match (agent.alive, doing) {
            (true, Some(doing)) => doing,
            (true, None) => "alive".to_owned(),
            (false, _) => "ended".to_owned(),
        };
        let used = agent
            .usage
            .map_or(String::new(), |usage| format!(", {}", usage.in_brief()));
        let text = format!(
            "{} {} since {}: {state}{used}",
            agent.harness,
            agent.role,
            clock(agent.started)
        );
        lines.push(Line::raw(format!(
            " {}",
            fitted(&text, width.saturating_sub(2))
        )));
        if let Some(said) = &agent.said {
            let text = fitted(said, width.saturating_sub(5));
            lines.push(Line::styled(format!("   {text}"), app.theme.dim()));
        }
    }
    lines
}

fn changes(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let Some(changes) = &app.changes else {
        frame.render_widget(Paragraph::new(" reading …"), area);
        return;
    };
    let names = [
        (DiffOf::Work, "all"),
        (DiffOf::SinceReview, "since the review"),
        (DiffOf::Uncommitted, "not committed"),
    ];
    let mut head = vec![Span::raw(" ")];
    for (of, name) in names {
        let style = if changes.of == Some(of) {
            app.theme.key()
        } else {
            app.theme.dim()
        };
        head.push(Span::styled(format!("{name}  "), style));
    }
    head.push(Span::styled("2 shows the next  ", app.theme.dim()));
    let room = usize::from(area.width).saturating_sub(60);
    head.push(Span::raw(fitted(&changes.headline, room)));
    frame.render_widget(Paragraph::new(Line::from(head)), Rect { height: 1, ..area });
    let body = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    };
    // The files stand beside the lines where there is room.
    let patch = if area.width >= 100 && !changes.files.is_empty() {
        let width = 36;
        frame.render_widget(
            Paragraph::new(files(app, changes, width)),
            Rect { width: 36, ..body },
        );
        Rect {
            x: body.x + 37,
            width: body.width - 37,
            ..body
        }
    } else {
        body
    };
    let shown = changes
        .patch
        .iter()
        .skip(app.scroll)
        .take(patch.height.into());
    let width = usize::from(patch.width).saturating_sub(1);
    let lines: Vec<Line<'static>> = shown.map(|text| patched(app, text, width)).collect();
    frame.render_widget(Paragraph::new(lines), patch);
}

fn files(app: &App, changes: &Changes, width: usize) -> Vec<Line<'static>> {
    let files = changes.files.iter();
    files
        .map(|(path, added, deleted)| {
            let counts = format!(" +{added} −{deleted}");
            let room = width.saturating_sub(counts.chars().count() + 2);
            Line::from(vec![
                Span::raw(format!(" {}", front_cut(path, room))),
                Span::styled(counts, app.theme.dim()),
            ])
        })
        .collect()
}

/// Of a path its end says most.
fn front_cut(path: &str, width: usize) -> String {
    let clean = clean_block(path);
    let count = clean.chars().count();
    if count <= width {
        return clean.into_owned();
    }
    let tail: String = clean
        .chars()
        .skip(count - width.saturating_sub(1))
        .collect();
    format!("…{tail}")
}

fn patched(app: &App, text: &str, width: usize) -> Line<'static> {
    let style = match text.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => app.theme.bold(),
        [b'+', ..] => app.theme.good(),
        [b'-', ..] => app.theme.trouble(),
        [b'@', ..] => app.theme.heading(),
        _ if text.starts_with("diff ") => app.theme.bold(),
        _ => Style::new(),
    };
    Line::styled(fitted(&text.replace('\t', "    "), width), style)
}

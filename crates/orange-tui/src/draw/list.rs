//! The list of tasks, with the preview of the selected one.

use super::layout::ScreenLayout;
use super::panel;
use crate::app::App;
use crate::app::rows::{ListLine, ProjectCounts};
use orange_core::display::{self, clean_width, fitted, fitted_in_middle, time::relative};
use orange_core::keys::KeyAction;
use orange_engine::views::Checks;
use orange_engine::views::dashboard::OverviewRow;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Columns of a branch.
const BRANCH: usize = 24;

pub(super) fn draw(frame: &mut Frame<'_>, app: &App, layout: &ScreenLayout) {
    lines(frame, app, layout.list);
    let Some(preview) = layout.preview else {
        let asked = panel::asked(app, layout.asked.width.into());
        frame.render_widget(Paragraph::new(asked), layout.asked);
        return;
    };
    if preview.x > 0 {
        let beside = Rect {
            x: preview.x - 1,
            width: 1,
            ..preview
        };
        panel::rule(frame, beside);
    }
    panel::preview(frame, app, preview);
}

fn lines(frame: &mut Frame<'_>, app: &App, area: Rect) {
    if app.lines.all.is_empty() {
        let text = if !app.loaded {
            "reading …".to_owned()
        } else if !app.narrowed.text().is_empty() {
            "no task matches: Esc shows all".to_owned()
        } else if app.known_projects.is_empty() {
            "no project yet: `orange` in a repository offers to register it".to_owned()
        } else {
            let key = app.keymap.key(KeyAction::Create);
            format!("no tasks yet: {key} creates one")
        };
        frame.render_widget(Paragraph::new(format!(" {text}")), area);
        return;
    }
    let shown = app
        .lines
        .all
        .iter()
        .skip(app.lines.top)
        .take(area.height.into());
    let width = usize::from(area.width);
    let lines: Vec<Line<'static>> = shown
        .map(|line| match line {
            ListLine::Project {
                name,
                is_folded,
                counts,
            } => project(app, name, is_folded.then_some(counts), width),
            ListLine::Task(place) => match app.overview.rows.get(*place) {
                Some(row) => task(app, row, width),
                None => Line::default(),
            },
            ListLine::Note(place) => match app.overview.rows.get(*place) {
                Some(row) => note(app, row, width),
                None => Line::default(),
            },
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// The heading of a project; of a folded one, what is in it.
fn project(app: &App, name: &str, folded: Option<&ProjectCounts>, width: usize) -> Line<'static> {
    let sign = if folded.is_some() { "▸" } else { "▾" };
    let heading = fitted(&format!(" {sign} {name}"), width);
    let mut spans = vec![Span::styled(heading, app.theme.bold())];
    let Some(counts) = folded else {
        return Line::from(spans);
    };
    let need = if counts.need == 1 {
        "1 needs you".to_owned()
    } else {
        format!("{} need you", counts.need)
    };
    let told = [
        (counts.need, need, app.theme.need()),
        (
            counts.at_work,
            format!("{} at work", counts.at_work),
            Style::new(),
        ),
        (
            counts.wait,
            format!("{} waiting", counts.wait),
            app.theme.dim(),
        ),
        (
            counts.over,
            format!("{} over", counts.over),
            app.theme.dim(),
        ),
    ];
    let mut gap = "   ";
    for (count, text, style) in told {
        if count > 0 {
            spans.push(Span::raw(gap));
            spans.push(Span::styled(text, style));
            gap = ", ";
        }
    }
    Line::from(spans)
}

/// The columns to the right of the summary; which of them are there depends on the width alone.
fn columns(app: &App, row: &OverviewRow, width: usize) -> Vec<(usize, Span<'static>)> {
    let mut columns = Vec::new();
    let diff = row.diff.as_ref().filter(|diff| diff.commits > 0);
    if width >= 72 {
        let text = diff.map_or(String::new(), |diff| {
            format!("+{} −{}", diff.added, diff.deleted)
        });
        columns.push((11, Span::raw(text)));
    }
    if width >= 90 {
        let text = diff.map_or(String::new(), |diff| format!("{}c", diff.commits));
        columns.push((4, Span::styled(text, app.theme.dim())));
    }
    if width >= 100 {
        let (text, style) = match row.checks {
            None => ("", Style::new()),
            Some(Checks::Running) => ("…", Style::new()),
            Some(Checks::Passed) => ("✓", app.theme.good()),
            Some(Checks::Stale) => ("stale", app.theme.dim()),
            Some(Checks::Failed) => ("✗", app.theme.trouble()),
            Some(Checks::FailedOnBase) => ("✗ base", app.theme.dim()),
        };
        columns.push((6, Span::styled(text, style)));
    }
    if width >= 115 {
        let text = row.usage.map_or("–".to_owned(), |usage| usage.in_brief());
        columns.push((9, Span::raw(text)));
    }
    if width >= 150 {
        let branch = fitted_in_middle(&row.branch, BRANCH);
        columns.push((BRANCH, Span::styled(branch, app.theme.dim())));
    }
    if width >= 50 {
        let age = relative(app.now, row.updated);
        columns.push((4, Span::styled(age, app.theme.dim())));
    }
    columns
}

fn task(app: &App, row: &OverviewRow, width: usize) -> Line<'static> {
    let is_selected = app.cursor.as_deref() == Some(row.folder.as_str());
    let (sign, sign_style) = app.theme.sign(row);
    let (session, session_style) = app.theme.session(row.session);
    let mut spans = vec![
        Span::styled(if is_selected { "▌" } else { " " }, app.theme.need()),
        Span::styled(sign, sign_style),
        Span::raw(" "),
        Span::styled(session, session_style),
        Span::styled(if app.is_marked(row) { "*" } else { " " }, app.theme.key()),
    ];
    if width >= 60 {
        let slot = row.slot.map_or(String::new(), |slot| slot.to_string());
        spans.push(Span::styled(format!("{slot:>2} "), app.theme.dim()));
    }
    spans.push(Span::styled(
        format!("{:<9}", fitted(&row.label, 12)),
        app.theme.bold(),
    ));
    let status = match app.busy.get(&row.folder) {
        Some(what) => format!("{what} …"),
        None => row.word.clone(),
    };
    spans.push(Span::styled(
        format!("{:<14}", fitted(&status, 13)),
        sign_style,
    ));
    let right = columns(app, row, width);
    let taken: usize = right.iter().map(|(columns, _)| columns + 1).sum();
    let used: usize = spans.iter().map(|span| clean_width(&span.content)).sum();
    let room = width.saturating_sub(used + taken);
    // What is wrong with a damaged one stands in the line below.
    let mut summary = if row.is_damaged && row.summary.is_empty() {
        String::new()
    } else {
        display::summary(&row.summary).into_owned()
    };
    if let Some(phase) = &row.phase {
        summary = format!("{phase} · {summary}");
    }
    if let Some(first) = row.waits_for.first() {
        summary = format!("waits for {first} · {summary}");
    }
    spans.push(padded(Span::raw(summary), room));
    for (columns, span) in right {
        spans.push(Span::raw(" "));
        spans.push(padded(span, columns));
    }
    let mut line = Line::from(spans);
    // It stays only as long as the cursor is on it.
    if app.is_gone(row) || !app.narrowed.lists(row) {
        line = line.patch_style(app.theme.dim());
    }
    if is_selected {
        line.patch_style(Style::new().add_modifier(Modifier::BOLD))
    } else {
        line
    }
}

/// A text that takes exactly this width.
pub(super) fn padded(span: Span<'static>, width: usize) -> Span<'static> {
    let mut text = fitted(&span.content, width);
    let blanks = width.saturating_sub(clean_width(&text));
    text.extend(std::iter::repeat_n(' ', blanks));
    Span::styled(text, span.style)
}

fn note(app: &App, row: &OverviewRow, width: usize) -> Line<'static> {
    let text = row
        .note
        .as_ref()
        .map(|note| app.spelled(note))
        .unwrap_or_default();
    let style = if row.is_damaged {
        app.theme.trouble()
    } else {
        app.theme.need()
    };
    let text = fitted(&text, width.saturating_sub(11));
    Line::from(vec![
        Span::styled("        ↳ ", app.theme.dim()),
        Span::styled(text, style),
    ])
}

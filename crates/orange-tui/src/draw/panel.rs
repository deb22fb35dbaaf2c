//! What is told of the selected task beside or below the list: what it asks or waits for, and its agent's screen.

use crate::app::App;
use ansi_to_tui::IntoText;
use orange_core::display::{clean, clean_block, fitted};
use orange_engine::views::results::OpenQuestion;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// A line from top to bottom.
pub(super) fn rule(frame: &mut Frame<'_>, area: Rect) {
    let lines: Vec<Line<'static>> = (0..area.height).map(|_| Line::raw("│")).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Words in lines of a width.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let text = clean_block(text);
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = line.replace('\t', "    ");
        if line.trim().is_empty() {
            lines.push(String::new());
            continue;
        }
        lines.extend(
            textwrap::wrap(&line, width.max(1))
                .into_iter()
                .map(|line| line.into_owned()),
        );
    }
    lines
}

/// What the selected task asks of the person, word for word; empty if nothing.
pub(super) fn asked(app: &App, width: usize) -> Vec<Line<'static>> {
    let Some(row) = app.selected().filter(|row| row.needs_me) else {
        return Vec::new();
    };
    reason(app, width.saturating_sub(2))
        .into_iter()
        .map(|text| {
            let style = if row.needs_me {
                app.theme.need()
            } else {
                app.theme.dim()
            };
            Line::from(vec![Span::raw(" "), Span::styled(text, style)])
        })
        .collect()
}

/// A question of an agent in full.
pub(super) fn question(open: &OpenQuestion, width: usize) -> Vec<String> {
    let question = &open.question;
    if question.asked.is_empty() {
        let text = format!("its {} asks permission: {}", open.run.role, question.text);
        return wrapped(&text, width);
    }
    let mut lines = Vec::new();
    for asked in &question.asked {
        lines.extend(wrapped(&asked.question, width));
        for option in &asked.options {
            lines.extend(wrapped(&format!("- {option}"), width));
        }
    }
    lines
}

/// Why the task is where it is, and its questions in full.
pub(super) fn reason(app: &App, width: usize) -> Vec<String> {
    let Some(focus) = app.focused() else {
        let problem = app.focus_problem.as_deref().unwrap_or_default();
        return wrapped(problem, width);
    };
    let mut lines = Vec::new();
    for open in &focus.questions {
        lines.extend(question(open, width));
    }
    if let Some(asked) = focus
        .asked_in_file
        .as_ref()
        .filter(|asked| !asked.is_empty())
    {
        lines.extend(wrapped(asked, width));
    }
    if lines.is_empty() {
        let because = focus.why.reason.text(&focus.why.name);
        lines.extend(wrapped(&app.spelled(&because), width));
    }
    lines
}

/// How many lines of the preview tell what is asked.
pub(super) fn reason_room(app: &App, area: Rect) -> usize {
    let height = usize::from(area.height);
    (height / 2)
        .max(3)
        .min(height.saturating_sub(titles(app, 0).len()))
}

/// What stands above that: the task and its agent.
fn titles(app: &App, width: usize) -> Vec<Line<'static>> {
    let Some(row) = app.selected() else {
        return Vec::new();
    };
    let agent = app.focused().and_then(|focus| {
        let mut agents = focus.agents.iter().rev();
        let agent = agents.find(|agent| agent.alive)?;
        let doing = agent.doing.as_ref();
        let doing = doing.map(|doing| format!(": {}", app.spelled(&doing.words())));
        Some(format!(
            "{}{} · {}",
            agent.role,
            doing.unwrap_or_default(),
            agent.harness
        ))
    });
    let mut lines = vec![Line::from(vec![
        Span::raw(" "),
        Span::styled(
            fitted(&format!("{} {}", row.label, row.summary), width),
            app.theme.bold(),
        ),
    ])];
    if let Some(agent) = agent {
        let text = fitted(&agent, width);
        lines.push(Line::styled(format!(" {text}"), app.theme.dim()));
    }
    lines
}

/// All that stands in the preview above the agent's screen.
pub(super) fn above_screen(app: &App, area: Rect) -> Vec<Line<'static>> {
    let width = usize::from(area.width).saturating_sub(2);
    let mut lines = titles(app, width);
    let style = match app.selected() {
        Some(row) if row.needs_me => app.theme.need(),
        _ => app.theme.dim(),
    };
    let reason = reason(app, width).into_iter();
    lines.extend(
        reason
            .take(reason_room(app, area))
            .map(|text| Line::styled(format!(" {text}"), style)),
    );
    let rule = format!(" {}", "─".repeat(width));
    lines.push(Line::styled(rule, app.theme.dim()));
    lines
}

/// The selected task at a glance.
pub(super) fn preview(frame: &mut Frame<'_>, app: &App, area: Rect) {
    if app.selected().is_none() {
        return;
    }
    let mut lines = above_screen(app, area);
    let room = usize::from(area.height).saturating_sub(lines.len());
    lines.extend(screen(app, room));
    frame.render_widget(Paragraph::new(lines), area);
}

/// Ways of drawing that would hide a text, or draw the eye to it.
const NOT_FOR_US: Modifier = Modifier::HIDDEN
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK);

/// The last lines of what the agent's window shows.
pub(super) fn screen(app: &App, room: usize) -> Vec<Line<'static>> {
    let mut lines = screen_lines(app);
    let back = app.scroll.min(lines.len().saturating_sub(room));
    lines.truncate(lines.len() - back);
    let from = lines.len().saturating_sub(room);
    lines.split_off(from)
}

/// What the agent's window shows, in its colours. Of its escape sequences only colours are understood.
pub(super) fn screen_lines(app: &App) -> Vec<Line<'static>> {
    let Some(screen) = &app.screen else {
        return Vec::new();
    };
    let Ok(text) = screen.as_bytes().into_text() else {
        let plain = clean_block(screen);
        return plain
            .lines()
            .map(|line| Line::raw(line.to_owned()))
            .collect();
    };
    let mut lines: Vec<Line<'static>> = text
        .lines
        .into_iter()
        .map(|line| {
            let spans = line.spans.into_iter().map(|span| {
                let style = if app.theme.colour {
                    span.style.remove_modifier(NOT_FOR_US)
                } else {
                    Style::new()
                };
                Span::styled(clean(&span.content).into_owned(), style)
            });
            let mut spans: Vec<Span<'static>> = spans.collect();
            spans.insert(0, Span::raw(" "));
            Line::from(spans)
        })
        .collect();
    let is_blank = |line: &Line<'_>| line.spans.iter().all(|span| span.content.trim().is_empty());
    while lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    lines
}

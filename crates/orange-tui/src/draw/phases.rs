//! The phases of a task's plan: a line for each, and what the selected one came to.

use super::panel::wrapped;
use crate::app::App;
use orange_core::display::{clean_width, fitted};
use orange_core::work::budget::BudgetState;
use orange_engine::views::dashboard::Focus;
use orange_engine::views::{PhaseView, PhasedDetail};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

pub(super) fn lines(app: &App, focus: &Focus, width: usize, height: usize) -> Vec<Line<'static>> {
    let Some(execution) = &focus.execution else {
        let text = format!(" the {} workflow has no phases", focus.task.workflow);
        return vec![Line::styled(text, app.theme.dim())];
    };
    if let Some(problem) = &execution.problem {
        let lines = wrapped(problem, width.saturating_sub(2)).into_iter();
        let style = app.theme.trouble();
        return lines
            .map(|line| Line::styled(format!(" {line}"), style))
            .collect();
    }
    if execution.phases.is_empty() {
        return vec![Line::raw(" its plan is written once its weight is known")];
    }
    let selected = app.selected_phase();
    let names = execution
        .phases
        .iter()
        .map(|phase| clean_width(&phase.name));
    let names = names.max().unwrap_or(0).min(width / 3);
    let mut lines = vec![Line::from(sums(app, execution))];
    for phase in &execution.phases {
        let is_selected = selected.is_some_and(|selected| selected.name == phase.name);
        lines.push(line(app, phase, is_selected, names, width));
    }
    if let Some(spec) = &execution.spec {
        let text = format!(" specification: {}", spec.origin());
        lines.push(Line::styled(fitted(&text, width), app.theme.dim()));
    }
    if let Some(results) = &execution.test_results {
        let style = match results.all_passed() {
            true => app.theme.good(),
            false => app.theme.trouble(),
        };
        let words = fitted(&results.words(), width.saturating_sub(8));
        lines.push(Line::styled(format!(" tests {words}"), style));
    }
    if let Some(phase) = selected {
        lines.push(Line::default());
        lines.extend(about(app, phase, width));
    }
    lines.truncate(height);
    lines
}

/// The weight and what all of it used.
fn sums(app: &App, execution: &PhasedDetail) -> Vec<Span<'static>> {
    let weight = execution.weight.map(|weight| format!(" {weight}"));
    let used = match &execution.budget {
        Some(budget) => format!("  {}", budget.in_brief()),
        None if execution.usage.is_empty() => String::new(),
        None => format!("  {}", execution.usage.in_brief()),
    };
    let state = execution.budget.as_ref().map(|budget| budget.state);
    let of_budget = match state {
        Some(BudgetState::Spent) => app.theme.trouble(),
        Some(BudgetState::Warn) => app.theme.need(),
        Some(BudgetState::Free) | None => Style::new(),
    };
    let executor = execution.executor.as_ref();
    let executor = executor.map(|executor| format!("  executed on {}", executor.hostname));
    vec![
        Span::styled(weight.unwrap_or_default(), app.theme.bold()),
        Span::styled(used, of_budget),
        Span::styled(executor.unwrap_or_default(), app.theme.dim()),
    ]
}

fn sign(app: &App, phase: &PhaseView) -> Style {
    match phase.sign() {
        "✓" => app.theme.good(),
        "?" | "★" => app.theme.need(),
        "!" | "∥" => app.theme.trouble(),
        "▶" => app.theme.heading(),
        _ => app.theme.dim(),
    }
}

/// `✓ implement 4/10 all_tests_pass ✓ no_lint_errors ✓  $1.31`
fn line(
    app: &App,
    phase: &PhaseView,
    is_selected: bool,
    names: usize,
    width: usize,
) -> Line<'static> {
    let name = fitted(&phase.name, names);
    let blanks = " ".repeat(names.saturating_sub(clean_width(&name)));
    let used = format!("{}/{}", phase.used, phase.max_iterations);
    let head = format!("{name}{blanks} {used:>5}  ");
    let cost = if phase.usage.is_empty() {
        String::new()
    } else {
        format!("  {} ", phase.usage.in_brief())
    };
    let taken = 3 + clean_width(&head) + clean_width(&cost);
    let room = width.saturating_sub(taken);
    let words = fitted(&phase.words(), room);
    let blanks = " ".repeat(room.saturating_sub(clean_width(&words)));
    let line = Line::from(vec![
        Span::styled(if is_selected { "▌" } else { " " }, app.theme.need()),
        Span::styled(phase.sign(), sign(app, phase)),
        Span::raw(" "),
        Span::raw(head),
        Span::styled(words, sign(app, phase)),
        Span::raw(format!("{blanks}{cost}")),
    ]);
    if is_selected {
        line.patch_style(Style::new().add_modifier(Modifier::BOLD))
    } else {
        line
    }
}

/// What the selected phase came to, in full.
fn about(app: &App, phase: &PhaseView, width: usize) -> Vec<Line<'static>> {
    let mut texts: Vec<String> = Vec::new();
    texts.extend(phase.question.clone());
    texts.extend(phase.judge.clone());
    texts.extend(phase.summary.clone());
    texts.extend(phase.error.clone());
    for check in &phase.checks {
        let detail = check.detail.trim();
        if check.passed != Some(true) && !detail.is_empty() {
            texts.push(format!("{}: {detail}", check.criterion));
        }
    }
    if let Some(decision) = &phase.decision {
        let verdict = if decision.approved {
            "approved"
        } else {
            "rejected"
        };
        let why = decision.reason.as_ref();
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        texts.push(format!("{verdict} by {}{why}", decision.by));
    }
    if phase.transcript.is_some() {
        let key = app.keymap.key(orange_core::keys::KeyAction::View);
        texts.push(format!("{key} shows its transcript"));
    }
    let lines = texts
        .iter()
        .flat_map(|text| wrapped(text, width.saturating_sub(4)));
    lines.map(|line| Line::raw(format!("   {line}"))).collect()
}

//! The part of `task show` about the phases of a plan: how far each is, what it cost, who executes it.

use super::agents::used;
use crate::ui::{Extent, Palette, Style, ago, clean, fitted, size};
use orange_core::Timestamp;
use orange_core::display::clean_width;
use orange_core::work::budget::BudgetState;
use orange_core::work::phase_gate::{GateDecision, GateSource};
use orange_engine::git;
use orange_engine::views::{ExecutorView, PhaseView, PhasedDetail};
use std::fmt::Write;

/// What is left for the last column of a line at least.
const LEAST: usize = 16;

pub(super) fn to_text(shown: &PhasedDetail, is_all: bool) -> String {
    let mut text = match shown.weight {
        Some(weight) => format!("\nphases ({weight})\n"),
        None => "\nphases\n".to_owned(),
    };
    if let Some(problem) = &shown.problem {
        let _ = writeln!(text, "  {}", clean(problem));
        return text;
    }
    if shown.phases.is_empty() {
        text.push_str("  its plan is written once its weight is known\n");
        text.push_str(&spec_line(shown, Timestamp::now()));
        return text;
    }
    let names = shown.phases.iter().map(|phase| clean_width(&phase.name));
    let names = names.max().unwrap_or(0);
    let now = Timestamp::now();
    for phase in &shown.phases {
        text.push_str(&line(phase, names, is_all));
        if is_all {
            text.push_str(&details(phase, now));
        }
    }
    text.push_str(&spec_line(shown, now));
    if let Some(budget) = &shown.budget {
        let words = match budget.state {
            BudgetState::Free => format!("{} spent (budget.task)", budget.in_brief()),
            BudgetState::Warn | BudgetState::Spent => budget.in_words(),
        };
        let _ = writeln!(text, "  {}", clean(&words));
    }
    if let Some(executor) = &shown.executor {
        let _ = writeln!(text, "  {}", clean(&executor_in_words(executor, now)));
    }
    if is_all && !shown.decisions.is_empty() {
        text.push_str("\ndecisions\n");
        for decision in &shown.decisions {
            let _ = writeln!(text, "  {}", clean(&decided(decision, now)));
        }
    }
    text
}

/// `  specification: 1.2 kB, written in the phase spec, 5m ago`
fn spec_line(shown: &PhasedDetail, now: Timestamp) -> String {
    let Some(spec) = &shown.spec else {
        return String::new();
    };
    let bytes = size(spec.bytes);
    let line = format!("{bytes}, {}, {}", spec.origin(), ago(now, spec.updated_at));
    format!("  specification: {}\n", clean(&line))
}

/// `✓ implement  4/10  $1.31  all_tests_pass ✓`
fn line(phase: &PhaseView, names: usize, is_all: bool) -> String {
    let palette = Palette::stdout();
    let name = clean(&phase.name);
    let blanks = " ".repeat(names.saturating_sub(clean_width(&name)));
    let used = format!("{}/{}", phase.used, phase.max_iterations);
    let cost = match phase.usage.is_empty() {
        true => String::new(),
        false => phase.usage.in_brief(),
    };
    let head = format!("{name}{blanks}  {used:>5}  {cost:>9}");
    let words = phase.words();
    let words = match Extent::stdout() {
        Extent::Columns(columns) if !is_all => {
            let taken = 6 + clean_width(&head);
            fitted(&words, columns.saturating_sub(taken).max(LEAST))
        }
        _ => clean(&words).into_owned(),
    };
    let sign = palette.paint(style(phase), phase.sign());
    format!("  {sign} {}\n", format!("{head}  {words}").trim_end())
}

fn style(phase: &PhaseView) -> Style {
    match phase.sign() {
        "✓" => Style::Green,
        "▶" => Style::Blue,
        "?" | "★" => Style::Yellow,
        "!" | "∥" => Style::Red,
        _ => Style::Dim,
    }
}

/// What a screen has no room for.
fn details(phase: &PhaseView, now: Timestamp) -> String {
    let mut lines = Vec::new();
    let whose = match phase.gate_source {
        GateSource::Plan => String::new(),
        source => format!(", {}", source.words()),
    };
    lines.push(format!("{}, {} gate{whose}", phase.kind, phase.gate));
    let times = match (phase.started_at, phase.completed_at) {
        (_, Some(at)) => format!("completed {}", ago(now, at)),
        (Some(at), None) => format!("began {}", ago(now, at)),
        (None, None) => String::new(),
    };
    let attempt = match (phase.attempt, phase.retries) {
        (0 | 1, _) => String::new(),
        (attempt, 0) => format!("attempt {attempt}"),
        (attempt, retries) => format!("attempt {attempt}, retry {retries}"),
    };
    let commit = phase.commit.as_deref();
    let commit = commit.map_or(String::new(), |commit| format!("at {}", git::short(commit)));
    let parts = [times, attempt, commit];
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    lines.push(parts.join(", "));
    if !phase.usage.is_empty() {
        lines.push(used(phase.usage));
    }
    lines.extend(phase.summary.clone());
    lines.extend(phase.judge.clone());
    lines.extend(phase.error.clone());
    for check in phase
        .checks
        .iter()
        .filter(|check| check.passed == Some(false))
    {
        let detail = check.detail.lines().next().unwrap_or_default();
        lines.push(format!("{}: {detail}", check.criterion));
    }
    let transcript = phase.transcript.as_ref();
    lines.extend(transcript.map(|name| format!("transcripts/{name}")));
    let lines = lines.into_iter().filter(|line| !line.is_empty());
    lines
        .map(|line| format!("      {}\n", clean(&line)))
        .collect()
}

fn executor_in_words(executor: &ExecutorView, now: Timestamp) -> String {
    format!(
        "executed by process {} on {}, last heard of {}",
        executor.pid,
        executor.hostname,
        ago(now, executor.heartbeat_at)
    )
}

/// `spec: approved by randy 5m ago: fine`
fn decided(decision: &GateDecision, now: Timestamp) -> String {
    let verdict = if decision.approved {
        "approved"
    } else {
        "rejected"
    };
    let why = decision.reason.as_deref();
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    let when = ago(now, decision.at);
    format!(
        "{}: {verdict} by {} {when}{why}",
        decision.phase, decision.by
    )
}

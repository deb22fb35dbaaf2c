//! The part of `task show` about what speaks for the work.

use super::super::verify;
use crate::ui::clean;
use orange_core::evidence::Statement;
use orange_engine::git;
use orange_engine::views::EvidenceView;
use std::fmt::Write;

/// Nothing where nothing was said yet.
pub(super) fn to_text(shown: &EvidenceView) -> String {
    let evidence = &shown.evidence;
    let mut lines = Vec::new();
    if let Some(handoff) = &evidence.handoff {
        lines.push(format!("handed off{}", at(handoff)));
    }
    if let Some(verdict) = &evidence.verdict {
        let word = if verdict.passed { "passed" } else { "failed" };
        let round = match verdict.round {
            0 => String::new(),
            round => format!(" (round {round})"),
        };
        let writer = match verdict.written_by.as_deref() {
            Some("contested") => "; its worker was at work meanwhile",
            Some(_) | None => "",
        };
        lines.push(format!("review {word}{}{round}{writer}", at(&verdict.said)));
    } else if let Some(review) = &evidence.review {
        lines.push(format!("approved by {}{}", review.by, at(review)));
    }
    if shown.moved_since_review == Some(true)
        && let Some(head) = &shown.head
    {
        lines.push(format!("moved since review, to {}", git::short(head)));
    }
    if let Some(running) = &shown.verifying {
        lines.push(running.clone());
    } else if let Some(told) = &evidence.verify {
        lines.push(verify::sentence(told));
        let all = verify::failures(&told.result);
        lines.extend(all.into_iter().map(|line| format!("  {line}")));
        if let (true, Some(log)) = (told.result.failed(), &told.result.log) {
            lines.push(format!("  its output: {log}"));
        }
    }
    for claim in &shown.unconfirmed {
        lines.push(match &shown.unreadable {
            Some(why) => format!("said in history.jsonl: {claim}; not confirmed: {why}"),
            None => format!("said in history.jsonl, not by Orange: {claim}"),
        });
    }
    if shown.incomplete {
        lines.push("history.jsonl lacks lines that Orange wrote".to_owned());
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nevidence\n");
    for line in lines {
        let _ = writeln!(text, "  {}", clean(&line));
    }
    text
}
fn at(said: &Statement) -> String {
    said.head
        .as_deref()
        .map_or(String::new(), |head| format!(" at {}", git::short(head)))
}

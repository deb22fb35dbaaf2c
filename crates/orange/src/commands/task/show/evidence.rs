//! What speaks for a task's work, and for which commit: handoff, verdict, the repository's own check.

use super::super::verify;
use crate::ui::clean;
use orange_core::evidence::{Evidence, Statement};
use orange_core::task::Task;
use orange_engine::engine::Engine;
use orange_engine::git;
use orange_engine::views::TaskView;
use serde_json::{Value, json};
use std::fmt::Write;

/// The evidence, and the commit that the branch is at now.
pub(super) struct Shown {
    evidence: Evidence,
    /// What the journal says without Orange having written it.
    unconfirmed: Vec<String>,
    incomplete: bool,
    /// Why nothing can be confirmed.
    unreadable: Option<String>,
    head: Option<String>,
    running: Option<String>,
}

impl Shown {
    pub(super) fn of(engine: &Engine, view: &TaskView) -> Shown {
        let testimony = engine.testimony(&view.task.id, &view.history);
        Shown {
            evidence: testimony.evidence(&view.history),
            unconfirmed: testimony.unconfirmed(&view.history),
            incomplete: testimony.incomplete,
            unreadable: testimony.unreadable,
            running: engine.check_under_way(&view.place, &view.history),
            head: engine.branch_head(&view.task),
        }
    }

    /// Has the branch moved since somebody looked at it? None where nobody has, or nobody can tell.
    fn moved(&self) -> Option<bool> {
        let evidence = &self.evidence;
        let verdict = evidence.verdict.as_ref().map(|verdict| &verdict.said);
        let said = evidence.review.as_ref().or(verdict)?;
        Some(said.head.as_ref()? != self.head.as_ref()?)
    }

    pub(super) fn to_json(&self) -> Value {
        let evidence = &self.evidence;
        let said = |said: &Statement| json!({"head": said.head, "by": said.by, "at": said.at});
        let verdict = evidence.verdict.as_ref().map(|verdict| {
            let mut value = said(&verdict.said);
            value["passed"] = json!(verdict.passed);
            value["round"] = json!(verdict.round);
            value["written_by"] = json!(verdict.written_by);
            value
        });
        json!({
            "rounds": evidence.rounds,
            "handoff": evidence.handoff.as_ref().map(said),
            "verdict": verdict,
            "review": evidence.review.as_ref().map(said),
            "verify": evidence.verify.as_ref().map(verify::as_value),
            "verifying": self.running,
            "unconfirmed": self.unconfirmed,
            "incomplete": self.incomplete,
            "head": self.head,
            "moved_since_review": self.moved(),
        })
    }

    /// Which review of the task is the last, for whoever reads the sections of TASK.md.
    pub(super) fn round(&self, task: &Task) -> u32 {
        match task.review_round {
            // Nobody has looked at it since a person asked for changes.
            0 => 0,
            counted => self.evidence.rounds.max(counted),
        }
    }

    /// Nothing where nothing was said yet.
    pub(super) fn to_text(&self) -> String {
        let evidence = &self.evidence;
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
        if self.moved() == Some(true)
            && let Some(head) = &self.head
        {
            lines.push(format!("moved since review, to {}", git::short(head)));
        }
        if let Some(running) = &self.running {
            lines.push(running.clone());
        } else if let Some(told) = &evidence.verify {
            lines.push(verify::sentence(told));
            let all = verify::failures(&told.result);
            lines.extend(all.into_iter().map(|line| format!("  {line}")));
            if let (true, Some(log)) = (told.result.failed(), &told.result.log) {
                lines.push(format!("  its output: {log}"));
            }
        }
        for claim in &self.unconfirmed {
            lines.push(match &self.unreadable {
                Some(why) => format!("said in history.jsonl: {claim}; not confirmed: {why}"),
                None => format!("said in history.jsonl, not by Orange: {claim}"),
            });
        }
        if self.incomplete {
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
}

fn at(said: &Statement) -> String {
    said.head
        .as_deref()
        .map_or(String::new(), |head| format!(" at {}", git::short(head)))
}

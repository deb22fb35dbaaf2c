//! review.md: what the last review of a task found, as Markdown.

use crate::naming::one_line;
use crate::work::answer::{Finding, Severity};
use crate::work::execution::{CriterionResult, Execution, Iteration, IterationKind};
use crate::work::phase_gate::GateDecision;
use crate::work::plan::{PhaseKind, Plan};
use crate::workflow::{Outcome, PhaseStatus};
use std::fmt::Write;

/// The text for the newest review that came to an end; None: there is none. `task` is the task's key.
pub fn review(
    task: &str,
    plan: &Plan,
    execution: &Execution,
    decisions: &[GateDecision],
) -> Option<String> {
    let is_review = |known: &&Iteration| {
        let phase = plan.phase(&known.phase);
        phase.is_some_and(|phase| phase.kind == PhaseKind::Review)
            && known.kind == IterationKind::Turn
            && known.advanced
            && known.outcome == Some(Outcome::Completed)
    };
    let turn = execution.iterations.iter().rev().find(is_review)?;
    let answer = turn.answer.clone().unwrap_or_default();
    let of_severity = |severity: Severity| {
        let findings = answer.findings.iter();
        findings.filter(move |finding| finding.severity == severity)
    };
    let decided = decisions.iter();
    let mut decided = decided.filter(|one| one.phase == turn.phase && one.attempt == turn.attempt);
    let rejected = decided.next_back().filter(|decision| !decision.approved);
    let verdict = match of_severity(Severity::Major).next().is_none() && rejected.is_none() {
        true => "APPROVED",
        false => "CHANGES REQUESTED",
    };
    let subject = subject(plan, execution, &turn.phase);
    let mut out = format!("# Review: {task} / {subject}\n\n## Verdict: {verdict}\n");
    if let Some(decision) = rejected {
        let why = decision.reason.as_deref().unwrap_or("no reason given");
        let _ = writeln!(out, "\nRejected by {}: {}", decision.by, one_line(why));
    }
    out.push_str("\n## Findings\n### Major\n");
    list(&mut out, of_severity(Severity::Major));
    out.push_str("\n### Minor\n");
    list(&mut out, of_severity(Severity::Minor));
    out.push_str("\n## Tests\n");
    out.push_str(&tests(execution));
    Some(out)
}

/// The phase whose work was reviewed: the nearest one before it that implements.
fn subject<'p>(plan: &'p Plan, execution: &Execution, review: &'p str) -> &'p str {
    let position = plan.position(review).unwrap_or_default();
    let mut before = plan.phases.iter().take(position).rev();
    let subject = before.find(|phase| {
        phase.kind == PhaseKind::Implement && execution.status(&phase.name) != PhaseStatus::Skipped
    });
    subject.map_or(review, |phase| phase.name.as_str())
}

fn list<'f>(out: &mut String, findings: impl Iterator<Item = &'f Finding>) {
    let mut is_empty = true;
    for finding in findings {
        is_empty = false;
        // Of several lines, all belong to the item.
        let words = finding.in_words();
        let mut lines = words.lines();
        let _ = writeln!(out, "- {}", lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }
    if is_empty {
        out.push_str("- None\n");
    }
}

/// What tests and coverage came to, as they were looked at last in any phase.
fn tests(execution: &Execution) -> String {
    let newest = |of: &str| -> Option<&CriterionResult> {
        let mut newest_first = execution.iterations.iter().rev();
        newest_first.find_map(|known| {
            let mut checks = known.checks.iter().filter(|_| known.checked);
            checks.find(|check| check.criterion.split(':').next() == Some(of))
        })
    };
    let mut out = String::new();
    if let Some(check) = newest("all_tests_pass") {
        out.push_str(match check.passed {
            Some(true) => "- Passing\n",
            Some(false) => "- Failing\n",
            None => "- Not checked",
        });
        if check.passed.is_none() {
            let _ = writeln!(out, ": {}", one_line(&check.detail));
        }
    }
    if let Some(check) = newest("coverage_above") {
        let detail = one_line(&check.detail);
        let _ = match detail.strip_prefix("coverage is ") {
            Some(percent) => writeln!(out, "- Coverage: {}", percent.replace(" %", "%")),
            None => writeln!(out, "- Coverage: not checked: {detail}"),
        };
    }
    if out.is_empty() {
        out.push_str("- Not checked: no phase before the review has such a criterion\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Weight;
    use crate::work::answer::Answer;
    use crate::work::phase_gate::PhaseGateKind;

    fn check(criterion: &str, passed: Option<bool>, detail: &str) -> CriterionResult {
        CriterionResult {
            criterion: criterion.into(),
            passed,
            detail: detail.into(),
        }
    }

    fn turn(phase: &str, answer: &str, checks: Vec<CriterionResult>) -> Iteration {
        Iteration {
            phase: phase.into(),
            iteration: 1,
            attempt: 1,
            outcome: Some(Outcome::Completed),
            answer: Some(Answer::read(answer)),
            checked: true,
            advanced: true,
            checks,
            ..Iteration::default()
        }
    }

    fn plan() -> Plan {
        Plan {
            task_id: "TASK-001".into(),
            weight: Weight::Medium,
            generated_at: "2026-01-10T10:45:00Z".parse().unwrap(),
            phases: Plan::built_in(Weight::Medium),
        }
    }

    fn executed(findings: &str) -> Execution {
        let checks = vec![
            check("all_tests_pass", Some(true), ""),
            check("coverage_above: 80", Some(true), "coverage is 87 %"),
        ];
        let answer = format!(r#"{{"status": "complete", "findings": [{findings}]}}"#);
        Execution {
            iterations: vec![
                turn("implement", r#"{"status": "complete"}"#, checks),
                turn("review", &answer, Vec::new()),
            ],
            ..Execution::default()
        }
    }

    #[test]
    fn a_review_has_the_form_that_people_know() {
        let minor = r#"{"severity": "minor", "line": 45, "text": "Consider using constant for timeout value"}"#;
        let text = review("TASK-001", &plan(), &executed(minor), &[]);
        assert_eq!(
            text.unwrap(),
            "\
# Review: TASK-001 / implement

## Verdict: APPROVED

## Findings
### Major
- None

### Minor
- Line 45: Consider using constant for timeout value

## Tests
- Passing
- Coverage: 87%
"
        );
    }

    #[test]
    fn major_findings_and_a_rejection_ask_for_changes() {
        let major = r#"{"severity": "major", "file": "../../etc/passwd", "line": 3, "text": "It is logged.\nTwice."}"#;
        let text = review("TASK-001", &plan(), &executed(major), &[]).unwrap();
        assert!(text.contains("## Verdict: CHANGES REQUESTED\n"), "{text}");
        assert!(
            text.contains(
                "- ../../etc/passwd:3 (not a file of the repository): It is logged.\n  Twice.\n"
            ),
            "{text}"
        );
        let decision = GateDecision {
            phase: "review".into(),
            gate_type: PhaseGateKind::Ai,
            attempt: 1,
            approved: false,
            reason: Some("it looked\nat nothing".into()),
            by: "judge (sim)".into(),
            at: "2026-01-10T10:45:00Z".parse().unwrap(),
        };
        let text = review("TASK-001", &plan(), &executed(""), &[decision]).unwrap();
        assert!(
            text.contains(
                "## Verdict: CHANGES REQUESTED\n\nRejected by judge (sim): it looked at nothing\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn without_a_review_there_is_nothing_to_say() {
        let mut execution = executed("");
        execution.iterations.pop();
        assert_eq!(review("TASK-001", &plan(), &execution, &[]), None);
    }
}

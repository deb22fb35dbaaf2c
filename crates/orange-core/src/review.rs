//! Whose word a `## Review` is: it gives a verdict only if a reviewer's run can have written it. Marks are short names for
//! the content of the section, taken when a reviewer starts and when it ends.

use crate::gate::Verdict;
use crate::history::payload::{ReviewNote, StatusMoved};
use crate::history::{Event, EventType, History, Payload};
use crate::runs::{Ending, Run, last_run};
use crate::task::Task;
use crate::verification::{deferred, since_review};
use crate::workflow::Role;

/// Who wrote it, where another agent was at work meanwhile.
pub const CONTESTED: &str = "contested";

/// How a reviewer's run ended that is being judged, before its end is journalled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReviewerEnd<'a> {
    /// It did not end by itself: a signal, a closed window, a machine that went down.
    pub by_signal: bool,
    /// The mark that its `run-agent` took at the end.
    pub mark: Option<&'a str>,
}

/// What is journalled beside a move that begins a review or ends it with a verdict; `task` is as the move left it. None for all
/// other events.
pub fn noted_beside(event: &Event, task: &Task) -> Option<Event> {
    let is_move = event.is_move();
    let enters = is_move || event.kind == EventType::TaskCreated;
    let note = ReviewNote {
        round: Some(task.review_round),
        head: event.head(),
        run: event.run(),
        ..ReviewNote::default()
    };
    let verdict = StatusMoved::of(event).and_then(|made| made.verdict);
    let payload = match verdict.filter(|_| is_move) {
        Some(Verdict::Pass) => Payload::ReviewPassed(note),
        Some(Verdict::Fail) => Payload::ReviewFailed(note),
        None if enters && event.new_status()?.is_in_review() => Payload::ReviewStarted(note),
        None => return None,
    };
    let mut noted = Event::of(payload, event.timestamp);
    noted.by.clone_from(&event.by);
    noted.transition.clone_from(&event.transition);
    Some(noted)
}

/// The reviewer's run that the present review belongs to; None if no reviewer was started for it.
pub fn reviewer(history: &History) -> Option<Run> {
    let is_reviewer = |event: &Event| {
        event.kind == EventType::AgentSpawned && event.role() == Some(Role::Reviewer)
    };
    let started = since_review(history).iter().any(is_reviewer);
    started.then(|| last_run(history, Role::Reviewer))?
}

/// Why the section as it is now gives no verdict; None if it does. `by` is the run that gives it, where that is known, and
/// `left` is its end if it is being judged.
pub fn problem(
    history: &History,
    mark: Option<&str>,
    by: Option<&str>,
    left: Option<ReviewerEnd<'_>>,
) -> Option<String> {
    let mark = mark?;
    let run = reviewer(history);
    if by.is_some_and(|by| run.as_ref().is_none_or(|run| run.id != by)) {
        return Some("another reviewer was started for this review".to_owned());
    }
    let run = run?;
    if run.review_before.as_deref() == Some(mark) {
        return Some("`## Review` was there before its reviewer started".to_owned());
    }
    // A verdict that the reviewer gave itself, while the check still ran.
    let given = deferred(history).filter(|wish| wish.by == Role::Reviewer.as_str());
    if given.and_then(|wish| wish.mark).as_deref() == Some(mark) {
        return None;
    }
    let at_end = match (&run.end, left) {
        (None, Some(left)) if left.by_signal => {
            return Some("a reviewer that does not end by itself gives no verdict".to_owned());
        }
        (Some(end), _) if end.how == Ending::Crashed => {
            return Some("its reviewer ended without a verdict".to_owned());
        }
        (None, left) => left?.mark,
        (Some(_), _) => run.review.as_deref(),
    };
    at_end
        .filter(|at_end| *at_end != mark)
        .map(|_| "`## Review` was changed after its reviewer had ended".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDED: &str = r#""type":"status.changed","from":"working","to":"agent-review""#;
    const STARTED: &str =
        r#""type":"agent.spawned","run":"r1","role":"reviewer","review_before":"old""#;

    fn history(lines: &[&str]) -> History {
        let text: String = lines
            .iter()
            .map(|rest| format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",{rest}}}\n"))
            .collect();
        History::parse(text.as_bytes())
    }

    fn counts(lines: &[&str], mark: &str, left: Option<ReviewerEnd<'_>>) -> bool {
        problem(&history(lines), Some(mark), None, left).is_none()
    }

    #[test]
    fn a_review_counts_only_if_the_reviewer_can_have_written_it() {
        let running = [HANDED, STARTED];
        assert!(counts(&running, "new", None));
        assert!(!counts(&running, "old", None));
        let left = |by_signal, mark| Some(ReviewerEnd { by_signal, mark });
        assert!(counts(&running, "new", left(false, Some("new"))));
        assert!(counts(&running, "new", left(false, None)));
        assert!(!counts(&running, "new", left(false, Some("other"))));
        assert!(!counts(&running, "new", left(true, Some("new"))));

        let exited = r#""type":"agent.exited","run":"r1","review":"new""#;
        assert!(counts(&[HANDED, STARTED, exited], "new", None));
        assert!(!counts(&[HANDED, STARTED, exited], "later", None));
        let crashed = r#""type":"agent.crashed","run":"r1","review":"new""#;
        assert!(!counts(&[HANDED, STARTED, crashed], "new", None));
    }

    #[test]
    fn a_review_that_begins_or_ends_is_noted_beside_its_move() {
        let task = Task {
            review_round: 2,
            ..Task::default()
        };
        let noted = |line: &str| {
            let read = history(&[line]);
            let note = noted_beside(&read.events[0], &task)?;
            assert_eq!(note.revision, None, "it changes no field");
            assert_eq!(note.transition, read.events[0].transition);
            let facts = ReviewNote::of(&note).unwrap();
            let facts = (facts.round, facts.head, facts.run);
            Some(format!("{} {facts:?}", note.kind.as_str()))
        };
        let began = Some("review.started (Some(2), None, None)".to_owned());
        assert_eq!(noted(HANDED), began);
        assert_eq!(
            noted(&HANDED.replace("status.changed\"", "auto.advanced\",\"revision\":7")),
            began
        );
        assert_eq!(
            noted(r#""type":"task.created","fields":{"status":"agent-review"}"#),
            began
        );
        let verdict = |to: &str, verdict: &str| {
            format!(
                r#""type":"status.changed","transition":"t","from":"agent-review","to":"{to}","verdict":"{verdict}","head":"a1","run":"r1""#
            )
        };
        let facts = r#"(Some(2), Some("a1"), Some("r1"))"#;
        for (to, word, kind) in [
            ("reviewing", "pass", "review.passed"),
            ("working", "fail", "review.failed"),
            ("stuck", "fail", "review.failed"),
        ] {
            assert_eq!(noted(&verdict(to, word)), Some(format!("{kind} {facts}")));
        }
        for other in [
            r#""type":"status.deferred","wish":"reviewing","verdict":"pass""#,
            r#""type":"status.changed","from":"agent-review","to":"working","check":"newly failed""#,
            r#""type":"task.adopted","fields":{"status":"agent-review"}"#,
            r#""type":"task.created","fields":{"status":"pending"}"#,
            r#""type":"task.updated","fields":{"priority":"high"}"#,
        ] {
            assert_eq!(noted(other), None, "{other}");
        }
    }

    #[test]
    fn a_verdict_that_was_given_outlives_its_reviewer() {
        let given = r#""type":"status.deferred","by":"reviewer","wish":"reviewing","review":"new""#;
        let exited = r#""type":"agent.exited","run":"r1","review":"later""#;
        let lines = [HANDED, STARTED, given, exited];
        assert!(counts(&lines, "new", None));
        assert!(counts(&lines, "later", None));
        assert!(!counts(&lines, "forged", None));
    }

    #[test]
    fn a_reviewer_of_an_earlier_round_says_nothing_about_this_one() {
        let back = r#""type":"status.changed","from":"agent-review","to":"working""#;
        let lines = [HANDED, STARTED, back, HANDED];
        assert_eq!(reviewer(&history(&lines)), None);
        assert!(problem(&history(&lines), Some("new"), Some("r1"), None).is_some());
        assert!(counts(&lines, "old", None));
    }
}

//! The check that a repository comes with (`verify.command`), run by Orange itself on the commit that was handed
//! over: what it came to, whether it still runs, and what waits for it. All of it is read from the journal.

pub mod lines;
pub mod percentage;

use crate::choice;
use crate::evidence::{Evidence, Statement};
use crate::history::payload::{StatusMoved, TaskVerified, VerifyStarted};
use crate::history::{Event, EventType, History, Payload};
use crate::task::Status;
use crate::{Timestamp, naming};
use serde::{Deserialize, Serialize};

choice! {
    /// What a check came to.
    #[derive(Default)]
    pub enum CheckOutcome ("outcome") {
        Passed = "passed",
        Failed = "failed",
        TimedOut = "timed-out",
        /// It never ran; the reason is told.
        #[default]
        NotRun = "not-run",
    }
}

impl CheckOutcome {
    fn failed(self) -> bool {
        matches!(self, CheckOutcome::Failed | CheckOutcome::TimedOut)
    }
}

/// What a check of one commit came to. Stands as it is in the journal and in `task show --json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    pub outcome: CheckOutcome,
    /// Why it did not run, or how the command ended: `exit code 1`, `stopped after 600 s`.
    #[serde(default)]
    pub reason: String,
    /// Of the command that failed, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The command that failed; of a check that passed its last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The last lines of its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
    /// Where all of its output is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Known from an earlier check of the same commit with the same commands.
    #[serde(default)]
    pub cached: bool,
    /// Nobody knew the environment of the person who started the task, so it ran in a minimal one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minimal_environment: bool,
    /// What the same check came to where the work started from; only looked at after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<OnBase>,
}

/// The same check on the commit that the work started from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnBase {
    pub commit: String,
    pub branch: String,
    pub outcome: CheckOutcome,
    #[serde(default)]
    pub reason: String,
    /// Lines of the failure that the base has too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Lines of the failure that only the work has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<String>,
}

impl CheckResult {
    pub fn not_run(why: impl Into<String>) -> CheckResult {
        CheckResult {
            reason: why.into(),
            ..CheckResult::default()
        }
    }

    pub fn passed(&self) -> bool {
        self.outcome == CheckOutcome::Passed
    }

    /// Ran, and did not pass.
    pub fn failed(&self) -> bool {
        self.outcome.failed()
    }

    /// Whether the shell found no program to run, or one that cannot be executed.
    pub fn program_is_missing(&self) -> bool {
        matches!(self.exit_code, Some(126 | 127))
    }

    /// Failed although the same check passes on the commit that the work started from.
    pub fn newly_failed(&self) -> bool {
        let base = self.base.as_ref();
        self.failed() && base.is_some_and(|base| base.outcome == CheckOutcome::Passed)
    }

    /// Failed, and the base is not known to fail as well: worth a sign in a list.
    pub fn stands_out(&self) -> bool {
        self.failed() && !self.base.as_ref().is_some_and(|base| base.outcome.failed())
    }

    /// What a worker is told of a failure: which command failed and how, the last lines of its output, where all of it is.
    pub fn report(&self) -> String {
        let mut lines = vec![self.words()];
        if !self.tail.is_empty() {
            lines.push("\nThe last lines of its output:\n".to_owned());
            lines.extend(self.tail.iter().map(|line| format!("    {line}")));
        }
        if let Some(log) = &self.log {
            lines.push(format!("\nThe whole output: {log}"));
        }
        lines.join("\n")
    }

    /// In words: `make test` fails (exit code 2), and fails on main@abc1234 too.
    pub fn words(&self) -> String {
        self.words_at("")
    }

    /// The same with a commit: `make test` fails at def5678 (exit code 2) …
    fn words_at(&self, place: &str) -> String {
        let command = self.command.as_deref().map_or("verify", first_line);
        let took = self.seconds.map_or(String::new(), |seconds| {
            format!(" ({})", naming::duration(seconds))
        });
        match self.outcome {
            CheckOutcome::NotRun => format!("not verified: {}", self.reason),
            CheckOutcome::Passed => format!("`{command}` passed{place}{took}"),
            CheckOutcome::TimedOut | CheckOutcome::Failed => {
                let base = self.base.as_ref().map_or(String::new(), OnBase::words);
                format!("`{command}` failed{place}: {}{took}{base}", self.reason)
            }
        }
    }
}

impl OnBase {
    fn words(&self) -> String {
        let place = format!("{}@{}", self.branch, naming::short_commit(&self.commit));
        match self.outcome {
            CheckOutcome::Passed => format!("; it passes on {place}"),
            CheckOutcome::NotRun => format!("; not tried on {place}: {}", self.reason),
            CheckOutcome::Failed | CheckOutcome::TimedOut => {
                match (self.known.len(), self.new.len()) {
                    (0, 0) => format!("; it fails on {place} too ({})", self.reason),
                    (known, 0) => format!(
                        "; it fails on {place} too, with {} the same",
                        naming::counted(known, "failure")
                    ),
                    (known, new) => format!(
                        "; it fails on {place} too, {known} of {} the same, {new} new",
                        naming::counted(known + new, "failure")
                    ),
                }
            }
        }
    }
}

/// A result, and what it speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    pub said: Statement,
    pub result: CheckResult,
}

/// The result with the commit and the time that it speaks of.
impl Serialize for Verified {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct VerificationKeys<'a> {
            #[serde(flatten)]
            result: &'a CheckResult,
            head: &'a Option<String>,
            newly_failed: bool,
            at: Timestamp,
        }
        let keys = VerificationKeys {
            result: &self.result,
            head: &self.said.head,
            newly_failed: self.result.newly_failed(),
            at: self.said.at,
        };
        keys.serialize(serializer)
    }
}

impl Verified {
    /// None for an event that this program cannot read.
    pub fn of(event: &Event) -> Option<Verified> {
        Some(Verified {
            result: TaskVerified::of(event)?.result?,
            said: Statement::of(event),
        })
    }

    /// In words, with the commit it speaks of.
    pub fn words(&self) -> String {
        let place = match self.said.head.as_deref().map(naming::short_commit) {
            None | Some("") => String::new(),
            Some(commit) => format!(" at {commit}"),
        };
        self.result.words_at(&place)
    }

    /// The event that tells of a result.
    pub fn event(head: Option<&str>, result: &CheckResult, now: Timestamp) -> Event {
        let told = TaskVerified {
            result: Some(result.clone()),
            head,
        };
        Event::of(Payload::TaskVerified(told), now)
            .by("engine")
            .because(result.words())
    }
}

/// A check that has been asked for and has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningCheck {
    pub head: Option<String>,
    pub command: String,
    pub since: Timestamp,
}

impl RunningCheck {
    /// `make test` is still running (2 min).
    pub fn words(&self, now: Timestamp) -> String {
        let seconds = now.duration_since(self.since).as_secs_f64().max(0.0);
        format!(
            "`{}` is still running ({})",
            first_line(&self.command),
            naming::duration(seconds)
        )
    }
}

/// The check that the task waits for in its review.
pub fn running(history: &History) -> Option<RunningCheck> {
    open(since_review(history))
}

/// The last check that was begun, wherever the task has gone since.
pub fn unanswered(history: &History) -> Option<RunningCheck> {
    open(&history.events)
}

/// That a check was begun, or what it came to.
fn last_of_check(events: &[Event]) -> Option<&Event> {
    use EventType::{TaskVerified, VerifyStarted};
    let of_check = |event: &&Event| matches!(event.kind, VerifyStarted | TaskVerified);
    events.iter().rfind(of_check)
}

fn open(events: &[Event]) -> Option<RunningCheck> {
    let last = last_of_check(events)?;
    let started = VerifyStarted::of(last)?;
    Some(RunningCheck {
        head: started.head.map(str::to_owned),
        command: started.command.unwrap_or_default().to_owned(),
        since: last.timestamp,
    })
}

/// The result of the handed-over commit's check, if it newly failed and the task is still in that review.
pub fn newly_failed(history: &History) -> Option<Verified> {
    let events = since_review(history);
    if open(events).is_some() {
        return None;
    }
    let handed_over = Evidence::of(history).handoff.and_then(|said| said.head);
    let mut newest_first = events.iter().rev().filter_map(Verified::of);
    newest_first
        .find(|told| handed_over.is_none() || told.said.head == handed_over)
        .filter(|told| told.result.newly_failed())
}

/// The check that sent the task back with its last status change.
pub fn returned_by(history: &History) -> Option<Verified> {
    let moved = |event: &Event| event.is_move();
    let at = history.events.iter().rposition(moved)?;
    StatusMoved::of(history.events.get(at)?)?.check?;
    let before = history.events.get(..at)?;
    before.iter().rev().find_map(Verified::of)
}

choice! {
    /// How the last check of a task stands.
    pub enum CheckState ("state of a check") {
        Running = "running",
        Passed = "passed",
        Failed = "failed",
        /// It failed, and so does the same check where the work started from.
        FailedOnBase = "failed-on-base",
    }
}

/// The last check of a task, and the commit that it speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastCheck {
    pub state: CheckState,
    pub head: Option<String>,
}

/// The last check; None where there was none, or where it could not be run.
pub fn last_check(history: &History) -> Option<LastCheck> {
    let last = last_of_check(&history.events)?;
    if let Some(started) = VerifyStarted::of(last) {
        return Some(LastCheck {
            state: CheckState::Running,
            head: started.head.map(str::to_owned),
        });
    }
    let told = Verified::of(last)?;
    let state = match told.result.outcome {
        CheckOutcome::NotRun => return None,
        CheckOutcome::Passed => CheckState::Passed,
        CheckOutcome::Failed | CheckOutcome::TimedOut if told.result.stands_out() => {
            CheckState::Failed
        }
        CheckOutcome::Failed | CheckOutcome::TimedOut => CheckState::FailedOnBase,
    };
    Some(LastCheck {
        state,
        head: told.said.head,
    })
}

/// Whether the last check failed and stands out. A check that is begun takes its place.
pub fn last_failed(history: &History) -> bool {
    last_check(history).is_some_and(|check| check.state == CheckState::Failed)
}

/// A move that waits for the check: who wanted it, and which commit was spoken of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deferred {
    pub to: Status,
    pub by: String,
    pub head: Option<String>,
    /// The mark of the review that gave the verdict.
    pub mark: Option<String>,
}

/// The verdict that waits for the end of a check.
pub fn deferred(history: &History) -> Option<Deferred> {
    let mut newest_first = since_review(history).iter().rev();
    let last = newest_first.find(|event| {
        event.kind == EventType::StatusDeferred
            || event.kind == EventType::AttentionRaised && event.wish().is_some()
    })?;
    let wanted = StatusMoved::of(last)?;
    Some(Deferred {
        to: wanted.wish?,
        by: last.by.clone().unwrap_or_default(),
        head: wanted.head.map(str::to_owned),
        mark: wanted.review.map(str::to_owned),
    })
}

/// What was journalled since the task came to its review; nothing if it is not there.
pub(crate) fn since_review(history: &History) -> &[Event] {
    match history.since_move() {
        Some((entered, later)) if entered.new_status().is_some_and(Status::is_in_review) => later,
        _ => &[],
    }
}

fn first_line(command: &str) -> &str {
    command.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTERED: &str =
        r#""type":"status.changed","by":"agent","from":"working","to":"agent-review","head":"a1""#;
    const STARTED: &str =
        r#""type":"verify.started","by":"engine","command":"make test","head":"a1""#;
    const WISH: &str = r#""type":"status.deferred","by":"reviewer","wish":"reviewing","head":"a1""#;

    fn history(lines: &[&str]) -> History {
        let text: String = lines
            .iter()
            .map(|rest| format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",{rest}}}\n"))
            .collect();
        History::parse(text.as_bytes())
    }

    fn with(mut history: History, result: &CheckResult) -> History {
        let line = Verified::event(Some("a1"), result, Timestamp::UNIX_EPOCH).to_line();
        let told = History::parse(format!("{}\n", line.trim_end()).as_bytes());
        history.events.extend(told.events);
        history
    }

    fn failed() -> CheckResult {
        CheckResult {
            outcome: CheckOutcome::Failed,
            reason: "exit code 2".into(),
            command: Some("make test".into()),
            seconds: Some(125.0),
            ..CheckResult::not_run("")
        }
    }

    #[test]
    fn a_check_runs_until_its_result_is_there_or_the_task_has_gone() {
        let open = running(&history(&[ENTERED, STARTED])).unwrap();
        assert_eq!(open.head.as_deref(), Some("a1"));
        let later = open.since + crate::SignedDuration::from_secs(130);
        assert_eq!(open.words(later), "`make test` is still running (2 min)");
        let over = with(history(&[ENTERED, STARTED]), &failed());
        assert_eq!(running(&over), None);
        let gone = r#""type":"status.changed","by":"human","from":"agent-review","to":"reviewing""#;
        let left = history(&[ENTERED, STARTED, gone]);
        assert_eq!(running(&left), None);
        assert!(unanswered(&left).is_some());
    }

    #[test]
    fn a_verdict_waits_once_and_not_beyond_its_review() {
        let open = history(&[ENTERED, STARTED, WISH]);
        assert_eq!(deferred(&open).unwrap().by, "reviewer");
        assert_eq!(deferred(&history(&[STARTED, WISH, ENTERED])), None);
        let withdrawn = r#""type":"attention.raised","by":"engine","wish":"reviewing""#;
        assert_eq!(deferred(&history(&[ENTERED, WISH, withdrawn])), None);
    }

    #[test]
    fn a_result_survives_the_journal() {
        let result = CheckResult {
            base: Some(OnBase {
                commit: "0123456789".into(),
                branch: "main".into(),
                outcome: CheckOutcome::Failed,
                reason: "exit code 2".into(),
                known: vec!["FAILED a".into()],
                new: vec!["FAILED b".into()],
            }),
            ..failed()
        };
        let read = with(history(&[ENTERED, STARTED]), &result);
        let read = Verified::of(read.events.last().unwrap()).unwrap();
        assert_eq!(read.result, result);
        assert_eq!(read.said.head.as_deref(), Some("a1"));
        assert_eq!(
            result.words(),
            "`make test` failed: exit code 2 (2 min); it fails on main@0123456 too, 1 of 2 failures the same, 1 new"
        );
    }
}

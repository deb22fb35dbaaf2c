//! What speaks for a task's work, each bound to the commit it speaks of: read from the journal, so that every
//! process sees the same. Only events that Orange itself journalled give evidence.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "most events are no evidence"
)]

use crate::Timestamp;
use crate::gate;
use crate::history::payload::{StatusMoved, TaskFound};
use crate::history::{Event, EventType, History};
use crate::task::Status;
use crate::verification::Verified;
use serde::Serialize;
use serde_json::Value;

/// Who said it, where only TASK.md of an adopted task does.
pub const FILE: &str = "file";

/// Something that was said of the work as it stood at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// None: nobody could tell which commit it was.
    pub head: Option<String>,
    pub by: String,
    pub at: Timestamp,
}

/// What a review came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewVerdict {
    #[serde(flatten)]
    pub said: Statement,
    pub passed: bool,
    /// Which review of the task it was, counted from 1.
    pub round: u32,
    /// Who wrote the Review section, as far as that is known: `reviewer`, `probably reviewer` where another agent was there
    /// but not at work, `contested` where it was, or `unknown`.
    pub written_by: Option<String>,
    /// Where the branch was at the verdict, if not at the commit that was handed over.
    #[serde(skip)]
    pub branch_at: Option<String>,
}

/// All that speaks for a task's work.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// How often the work went to a reviewer. A person's request for changes starts a new count towards
    /// `review.max_rounds`, but not here: so the sections of TASK.md are numbered.
    pub rounds: u32,
    /// The last time the work was handed over.
    pub handoff: Option<Statement>,
    /// The last verdict of a reviewer.
    pub verdict: Option<ReviewVerdict>,
    /// How the task came to `reviewing`, as long as it is there.
    #[serde(skip)]
    pub reviewing: Option<Statement>,
    /// The review that lets the task be merged without further questions: passed, or the word of a person who created the
    /// task for reviewed work.
    pub review: Option<Statement>,
    /// The last check by the repository's own command.
    pub verify: Option<Verified>,
}

impl Statement {
    pub fn of(event: &Event) -> Statement {
        Statement {
            head: event.head().map(str::to_owned),
            by: event.by.clone().unwrap_or_default(),
            at: event.timestamp,
        }
    }
}

impl Evidence {
    /// What the journal says, whoever wrote it.
    pub fn of(history: &History) -> Evidence {
        Evidence::confirmed(history, |_| true)
    }

    /// What the journal says in events that are genuine: `genuine` is asked about their places in the journal. One
    /// that is not gives no evidence, but takes back what it would have taken back.
    pub fn confirmed(history: &History, genuine: impl Fn(usize) -> bool) -> Evidence {
        let mut evidence = Evidence::default();
        for (place, event) in history.events.iter().enumerate() {
            if !genuine(place) {
                evidence.only_said(event);
                continue;
            }
            match event.kind {
                EventType::TaskCreated => match event.new_status() {
                    Some(Status::Reviewing) => evidence.enters_reviewing(event),
                    Some(Status::AgentReview) => evidence.handed_over(event),
                    _ => {}
                },
                EventType::TaskAdopted => evidence.adopted(event),
                _ if event.is_move() => evidence.moved(event),
                EventType::TaskVerified => evidence.verify = Verified::of(event),
                _ => {}
            }
        }
        evidence
    }

    fn only_said(&mut self, event: &Event) {
        match event.kind {
            // A failure that Orange saw is not forgotten because somebody says otherwise.
            EventType::TaskVerified => {
                let failed = |known: &Verified| known.result.failed();
                self.verify = self.verify.take().filter(failed);
            }
            _ if event.is_move() => {
                if event.new_status() == Some(Status::AgentReview) {
                    self.handoff = None;
                    self.rounds = self.rounds.saturating_add(1);
                }
                self.verdict = None;
                self.reviewing = None;
                self.review = None;
            }
            _ => {}
        }
    }

    fn moved(&mut self, event: &Event) {
        let to = event.new_status();
        let from_review = event.from.as_deref() == Some(Status::AgentReview.as_str());
        if to == Some(Status::AgentReview) {
            self.handed_over(event);
        }
        // A reviewer that crashed too often leaves the task stuck as well, and has said nothing.
        // So does a check that failed.
        let made = StatusMoved::of(event).unwrap_or_default();
        let told = matches!(to, Some(Status::Reviewing | Status::Working)) && made.check.is_none()
            || made.verdict.is_some();
        if from_review && told {
            self.verdict = Some(ReviewVerdict {
                said: Statement::of(event),
                passed: to == Some(Status::Reviewing),
                round: self.rounds,
                written_by: made.written_by.map(str::to_owned),
                branch_at: made.branch_at.map(str::to_owned),
            });
        }
        match to {
            Some(Status::Reviewing) => self.enters_reviewing(event),
            Some(Status::Done | Status::Cancelled) => {}
            _ => {
                self.reviewing = None;
                self.review = None;
            }
        }
    }

    /// A review of the program that had the task before counts as TASK.md said when it was adopted. Nobody knows of which
    /// commit it speaks.
    fn adopted(&mut self, event: &Event) {
        let verdict = TaskFound::of(event).and_then(|found| found.verdict);
        if event.new_status() != Some(Status::Reviewing) || verdict != Some(gate::Verdict::Pass) {
            return;
        }
        let said = Statement {
            head: None,
            by: FILE.to_owned(),
            at: event.timestamp,
        };
        let round = event.fields.get("review_round").and_then(Value::as_u64);
        self.rounds = round.and_then(|round| round.try_into().ok()).unwrap_or(0);
        self.verdict = Some(ReviewVerdict {
            said: said.clone(),
            passed: true,
            round: self.rounds,
            written_by: None,
            branch_at: None,
        });
        self.reviewing = Some(said.clone());
        self.review = Some(said);
    }

    fn handed_over(&mut self, event: &Event) {
        self.handoff = Some(Statement::of(event));
        self.rounds = self.rounds.saturating_add(1);
    }

    fn enters_reviewing(&mut self, event: &Event) {
        let said = Statement::of(event);
        // An agent that calls itself reviewed is not; a person who creates a task for reviewed work is believed. A person
        // who takes a stuck task over has not said that it is reviewed.
        let passed = event.from.as_deref() == Some(Status::AgentReview.as_str());
        let was_stuck = event.from.as_deref() == Some(Status::Stuck.as_str());
        let is_persons_word = said.by == "human" && !was_stuck;
        self.review = (passed || is_persons_word).then(|| said.clone());
        self.reviewing = Some(said);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Evidence {
        let text: String = lines
            .iter()
            .map(|rest| format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",{rest}}}\n"))
            .collect();
        Evidence::of(&History::parse(text.as_bytes()))
    }

    fn head(said: &Option<Statement>) -> &str {
        let head = said.as_ref().and_then(|said| said.head.as_deref());
        head.unwrap_or_default()
    }

    const HANDED: &str =
        r#""type":"status.changed","by":"agent","from":"working","to":"agent-review","head":"a1""#;
    const PASSED: &str = r#""type":"status.changed","by":"reviewer","from":"agent-review","to":"reviewing","head":"a2","verdict":"pass""#;

    #[test]
    fn a_handoff_and_a_verdict_speak_of_their_commits() {
        let evidence = of(&[HANDED, PASSED]);
        assert_eq!(head(&evidence.handoff), "a1");
        assert_eq!(head(&evidence.review), "a2");
        assert!(evidence.verdict.is_some_and(|verdict| verdict.passed));
    }

    #[test]
    fn changes_asked_for_take_the_review_back_but_not_the_verdict() {
        let changes = r#""type":"status.changed","by":"human","from":"reviewing","to":"working""#;
        let evidence = of(&[HANDED, PASSED, changes]);
        assert_eq!(evidence.review, None);
        assert!(evidence.verdict.is_some());
        let failed = r#""type":"status.changed","by":"reviewer","from":"agent-review","to":"working","head":"a3","verdict":"fail""#;
        let evidence = of(&[HANDED, failed]);
        assert!(evidence.verdict.is_some_and(|verdict| !verdict.passed));
        let gave_up = r#""type":"status.changed","by":"engine","from":"agent-review","to":"stuck","head":"a3""#;
        assert_eq!(of(&[HANDED, gave_up]).verdict, None);
    }

    #[test]
    fn an_event_that_is_not_genuine_gives_nothing_and_takes_back() {
        let verified =
            r#""type":"task.verified","by":"engine","head":"a1","result":{"outcome":"passed"}"#;
        let text: String = [HANDED, verified, PASSED]
            .iter()
            .map(|rest| format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",{rest}}}\n"))
            .collect();
        let history = History::parse(text.as_bytes());
        let without = |place: usize| Evidence::confirmed(&history, |asked| asked != place);
        let (no_handoff, no_check, no_pass) = (without(0), without(1), without(2));
        assert_eq!((&no_handoff.handoff, no_handoff.rounds), (&None, 1));
        assert!(no_handoff.verify.is_some() && no_handoff.review.is_some());
        assert!(no_check.verify.is_none() && no_check.review.is_some());
        assert_eq!((no_pass.verdict, no_pass.review), (None, None));
        assert!(no_pass.verify.is_some());
    }

    #[test]
    fn neither_an_agent_nor_a_person_makes_a_stuck_task_reviewed() {
        let came = |who: &str| {
            format!(
                r#""type":"status.changed","by":"{who}","from":"stuck","to":"reviewing","head":"a4""#
            )
        };
        let agent = of(&[HANDED, &came("agent")]);
        assert_eq!((head(&agent.reviewing), agent.review), ("a4", None));
        let person = of(&[HANDED, &came("human")]);
        assert_eq!((head(&person.reviewing), person.review), ("a4", None));
        let created =
            r#""type":"task.created","by":"human","fields":{"status":"reviewing"},"head":"a5""#;
        assert_eq!(head(&of(&[created]).review), "a5");
    }

    #[test]
    fn a_review_from_before_the_adoption_counts_without_a_commit() {
        let adopted = |status: &str, verdict: &str| {
            let line = format!(
                r#""type":"task.adopted","by":"engine","fields":{{"status":"{status}","review_round":2}},"verdict":"{verdict}""#
            );
            of(&[&line])
        };
        let passed = adopted("reviewing", "pass");
        let review = passed.review.unwrap();
        assert_eq!((review.head, review.by.as_str()), (None, FILE));
        assert_eq!(passed.verdict.map(|verdict| verdict.round), Some(2));
        assert_eq!(adopted("reviewing", "fail").review, None);
        assert_eq!(adopted("working", "pass").review, None);
    }
}

//! What an agent's end means for its task: the exit rules, read from the workflow's table.

use crate::machine::{self, Decision, Move, Refusal, Situation};
use crate::task::Status;
use crate::workflow::{Actor, Condition, Role, Transition, Trigger, Workflow};

/// What follows when an agent process is gone.
#[derive(Debug, Clone, PartialEq)]
pub enum Consequence {
    /// Nothing was expected of it where the task stands.
    Nothing,
    /// It left what a gate asks for: the engine moves the task.
    Advance(Box<Decision>),
    /// The same, but the check of its work still runs: the engine moves the task when that is over.
    Wait { to: Status, running: String },
    /// It left nothing; `missing` says what was looked for.
    Crash { missing: String },
}

/// Judges the end of a run. The rows that count are those with a gate that this role and the engine may both
/// take: the artifact counts even if the agent ended before it reported.
pub fn after_exit(workflow: &Workflow, situation: Situation<'_>, role: Role) -> Consequence {
    let rows: Vec<&Transition> = workflow
        .rows_from(situation.task.status, situation.task.blocked_reason)
        .filter(|row| row.gate.is_some() && shared(row, role))
        .collect();
    for row in &rows {
        let wish = Move::to(row.to);
        match machine::decide(workflow, situation, Actor::Engine, wish) {
            Ok(decision) => return Consequence::Advance(Box::new(decision.by_exit_rule())),
            Err(Refusal::Unmet {
                condition: Condition::VerifyOver,
                detail,
            }) => {
                return Consequence::Wait {
                    to: row.to,
                    running: detail,
                };
            }
            Err(Refusal::Unmet {
                condition: Condition::ReviewersOwn,
                detail,
            }) => return Consequence::Crash { missing: detail },
            Err(_) => {}
        }
    }
    match missing(&rows, situation) {
        Some(missing) => Consequence::Crash { missing },
        None => Consequence::Nothing,
    }
}

/// Whether a role's run is needed where the task stands, so that its end is a crash.
pub fn is_expected(status: Status, role: Role) -> bool {
    status.info().expects == Some(role)
}

/// The role that a status is about.
pub fn role_of(status: Status) -> Role {
    status.info().expects.unwrap_or(Role::Worker)
}

/// The move of a task whose agent has crashed too often.
pub fn gives_up() -> Move {
    Move {
        trigger: Some(Trigger::CRASH_LIMIT),
        ..Move::to(Status::Stuck)
    }
}

fn shared(row: &Transition, role: Role) -> bool {
    let plain = |actor: Actor| row.entries_for(actor).any(|entry| entry.when.is_none());
    plain(Actor::Agent(role)) && plain(Actor::Engine)
}

/// What the first of these gates misses.
fn missing(rows: &[&Transition], situation: Situation<'_>) -> Option<String> {
    let gate = rows.first()?.gate?;
    Some(match gate.check(situation.body) {
        Err(problem) => problem.message(),
        Ok(()) => format!("{} is there, but the task cannot move", gate.label()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::history::EventType;
    use crate::machine::Facts;
    use crate::task::Task;

    const PLAN: &str = "## Plan\nAPPROACH: x\n";
    const HANDOFF: &str = "## Handoff\nDONE: x\n";
    const PASS: &str = "## Review\nVerdict: PASS\n";
    const FAIL: &str = "## Review\nVerdict: FAIL\n";

    fn outcome(status: Status, role: Role, round: u32, body: &str) -> String {
        outcome_with(status, role, round, body, Facts::default())
    }

    fn outcome_with(status: Status, role: Role, round: u32, body: &str, facts: Facts) -> String {
        let task = Task {
            status,
            review_round: round,
            ..Task::default()
        };
        let situation = Situation {
            task: &task,
            body,
            facts: &facts,
            max_rounds: 2,
            now: Timestamp::UNIX_EPOCH,
        };
        match after_exit(Workflow::named(task.workflow), situation, role) {
            Consequence::Nothing => "nothing".into(),
            Consequence::Advance(decision) => {
                // What nobody asked for is told apart from what somebody did.
                assert_eq!(decision.event.kind, EventType::AutoAdvanced);
                decision.event.to.unwrap_or_default()
            }
            Consequence::Wait { to, .. } => format!("waits for {to}"),
            Consequence::Crash { .. } => "crash".into(),
        }
    }

    #[test]
    fn the_rules_of_every_status_and_role() {
        use Role::{Reviewer, Worker};
        use Status as S;
        let cases = [
            (S::Planning, Worker, 0, "", "crash"),
            (S::Planning, Worker, 0, PLAN, "working"),
            (S::Planning, Reviewer, 0, PLAN, "nothing"),
            (S::Working, Worker, 0, PLAN, "crash"),
            (S::Working, Worker, 0, HANDOFF, "agent-review"),
            (S::Working, Reviewer, 0, HANDOFF, "nothing"),
            (S::AgentReview, Worker, 1, "", "nothing"),
            (S::AgentReview, Worker, 1, PASS, "nothing"),
            (S::AgentReview, Reviewer, 1, "", "crash"),
            (S::AgentReview, Reviewer, 1, PASS, "reviewing"),
            (S::AgentReview, Reviewer, 1, FAIL, "working"),
            (S::AgentReview, Reviewer, 2, FAIL, "stuck"),
            (S::Clarification, Worker, 0, PLAN, "nothing"),
            (S::Reviewing, Worker, 1, HANDOFF, "nothing"),
            (S::Stuck, Worker, 2, HANDOFF, "nothing"),
            (S::Pending, Worker, 0, "", "nothing"),
            (S::Delegated, Worker, 0, "", "nothing"),
            (S::Done, Worker, 0, "", "nothing"),
            (S::Cancelled, Reviewer, 0, "", "nothing"),
        ];
        for (status, role, round, body, expected) in cases {
            assert_eq!(
                outcome(status, role, round, body),
                expected,
                "{status} {role} {round} {body:?}"
            );
        }
    }

    #[test]
    fn a_review_that_passed_waits_for_the_check_and_one_that_failed_does_not() {
        let running = |body: &str| {
            let facts = Facts {
                verifying: Some("`make test` is still running".into()),
                ..Facts::default()
            };
            outcome_with(Status::AgentReview, Role::Reviewer, 1, body, facts)
        };
        assert_eq!(running(PASS), "waits for reviewing");
        assert_eq!(running(FAIL), "working");
        assert_eq!(running(""), "crash");
    }

    #[test]
    fn an_agent_is_expected_where_its_end_would_be_a_crash() {
        let workflow = Workflow::named(Task::default().workflow);
        for status in Status::ALL {
            let worker = matches!(status, Status::Planning | Status::Working);
            assert_eq!(is_expected(*status, Role::Worker), worker);
            let reviewer = *status == Status::AgentReview;
            assert_eq!(is_expected(*status, Role::Reviewer), reviewer);
            for role in [Role::Worker, Role::Reviewer] {
                let judged = |row: &Transition| row.gate.is_some() && shared(row, role);
                let rows = workflow.rows_from(*status, None).any(judged);
                assert_eq!(is_expected(*status, role), rows, "{status} {role}");
            }
        }
    }
}

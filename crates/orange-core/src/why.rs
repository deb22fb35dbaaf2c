//! Why a task is where it is, what it waits for, and the command that moves it on: one answer, from the table.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::gate::{self, Gate, Verdict};
use crate::machine::{Facts, Situation, meets};
use crate::task::{Status, Task};
use crate::workflow::Condition;

/// The answer to `task why`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    pub because: String,
    /// What a person types next; None when nothing is left to do.
    pub next: Option<String>,
    /// Nothing moves until a person does something.
    pub needs_human: bool,
    /// `next` would be refused now: what `because` names is still missing.
    pub too_early: bool,
}

impl Why {
    fn waits(because: impl Into<String>, next: String) -> Why {
        Why {
            because: because.into(),
            next: Some(next),
            needs_human: false,
            too_early: false,
        }
    }

    /// Something has to be written before the command works.
    fn missing(because: impl Into<String>, next: String) -> Why {
        Why {
            too_early: true,
            ..Why::waits(because, next)
        }
    }

    fn needs_you(because: impl Into<String>, next: String) -> Why {
        Why {
            needs_human: true,
            ..Why::waits(because, next)
        }
    }

    fn over(because: impl Into<String>) -> Why {
        Why {
            because: because.into(),
            next: None,
            needs_human: false,
            too_early: false,
        }
    }
}

/// Explains a task. `target` is the branch its work goes to.
pub fn why(situation: Situation<'_>, target: &str) -> Why {
    let task = situation.task;
    let label = task.label();
    let update = |status: Status| format!("orange task update {label} --status {status}");
    match task.status {
        Status::Pending => pending(situation),
        Status::Planning => match Gate::Plan.check(situation.body) {
            Ok(()) => Why::waits("the plan is written", update(Status::Working)),
            Err(problem) => Why::missing(
                format!("waits for the agent's plan: {}", problem.message()),
                update(Status::Working),
            ),
        },
        Status::Clarification => Why::needs_you(
            "the agent waits for your answer to its questions in TASK.md",
            update(Status::Planning),
        ),
        Status::Working => match Gate::Handoff.check(situation.body) {
            Ok(()) => Why::waits(
                "the handoff is written",
                format!("orange task complete {label}"),
            ),
            Err(problem) => Why::missing(
                format!("waits for the agent's handoff: {}", problem.message()),
                format!("orange task complete {label}"),
            ),
        },
        Status::AgentReview => in_review(situation, &update),
        Status::Reviewing => Why::needs_you(
            format!(
                "waits for your decision: merge {} into {target}, or ask for changes with `{}`",
                task.branch,
                update(Status::Working)
            ),
            update(Status::Done),
        ),
        Status::Stuck => Why::needs_you(stuck_because(task), update(Status::Working)),
        Status::Delegated => delegated(situation.facts, &update),
        Status::Done => Why::over("its work is merged"),
        Status::Cancelled => Why::over("it was cancelled; a new task can start the work again"),
        Status::Created
        | Status::Classifying
        | Status::Planned
        | Status::Running
        | Status::Paused
        | Status::Blocked
        | Status::Completed
        | Status::Finalizing
        | Status::Finished
        | Status::Failed => Why::over(format!(
            "{} is not a status of the {} workflow",
            task.status, task.workflow
        )),
    }
}

fn pending(situation: Situation<'_>) -> Why {
    let task = situation.task;
    let label = task.label();
    let to = if task.summary.trim().is_empty() {
        Status::Clarification
    } else {
        Status::Planning
    };
    let start = format!("orange task update {label} --status {to}");
    let blocker = |wanted: Option<Status>| {
        let mut links = situation.facts.blockers.iter();
        links
            .find(|link| link.status == wanted)
            .map(|link| link.reference.as_str())
    };
    let hopeless = [
        (blocker(Some(Status::Cancelled)), "was cancelled"),
        (
            blocker(None),
            "does not exist (`orange task restore` lists deleted tasks)",
        ),
    ];
    for (reference, what) in hopeless {
        if let Some(reference) = reference {
            return Why::needs_you(
                format!("it waits for {reference}, which {what}, so it would wait for ever"),
                format!("orange task update {label} --remove-blocker {reference}"),
            );
        }
    }
    if let Err(detail) = meets(Condition::DependenciesOver, situation) {
        let open = situation.facts.blockers.iter();
        let first = open
            .filter(|link| !link.status.is_some_and(Status::is_over))
            .map(|link| link.reference.as_str())
            .next()
            .unwrap_or_default();
        return Why::waits(detail, format!("orange task why {first}"));
    }
    if let Err(detail) = meets(Condition::SlotFree, situation) {
        return Why::waits(
            format!("no slot is free: {detail}"),
            format!("orange project update {} --pool-size N", task.project),
        );
    }
    Why::waits("nothing is in its way; it has not been started", start)
}

fn in_review(situation: Situation<'_>, update: &dyn Fn(Status) -> String) -> Why {
    let last_round = meets(Condition::RoundAtMax, situation).is_ok();
    match gate::verdict(situation.body) {
        Some(Verdict::Pass) => Why::waits("the review passed", update(Status::Reviewing)),
        Some(Verdict::Fail) if last_round => Why::waits(
            format!(
                "the review failed in round {} of {}",
                situation.task.review_round, situation.max_rounds
            ),
            update(Status::Stuck),
        ),
        Some(Verdict::Fail) => Why::waits("the review failed", update(Status::Working)),
        None => Why::missing(
            format!(
                "waits for the verdict of review round {} of {}",
                situation.task.review_round, situation.max_rounds
            ),
            update(Status::Reviewing),
        ),
    }
}

fn stuck_because(task: &Task) -> String {
    if task.crash_count > 0 {
        format!("its agent crashed {} times", task.crash_count)
    } else if task.review_round > 0 {
        format!("it did not pass review after round {}", task.review_round)
    } else {
        "its agent gave up and asks for help".into()
    }
}

fn delegated(facts: &Facts, update: &dyn Fn(Status) -> String) -> Why {
    let open: Vec<String> = facts
        .children
        .iter()
        .filter(|child| !child.status.is_some_and(Status::is_over))
        .map(|child| match child.status {
            Some(status) => format!("{} ({status})", child.reference),
            None => child.reference.clone(),
        })
        .collect();
    let gone = facts
        .children
        .iter()
        .any(|child| child.status == Some(Status::Cancelled));
    let because = if open.is_empty() {
        "all its children are over".to_owned()
    } else {
        format!("waits for its children {}", open.join(", "))
    };
    Why {
        needs_human: gone,
        too_early: false,
        because,
        next: Some(
            match facts
                .children
                .iter()
                .find(|child| child.status.is_some_and(|s| !s.is_terminal()))
            {
                Some(child) if !gone => format!("orange task why {}", child.reference),
                Some(_) | None => update(Status::Working),
            },
        ),
    }
}

//! Why a task is where it is, what it waits for, and the command that moves it on: one answer, from the table.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::exit::role_of;
use crate::gate::{self, Gate, Verdict};
use crate::machine::{Facts, Situation, meets};
use crate::naming::shell_word;
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

/// The agent that a task's status is about, as far as an explanation cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    /// It never had one: the person does the work.
    None,
    /// Alive; `doing` says with a verb what it does.
    Alive { doing: String },
    /// Gone; `how` says with a verb how it ended.
    Gone { how: String },
}

/// What an explanation needs to know besides the situation.
#[derive(Debug, Clone)]
pub struct Surroundings<'a> {
    /// The branch the work goes to.
    pub target: &'a str,
    /// How often the work has gone to a reviewer, over all counts of rounds.
    pub rounds: u32,
    pub agent: Agent,
    /// No repository is registered under the name of its project.
    pub unregistered: bool,
    /// What would keep an agent that is gone from being started again.
    pub start_refused: Option<StartRefused>,
    /// What was said when the task came to its status.
    pub reason: Option<&'a str>,
    /// A review that failed in its last round brought it here.
    pub failed_review: bool,
    /// Why no agent more may run.
    pub limit: Option<String>,
    /// That the repository comes with commands to which nobody agreed.
    pub untrusted: Option<String>,
    /// A repository in which there is no commit that a branch could start from.
    pub without_commits: Option<String>,
    /// The repository, when the base that was asked for is no commit in it any more.
    pub without_base: Option<String>,
    /// What the last attempt to merge ran into, and is still there.
    pub conflicts: Option<Conflicts>,
    /// What a merge would ask the person about.
    pub concerns: Vec<String>,
    /// A check of the work as it is now would answer all of these.
    pub only_unchecked: bool,
    /// Nothing was ever committed on its branch.
    pub without_work: bool,
    /// What the last check came to, where it failed and its base does not fail too.
    pub failed_check: Option<String>,
}

/// Why a start of the agent would be refused, and the command that helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRefused {
    pub why: String,
    pub next: String,
}

/// Files that two sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    pub files: String,
    /// The branch that the task's own has to bring in: the target, here or on the remote.
    pub bring: String,
}

/// Explains a task.
pub fn why(situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let label = task.label();
    let update = |status: Status| format!("orange task update {label} --status {status}");
    if around.unregistered && !task.status.is_over() {
        return Why::needs_you(
            format!(
                "its project {} is not registered, so nothing can be done in its repository",
                task.project
            ),
            format!("orange project add PATH --name {}", task.project),
        );
    }
    if task.status == Status::AgentReview
        && gate::verdict(situation.body) == Some(Verdict::Pass)
        && let Some(running) = &situation.facts.verifying
    {
        return Why::waits(
            format!("the review passed; {running}"),
            format!("orange task verify {label}"),
        );
    }
    match (task.status, &around.agent) {
        (Status::Planning | Status::Working | Status::AgentReview, Agent::Gone { how }) => {
            let gone = format!("its {} {how}", role_of(task.status));
            return match &around.start_refused {
                Some(StartRefused { why, next }) => {
                    Why::needs_you(format!("{gone}; {why}"), next.clone())
                }
                None => Why::needs_you(gone, format!("orange task respawn {label}")),
            };
        }
        (Status::Planning | Status::Working | Status::AgentReview, Agent::Alive { doing }) => {
            let owed = owed(situation, around);
            return Why::waits(
                format!("its {} {doing}; {owed}", role_of(task.status)),
                format!("orange task attach {label}"),
            );
        }
        (Status::Clarification, Agent::Alive { .. }) => {
            return Why::needs_you(
                "the agent waits for your answer to its questions in TASK.md",
                format!("orange task send {label} TEXT"),
            );
        }
        _ => {}
    }
    match task.status {
        Status::Pending => pending(situation, around),
        Status::Planning => match Gate::Plan.check(situation.body) {
            Ok(()) => Why::waits("the plan is written", update(Status::Working)),
            Err(problem) => Why::missing(
                format!("waits for the plan: {}", problem.message()),
                update(Status::Working),
            ),
        },
        Status::Clarification => match &around.agent {
            Agent::None | Agent::Alive { .. } => Why::needs_you(
                "the agent waits for your answer to its questions in TASK.md",
                update(Status::Planning),
            ),
            Agent::Gone { how } => {
                let gone = format!("it asked questions in TASK.md, then its worker {how}");
                match &around.start_refused {
                    Some(StartRefused { why, next }) => {
                        Why::needs_you(format!("{gone}; {why}"), next.clone())
                    }
                    None => Why::needs_you(
                        format!("{gone}: start it again with your answer"),
                        format!("orange task respawn {label} --message TEXT"),
                    ),
                }
            }
        },
        Status::Working => match Gate::Handoff.check(situation.body) {
            Ok(()) => Why::waits(
                "the handoff is written",
                format!("orange task complete {label}"),
            ),
            Err(problem) => Why::missing(
                format!(
                    "waits for the handoff: {}{}",
                    problem.message(),
                    failed_check(around)
                ),
                format!("orange task complete {label}"),
            ),
        },
        Status::AgentReview => in_review(situation, around, &update),
        Status::Reviewing => reviewing(task, around),
        Status::Stuck => Why::needs_you(stuck_because(task, around), update(Status::Working)),
        Status::Delegated => delegated(situation.facts, &update),
        // What was said then: a task that a person resolved may have got nothing into its target.
        Status::Done => Why::over(around.reason.unwrap_or("its work is merged")),
        Status::Cancelled => Why::over(format!(
            "it was cancelled; `orange task create --from {label}` starts the work again"
        )),
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

/// What an agent has to write before its task moves on.
fn owed(situation: Situation<'_>, around: &Surroundings<'_>) -> String {
    let task = situation.task;
    if task.status == Status::Planning {
        "waits for its plan".to_owned()
    } else if task.status == Status::AgentReview {
        format!(
            "waits for the verdict of review {}",
            round(situation, around)
        )
    } else {
        format!("waits for its handoff{}", failed_check(around))
    }
}

fn failed_check(around: &Surroundings<'_>) -> String {
    let failed = around.failed_check.as_ref();
    failed.map_or_else(String::new, |failed| {
        format!("; its last check failed: {failed}")
    })
}

/// `round 1 of 2`; once a person asked for changes, both the round and how many count since then.
fn round(situation: Situation<'_>, around: &Surroundings<'_>) -> String {
    let (counted, max) = (situation.task.review_round, situation.max_rounds);
    match around.rounds > counted {
        true => format!(
            "round {} ({counted} of {max} since changes were requested)",
            around.rounds
        ),
        false => format!("round {counted} of {max}"),
    }
}

fn pending(situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let label = task.label();
    let start = format!("orange task spawn {label}");
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
            format!(
                "orange project update {} --pool-size {}",
                task.project,
                situation.facts.slots.size.saturating_add(1)
            ),
        );
    }
    if let Some(repository) = &around.without_commits {
        return Why::needs_you(
            format!("{repository} has no commit that its branch could start from"),
            format!("git -C {repository} commit --allow-empty -m start"),
        );
    }
    if let (Some(repository), Some(base)) = (&around.without_base, &task.base) {
        return Why::needs_you(
            format!("its base {base} is no commit in {repository} any more"),
            format!("git -C {repository} branch {base} COMMIT"),
        );
    }
    if let Some(untrusted) = &around.untrusted {
        let agree = format!("orange project trust {}", task.project);
        return Why::needs_you(untrusted.clone(), agree);
    }
    if let Some(limit) = &around.limit {
        return Why::waits(limit.clone(), format!("{start} --force"));
    }
    match task.queued_at {
        Some(_) => Why::waits("it is queued and nothing is in its way any more", start),
        None => Why::waits("nothing is in its way; it has not been started", start),
    }
}

fn in_review(
    situation: Situation<'_>,
    around: &Surroundings<'_>,
    update: &dyn Fn(Status) -> String,
) -> Why {
    let last_round = meets(Condition::RoundAtMax, situation).is_ok();
    match gate::verdict(situation.body) {
        Some(Verdict::Pass) => Why::waits("the review passed", update(Status::Reviewing)),
        Some(Verdict::Fail) if last_round => Why::waits(
            format!("the review failed in {}", round(situation, around)),
            update(Status::Stuck),
        ),
        Some(Verdict::Fail) => Why::waits("the review failed", update(Status::Working)),
        None => Why::missing(
            format!(
                "waits for the verdict of review {}",
                round(situation, around)
            ),
            update(Status::Reviewing),
        ),
    }
}

fn reviewing(task: &Task, around: &Surroundings<'_>) -> Why {
    let (label, target) = (task.label(), around.target);
    match &around.conflicts {
        Some(Conflicts { files, bring }) => Why::needs_you(
            format!(
                "it cannot be merged: it conflicts with {target} in {files}; its agent, or you in `orange task shell {label}`, must bring {bring} in first"
            ),
            format!(
                "orange task request-changes {label} \"bring {bring} in and resolve the conflicts\""
            ),
        ),
        None if around.without_work => Why::needs_you(
            format!(
                "it has no commits of its own, so there is nothing to merge: resolve it, or ask for changes with `orange task request-changes {label} TEXT`"
            ),
            format!("orange task resolve {label} --message TEXT"),
        ),
        None => {
            let decision = format!(
                "waits for your decision: merge {} into {target}, or ask for changes with `orange task request-changes {label} TEXT`",
                task.branch
            );
            if around.concerns.is_empty() {
                return Why::needs_you(decision, format!("orange task merge {label}"));
            }
            let concerns = around.concerns.join("; ");
            let next = if around.only_unchecked {
                format!("orange task verify {label}")
            } else {
                let concerns: Vec<&str> = concerns.split_whitespace().collect();
                let text = format!("before a merge, see to this: {}", concerns.join(" "));
                format!("orange task request-changes {label} {}", shell_word(&text))
            };
            Why::needs_you(
                format!("{decision}; a merge needs your word (--force): {concerns}"),
                next,
            )
        }
    }
}

fn stuck_because(task: &Task, around: &Surroundings<'_>) -> String {
    if around.failed_review {
        let round = around.rounds.max(task.review_round);
        format!("the review failed in round {round}, the last one")
    } else if let Some(reason) = around.reason {
        reason.to_owned()
    } else if task.crash_count > 0 {
        format!("its agent crashed {} times", task.crash_count)
    } else if task.review_round > 0 {
        let round = around.rounds.max(task.review_round);
        format!("it did not pass review after round {round}")
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

//! Why a task is where it is, what it waits for, and what moves it on: one answer, from the table.

#![warn(clippy::wildcard_enum_match_arm)]

use super::reason::{Owed, Reason, Round, Stuck};
use crate::exit::role_of;
use crate::gate::{self, Gate, Verdict};
use crate::machine::{Facts, Situation, meets, open_links};
use crate::merge::Strategy;
use crate::naming::one_line;
use crate::task::{Queue, Status, Task};
use crate::work::budget::Budget;
use crate::workflow::phased;
use crate::workflow::phased::why::ExecutionFacts;
use crate::workflow::{Condition, Intent, Transition, Workflow};
use crate::{Action, TaskName, Text};

/// The answer to `task why`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    pub reason: Reason,
    /// What a person does next; None when nothing is left to do.
    pub next: Option<Action>,
    /// Nothing moves until a person does something.
    pub needs_human: bool,
    /// `next` would be refused now: what the reason names is still missing.
    pub too_early: bool,
}

impl Why {
    pub(crate) fn waits(reason: Reason, next: Action) -> Why {
        Why {
            next: Some(next),
            ..Why::over(reason)
        }
    }

    /// Something has to be written before the action works.
    fn missing(reason: Reason, next: Action) -> Why {
        Why {
            too_early: true,
            ..Why::waits(reason, next)
        }
    }

    pub(crate) fn needs_you(reason: Reason, next: Action) -> Why {
        Why {
            needs_human: true,
            ..Why::waits(reason, next)
        }
    }

    pub(crate) fn over(reason: Reason) -> Why {
        Why {
            reason,
            next: None,
            needs_human: false,
            too_early: false,
        }
    }
}

/// The agent that a task's status is about, as far as an explanation cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentPresence {
    /// It never had one: the person does the work.
    None,
    /// Alive; `doing` says with a verb what it does.
    Alive { doing: Text },
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
    pub agent: AgentPresence,
    /// Another program made it.
    pub adopted: bool,
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
    /// The budget that keeps it from starting by itself, or from going on.
    pub budget: Option<Budget>,
    /// That the repository comes with commands to which nobody agreed.
    pub untrusted: Option<String>,
    /// Why no agent can execute its plan, and what helps.
    pub without_agent: Option<StartRefused>,
    /// A repository in which there is no commit that a branch could start from.
    pub without_commits: Option<String>,
    /// The repository, when the base that was asked for is no commit in it any more.
    pub without_base: Option<String>,
    /// Another checkout, which has the task's branch.
    pub branch_elsewhere: Option<String>,
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
    /// How far a phased task is.
    pub execution: ExecutionFacts,
}

/// Why a start of the agent would be refused, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRefused {
    pub why: String,
    pub next: Action,
}

/// Files that two sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    pub files: String,
    /// The branch that the task's own has to bring in: the target, here or on the remote.
    pub bring: String,
    pub strategy: Strategy,
}

/// Explains a task.
pub fn why(situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let move_to = |status: Status| Action::move_to(task.name(), status);
    if around.unregistered && !task.status.is_over() {
        let project = task.project.clone();
        let next = Action::add_project(None, project.clone());
        return Why::needs_you(Reason::Unregistered(project), next);
    }
    if !Workflow::named(task.workflow).has(task.status) {
        return Why::over(Reason::NotOfThisWorkflow {
            status: task.status,
            workflow: task.workflow.to_string(),
        });
    }
    if task.status == Status::AgentReview
        && gate::verdict(situation.body) == Some(Verdict::Pass)
        && let running @ Some(_) = situation.facts.verifying.clone()
    {
        let next = Action::verify(task.name());
        return Why::waits(Reason::ReviewPassed(running), next);
    }
    match (task.status.info().owes, &around.agent) {
        (Some(_), AgentPresence::Gone { how }) => {
            let (refused, next) = respawn(task, around, false);
            let reason = Reason::AgentGone {
                role: role_of(task.status),
                how: how.clone(),
                refused,
            };
            return Why::needs_you(reason, next);
        }
        (Some(gate), AgentPresence::Alive { doing }) => {
            let reason = Reason::AgentAtWork {
                role: role_of(task.status),
                doing: doing.clone(),
                owes: owed(gate, situation, around),
            };
            return Why::waits(reason, Action::attach(task.name()));
        }
        (Some(gate), AgentPresence::None) if gate.verdict().is_some() => {
            return in_review(situation, around, &move_to);
        }
        (Some(gate), AgentPresence::None) => return artifact(gate, situation, around),
        (None, _) => {}
    }
    match task.status {
        Status::Pending => not_started(situation, around),
        Status::Clarification => match &around.agent {
            AgentPresence::None | AgentPresence::Alive { .. } => {
                Why::needs_you(Reason::AsksInFile, Action::answer_in_words(task.name()))
            }
            AgentPresence::Gone { how } => {
                let (refused, next) = match respawn(task, around, true) {
                    (None, _) => (None, Action::answer_in_words(task.name())),
                    refused => refused,
                };
                let how = how.clone();
                Why::needs_you(Reason::AskedInFile { how, refused }, next)
            }
        },
        Status::Reviewing => decision(task, around),
        Status::Stuck => {
            let next = Action::answer_in_words(task.name());
            Why::needs_you(Reason::Stuck(stuck(task, around)), next)
        }
        Status::Delegated => delegated(&task.project, situation.facts, &move_to),
        Status::Done => Why::over(Reason::Merged(around.reason.map(str::to_owned))),
        Status::Cancelled => Why::over(Reason::Cancelled),
        // The first three owe an artifact: see above.
        Status::Planning
        | Status::Working
        | Status::AgentReview
        | Status::Created
        | Status::Classifying
        | Status::Planned
        | Status::Running
        | Status::Paused
        | Status::Blocked
        | Status::Completed
        | Status::Finalizing
        | Status::Finished
        | Status::Failed => phased::why::why(situation, around),
    }
}

/// What keeps an agent from being started again, and what to do: start it, or what helps before.
fn respawn(task: &Task, around: &Surroundings<'_>, with_message: bool) -> (Option<String>, Action) {
    match &around.start_refused {
        Some(StartRefused { why, next }) => (Some(why.clone()), next.clone()),
        None => (None, Action::respawn(task.name(), with_message)),
    }
}

/// The row that an artifact opens where the task stands.
fn opened_by(gate: Gate, task: &Task) -> Option<&'static Transition> {
    task.rows().find(|row| row.gate == Some(gate))
}

/// What the last check came to, for an artifact with which the work is submitted again.
fn failed_check(gate: Gate, task: &Task, around: &Surroundings<'_>) -> Option<String> {
    let row = opened_by(gate, task);
    let submits = row.is_some_and(|row| row.intent == Some(Intent::Submit));
    around.failed_check.clone().filter(|_| submits)
}

/// The move that an artifact opens.
fn artifact(gate: Gate, situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let next = match opened_by(gate, task) {
        Some(row) if row.intent != Some(Intent::Submit) => Action::move_to(task.name(), row.to),
        Some(_) | None => Action::complete(task.name()),
    };
    match gate.check(situation.body) {
        Ok(()) => Why::waits(Reason::Written(gate), next),
        Err(problem) => {
            let problem = problem.message();
            let reason = Reason::Unwritten {
                gate,
                problem,
                failed_check: failed_check(gate, task, around),
            };
            Why::missing(reason, next)
        }
    }
}

/// What an agent has to write before its task moves on.
fn owed(gate: Gate, situation: Situation<'_>, around: &Surroundings<'_>) -> Owed {
    if gate.verdict().is_some() {
        Owed::Verdict {
            round: round(situation, around),
        }
    } else {
        Owed::Artifact {
            gate,
            failed_check: failed_check(gate, situation.task, around),
        }
    }
}

fn round(situation: Situation<'_>, around: &Surroundings<'_>) -> Round {
    Round {
        counted: situation.task.review_round,
        max: situation.max_rounds,
        all: around.rounds,
    }
}

/// A task that nothing has begun for.
pub(crate) fn not_started(situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let in_its_way = in_the_way_of_a_start(situation, around);
    if in_its_way.needs_human || task.is_queued() {
        return in_its_way;
    }
    let reason = match task.queue {
        Queue::Backlog => Reason::Backlog {
            starts: task.queued_at.is_some(),
        },
        Queue::Active => {
            let besides = Some(in_its_way.reason).filter(|reason| *reason != Reason::Queued);
            let besides = besides.map(Box::new);
            if task.has_plan() {
                Reason::Phased(phased::reason::PhasedReason::NotRun {
                    weight_known: task.weight.is_some(),
                    besides,
                })
            } else {
                Reason::NotStarted {
                    adopted: around.adopted,
                    besides,
                }
            }
        }
    };
    Why::waits(reason, start(task, false))
}

/// What starts it.
fn start(task: &Task, force: bool) -> Action {
    if task.has_plan() {
        Action::run(task.name(), force)
    } else {
        Action::spawn(task.name(), force)
    }
}

/// What keeps a task from starting, whether or not it is to start by itself.
fn in_the_way_of_a_start(situation: Situation<'_>, around: &Surroundings<'_>) -> Why {
    let task = situation.task;
    let blocker = |wanted: Option<Status>| {
        let mut links = situation.facts.blockers.iter();
        let found = links.find(|link| link.status == wanted);
        found.map(|link| link.reference.clone())
    };
    let without = |blocker: &String| Action::remove_blocker(task.name(), blocker.clone());
    if let Some(blocker) = blocker(Some(Status::Cancelled)) {
        let next = without(&blocker);
        return Why::needs_you(Reason::BlockerCancelled(blocker), next);
    }
    if let Some(blocker) = blocker(None) {
        let next = without(&blocker);
        return Why::needs_you(Reason::BlockerMissing(blocker), next);
    }
    if let Err(open) = meets(Condition::DependenciesOver, situation) {
        let mut links = situation.facts.blockers.iter();
        let first = links.find(|link| !link.status.is_some_and(Status::is_over));
        let first = first.map_or_else(
            || task.name(),
            |link| TaskName::referred_to(&task.project, &link.reference),
        );
        return Why::waits(Reason::Blockers(open), Action::explain(first));
    }
    if let Err(holders) = meets(Condition::SlotFree, situation) {
        let size = situation.facts.slots.size.saturating_add(1);
        let next = Action::enlarge_pool(&task.project, size);
        return Why::waits(Reason::NoSlot(holders), next);
    }
    if let Some(repository) = around.without_commits.clone() {
        let next = Action::commit_empty(&repository);
        return Why::needs_you(Reason::NoCommit(repository), next);
    }
    if let (Some(repository), Some(base)) = (around.without_base.clone(), task.base.clone()) {
        let next = Action::branch_at(&repository, &base);
        return Why::needs_you(Reason::NoBase { base, repository }, next);
    }
    if let Some(checkout) = around.branch_elsewhere.clone() {
        let next = Action::leave_branch(&checkout);
        let branch = task.branch.clone();
        return Why::needs_you(Reason::BranchElsewhere { branch, checkout }, next);
    }
    if let Some(what) = around.untrusted.clone() {
        let next = Action::trust(&task.project, None);
        return Why::needs_you(Reason::Untrusted(what), next);
    }
    if let Some(budget) = &around.budget {
        let has_plan = Workflow::named(task.workflow).has_plans;
        return Why::needs_you(Reason::Budget(budget.in_words()), start(task, has_plan));
    }
    if let Some(refused) = around.without_agent.clone() {
        return Why::needs_you(Reason::NoAgent(refused.why), refused.next);
    }
    if let Some(what) = around.limit.clone() {
        return Why::waits(Reason::Limit(what), start(task, true));
    }
    Why::waits(Reason::Queued, start(task, false))
}

fn in_review(
    situation: Situation<'_>,
    around: &Surroundings<'_>,
    move_to: &dyn Fn(Status) -> Action,
) -> Why {
    let round = round(situation, around);
    let last_round = meets(Condition::RoundAtMax, situation).is_ok();
    match gate::verdict(situation.body) {
        Some(Verdict::Pass) => Why::waits(Reason::ReviewPassed(None), move_to(Status::Reviewing)),
        Some(Verdict::Fail) if last_round => {
            Why::waits(Reason::ReviewFailed(Some(round)), move_to(Status::Stuck))
        }
        Some(Verdict::Fail) => Why::waits(Reason::ReviewFailed(None), move_to(Status::Working)),
        None => Why::missing(Reason::VerdictMissing(round), move_to(Status::Reviewing)),
    }
}

/// The work is ready, and a person decides about it.
pub(crate) fn decision(task: &Task, around: &Surroundings<'_>) -> Why {
    let target = around.target.to_owned();
    let request = |text: String| Action::request_changes(task.name(), text);
    if let Some(conflicts) = around.conflicts.clone() {
        let text = conflicts.strategy.conflict_request(&conflicts.bring);
        return Why::needs_you(Reason::Conflicts { target, conflicts }, request(text));
    }
    if around.without_work {
        return Why::needs_you(Reason::NothingToMerge, Action::resolve(task.name()));
    }
    let next = if around.concerns.is_empty() {
        Action::merge(task.name(), false, None, None, None)
    } else if around.only_unchecked {
        Action::verify(task.name())
    } else {
        let concerns = one_line(&around.concerns.join("; "));
        request(format!("before a merge, see to this: {concerns}"))
    };
    let reason = Reason::Decision {
        branch: task.branch.clone(),
        target,
        concerns: around.concerns.clone(),
        without: around.execution.without.clone(),
    };
    Why::needs_you(reason, next)
}

fn stuck(task: &Task, around: &Surroundings<'_>) -> Stuck {
    let round = around.rounds.max(task.review_round);
    if around.failed_review {
        Stuck::LastReviewFailed { round }
    } else if let Some(reason) = around.reason {
        Stuck::Said(reason.to_owned())
    } else if task.crash_count > 0 {
        Stuck::Crashed {
            times: task.crash_count,
        }
    } else if task.review_round > 0 {
        Stuck::NotPassed { round }
    } else {
        Stuck::GaveUp
    }
}

fn delegated(project: &str, facts: &Facts, move_to: &dyn Fn(Status) -> Action) -> Why {
    let children = &facts.children;
    let gone = children
        .iter()
        .any(|child| child.status == Some(Status::Cancelled));
    let mut open_children = children.iter();
    let first = open_children.find(|child| child.status.is_some_and(|s| !s.is_terminal()));
    let next = match first {
        Some(child) if !gone => Action::explain(TaskName::referred_to(project, &child.reference)),
        Some(_) | None => move_to(Status::Working),
    };
    Why {
        needs_human: gone,
        ..Why::waits(Reason::Children(open_links(children)), next)
    }
}

//! The machine: `decide` turns a command into an event and hooks or a refusal; `apply` turns events into
//! a task. Nothing else changes a task's state, live or on replay.

#![warn(clippy::wildcard_enum_match_arm)]

mod hooks;

use crate::Timestamp;
use crate::gate::{Gate, GateProblem};
use crate::history::payload::{StatusMoved, TaskCreated};
use crate::history::{Event, EventType};
use crate::task::{BadValue, Field, FieldMap, Status, Task};
use crate::workflow::{
    Actor, By, Condition, Hook, Intent, StatusKind, Transition, Trigger, Workflow, hooks_for,
    info_for,
};
use hooks::with_hooks;
pub use hooks::{finish_transition, over_at_once, without_verdict};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Another task, as far as a condition cares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Linked {
    #[serde(rename = "task")]
    pub reference: String,
    /// None: no such task.
    pub status: Option<Status>,
}

/// What the engine found out about the surroundings; only what the wanted rows ask for is filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub blockers: Vec<Linked>,
    pub children: Vec<Linked>,
    /// Who holds the project's slots, and how many there are.
    pub slots: PoolSlots,
    /// Err says what was looked for and not found.
    pub merged: Option<Result<String, String>>,
    /// Err names what is not committed.
    pub worktree: Option<Result<(), String>>,
    pub own_commits: Option<u64>,
    /// The check of the handed-over commit that still runs, in words.
    pub verifying: Option<String>,
    /// Whether the settings send a task back whose check newly failed.
    pub check_returns: bool,
    /// Why the Review section gives no verdict ([`crate::review`]).
    pub review_problem: Option<String>,
    /// Of a phased task: whether the conditions about its execution are met. What nobody looked at is not.
    pub execution: Vec<(Condition, Result<(), String>)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolSlots {
    pub size: u32,
    pub holders: Vec<String>,
}

/// Everything `decide` may look at.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    pub task: &'a Task,
    pub body: &'a str,
    pub facts: &'a Facts,
    pub max_rounds: u32,
    pub now: Timestamp,
}

/// A wish to move a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    pub to: Status,
    pub trigger: Option<Trigger>,
    /// The verb that asks; it stands for the words that its row wants to be said.
    pub intent: Option<Intent>,
    /// A person overrides open dependencies and the missing review.
    pub force: bool,
}

impl Move {
    pub fn to(to: Status) -> Move {
        Move {
            to,
            trigger: None,
            intent: None,
            force: false,
        }
    }

    /// The move that this makes from where the task stands. None: it makes none there.
    pub fn on(task: &Task, trigger: Trigger) -> Option<Move> {
        let row = task
            .rows()
            .find(|row| row.who.iter().any(|by| by.when == Some(trigger)))?;
        Some(Move {
            trigger: Some(trigger),
            ..Move::to(row.to)
        })
    }

    /// The move of this verb, by the table of the task's workflow. None: it has no such verb.
    pub fn for_intent(task: &Task, intent: Intent) -> Option<Move> {
        Some(Move {
            intent: Some(intent),
            ..Move::to(destination(task, intent)?)
        })
    }
}

/// A move that may be made: what to journal, and what to do afterwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub event: Event,
    pub hooks: Vec<Hook>,
}

impl Decision {
    /// A move that follows from an agent's end: nobody asked for it.
    #[must_use]
    pub fn by_exit_rule(mut self) -> Decision {
        self.event.kind = EventType::AutoAdvanced;
        self
    }
}

/// Why a move may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No row leads there from here.
    NoRow,
    /// There is a row, but not for this caller.
    NotYours {
        belongs_to: Vec<By>,
    },
    /// The row asks for something to be said or to have happened first.
    NeedsTrigger {
        triggers: Vec<Trigger>,
    },
    Unmet {
        condition: Condition,
        detail: String,
    },
    Gate(GateProblem),
}

/// The rows that could make this move for this caller, best match first.
pub fn candidates<'w>(
    workflow: &'w Workflow,
    task: &Task,
    actor: Actor,
    wish: Move,
) -> Vec<&'w Transition> {
    let mut rows: Vec<&Transition> = workflow
        .rows_from(task.status, task.blocked_reason)
        .filter(|row| row.to == wish.to && open_to(row, actor, wish))
        .collect();
    // What has happened decides before what an artifact says.
    rows.sort_by_key(|row| wish.trigger.is_some() && row.gate.is_some());
    rows
}

fn open_to(row: &Transition, actor: Actor, wish: Move) -> bool {
    row.entries_for(actor).any(|entry| match entry.when {
        None => true,
        Some(Trigger::FORCE) => wish.force,
        Some(trigger) => {
            wish.trigger == Some(trigger) || wish.intent.is_some() && wish.intent == row.intent
        }
    })
}

/// Where this caller could take the task from here, triggers aside.
pub fn reachable(workflow: &Workflow, task: &Task, actor: Actor) -> Vec<Status> {
    let mut seen = BTreeSet::new();
    let rows = workflow.rows_from(task.status, task.blocked_reason);
    rows.filter(|row| row.entries_for(actor).next().is_some() && seen.insert(row.to))
        .map(|row| row.to)
        .collect()
}

/// Checks a wish against the table. Pure: the same situation always gives the same answer.
pub fn decide(
    workflow: &Workflow,
    situation: Situation<'_>,
    actor: Actor,
    wish: Move,
) -> Result<Decision, Refusal> {
    let task = situation.task;
    let rows = candidates(workflow, task, actor, wish);
    if rows.is_empty() {
        return Err(why_no_row(workflow, task, actor, wish));
    }
    let mut refusal = Refusal::NoRow;
    for row in rows {
        match check(row, situation, actor, wish) {
            Ok(()) => return Ok(decision(row, situation, actor)),
            Err(reason) => refusal = reason,
        }
    }
    Err(refusal)
}

fn why_no_row(workflow: &Workflow, task: &Task, actor: Actor, wish: Move) -> Refusal {
    let rows: Vec<&Transition> = workflow
        .rows_from(task.status, task.blocked_reason)
        .filter(|row| row.to == wish.to)
        .collect();
    if rows.is_empty() {
        return Refusal::NoRow;
    }
    let triggers: Vec<Trigger> = rows
        .iter()
        .flat_map(|row| row.entries_for(actor))
        .filter_map(|entry| entry.when)
        .collect();
    if triggers.is_empty() {
        Refusal::NotYours {
            belongs_to: rows.iter().flat_map(|row| row.who).copied().collect(),
        }
    } else {
        Refusal::NeedsTrigger { triggers }
    }
}

fn check(
    row: &Transition,
    situation: Situation<'_>,
    actor: Actor,
    wish: Move,
) -> Result<(), Refusal> {
    let forced = [
        Condition::DependenciesOver,
        Condition::VerifyOver,
        Condition::AgentFree,
    ];
    let demand = |condition: Condition| {
        if forced.contains(&condition) && wish.force && actor == Actor::Human {
            return Ok(());
        }
        // A person who moves a task past its review has read it, whoever wrote it.
        if condition == Condition::ReviewersOwn && actor == Actor::Human {
            return Ok(());
        }
        meets(condition, situation).map_err(|detail| Refusal::Unmet { condition, detail })
    };
    // What only takes time is asked for last: whoever is told to wait has done all that was to be done.
    let (waits, others): (Vec<Condition>, Vec<Condition>) = row
        .conditions
        .iter()
        .partition(|condition| **condition == Condition::VerifyOver);
    others.into_iter().try_for_each(demand)?;
    if let Some(gate) = row.gate {
        gate.check(situation.body).map_err(Refusal::Gate)?;
    }
    waits.into_iter().try_for_each(demand)
}

/// Is the condition met? Err says what is in the way.
pub fn meets(condition: Condition, situation: Situation<'_>) -> Result<(), String> {
    let Situation {
        task,
        facts,
        max_rounds,
        ..
    } = situation;
    let demand = |met: bool, otherwise: &str| {
        if met {
            Ok(())
        } else {
            Err(otherwise.to_owned())
        }
    };
    let over = |links: &[Linked]| match open_links(links).as_slice() {
        [] => Ok(()),
        open => Err(format!("it waits for {}", open.join(", "))),
    };
    let round = task.review_round;
    match condition {
        Condition::SummaryGiven => demand(!task.summary.trim().is_empty(), "it has no summary"),
        Condition::SummaryMissing => demand(task.summary.trim().is_empty(), "it has a summary"),
        Condition::DependenciesOver => over(&facts.blockers),
        Condition::DependenciesOpen => {
            demand(over(&facts.blockers).is_err(), "its dependencies are over")
        }
        Condition::SlotFree => match &facts.slots {
            PoolSlots { size, holders } if holders.len() < *size as usize => Ok(()),
            PoolSlots { size: 0, .. } => {
                Err("the project has no slots (its pool size is 0)".into())
            }
            PoolSlots { size, holders } => {
                let holders = holders.join(", ");
                Err(format!("all {size} slots are taken, by {holders}"))
            }
        },
        Condition::CrashLimit => {
            let (crashes, limit) = (task.crash_count, Workflow::named(task.workflow).crash_limit);
            demand(
                crashes >= limit,
                &format!("it has crashed {crashes} of {limit} times"),
            )
        }
        Condition::ChildrenOpen => {
            demand(over(&facts.children).is_err(), "it has no open children")
        }
        Condition::ChildrenOver => over(&facts.children),
        Condition::WorktreeClean => facts.worktree.clone().unwrap_or(Ok(())),
        Condition::RoundBelowMax => demand(
            round < max_rounds,
            &format!(
                "review round {round} of {max_rounds} was the last; it can only go to reviewing or stuck"
            ),
        ),
        Condition::RoundAtMax => demand(
            round >= max_rounds,
            &format!(
                "it is in review round {round} of {max_rounds}; a failed review sends it back to working"
            ),
        ),
        Condition::Merged => match &facts.merged {
            Some(found) => found.clone().map(drop),
            None => Err("nothing shows that its work is merged".into()),
        },
        Condition::OwnCommits => demand(
            facts.own_commits.unwrap_or(0) > 0,
            "its branch has no commits of its own",
        ),
        Condition::NoOwnCommits => demand(
            facts.own_commits.unwrap_or(0) == 0,
            "its branch has commits of its own",
        ),
        Condition::WeightKnown => demand(task.weight.is_some(), "it has no weight"),
        Condition::WeightUnknown => demand(task.weight.is_none(), "it has a weight"),
        Condition::VerifyOver => facts.verifying.clone().map_or(Ok(()), Err),
        Condition::CheckReturns => demand(
            facts.check_returns,
            "verify.on_failure is warn: a failed check moves no task",
        ),
        Condition::ReviewersOwn => facts.review_problem.clone().map_or(Ok(()), Err),
        Condition::Asked => demand(task.queued_at.is_some(), "nobody asked for it"),
        Condition::AgentFree
        | Condition::BudgetFree
        | Condition::PhasesOver
        | Condition::DecisionStored
        | Condition::RetriesLeft
        | Condition::RetriesSpent
        | Condition::MergeNotBegun => {
            let mut known = facts.execution.iter();
            let found = known.find(|(known, _)| *known == condition);
            found.map_or_else(
                || Err(format!("not met: {condition}")),
                |(_, met)| met.clone(),
            )
        }
    }
}

/// The links that are not over, as "TASK-001 (working)".
pub(crate) fn open_links(links: &[Linked]) -> Vec<String> {
    links
        .iter()
        .filter(|link| !link.status.is_some_and(Status::is_over))
        .map(|link| match link.status {
            Some(status) => format!("{} ({status})", link.reference),
            None => format!("{} (no such task)", link.reference),
        })
        .collect()
}

fn decision(row: &Transition, situation: Situation<'_>, actor: Actor) -> Decision {
    let hooks = row.hooks_for(actor);
    let mut event = Event::new(EventType::StatusChanged, situation.now)
        .by(actor.name())
        .moved(situation.task.status, row.to);
    event.set(Field::Status, row.to.as_str());
    if row.to_reason != situation.task.blocked_reason {
        let reason = row
            .to_reason
            .map_or(Value::Null, |reason| Value::from(reason.as_str()));
        event.set(Field::BlockedReason, reason);
    }
    let is_queued = situation.task.queued_at.is_some();
    let stays_queued = match row.asks {
        Some(asks) => asks,
        None => is_queued && info_for(row.to, row.to_reason).kind == StatusKind::Waiting,
    };
    if is_queued && !stays_queued {
        event.set(Field::QueuedAt, Value::Null);
    }
    if stays_queued && !is_queued {
        event.set(Field::QueuedAt, situation.now.to_string());
    }
    let applied = with_hooks(&mut event, &hooks, situation.task, situation.body);
    let event = event.with(StatusMoved {
        verdict: row.gate.and_then(Gate::verdict),
        applied,
        ..StatusMoved::default()
    });
    Decision {
        event: number(event, situation.task),
        hooks,
    }
}

/// Where an intent takes a task: by the row from its status whose demands on the task itself are met, otherwise by the first
/// row with that intent, so that a refusal names a status. None: this workflow has no such row.
pub fn destination(task: &Task, intent: Intent) -> Option<Status> {
    let workflow = Workflow::named(task.workflow);
    let own = [Condition::SummaryGiven, Condition::SummaryMissing];
    let situation = Situation {
        task,
        body: "",
        facts: &Facts::default(),
        max_rounds: 0,
        now: Timestamp::UNIX_EPOCH,
    };
    let fits = |row: &&Transition| {
        let mut conditions = row.conditions.iter();
        conditions.all(|asked| !own.contains(asked) || meets(*asked, situation).is_ok())
    };
    let means_it = |row: &&Transition| row.intent == Some(intent);
    let mut here = workflow.rows_from(task.status, task.blocked_reason);
    here.find(|row| means_it(row) && fits(row))
        .or_else(|| workflow.transitions.iter().find(means_it))
        .map(|row| row.to)
}

/// The first of the rows from here that ask for this condition and may be taken by the engine now.
pub fn decide_on(
    workflow: &Workflow,
    situation: Situation<'_>,
    condition: Condition,
    trigger: Option<Trigger>,
) -> Option<Decision> {
    let task = situation.task;
    let mut rows = workflow
        .rows_from(task.status, task.blocked_reason)
        .filter(|row| row.conditions.contains(&condition));
    rows.find_map(|row| {
        let wish = Move {
            trigger,
            ..Move::to(row.to)
        };
        decide(workflow, situation, Actor::Engine, wish).ok()
    })
}

/// A new task: its first event, which carries every field. Refused when no row allows that status.
pub fn create(
    workflow: &Workflow,
    mut task: Task,
    actor: Actor,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let row = workflow.creation(task.status).ok_or(Refusal::NoRow)?;
    let hooks = hooks_for(row.hooks, actor);
    task.revision = 1;
    task.created_at = now;
    task.updated_at = now;
    let mut event = Event::new(EventType::TaskCreated, now).by(actor.name());
    event.revision = Some(1);
    event.fields = task.to_fields();
    let applied = with_hooks(&mut event, &hooks, &task, "");
    let event = event.with(TaskCreated {
        applied,
        format: Some(crate::history::FORMAT),
        task_id: Some(&task.id),
        project: Some(&task.project),
        branch: Some(&task.branch),
        ..TaskCreated::default()
    });
    Ok(Decision { event, hooks })
}

/// A change of fields asked for by a command. None when nothing would change.
pub fn update(
    task: &Task,
    changes: FieldMap,
    actor: Actor,
    now: Timestamp,
) -> Result<Option<Event>, BadValue> {
    let mut after = task.clone();
    let mut event = Event::new(EventType::TaskUpdated, now).by(actor.name());
    for (name, value) in changes {
        if let Some(field) = Field::from_name(&name) {
            after.set(field, value)?;
            if !after.same(task, field) {
                event.fields.insert(name, after.get(field));
            }
        }
    }
    if event.fields.is_empty() {
        return Ok(None);
    }
    Ok(Some(number(event, task)))
}

/// Gives an event the next revision.
pub fn number(mut event: Event, task: &Task) -> Event {
    event.revision = Some(task.revision + 1);
    event
}

/// The one way a task changes. Fields a newer program wrote are stepped over; they stay in the journal.
pub fn apply(task: &mut Task, event: &Event) -> Result<(), BadValue> {
    let Some(revision) = event.revision else {
        return Ok(());
    };
    for (name, value) in &event.fields {
        if let Some(field) = Field::from_name(name) {
            task.set(field, value.clone())?;
        }
    }
    task.revision = revision;
    // An adopted task keeps the age it had.
    if !event.fields.contains_key(Field::UpdatedAt.name()) {
        task.updated_at = event.timestamp;
    }
    Ok(())
}

/// Replays a journal: the state after the last event whose revision is at most `until`.
pub fn fold(events: &[Event], until: u64) -> Result<Task, BadValue> {
    let mut task = Task::default();
    for event in events {
        if event.revision.is_some_and(|revision| revision > until) {
            break;
        }
        apply(&mut task, event)?;
    }
    Ok(task)
}

//! The only maker of transitions: asks the table, and explains a refusal.

use crate::call::{Call, Caller};
use crate::error::Result;
use crate::execution::PlanProgress;
use crate::facts;
use crate::tx::{TaskTx, refusal};
use orange_core::gate::Gate;
use orange_core::history::{Event, History};
use orange_core::machine::{self, Move, Refusal};
use orange_core::task::Task;
use orange_core::workflow::{Actor, Condition, Intent, Transition, Trigger, Workflow};
use std::collections::BTreeSet;

impl TaskTx<'_> {
    /// Checks a merge that a person asked for now or earlier; a refusal is in words.
    pub(crate) fn decide_merge(&self, force: bool, resolution: Option<&str>) -> Result<Event> {
        let wish = Move {
            force,
            intent: Some(Intent::Merge),
            ..Move::to(facts::destination(&self.task, Intent::Merge)?)
        };
        let known = KnownFacts {
            resolution,
            ..KnownFacts::default()
        };
        self.decide_knowing(Actor::Human, wish, known)
    }

    /// Checks the end of a task whose work is in its target, whatever a person was asked.
    pub(crate) fn decide_landed(&self, resolution: Option<&str>) -> Result<Event> {
        let wish = Move {
            trigger: Some(Trigger::PR_MERGED),
            ..Move::to(facts::destination(&self.task, Intent::Merge)?)
        };
        let known = KnownFacts {
            resolution,
            ..KnownFacts::default()
        };
        self.decide_knowing(Actor::Engine, wish, known)
    }

    /// Checks a move that Orange makes by itself.
    pub(crate) fn decide_as_engine(&self, wish: Move) -> Result<Event> {
        self.decide_as(Actor::Engine, wish)
    }

    /// Checks a move on somebody's behalf; a refusal is in words.
    pub(crate) fn decide_as(&self, actor: Actor, wish: Move) -> Result<Event> {
        self.decide_knowing(actor, wish, KnownFacts::default())
    }

    /// Checks a person's move on rows that their verb has just stored.
    pub(crate) fn decide_on(&self, wish: Move, progress: PlanProgress<'_>) -> Result<Event> {
        let known = KnownFacts {
            progress: Some(progress),
            ..KnownFacts::default()
        };
        self.decide_knowing(Actor::Human, wish, known)
    }

    fn decide_knowing(&self, actor: Actor, wish: Move, known: KnownFacts<'_>) -> Result<Event> {
        let (call, task) = (self.call, &self.task);
        decided(call, actor, task, &self.body, wish, known)?
            .map_err(|refusal| refusal::explain(call, task, wish, refusal))
    }
}

/// What whoever asks for a move knows already.
#[derive(Clone, Copy, Default)]
pub(crate) struct KnownFacts<'a> {
    /// A person's word that stands for what git would be asked.
    pub(crate) resolution: Option<&'a str>,
    /// The rows of the task's execution.
    pub(crate) progress: Option<PlanProgress<'a>>,
}

/// Checks a move against the table, with the facts its rows ask for; a refusal is the table's.
pub(crate) fn decided(
    call: &Call,
    actor: Actor,
    task: &Task,
    body: &str,
    wish: Move,
    known: KnownFacts<'_>,
) -> Result<std::result::Result<Event, Refusal>> {
    let workflow = Workflow::named(task.workflow);
    let rows = machine::candidates(workflow, task, actor, wish);
    let mut conditions = conditions_of(&rows);
    let resolution = known.resolution;
    conditions.retain(|condition| resolution.is_none() || *condition != Condition::Merged);
    let mut facts = facts::facts_beside(call, task, &conditions, known.progress)?;
    let mut history = History::default();
    if conditions.contains(&Condition::ReviewersOwn) {
        history = facts::own_history(call, task)?;
        let by = match &call.caller {
            Caller::Agent { run, .. } => run.clone(),
            Caller::Human | Caller::Engine => None,
        };
        facts.review_problem =
            facts::review_problem(call, task, &history, body, by.as_deref(), None);
    }
    if let Some(message) = resolution {
        facts.merged = Some(Ok(message.to_owned()));
    }
    let situation = facts::situation(call, task, body, &facts)?;
    let event = match machine::decide(workflow, situation, actor, wish) {
        Ok(decision) => decision.event,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // A handoff and a verdict speak of one commit; later ones must be seen as later.
    let judges = |row: &&Transition| row.gate.and_then(Gate::verdict).is_some();
    Ok(Ok(if rows.iter().any(judges) {
        facts::with_verdict(call, task, &history, body, event)
    } else if rows.iter().any(|row| row.notes_head) {
        facts::with_head(call, task, event)
    } else {
        event
    }))
}

fn conditions_of(rows: &[&Transition]) -> Vec<Condition> {
    let all = rows.iter().flat_map(|row| row.conditions).copied();
    let all: BTreeSet<Condition> = all.collect();
    all.into_iter().collect()
}

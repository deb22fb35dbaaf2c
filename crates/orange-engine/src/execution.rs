//! How far a phased task is: its plan and its rows in orange.db, what its settings say of its phases, and what of the rows its
//! journal does not say yet. Verbs, hooks and the executor change rows through this module; nobody else knows the tables.
//! Read `rules.rs` for the settings, `spec.rs` for the specification and `journal.rs` for the events.

pub(crate) mod journal;
pub(crate) mod review_file;
pub(crate) mod rules;
pub(crate) mod servers;
pub(crate) mod spec;

use crate::budget;
use crate::call::Call;
use crate::error::{Code, Error, Result, err};
use crate::settings;
use crate::store::Place;
use orange_core::machine::Facts;
use orange_core::task::{Task, Weight};
use orange_core::work::budget::Budget;
use orange_core::work::execution::{Execution, ExecutionEnd};
use orange_core::work::plan::Plan;
use orange_core::workflow::{Condition, Transition, Workflow};
use orange_core::{Action, text};

/// Refuses a task that has no plan by its workflow.
pub(crate) fn is_phased(task: &Task) -> Result<()> {
    if task.has_plan() {
        return Ok(());
    }
    Err(err!(
        IllegalTransition,
        "{} has the {} workflow, which has no phases",
        task.label(),
        task.workflow
    )
    .hint(text!(
        "{} says what moves it on",
        Action::explain(task.name())
    )))
}

/// The command that starts a task, by its workflow.
pub(crate) fn how_to_start(task: &Task) -> Action {
    if task.has_plan() {
        Action::run(task.name(), false)
    } else {
        Action::spawn(task.name(), false)
    }
}

/// The move that waits for nothing but the weight of the task.
pub(crate) fn needs_weight(row: &Transition) -> bool {
    row.conditions == [Condition::WeightKnown]
}

/// Whether an errand finds out how large the task is.
pub(crate) fn waits_for_weight(task: &Task) -> bool {
    task.has_plan() && task.has_started() && task.rows().any(needs_weight)
}

/// The plan of a task; None: none is written yet.
pub(crate) fn plan(call: &Call, task: &Task) -> Result<Option<Plan>> {
    let stored = call.with_existing_database(|database| database.plan(&task.id))?;
    let Some(stored) = stored.flatten() else {
        // What is completed is merged without it.
        return match had_plan(task) && !is_completed(task) {
            true => Err(lost_plan(task)),
            false => Ok(None),
        };
    };
    let parsed = call.home.parse_plan(&stored).map_err(|error| {
        let label = task.label();
        err!(Damaged, "the plan of {label} cannot be read: {error}")
            .hint(text!("write it anew: {}", Action::reset_plan(task.name())))
    })?;
    Ok(Some(parsed))
}

fn lost_plan(task: &Task) -> Error {
    let label = task.label();
    err!(
        Damaged,
        "orange.db does not have the plan of {label} any more"
    )
    .hint(text!(
        "{} writes one for its weight. Its phases begin anew, its commits stay",
        Action::reset_plan(task.name())
    ))
}

/// The budget that keeps a task from starting by itself. One whose last phase was approved has nothing left that costs anything.
pub(crate) fn over_budget(call: &Call, task: &Task) -> Result<Option<Budget>> {
    match budget::in_the_way(call, task)? {
        Some(_) if takes_no_turn(call, task)? => Ok(None),
        found => Ok(found),
    }
}

/// The same in words.
pub(crate) fn why_over_budget(call: &Call, task: &Task) -> Result<Option<String>> {
    Ok(over_budget(call, task)?.map(|budget| budget.in_words()))
}

/// Why a phased task does not go on although it is asked for: its own budget is spent, which only a person changes.
pub(crate) fn own_budget_spent(call: &Call, task: &Task) -> Result<Option<String>> {
    if !task.has_plan() || settings::config(call)?.budget.task.is_none() {
        return Ok(None);
    }
    let execution = execution(call, task)?;
    let own = budget::of_execution(call, &execution)?.filter(Budget::is_spent);
    match own {
        Some(own) if !execution.over_budget && !takes_no_turn(call, task)? => {
            Ok(Some(own.in_words()))
        }
        _ => Ok(None),
    }
}

fn takes_no_turn(call: &Call, task: &Task) -> Result<bool> {
    if !task.has_plan() {
        return Ok(false);
    }
    let Some(plan) = readable_plan(call, task)? else {
        return Ok(false);
    };
    Ok(execution(call, task)?.is_completed(&plan))
}

/// Whether it stands where the phases are over.
pub(crate) fn is_completed(task: &Task) -> bool {
    let mut rows = Workflow::named(task.workflow).transitions.iter();
    let completes = rows.find(|row| row.conditions == [Condition::PhasesOver]);
    completes.is_some_and(|row| row.to == task.status)
}

/// Whether a plan was written for a task that is not over. Its file names the phase, or it has gone further.
pub(crate) fn had_plan(task: &Task) -> bool {
    let began = task.current_phase.is_some() || task.has_started();
    began && !task.status.is_terminal() && !task.rows().any(needs_weight)
}

/// The same for what has to go on without a plan that cannot be read: whoever locks the task, to cancel it or to reset that plan.
pub(crate) fn readable_plan(call: &Call, task: &Task) -> Result<Option<Plan>> {
    match plan(call, task) {
        Err(error) if error.code == Code::Damaged => {
            tracing::warn!(%error, "a plan is passed over");
            Ok(None)
        }
        found => found,
    }
}

/// The same for what cannot do without one.
pub(crate) fn required_plan(call: &Call, task: &Task) -> Result<Plan> {
    plan(call, task)?.ok_or_else(|| {
        if had_plan(task) {
            return lost_plan(task);
        }
        err!(ConditionUnmet, "{} has no plan yet", task.label()).hint(text!(
            "it is written once its weight is known: {}",
            Action::run(task.name(), false)
        ))
    })
}

/// How far it is. Without rows: nothing has begun.
pub(crate) fn execution(call: &Call, task: &Task) -> Result<Execution> {
    let found = call.with_existing_database(|database| database.execution(&task.id))?;
    Ok(found.flatten().unwrap_or_default())
}

pub(crate) fn store(call: &Call, task: &Task, execution: &Execution) -> Result<()> {
    call.with_database(|database| database.store_execution(&task.id, execution))
}

/// Ends what an executor left open that is gone; the phase that it was in is interrupted.
pub(crate) fn interrupt_open(call: &Call, task: &Task) -> Result<()> {
    change(call, task, |execution| execution.orphaned(call.now()))
}

/// The same after an executor that was asked to stop: the phase is paused.
pub(crate) fn pause_open(call: &Call, task: &Task) -> Result<()> {
    change(call, task, |execution| execution.paused(call.now()))
}

/// Notes whether a person lets the task go on although a budget is spent.
pub(crate) fn force_budget(call: &Call, task: &Task, forced: bool) -> Result<()> {
    change(call, task, |execution| execution.over_budget = forced)
}

/// Notes that nobody can commit what the last turn left. Its agent may have said that it is complete: it is done again.
pub(crate) fn fail_uncommitted(call: &Call, task: &Task, why: &str) -> Result<()> {
    call.with_database(|database| database.not_committed(&task.id, why))
}

fn change(call: &Call, task: &Task, change: impl FnOnce(&mut Execution)) -> Result<()> {
    let before = execution(call, task)?;
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return Ok(());
    }
    store(call, task, &after)
}

/// Writes the plan of a weight, unless the task has one of that weight. Phases that are completed or skipped stay so.
pub(crate) fn write_plan(call: &Call, place: &Place, task: &Task, weight: Weight) -> Result<Plan> {
    if let Some(known) = readable_plan(call, task)?.filter(|known| known.weight == weight) {
        return Ok(known);
    }
    let plan = rules::plan_of_weight(call, task, weight)?;
    put_plan(call, place, task, &plan, false)?;
    Ok(plan)
}

/// Replaces the plan of a task. A specification that was given takes the place of the phase that would write it.
pub(crate) fn put_plan(
    call: &Call,
    place: &Place,
    task: &Task,
    plan: &Plan,
    edited: bool,
) -> Result<()> {
    let execution = execution(call, task)?.with_plan(plan);
    let execution = spec::with_given_spec(call, place, task, plan, execution)?;
    call.with_database(|database| database.replace_plan(&task.id, plan, edited, &execution))
}

/// A plan, and how far it is, as they were read or stored.
#[derive(Clone, Copy)]
pub(crate) struct PlanProgress<'a> {
    pub(crate) plan: Option<&'a Plan>,
    pub(crate) execution: &'a Execution,
}

impl PlanProgress<'_> {
    pub(crate) fn current_phase(self) -> Option<String> {
        let phase = self
            .plan
            .and_then(|plan| self.execution.current_phase(plan));
        phase.map(str::to_owned)
    }
}

/// The phase that a task is in by its rows.
pub(crate) fn current_phase(call: &Call, task: &Task) -> Result<Option<String>> {
    let plan = readable_plan(call, task)?;
    let execution = execution(call, task)?;
    let progress = PlanProgress {
        plan: plan.as_ref(),
        execution: &execution,
    };
    Ok(progress.current_phase())
}

/// What the table asks about the execution of a task.
pub(crate) fn facts(
    call: &Call,
    task: &Task,
    conditions: &[Condition],
    facts: &mut Facts,
) -> Result<()> {
    if !task.has_plan() {
        return Ok(());
    }
    let execution = execution(call, task)?;
    let plan = readable_plan(call, task)?;
    let progress = PlanProgress {
        plan: plan.as_ref(),
        execution: &execution,
    };
    facts_of(call, progress, conditions, facts)
}

/// The same for rows that need not be read.
pub(crate) fn facts_of(
    call: &Call,
    progress: PlanProgress<'_>,
    conditions: &[Condition],
    facts: &mut Facts,
) -> Result<()> {
    let execution = progress.execution;
    let end = progress.plan.and_then(|plan| execution.end(plan));
    let demand = |met: bool, otherwise: &str| {
        if met {
            Ok(())
        } else {
            Err(otherwise.to_owned())
        }
    };
    for condition in conditions {
        let met = match condition {
            // Nothing is left that costs anything.
            Condition::BudgetFree if end == Some(ExecutionEnd::Completed) => Ok(()),
            Condition::BudgetFree => match budget::spent(call, execution)? {
                Some(spent) => Err(spent.in_words()),
                None => Ok(()),
            },
            Condition::PhasesOver => demand(
                end == Some(ExecutionEnd::Completed),
                "not every phase is completed or skipped",
            ),
            Condition::DecisionStored => demand(
                !matches!(end, Some(ExecutionEnd::Gate | ExecutionEnd::Question(_))),
                "nobody has decided",
            ),
            Condition::RetriesLeft => demand(
                !matches!(end, Some(ExecutionEnd::Failed(_))),
                "the phase has failed as often as it may be tried",
            ),
            Condition::RetriesSpent => demand(
                matches!(end, Some(ExecutionEnd::Failed(_))),
                "the phase can be tried again",
            ),
            _ => continue,
        };
        facts.execution.push((*condition, met));
    }
    Ok(())
}

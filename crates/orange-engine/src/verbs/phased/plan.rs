//! The plan of a task: shown, edited by a person, written anew; and a new weight, which brings a new plan.

use crate::access;
use crate::call::Call;
use crate::effects::ui_testing;
use crate::error::{Error, Result, err};
use crate::execution::{self, rules, servers};
use crate::field_checks::bad_value;
use crate::settings;
use crate::store::Place;
use crate::tx;
use crate::tx::TaskTx;
use crate::tx::commit::Committed;
use crate::verbs::phased::{gate, is_phased, nobody_is_at_it, not_while_executed};
use crate::views::plan::ShownPlan;
use crate::views::task;
use orange_core::history::Event;
use orange_core::history::payload::PlanWritten;
use orange_core::machine::{self, Move};
use orange_core::task::{Field, FieldMap, Task, Weight};
use orange_core::work::plan::{BadPlan, Plan};
use orange_core::workflow::{Actor, Condition, Trigger};
use orange_core::{Action, Parameter, text};
use serde_json::Value;

/// The plan of a task.
pub fn show(call: &Call, place: Place) -> Result<ShownPlan> {
    let view = task::view(call, place)?;
    is_phased(&view.task)?;
    let plan = execution::required_plan(call, &view.task)?;
    shown(call, view.task, plan)
}

/// A plan with what the settings say of it and how far it is.
pub(crate) fn shown(call: &Call, task: Task, plan: Plan) -> Result<ShownPlan> {
    let rules = rules::of(call, &task, &plan)?;
    let gates = plan.phases.iter().map(|phase| {
        let (kind, source) = rules.gate(&task, plan.weight, phase);
        (phase.name.clone(), kind, source)
    });
    let gates = gates.collect();
    let unchecked = rules::unchecked(call, &task, &plan)?;
    let left_out = servers::left_out(call, &task, &plan)?;
    let execution = execution::execution(call, &task)?;
    Ok(ShownPlan {
        without_browser: ui_testing::without_browser(call, &task, &plan),
        task,
        plan,
        execution,
        gates,
        unchecked,
        left_out,
    })
}

/// Takes a plan as a person wrote it; gives what it says that does not count.
pub fn edit(call: &Call, place: Place, text: &str) -> Result<(Committed, Vec<String>)> {
    access::people_only(call, "edit plans")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    nobody_is_at_it(call, &tx.task, "edit the plan of")?;
    let known = execution::required_plan(call, &tx.task)?;
    let parsed = Plan::parse(text).map_err(|bad| unusable(&tx.task, &bad))?;
    let plan = Plan {
        // What a plan is for is nothing to edit.
        task_id: known.task_id.clone(),
        weight: known.weight,
        generated_at: call.now(),
        phases: parsed.plan.phases,
    };
    if plan.phases != known.phases {
        execution::put_plan(call, &tx.place, &tx.task, &plan, true)?;
        tx.journal_execution()?;
        // A question may be gone, or a phase be new to a task that was completed.
        tx.follow_person()?;
    }
    Ok((tx.commit(Vec::new())?, parsed.ignored))
}

fn unusable(task: &Task, bad: &BadPlan) -> Error {
    err!(Usage, "this is no plan for {}:\n{bad}", task.label()).hint(text!(
        "nothing was changed; {} shows the plan as it is",
        Action::show_plan(task.name())
    ))
}

/// Writes the plan anew, as the settings have it for the task's weight. Phases that are over stay so.
pub fn reset(call: &Call, place: Place) -> Result<Committed> {
    access::people_only(call, "write plans anew")?;
    let mut tx = tx::lock_task(call, place)?;
    is_phased(&tx.task)?;
    // One that is lost, or cannot be read, holds everything up, a decision at a gate too.
    if let Some(plan) = execution::readable_plan(call, &tx.task)? {
        let execution = execution::execution(call, &tx.task)?;
        if !gate::is_decided_here(&tx.task) || execution.gate(&plan).is_some() {
            nobody_is_at_it(call, &tx.task, "reset the plan of")?;
        }
    }
    let written = tx.history().events.iter().rev().find_map(PlanWritten::of);
    let written = written.and_then(|written| written.weight);
    let Some(weight) = tx.task.weight.or(written) else {
        return Err(err!(
            ConditionUnmet,
            "{} has no weight yet, which its plan depends on",
            tx.task.label()
        )
        .hint(text!("name it: {}", Action::choose_weight(tx.task.name()))));
    };
    let plan = rules::plan_of_weight(call, &tx.task, weight)?;
    execution::put_plan(call, &tx.place, &tx.task, &plan, false)?;
    tx.journal_execution()?;
    tx.follow_person()?;
    tx.commit(Vec::new())
}

/// Refuses a person's weight where the settings leave it to the classification.
pub(crate) fn check_override(call: &Call, task: &Task) -> Result<()> {
    if settings::config_for(call, task)?.weights.allow_override {
        return Ok(());
    }
    Err(err!(
        Refused,
        "the weight of phased tasks is found out, not chosen: weights.allow_override is false"
    )
    .hint(text!(
        "leave {} out; {} says whose setting that is",
        Parameter::Weight,
        Action::show_setting("weights.allow_override".to_owned())
    )))
}

/// Gives a phased task a weight, and with it a plan. The move that follows, if one does. Phases that are over stay so.
pub(crate) fn follow_weight(tx: &mut TaskTx<'_>, weight: &str) -> Result<Vec<Event>> {
    let call = tx.call;
    check_override(call, &tx.task)?;
    let weight: Option<Weight> = match weight {
        "" => None,
        weight => Some(weight.parse().map_err(|error| err!(Usage, "{error}"))?),
    };
    let plan = execution::readable_plan(call, &tx.task)?;
    let is_planned = plan.as_ref().is_none_or(|plan| Some(plan.weight) == weight);
    if weight == tx.task.weight && is_planned {
        return Ok(Vec::new());
    }
    let known_row = tx
        .task
        .rows()
        .find(|row| row.conditions == [Condition::WeightKnown]);
    let planned = known_row.map(|row| Move::to(row.to));
    let wish = Move::on(&tx.task, Trigger::NEW_WEIGHT);
    if planned.is_none() && wish.is_none() && tx.task.has_started() {
        return Err(not_while_executed(call, &tx.task, "change the weight of"));
    }
    match weight {
        // What cannot be planned is refused before anything changes.
        Some(weight) => drop(rules::plan_of_weight(call, &tx.task, weight)?),
        None if plan.is_none() => {}
        None => {
            let label = tx.task.label();
            return Err(err!(Usage, "{label} has a plan, which is that of a weight")
                .hint("name another weight"));
        }
    }
    let field = (
        Field::Weight.name().to_owned(),
        weight.map_or(Value::Null, |weight| Value::from(weight.as_str())),
    );
    let change = FieldMap::from_iter([field]);
    let event = machine::update(&tx.task, change, call.caller.actor(), call.now());
    tx.note(event.map_err(bad_value)?.into_iter().collect())?;
    let Some(weight) = weight else {
        return Ok(Vec::new());
    };
    if let Some(wish) = planned {
        return Ok(vec![tx.decide_as_engine(wish)?]);
    }
    if let Some(wish) = wish {
        return Ok(vec![tx.decide_as(Actor::Human, wish)?]);
    }
    execution::write_plan(call, &tx.place, &tx.task, weight)?;
    tx.journal_execution()?;
    Ok(Vec::new())
}

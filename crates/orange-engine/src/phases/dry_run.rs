//! What a run would do first: the plan, and the prompt of the next turn. Nothing is changed and nobody is started.

use crate::call::Call;
use crate::error::{Result, err};
use crate::execution::{self, rules};
use crate::prompt::phase::{self, PromptOf};
use crate::store::Place;
use crate::verbs::phased::plan;
use crate::verbs::phased::{is_phased, not_here};
use crate::views::plan::ShownPlan;
use crate::views::task;
use orange_core::task::Task;
use orange_core::work::execution::{Execution, ExecutionRules, Step, next_step};
use orange_core::work::plan::Plan;
use orange_core::{Action, text};

/// What a run would begin with.
#[derive(Debug)]
pub struct DryRun {
    pub plan: ShownPlan,
    /// The phase that is next, and its iteration; None: nothing is left to execute.
    pub phase: Option<(String, u32)>,
    /// None: what the last turn left is looked at first.
    pub prompt: Option<String>,
}

/// Finds out what a run would do; `phase`: that one alone.
pub fn dry_run(call: &Call, place: Place, phase: Option<&str>) -> Result<DryRun> {
    let view = task::view(call, place.clone())?;
    let task = view.task;
    is_phased(&task)?;
    let plan = plan_of(call, &task)?;
    let rules = rules::of(call, &task, &plan)?;
    let execution = execution::spec::first_execution(call, &place, &task, &plan)?;
    let mut execution = execution.retry_by_person(&plan);
    if phase.is_some() {
        let chosen = execution.with_only_phase(&plan, phase);
        execution = chosen.map_err(|why| {
            let (label, phase) = (task.label(), phase.unwrap_or_default());
            err!(Usage, "phase {phase} of {label} cannot be run: {why}")
        })?;
    }
    let step = first_step(call, &plan, &mut execution, &rules.core);
    let (phase, prompt) = match &step {
        Step::Turn(wanted) => {
            let planned = plan.phase(&wanted.phase);
            let planned =
                planned.ok_or_else(|| err!(Failed, "the plan has no phase {}", wanted.phase))?;
            let about = PromptOf {
                call,
                place: &place,
                task: &task,
                plan: &plan,
            };
            let prompt = phase::prompt(&about, &execution, planned, wanted)?;
            (Some((wanted.phase.clone(), wanted.iteration)), Some(prompt))
        }
        Step::Gate { .. } | Step::Ask { .. } => return Err(not_here(call, &task, "run")),
        Step::Done => (None, None),
        _ => {
            let phase = execution.current_phase(&plan).map(str::to_owned);
            let number = |phase: &String| execution.next_number(phase);
            (phase.map(|phase| (phase.clone(), number(&phase))), None)
        }
    };
    Ok(DryRun {
        plan: plan::shown(call, task, plan)?,
        phase,
        prompt,
    })
}

/// The plan that it has, or would get.
fn plan_of(call: &Call, task: &Task) -> Result<Plan> {
    if let Some(plan) = execution::plan(call, task)? {
        return Ok(plan);
    }
    match task.weight {
        Some(weight) => rules::plan_of_weight(call, task, weight),
        None => Err(err!(
            ConditionUnmet,
            "{} has no weight yet, so nobody knows its plan",
            task.label()
        )
        .hint(text!(
            "choose it: {}; or have it found out by a run: {}",
            Action::choose_weight(task.name()),
            Action::run(task.name(), false)
        ))),
    }
}

/// The next step, after what was interrupted has been noted as such.
fn first_step(call: &Call, plan: &Plan, execution: &mut Execution, rules: &ExecutionRules) -> Step {
    loop {
        match next_step(plan, execution, rules) {
            Step::Interrupted(iteration) => execution.interrupt(iteration, call.now()),
            step => return step,
        }
    }
}

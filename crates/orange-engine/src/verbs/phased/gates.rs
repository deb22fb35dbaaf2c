//! A person's word about who decides about a phase of one task: `--gate PHASE=TYPE`.

use crate::call::Call;
use crate::error::{Result, err};
use crate::tx::refusal::undecided;
use crate::{execution, settings};
use orange_core::suggest::meant;
use orange_core::task::{Task, Weight};
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::plan::PhaseKind;
use orange_core::{Parameter, text};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What the settings call the gate behind the last phase.
pub(crate) const MERGE: &str = "merge";

/// The gates of a task with that of one phase changed. Without a kind the task says nothing of it any more.
pub(crate) fn with_gate(
    call: &Call,
    task: &Task,
    phase: &str,
    kind: Option<PhaseGateKind>,
) -> Result<Map<String, Value>> {
    // One that is only about to be made has no name that anybody knows.
    let label = match task.key {
        Some(_) => task.label(),
        None => "the task".to_owned(),
    };
    if !task.has_plan() {
        return Err(err!(
            Usage,
            "{label} has the {} workflow, which has no phase gates",
            task.workflow
        )
        .hint(text!("leave {} out", Parameter::Gate)));
    }
    not_at_its_gate(call, task, phase)?;
    let mut gates = task.gates.clone();
    match kind {
        None => {
            gates.remove(phase);
        }
        Some(kind) => {
            let known = known_phases(call, task)?;
            if !known.contains(phase) {
                let meant = meant(phase, known.iter().map(String::as_str));
                let known: Vec<String> = known.into_iter().collect();
                let error = match task.weight {
                    Some(weight) => err!(
                        Usage,
                        "{label} has no phase {phase:?}: the plan of weight {weight} has none"
                    ),
                    None => err!(Usage, "{label} has no phase {phase:?}"),
                };
                return Err(error.hint(format!("{meant}there are {}", known.join(", "))));
            }
            gates.insert(phase.to_owned(), Value::from(kind.as_str()));
        }
    }
    Ok(gates)
}

/// The kind of a gate is fixed while a task waits at it: what is stored of the decision says which gate it was.
fn not_at_its_gate(call: &Call, task: &Task, phase: &str) -> Result<()> {
    if !task.is_at_phase_gate() {
        return Ok(());
    }
    let plan = execution::required_plan(call, task)?;
    let execution = execution::execution(call, task)?;
    if execution
        .gate(&plan)
        .is_none_or(|waits| waits.name != phase)
    {
        return Ok(());
    }
    let label = task.label();
    Err(undecided(
        task,
        &format!("the gate of {phase} stays as it is for {label}"),
    ))
}

/// The phases of its plan; those of every plan that it may get where it has none.
fn known_phases(call: &Call, task: &Task) -> Result<BTreeSet<String>> {
    let mut known = BTreeSet::from([MERGE.to_owned()]);
    if let Some(plan) = execution::plan(call, task)? {
        known.extend(plan.phases.into_iter().map(|phase| phase.name));
        return Ok(known);
    }
    if let Some(weight) = task.weight {
        let plan = execution::rules::plan_of_weight(call, task, weight)?;
        known.extend(plan.phases.into_iter().map(|phase| phase.name));
        return Ok(known);
    }
    known.extend(PhaseKind::WORDS.iter().map(|word| (*word).to_owned()));
    let config = settings::config_for(call, task)?;
    for weight in Weight::ALL {
        let phases = config.weights.plan(*weight).into_iter().flatten();
        known.extend(phases.map(|phase| phase.name.clone()));
    }
    Ok(known)
}

//! The execution of a task as `task show --json`, the API and exports have it.

use super::execution::{Execution, Iteration, PhaseState};
use super::phase_gate::GateDecision;
use super::plan::Plan;
use super::tokens::Tokens;
use crate::usage::Usage;
use serde_json::{Map, Value, json};

/// The state of an execution.
pub fn execution_state(plan: &Plan, execution: &Execution, gates: &[GateDecision]) -> Value {
    let phases = plan.phases.iter().map(|phase| {
        let new = PhaseState::new(&phase.name);
        let state = execution.phase(&phase.name).unwrap_or(&new);
        (phase.name.clone(), phase_state(execution, state))
    });
    let current = execution.current_phase(plan);
    let usage = execution.usage();
    json!({
        "current_phase": current,
        "current_iteration": current.map_or(0, |phase| execution.count_of(phase)),
        "phases": Map::from_iter(phases),
        "gates": gates,
        "tokens": Tokens::from(usage),
        "cost": cost(usage),
        "session": session(execution.last_turn()),
        "error": execution.error,
        "retry_context": retry_context(execution),
    })
}

/// The state of one phase.
pub fn phase_state(execution: &Execution, state: &PhaseState) -> Value {
    let usage = execution.usage_of(&state.name);
    json!({
        "status": state.status,
        "attempt": state.attempt,
        "retries": state.retries,
        "started_at": state.started_at,
        "completed_at": state.completed_at,
        "iterations": execution.count_of(&state.name),
        "commit_sha": state.commit_sha,
        "error": state.error,
        "tokens": Tokens::from(usage),
        "cost": cost(usage),
        "session_id": state.session_id,
    })
}

/// The cost of something; `partial`: it cost at least that much.
pub fn cost(usage: Usage) -> Value {
    // What binary fractions add is nobody's cost.
    let cost = usage.cost.map(|cost| (cost * 1e6).round() / 1e6);
    json!({ "total_cost_usd": cost, "partial": usage.cost_partial })
}

fn session(last: Option<&Iteration>) -> Value {
    match last {
        Some(iteration) => json!({ "id": iteration.session, "harness": iteration.harness }),
        None => Value::Null,
    }
}

/// What the next agent is told, if anything.
fn retry_context(execution: &Execution) -> Value {
    match execution.retry_context.last() {
        Some(context) => json!({
            "from_phase": context.from,
            "to_phase": context.phase,
            "reason": context.text,
        }),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Weight;
    use crate::work::execution::{Iteration, PhaseStatus, RetryContext};
    use crate::work::phase_gate::PhaseGateKind;

    #[test]
    fn an_execution_has_the_names_and_shapes_of_its_export() {
        let time = "2026-01-10T10:45:00Z".parse().unwrap();
        let plan = Plan {
            task_id: "TASK-001".into(),
            weight: Weight::Small,
            generated_at: time,
            phases: Plan::built_in(Weight::Small),
        };
        let usage = Usage {
            input: 45_000,
            output: 12_000,
            cost: Some(0.85),
            cost_partial: true,
            ..Usage::default()
        };
        let iteration = Iteration {
            phase: "implement".into(),
            iteration: 1,
            attempt: 1,
            harness: "claude".into(),
            session: Some("abc".into()),
            started_at: time,
            usage,
            ..Iteration::default()
        };
        let mut execution = Execution::default();
        execution.open(&plan, iteration);
        execution.retry_context.push(RetryContext {
            phase: "implement".into(),
            from: Some("test".into()),
            text: "3 failed".into(),
            told_in: None,
        });
        let decision = GateDecision {
            phase: "implement".into(),
            gate_type: PhaseGateKind::Human,
            attempt: 1,
            approved: false,
            reason: Some("no".into()),
            by: "randy".into(),
            at: time,
        };
        let state = execution_state(&plan, &execution, &[decision]);
        let tokens = json!({"input_tokens": 45_000, "output_tokens": 12_000, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "total_tokens": 57_000});
        let cost = json!({"total_cost_usd": 0.85, "partial": true});
        assert_eq!(state["current_phase"], "implement");
        assert_eq!(state["current_iteration"], 1);
        assert_eq!((&state["tokens"], &state["cost"]), (&tokens, &cost));
        assert_eq!(state["session"], json!({"id": "abc", "harness": "claude"}));
        assert_eq!(state["gates"][0]["timestamp"], "2026-01-10T10:45:00Z");
        assert_eq!(state["error"], Value::Null);
        let context = json!({"from_phase": "test", "to_phase": "implement", "reason": "3 failed"});
        assert_eq!(state["retry_context"], context);
        let phase = json!({"status": PhaseStatus::Running, "attempt": 1, "retries": 0, "started_at": time,
            "completed_at": null, "iterations": 1, "commit_sha": null, "error": null, "tokens": tokens,
            "cost": cost, "session_id": "abc"});
        assert_eq!(state["phases"]["implement"], phase);
        assert_eq!(
            state["phases"]["test"]["status"],
            PhaseStatus::Pending.as_str()
        );
    }
}

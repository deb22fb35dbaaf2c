//! The execution of a task as `task show --json`, the API and exports have it.

use super::execution::{Execution, Iteration, PhaseState};
use super::phase_gate::GateDecision;
use super::plan::Plan;
use super::prices::Prices;
use super::tokens::Tokens;
use crate::usage::Usage;
use serde_json::{Map, Value, json};

/// The state of an execution.
pub fn execution_state(
    plan: &Plan,
    execution: &Execution,
    gates: &[GateDecision],
    prices: &Prices,
) -> Value {
    let phases = plan.phases.iter().map(|phase| {
        let new = PhaseState::new(&phase.name);
        let state = execution.phase(&phase.name).unwrap_or(&new);
        (phase.name.clone(), phase_state(execution, state, prices))
    });
    let current = execution.current_phase(plan);
    let usage = execution.cost(prices).known();
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
pub fn phase_state(execution: &Execution, state: &PhaseState, prices: &Prices) -> Value {
    let usage = execution.cost_of(&state.name, prices).known();
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
    let rounded = |cost: f64| Some((cost * 1e6).round() / 1e6).filter(|cost| cost.is_finite());
    let cost = usage.cost.map(|cost| rounded(cost).unwrap_or(cost));
    json!({ "total_cost_usd": cost, "partial": usage.cost_partial })
}

fn session(last: Option<&Iteration>) -> Value {
    match last {
        Some(iteration) => json!({ "id": iteration.session, "harness": iteration.harness }),
        None => Value::Null,
    }
}

/// What the agent of a phase has been or will be told, until that is completed; the newest.
fn retry_context(execution: &Execution) -> Value {
    let mut newest_first = execution.retry_context.iter().rev();
    match newest_first.find(|context| !context.settled) {
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
    use crate::work::prices::Price;
    use crate::workflow::IterationOutcome;
    use std::collections::BTreeMap;

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
            ..RetryContext::default()
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
        let state = execution_state(&plan, &execution, &[decision], &Prices::default());
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

    #[test]
    fn a_cost_is_what_prices_make_of_it_and_partial_where_a_turn_told_nothing() {
        let time = "2026-01-10T10:45:00Z".parse().unwrap();
        let plan = Plan {
            task_id: "TASK-001".into(),
            weight: Weight::Small,
            generated_at: time,
            phases: Plan::built_in(Weight::Small),
        };
        let turn = |iteration, usage| Iteration {
            phase: "implement".into(),
            iteration,
            attempt: 1,
            harness: "sim".into(),
            model: Some("m".into()),
            started_at: time,
            ended_at: Some(time),
            outcome: Some(IterationOutcome::Continue),
            usage,
            ..Iteration::default()
        };
        let tokens = Usage {
            input: 1_000_000,
            output: 100_000,
            ..Usage::default()
        };
        let price = Price {
            input: Some(3.0),
            output: Some(15.0),
            ..Price::default()
        };
        let prices = Prices(BTreeMap::from([("m".to_owned(), price)]));
        let mut execution = Execution {
            iterations: vec![turn(1, tokens)],
            ..Execution::default()
        };
        let costs = |execution: &Execution, prices: &Prices| {
            let state = execution_state(&plan, execution, &[], prices);
            (
                state["cost"].clone(),
                state["phases"]["implement"]["cost"].clone(),
            )
        };
        let unknown = json!({"total_cost_usd": null, "partial": false});
        let none = Prices::default();
        assert_eq!(costs(&execution, &none), (unknown.clone(), unknown));
        let whole = json!({"total_cost_usd": 4.5, "partial": false});
        assert_eq!(costs(&execution, &prices), (whole.clone(), whole));
        execution.iterations.push(turn(2, Usage::default()));
        let partial = json!({"total_cost_usd": 4.5, "partial": true});
        assert_eq!(costs(&execution, &prices), (partial.clone(), partial));
        let endless = Usage {
            cost: Some(f64::MAX),
            ..Usage::default()
        };
        assert_eq!(cost(endless)["total_cost_usd"], f64::MAX);
    }
}

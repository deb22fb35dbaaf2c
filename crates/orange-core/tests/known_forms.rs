//! The forms that an older program gave executions, plans, transcripts and specifications: whoever reads those finds every field
//! here, under its name and with its kind of value.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

use orange_core::Timestamp;
use orange_core::task::Weight;
use orange_core::usage::Usage;
use orange_core::work::execution::{
    Execution, Iteration, IterationOutcome, PhaseState, PhaseStatus,
};
use orange_core::work::phase_gate::{GateDecision, PhaseGateKind};
use orange_core::work::plan::Plan;
use orange_core::work::prices::Prices;
use orange_core::work::spec::{Spec, SpecSource};
use orange_core::work::{state_json, transcript};
use orange_core::yaml;
use serde_json::{Value, json};

/// A task with two phases. Its `total_tokens` left out what came from the cache, which the description of the field has in the sum.
const EXECUTION: &str = "\
current_phase: implement
execution:
  current_iteration: 3
  phases:
    spec:
      status: completed
      started_at: 2026-01-10T10:32:00Z
      completed_at: 2026-01-10T10:45:00Z
      iterations: 2
      tokens:
        input_tokens: 15000
        output_tokens: 5000
    implement:
      status: running
      started_at: 2026-01-10T10:45:00Z
      iterations: 3
  gates:
    - phase: spec
      gate_type: ai
      approved: true
      timestamp: 2026-01-10T10:45:00Z
  tokens:
    input_tokens: 45000
    output_tokens: 12000
    cache_read_input_tokens: 8000
    total_tokens: 65000
  cost:
    total_cost_usd: 0.85
";

/// The fields by their tables, with the kinds of value that each may have.
const OF_EXECUTIONS: &[(&str, &str)] = &[
    ("current_iteration", "number"),
    ("phases", "object"),
    ("gates", "array"),
    ("tokens", "object"),
    ("cost", "object"),
    ("session", "object or null"),
    ("error", "string or null"),
    ("retry_context", "object or null"),
];
const OF_PHASES: &[(&str, &str)] = &[
    ("status", "string"),
    ("started_at", "string or null"),
    ("completed_at", "string or null"),
    ("iterations", "number"),
    ("commit_sha", "string or null"),
    ("error", "string or null"),
    ("tokens", "object"),
    ("session_id", "string or null"),
];
const OF_TOKENS: &[(&str, &str)] = &[
    ("input_tokens", "number"),
    ("output_tokens", "number"),
    ("cache_creation_input_tokens", "number"),
    ("cache_read_input_tokens", "number"),
    ("total_tokens", "number"),
];

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn plan() -> Plan {
    Plan {
        task_id: "TASK-001".into(),
        weight: Weight::Medium,
        generated_at: at("2026-01-10T10:32:00Z"),
        phases: Plan::built_in(Weight::Medium),
    }
}

fn turn(phase: &str, number: u32, usage: Usage, outcome: Option<IterationOutcome>) -> Iteration {
    Iteration {
        phase: phase.into(),
        iteration: number,
        attempt: 1,
        harness: "claude".into(),
        session: Some("a-session".into()),
        usage,
        outcome,
        ..Iteration::default()
    }
}

fn used(input: u64, output: u64, cache_read: u64, cost: f64) -> Usage {
    Usage {
        input,
        output,
        cache_read,
        cost: Some(cost),
        ..Usage::default()
    }
}

/// The execution of the example.
fn execution() -> Value {
    let spec = PhaseState {
        status: PhaseStatus::Completed,
        started_at: Some(at("2026-01-10T10:32:00Z")),
        completed_at: Some(at("2026-01-10T10:45:00Z")),
        ..PhaseState::new("spec")
    };
    let implement = PhaseState {
        status: PhaseStatus::Running,
        started_at: Some(at("2026-01-10T10:45:00Z")),
        ..PhaseState::new("implement")
    };
    let (goes_on, done) = (
        Some(IterationOutcome::Continue),
        Some(IterationOutcome::Completed),
    );
    let execution = Execution {
        phases: vec![spec, implement],
        iterations: vec![
            turn("spec", 1, used(10_000, 3_000, 0, 0.1), goes_on),
            turn("spec", 2, used(5_000, 2_000, 0, 0.15), done),
            turn("implement", 1, used(20_000, 5_000, 8_000, 0.4), goes_on),
            turn("implement", 2, used(10_000, 2_000, 0, 0.2), goes_on),
            turn("implement", 3, Usage::default(), None),
        ],
        ..Execution::default()
    };
    let decision = GateDecision {
        phase: "spec".into(),
        gate_type: PhaseGateKind::Ai,
        attempt: 1,
        approved: true,
        reason: None,
        by: "judge".into(),
        at: at("2026-01-10T10:45:00Z"),
    };
    state_json::execution_state(&plan(), &execution, &[decision], &Prices::default())
}

/// Everything of the known value is in the other one too.
#[track_caller]
fn has_all_of(found: &Value, known: &Value, path: &str) {
    match (found, known) {
        (Value::Object(found), Value::Object(known)) => {
            for (name, value) in known {
                let path = format!("{path}.{name}");
                has_all_of(found.get(name).unwrap_or(&Value::Null), value, &path);
            }
        }
        (Value::Array(found), Value::Array(known)) => {
            assert_eq!(found.len(), known.len(), "{path}");
            for (found, known) in found.iter().zip(known) {
                has_all_of(found, known, path);
            }
        }
        // The reader of YAML leaves it to the field what a plain word is.
        (found, Value::String(known)) => {
            let words = found
                .as_str()
                .map_or_else(|| found.to_string(), str::to_owned);
            assert_eq!(words, *known, "{path}");
        }
        _ => assert_eq!(found, known, "{path}"),
    }
}

#[track_caller]
fn has_fields(value: &Value, fields: &[(&str, &str)]) {
    for (name, kinds) in fields {
        let found = value.get(name);
        assert!(found.is_some(), "there is no {name} in {value}");
        let kind = match found.unwrap() {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        assert!(
            kinds.split(" or ").any(|known| known == kind),
            "{name} is {kind}"
        );
    }
}

#[test]
fn an_execution_has_every_field_of_the_example() {
    let node = yaml::read(EXECUTION, 0..EXECUTION.len()).unwrap().unwrap();
    let known = node.to_json();
    let found = execution();
    has_all_of(&found, &known["execution"], "execution");
    assert_eq!(found["current_phase"], known["current_phase"]);
}

#[test]
fn executions_phases_and_tokens_have_every_field_of_their_tables() {
    let found = execution();
    has_fields(&found, OF_EXECUTIONS);
    has_fields(&found["tokens"], OF_TOKENS);
    for phase in plan().names() {
        let state = &found["phases"][phase];
        has_fields(state, OF_PHASES);
        has_fields(&state["tokens"], OF_TOKENS);
    }
    assert_eq!(
        PhaseStatus::WORDS,
        [
            "pending",
            "running",
            "completed",
            "failed",
            "paused",
            "interrupted",
            "skipped",
            "blocked"
        ]
    );
}

#[test]
fn a_specification_has_the_columns_of_its_table() {
    let spec = Spec {
        content: "# Specification: Add User Authentication".into(),
        source: SpecSource::SpecPhase,
        created_at: at("2026-01-10T10:32:00Z"),
        updated_at: at("2026-01-10T10:45:00Z"),
    };
    // task_id is put beside it: a specification alone does not know whose it is.
    assert_eq!(
        serde_json::to_value(spec).unwrap(),
        json!({
            "content": "# Specification: Add User Authentication",
            "source": "spec-phase",
            "created_at": "2026-01-10T10:32:00Z",
            "updated_at": "2026-01-10T10:45:00Z",
        })
    );
}

/// What stands in a transcript is compared with the whole example beside its code.
#[test]
fn transcripts_and_plans_are_named_as_in_the_examples() {
    assert_eq!(
        transcript::file_name(2, "implement", 3),
        "02-implement-003.md"
    );
    let plan = plan().to_json();
    for (name, known) in [
        ("task_id", "TASK-001"),
        ("weight", "medium"),
        ("generated_at", "2026-01-10T10:32:00Z"),
    ] {
        assert_eq!(plan[name], known);
    }
    let implement = &plan["phases"][1];
    for name in [
        "name",
        "type",
        "prompt_template",
        "max_iterations",
        "timeout",
        "completion_criteria",
        "checkpoint",
        "checkpoint_frequency",
        "gate",
    ] {
        assert!(!implement[name].is_null(), "{name}");
    }
    assert_eq!(
        plan["phases"][0]["gate"],
        json!({"type": "ai", "criteria": ["spec_complete"]})
    );
}

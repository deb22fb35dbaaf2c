//! The plan of a phased task: its fields as plan.yaml has them, and beside each phase how far it is and who decides.

use crate::execution::rules::UncheckedCriterion;
use crate::execution::servers::LeftOutServer;
use orange_core::task::Task;
use orange_core::work::execution::Execution;
use orange_core::work::phase_gate::{GateSource, PhaseGateKind};
use orange_core::work::plan::Plan;
use serde::Serialize;
use serde_json::{Map, Value};

/// A plan as a person sees it.
#[derive(Debug)]
pub struct ShownPlan {
    pub task: Task,
    pub plan: Plan,
    pub execution: Execution,
    /// Who decides about each phase, and who says so.
    pub gates: Vec<(String, PhaseGateKind, GateSource)>,
    pub unchecked: Vec<UncheckedCriterion>,
    /// MCP servers that no agent gets as things are.
    pub left_out: Vec<LeftOutServer>,
    /// Why its agents have no browser to drive, where they are to test a user interface.
    pub without_browser: Option<String>,
}

/// The same for programs.
#[derive(Debug, Serialize)]
pub struct PlanView<'a> {
    task: &'a Task,
    plan: PlanDetailFields<'a>,
}

#[derive(Debug, Serialize)]
struct PlanDetailFields<'a> {
    /// What stands above the phases.
    #[serde(flatten)]
    head: Map<String, Value>,
    phases: Vec<PhaseFields<'a>>,
    without_browser: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct PhaseFields<'a> {
    #[serde(flatten)]
    planned: Map<String, Value>,
    status: &'static str,
    iterations: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_gate: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate_from: Option<&'static str>,
    unchecked: Vec<Unchecked<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out_mcp_servers: Vec<LeftOut<'a>>,
}

#[derive(Debug, Serialize)]
struct Unchecked<'a> {
    criterion: &'a str,
    why: &'a str,
}

#[derive(Debug, Serialize)]
struct LeftOut<'a> {
    server: &'a str,
    why: &'a str,
}

/// What a run would begin with.
#[derive(Debug, Serialize)]
pub struct DryRunView<'a> {
    #[serde(flatten)]
    pub plan: PlanView<'a>,
    pub phase: Option<&'a str>,
    pub iteration: Option<u32>,
    pub prompt: Option<&'a str>,
}

impl<'a> PlanView<'a> {
    pub fn of(shown: &'a ShownPlan) -> PlanView<'a> {
        let mut head = members(shown.plan.to_json());
        let phases = match head.remove("phases") {
            Some(Value::Array(phases)) => phases,
            _ => Vec::new(),
        };
        let phases = phases.into_iter().zip(&shown.plan.phases);
        let phases = phases.map(|(fields, phase)| shown.phase(members(fields), &phase.name));
        PlanView {
            task: &shown.task,
            plan: PlanDetailFields {
                head,
                phases: phases.collect(),
                without_browser: shown.without_browser.as_deref(),
            },
        }
    }
}

impl ShownPlan {
    fn phase(&self, planned: Map<String, Value>, name: &str) -> PhaseFields<'_> {
        let gate = self.gates.iter().find(|(phase, ..)| phase == name);
        let unchecked = self.unchecked.iter().filter(|one| one.phase == name);
        let left_out = self.left_out.iter().filter(|one| one.phase == name);
        PhaseFields {
            planned,
            status: self.execution.status(name).as_str(),
            iterations: self.execution.count_of(name),
            resolved_gate: gate.map(|(_, kind, _)| kind.as_str()),
            gate_from: gate.map(|(.., source)| source.as_str()),
            unchecked: unchecked
                .map(|one| Unchecked {
                    criterion: &one.criterion,
                    why: &one.why,
                })
                .collect(),
            left_out_mcp_servers: left_out
                .map(|one| LeftOut {
                    server: &one.server,
                    why: &one.why,
                })
                .collect(),
        }
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

//! A plan: the phases of a task in their order, as plan.yaml has them.

mod built_in;
mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::Timestamp;
use crate::choice;
use crate::config::{Effort, Mistake};
use crate::task::Weight;
use crate::work::criterion::Criterion;
use crate::work::phase_gate::PhaseGateKind;
use crate::yaml::{self, Node};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

choice! {
    /// What a phase is for. It decides its prompt, and where a task goes back to when the phase fails.
    pub enum PhaseKind ("type of phase") {
        Research = "research", Spec = "spec", Design = "design", Implement = "implement", Review = "review",
        Docs = "docs", Test = "test", Validate = "validate", Finalize = "finalize",
    }
}

/// The plan of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The task's key.
    pub task_id: String,
    pub weight: Weight,
    pub generated_at: Timestamp,
    pub phases: Vec<PlannedPhase>,
}

/// One phase of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPhase {
    /// Unique in its plan.
    pub name: String,
    pub kind: PhaseKind,
    /// `prompts/NAME.md` is the prompt `phase-NAME`.
    pub prompt_template: String,
    /// Of one attempt.
    pub max_iterations: u32,
    /// Of one iteration; None: what `phases.turn_timeout` says.
    pub timeout: Option<Duration>,
    pub completion_criteria: Vec<Criterion>,
    /// Whether its commits get a ref that rewind finds.
    pub checkpoint: bool,
    /// Every so many iterations, besides the last one of the phase.
    pub checkpoint_frequency: Option<u32>,
    pub gate: PlannedGate,
    pub model: Option<String>,
    pub effort: Option<Effort>,
    pub mcp_servers: Vec<McpServer>,
}

/// What the plan says of the gate behind a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedGate {
    pub kind: PhaseGateKind,
    /// What an ai gate's judge looks at: `spec_complete`, `design_complete`, `review_approved`, or words of one's own.
    pub criteria: Vec<String>,
}

/// MCP servers that a plan may name without saying how they are started.
pub const KNOWN_SERVERS: [&str; 1] = ["playwright"];

/// An MCP server that a phase's agent has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    /// The program and its arguments; empty: a server that the settings know by its name, or one with a URL.
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub url: Option<String>,
}

/// A plan that was read, and notes on what of it does not count.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedPlan {
    pub plan: Plan,
    pub ignored: Vec<String>,
}

/// Why a plan cannot be used: at least one mistake, each with its field, and its line where there is a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct BadPlan {
    pub mistakes: Vec<Mistake>,
}

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mistakes: Vec<String> = self.mistakes.iter().map(ToString::to_string).collect();
        f.write_str(&mistakes.join("\n"))
    }
}

/// The phases of `weights.plans.WEIGHT`: a list, or a mapping with `phases`. Here an unknown field is a mistake.
pub fn parse_phases(value: &Node) -> Result<Vec<PlannedPhase>, BadPlan> {
    read::phases_of_settings(value)
}

impl Plan {
    /// Reads plan.yaml. What nobody knows is a note; what cannot work is a mistake.
    pub fn parse(text: &str) -> Result<ParsedPlan, BadPlan> {
        read::plan(text)
    }

    /// plan.yaml, which `parse` reads as the same plan.
    pub fn to_yaml(&self) -> String {
        write::plan(self)
    }

    /// The fields of plan.yaml, for programs.
    pub fn to_json(&self) -> Value {
        let text = self.to_yaml();
        let node = yaml::read(&text, 0..text.len()).ok().flatten();
        node.map_or(Value::Null, |node| node.to_json())
    }

    /// The phases that a weight has where the settings say nothing.
    pub fn built_in(weight: Weight) -> Vec<PlannedPhase> {
        built_in::phases(weight)
    }

    pub fn phase(&self, name: &str) -> Option<&PlannedPhase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Where a phase stands, from 0.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.phases.iter().position(|phase| phase.name == name)
    }

    /// The phases that an executor executes: all but finalize.
    pub fn executed(&self) -> impl DoubleEndedIterator<Item = &PlannedPhase> {
        self.phases.iter().filter(|phase| phase.is_executed())
    }

    pub fn names(&self) -> Vec<&str> {
        self.phases
            .iter()
            .map(|phase| phase.name.as_str())
            .collect()
    }
}

impl PlannedPhase {
    /// Whether an executor executes it: finalize is not its work.
    pub fn is_executed(&self) -> bool {
        self.kind != PhaseKind::Finalize
    }

    /// Whether the commit after so many iterations of an attempt is a checkpoint; the last one of a phase is.
    pub fn has_checkpoint(&self, iteration_of_attempt: u32, is_last: bool) -> bool {
        let every = self.checkpoint_frequency.unwrap_or_default();
        self.checkpoint && (is_last || every > 0 && iteration_of_attempt.is_multiple_of(every))
    }
}

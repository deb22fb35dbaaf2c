//! The gate behind a phase: whether what the phase did counts.

use crate::Timestamp;
use crate::choice;
use serde::{Deserialize, Serialize};

choice! {
    /// Who decides whether a phase counts, from nobody to a person: a later one is stricter.
    pub enum PhaseGateKind ("kind of phase gate") {
        Skip = "skip", Auto = "auto", Ai = "ai", Human = "human",
    }
}

impl PhaseGateKind {
    /// Whether a phase that meets its criteria counts without anybody's decision.
    pub fn is_open(self) -> bool {
        matches!(self, PhaseGateKind::Skip | PhaseGateKind::Auto)
    }
}

choice! {
    /// Who said which gate stands behind a phase.
    pub enum GateSource ("origin of a phase gate") {
        Task = "task", Weight = "weight", Settings = "settings", Plan = "plan",
    }
}

impl GateSource {
    /// As a sentence goes on: `human, as the settings of its weight say`.
    pub fn words(self) -> &'static str {
        match self {
            GateSource::Task => "as the task says",
            GateSource::Weight => "as the settings of its weight say",
            GateSource::Settings => "as the settings say",
            GateSource::Plan => "as its plan says",
        }
    }
}

/// The gate of a phase, and who said so: the first of these that says anything, else the plan.
pub fn resolve(
    of_task: Option<PhaseGateKind>,
    of_weight: Option<PhaseGateKind>,
    named: Option<PhaseGateKind>,
    of_plan: PhaseGateKind,
) -> (PhaseGateKind, GateSource) {
    let said = [
        (of_task, GateSource::Task),
        (of_weight, GateSource::Weight),
        (named, GateSource::Settings),
    ];
    let mut said = said
        .into_iter()
        .filter_map(|(kind, source)| Some((kind?, source)));
    said.next().unwrap_or((of_plan, GateSource::Plan))
}

/// What counts where somebody may only make a gate stricter.
pub fn tighten(known: PhaseGateKind, wanted: PhaseGateKind) -> PhaseGateKind {
    known.max(wanted)
}

/// What was decided at the gate behind a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateDecision {
    pub phase: String,
    pub gate_type: PhaseGateKind,
    /// The attempt of the phase that it is about.
    pub attempt: u32,
    pub approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub by: String,
    #[serde(rename = "timestamp")]
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::PhaseGateKind::{Ai, Auto, Human, Skip};
    use super::*;

    #[test]
    fn the_first_that_says_a_gate_counts() {
        for (task, weight, named, plan, wanted) in [
            (
                Some(Skip),
                Some(Human),
                Some(Ai),
                Auto,
                (Skip, GateSource::Task),
            ),
            (
                None,
                Some(Human),
                Some(Ai),
                Auto,
                (Human, GateSource::Weight),
            ),
            (None, None, Some(Ai), Auto, (Ai, GateSource::Settings)),
            (None, None, None, Auto, (Auto, GateSource::Plan)),
        ] {
            assert_eq!(resolve(task, weight, named, plan), wanted);
        }
    }

    #[test]
    fn a_gate_is_only_made_stricter() {
        let order = [Skip, Auto, Ai, Human];
        for (place, one) in order.into_iter().enumerate() {
            for (other_place, other) in order.into_iter().enumerate() {
                assert_eq!(tighten(one, other), order[place.max(other_place)]);
            }
        }
        assert!(Skip.is_open() && Auto.is_open() && !Ai.is_open() && !Human.is_open());
    }

    #[test]
    fn a_decision_has_the_names_of_its_export() {
        let decision = GateDecision {
            phase: "spec".into(),
            gate_type: Human,
            attempt: 1,
            approved: true,
            reason: None,
            by: "randy".into(),
            at: "2026-01-10T10:45:00Z".parse().unwrap(),
        };
        let json = serde_json::to_string(&decision).unwrap();
        assert_eq!(
            json,
            r#"{"phase":"spec","gate_type":"human","attempt":1,"approved":true,"by":"randy","timestamp":"2026-01-10T10:45:00Z"}"#
        );
        assert_eq!(
            serde_json::from_str::<GateDecision>(&json).unwrap(),
            decision
        );
    }
}

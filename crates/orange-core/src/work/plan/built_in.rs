//! The phases that a task of each weight has, and what a phase of a kind has where its plan says nothing.

use super::{PhaseKind, PlannedGate, PlannedPhase};
use crate::task::Weight;
use crate::work::criterion::Criterion;
use crate::work::phase_gate::PhaseGateKind;
use std::time::Duration;

/// The phases of a weight with the iterations of each.
fn iterations(weight: Weight) -> &'static [(PhaseKind, u32)] {
    use PhaseKind::{Design, Docs, Finalize, Implement, Research, Review, Spec, Test, Validate};
    match weight {
        Weight::Trivial => &[(Implement, 3)],
        Weight::Small => &[(Implement, 5), (Test, 3)],
        Weight::Medium => &[(Spec, 3), (Implement, 10), (Review, 3), (Test, 3)],
        Weight::Large => &[
            (Research, 5),
            (Spec, 5),
            (Design, 3),
            (Implement, 20),
            (Review, 5),
            (Docs, 5),
            (Test, 5),
            (Validate, 2),
            (Finalize, 3),
        ],
        Weight::Greenfield => &[
            (Research, 10),
            (Spec, 10),
            (Design, 5),
            (Implement, 30),
            (Review, 5),
            (Docs, 10),
            (Test, 10),
            (Validate, 3),
            (Finalize, 3),
        ],
    }
}

pub(super) fn phases(weight: Weight) -> Vec<PlannedPhase> {
    let phases = iterations(weight).iter();
    phases
        .map(|(kind, max_iterations)| phase(*kind, *max_iterations))
        .collect()
}

fn phase(kind: PhaseKind, max_iterations: u32) -> PlannedPhase {
    use PhaseKind::{Design, Docs, Finalize, Implement, Spec};
    let seconds = match kind {
        Finalize => None,
        Implement => Some(600),
        _ => Some(300),
    };
    PlannedPhase {
        name: kind.as_str().to_owned(),
        kind,
        prompt_template: prompt_template(kind.as_str()),
        max_iterations,
        timeout: seconds.map(Duration::from_secs),
        completion_criteria: criteria(kind),
        checkpoint: matches!(kind, Spec | Design | Implement | Docs),
        checkpoint_frequency: (kind == Implement).then_some(3),
        gate: gate(kind),
        model: None,
        effort: None,
        mcp_servers: Vec::new(),
    }
}

pub(super) fn prompt_template(name: &str) -> String {
    format!("prompts/{name}.md")
}

/// The iterations of a phase of a kind that does not say how many: those of the smallest weight that has such a phase, from
/// medium on.
pub(super) fn max_iterations(kind: PhaseKind) -> u32 {
    let weights = [Weight::Medium, Weight::Large];
    let mut phases = weights.into_iter().flat_map(iterations);
    phases
        .find(|(known, _)| *known == kind)
        .map_or(3, |(_, iterations)| *iterations)
}

pub(super) fn criteria(kind: PhaseKind) -> Vec<Criterion> {
    match kind {
        PhaseKind::Implement => vec![Criterion::AllTestsPass, Criterion::NoLintErrors],
        PhaseKind::Test => vec![Criterion::AllTestsPass, Criterion::CoverageAbove(80)],
        PhaseKind::Validate => vec![Criterion::AgentConfirms, Criterion::AllTestsPass],
        PhaseKind::Finalize => Vec::new(),
        PhaseKind::Research
        | PhaseKind::Spec
        | PhaseKind::Design
        | PhaseKind::Review
        | PhaseKind::Docs => vec![Criterion::AgentConfirms],
    }
}

pub(super) fn gate(kind: PhaseKind) -> PlannedGate {
    let (gate, criteria): (_, &[&str]) = match kind {
        PhaseKind::Spec => (PhaseGateKind::Ai, &["spec_complete"]),
        PhaseKind::Design => (PhaseGateKind::Ai, &["design_complete"]),
        PhaseKind::Review => (PhaseGateKind::Ai, &["review_approved"]),
        PhaseKind::Finalize => (PhaseGateKind::Human, &[]),
        PhaseKind::Research
        | PhaseKind::Implement
        | PhaseKind::Docs
        | PhaseKind::Test
        | PhaseKind::Validate => (PhaseGateKind::Auto, &[]),
    };
    PlannedGate {
        kind: gate,
        criteria: criteria.iter().map(|&word| word.to_owned()).collect(),
    }
}

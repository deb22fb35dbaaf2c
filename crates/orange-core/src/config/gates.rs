//! Settings about phase gates: by a phase's name, and for a weight. A repository only makes a gate stricter, so its word is kept
//! apart from the user's.

use super::values::one_of;
use crate::task::Weight;
use crate::work::phase_gate::PhaseGateKind;
use crate::yaml::Node;
use std::collections::BTreeMap;

pub(super) const GATES_START: &str = "gates.";
pub(super) const OVERRIDES: &str = "gates.weight_overrides";

/// What weights have where nobody says anything: a person looks at it.
const HUMAN: &[(Weight, &str)] = &[
    (Weight::Large, "spec"),
    (Weight::Large, "design"),
    (Weight::Greenfield, "spec"),
    (Weight::Greenfield, "design"),
    (Weight::Greenfield, "review"),
];

/// Of whom merges are asked where nobody says anything.
const MERGE: PhaseGateKind = PhaseGateKind::Human;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GatesConfig {
    said: Gates,
    of_repository: Gates,
}

/// What one source says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Gates {
    named: BTreeMap<String, PhaseGateKind>,
    of_weights: BTreeMap<(Weight, String), PhaseGateKind>,
}

impl GatesConfig {
    /// What the user says of the gate behind phases of that name.
    pub fn named(&self, phase: &str) -> Option<PhaseGateKind> {
        self.said.named.get(phase).copied()
    }

    /// The same for tasks of a weight, whose default it may be.
    pub fn of_weight(&self, weight: Weight, phase: &str) -> Option<PhaseGateKind> {
        let said = self.said.of_weight(weight, phase);
        said.or_else(|| is_human(weight, phase).then_some(PhaseGateKind::Human))
    }

    /// What the repository demands at least. Only a person's word about one task is above it.
    pub fn floor(&self, weight: Weight, phase: &str) -> Option<PhaseGateKind> {
        let of_weight = self.of_repository.of_weight(weight, phase);
        of_weight.or_else(|| self.of_repository.named.get(phase).copied())
    }

    /// The gate of merges. One that merges by itself says so in the user's own settings.
    pub fn merge(&self, weight: Weight) -> PhaseGateKind {
        let said = self.of_weight(weight, "merge").or(self.named("merge"));
        let floor = self.floor(weight, "merge");
        said.unwrap_or(MERGE)
            .max(floor.unwrap_or(PhaseGateKind::Skip))
    }

    pub(super) fn say(&mut self, key: &str, node: &Node) -> Result<(), String> {
        self.said.say(key, node)
    }

    /// A repository's word.
    pub(super) fn demand(&mut self, key: &str, node: &Node) {
        // It was tried when it was read.
        let _ = self.of_repository.say(key, node);
    }

    /// What is said from outside the files counts whatever the repository says.
    pub(super) fn lift_demand(&mut self, key: &str) {
        match GateKey::of(key) {
            Ok(GateKey::Named(phase)) => {
                self.of_repository.named.remove(phase);
            }
            Ok(GateKey::OfWeight(weight, phase)) => {
                let place = (weight, phase.to_owned());
                self.of_repository.of_weights.remove(&place);
            }
            Err(_) => {}
        }
    }
}

impl Gates {
    fn of_weight(&self, weight: Weight, phase: &str) -> Option<PhaseGateKind> {
        self.of_weights.get(&(weight, phase.to_owned())).copied()
    }

    fn say(&mut self, key: &str, node: &Node) -> Result<(), String> {
        let place = GateKey::of(key)?;
        let kind = one_of(node)?;
        match place {
            GateKey::Named(phase) => self.named.insert(phase.to_owned(), kind),
            GateKey::OfWeight(weight, phase) => {
                self.of_weights.insert((weight, phase.to_owned()), kind)
            }
        };
        Ok(())
    }
}

/// What a key is about.
enum GateKey<'k> {
    Named(&'k str),
    OfWeight(Weight, &'k str),
}

impl GateKey<'_> {
    fn of(key: &str) -> Result<GateKey<'_>, String> {
        let name = key.strip_prefix(GATES_START).unwrap_or(key);
        let Some(below) = key
            .strip_prefix(OVERRIDES)
            .and_then(|rest| rest.strip_prefix('.'))
        else {
            return Ok(GateKey::Named(phase(name)?));
        };
        let (weight, name) = below
            .split_once('.')
            .ok_or("has phases below it, such as spec")?;
        let weight = weight
            .parse()
            .map_err(|error: crate::choice::NotAllowed| format!(": {error}"))?;
        Ok(GateKey::OfWeight(weight, phase(name)?))
    }
}

/// A name that a phase may have.
fn phase(name: &str) -> Result<&str, String> {
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_')
    };
    if name.is_empty() || !name.chars().all(is_letter) {
        Err(format!(
            ": {name:?} is not the name of a phase, such as spec or review"
        ))
    } else {
        Ok(name)
    }
}

fn is_human(weight: Weight, phase: &str) -> bool {
    HUMAN.contains(&(weight, phase))
}

/// The keys of weights that have a default.
pub(super) fn usual_keys() -> impl Iterator<Item = String> {
    HUMAN
        .iter()
        .map(|(weight, phase)| format!("{OVERRIDES}.{weight}.{phase}"))
}

/// What counts where nobody says it, if anything is known of the key.
pub(super) fn default_of(key: &str) -> Option<PhaseGateKind> {
    match GateKey::of(key) {
        Ok(GateKey::OfWeight(weight, phase)) => {
            is_human(weight, phase).then_some(PhaseGateKind::Human)
        }
        _ => None,
    }
}

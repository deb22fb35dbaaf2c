//! Plans of one's own for weights, and what a repository's may change.

use super::{Config, WeightsConfig};
use crate::task::Weight;
use crate::work::criterion::Criterion;
use crate::work::phase_gate::PhaseGateKind;
use crate::work::plan::{McpServer, PhaseKind, Plan, PlannedPhase, parse_phases};
use crate::yaml::Node;
use std::collections::BTreeMap;

pub(super) const PLANS: &str = "weights.plans";

pub(super) type OwnPlans = BTreeMap<Weight, Vec<PlannedPhase>>;

impl WeightsConfig {
    /// The phases of that weight, if the settings have a plan for it.
    pub fn plan(&self, weight: Weight) -> Option<&[PlannedPhase]> {
        self.plans.get(&weight).map(Vec::as_slice)
    }
}

/// The user's word.
pub(super) fn say(config: &mut Config, key: &str, node: &Node) -> Result<(), String> {
    let (weight, phases) = read(key, node)?;
    config.weights.plans.insert(weight, phases);
    Ok(())
}

fn read(key: &str, node: &Node) -> Result<(Weight, Vec<PlannedPhase>), String> {
    let weight = key
        .strip_prefix(PLANS)
        .and_then(|rest| rest.strip_prefix('.'));
    let weight = weight.unwrap_or(key).parse();
    let weight = weight.map_err(|error: crate::choice::NotAllowed| format!(": {error}"))?;
    let phases = parse_phases(node).map_err(|error| {
        let told: Vec<String> = error.mistakes.into_iter().map(|one| one.reason).collect();
        format!(": {}", told.join("; "))
    })?;
    Ok((weight, phases))
}

/// A repository's word: neither models nor looser gates, and no criterion less. An error is why the plan does not count at all.
pub(super) fn say_of_repository(config: &mut Config, key: &str, node: &Node) -> Result<(), String> {
    let (weight, mut phases) = read(key, node)?;
    let known = config.weights.plan(weight).map(<[PlannedPhase]>::to_vec);
    let known = known.unwrap_or_else(|| Plan::built_in(weight));
    keeps_gated_phases(config, weight, &known, &phases)
        .map_err(|why| format!("does not count here: it {why}"))?;
    let names: Vec<String> = phases.iter().map(|phase| phase.name.clone()).collect();
    for phase in &mut phases {
        phase.model = None;
        phase.effort = None;
        let usual = usual_gate(config, weight, &known, phase);
        phase.gate.kind = phase.gate.kind.max(usual);
        let mut criteria = criteria(&known, phase);
        criteria.retain(|one| !phase.gate.criteria.contains(one));
        phase.gate.criteria.extend(criteria);
        if let Some(known) = replaced(&known, &names, phase) {
            keep_criteria(&mut phase.completion_criteria, &known.completion_criteria);
        }
    }
    config.weights.plans.insert(weight, phases);
    Ok(())
}

/// Refuses a plan that leaves out a phase about which somebody decides, makes it another kind of phase, or moves it: a review before the
/// work has nothing to review.
fn keeps_gated_phases(
    config: &Config,
    weight: Weight,
    known: &[PlannedPhase],
    phases: &[PlannedPhase],
) -> Result<(), String> {
    for (at, gated) in known.iter().enumerate() {
        let gates = &config.gates;
        let said = gates
            .of_weight(weight, &gated.name)
            .or(gates.named(&gated.name));
        let gate = said.unwrap_or(gated.gate.kind);
        if gated.kind == PhaseKind::Finalize || gate.is_open() {
            continue;
        }
        let name = &gated.name;
        let who = match gate {
            PhaseGateKind::Human => "after which a person decides",
            _ => "which is judged",
        };
        let Some(now) = phases.iter().position(|phase| phase.name == *name) else {
            return Err(format!("leaves out {name}, {who}"));
        };
        if phases
            .get(now)
            .is_some_and(|phase| phase.kind != gated.kind)
        {
            return Err(format!("gives {name}, {who}, another type"));
        }
        for (place, other) in known.iter().enumerate() {
            let moved = phases.iter().position(|phase| phase.name == other.name);
            let Some(moved) = moved.filter(|_| place != at) else {
                continue;
            };
            if (place < at) != (moved < now) {
                let other = &other.name;
                return Err(format!("changes the order of {name}, {who}, and {other}"));
            }
        }
    }
    Ok(())
}

/// The phase whose place one takes: of the same name, or else of the same type if the plan has it no more.
fn replaced<'k>(
    known: &'k [PlannedPhase],
    names: &[String],
    phase: &PlannedPhase,
) -> Option<&'k PlannedPhase> {
    let same_name = known.iter().find(|known| known.name == phase.name);
    same_name.or_else(|| {
        let mut left_out = known.iter().filter(|known| !names.contains(&known.name));
        left_out.find(|known| known.kind == phase.kind)
    })
}

/// Adds what a phase has to meet anyway; of two percentages the higher one counts.
fn keep_criteria(criteria: &mut Vec<Criterion>, known: &[Criterion]) {
    for wanted in known {
        let Criterion::CoverageAbove(least) = wanted else {
            if !criteria.contains(wanted) {
                criteria.push(wanted.clone());
            }
            continue;
        };
        let coverage = criteria.iter_mut().find_map(|one| match one {
            Criterion::CoverageAbove(percent) => Some(percent),
            _ => None,
        });
        match coverage {
            Some(percent) => *percent = (*percent).max(*least),
            None => criteria.push(wanted.clone()),
        }
    }
}

/// The gate that a phase has without the repository's word. A phase by another name is taken for those of its kind.
fn usual_gate(
    config: &Config,
    weight: Weight,
    known: &[PlannedPhase],
    phase: &PlannedPhase,
) -> PhaseGateKind {
    if let Some(known) = known.iter().find(|known| known.name == phase.name) {
        return known.gate.kind;
    }
    let all = Plan::built_in(Weight::Greenfield);
    let same_kind = known
        .iter()
        .chain(&all)
        .filter(|known| known.kind == phase.kind);
    let of_kind = same_kind.flat_map(|known| {
        let gates = &config.gates;
        let said = gates
            .of_weight(weight, &known.name)
            .or(gates.named(&known.name));
        [Some(known.gate.kind), said]
    });
    of_kind.flatten().max().unwrap_or(PhaseGateKind::Auto)
}

/// What a judge looks at anyway.
fn criteria(known: &[PlannedPhase], phase: &PlannedPhase) -> Vec<String> {
    let all = Plan::built_in(Weight::Greenfield);
    let same = known.iter().find(|known| known.name == phase.name);
    let same = same.or_else(|| all.iter().find(|known| known.kind == phase.kind));
    same.map_or_else(Vec::new, |known| known.gate.criteria.clone())
}

/// What a repository may not choose in a plan, in words about its key.
pub(super) fn ignored_of_repository(key: &str, node: &Node) -> Vec<String> {
    let Ok((_, phases)) = read(key, node) else {
        return Vec::new();
    };
    let chosen = phases.iter().filter_map(|phase| {
        let what = match (&phase.model, &phase.effort) {
            (None, None) => return None,
            (Some(_), None) => "model",
            (None, Some(_)) => "effort",
            (Some(_), Some(_)) => "model and effort",
        };
        Some((what, &phase.name))
    });
    chosen
        .map(|(what, name)| {
            format!("{key}: the choice of {what} for {name} does not count here: it decides what agents spend")
        })
        .collect()
}

/// What the phases of a plan run, each in a line that a person can agree to.
pub(super) fn commands_in(key: &str, node: &Node) -> Vec<String> {
    let phases = read(key, node).map_or_else(|_| Vec::new(), |(_, phases)| phases);
    let criteria = phases.iter().flat_map(|phase| &phase.completion_criteria);
    let commands = criteria.filter_map(|criterion| match criterion {
        Criterion::Command(command) => Some(command.clone()),
        _ => None,
    });
    let servers = phases.iter().flat_map(|phase| &phase.mcp_servers);
    let servers = servers.filter_map(server_in_words);
    let mut all: Vec<String> = Vec::new();
    for one in commands.chain(servers) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// An MCP server as a person agrees to it; None: one that only names what the user's settings have.
pub fn server_in_words(server: &McpServer) -> Option<String> {
    if server.command.is_empty() && server.url.is_none() && server.env.is_empty() {
        return None;
    }
    let env = server
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"));
    let command = server.command.iter().map(|word| format!("{word:?}"));
    let words: Vec<String> = env.chain(command).chain(server.url.clone()).collect();
    Some(format!("mcp server {}: {}", server.name, words.join(" ")))
}

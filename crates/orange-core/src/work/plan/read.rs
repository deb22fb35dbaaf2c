//! Reads the phases of a plan, from plan.yaml and from settings, and says what is wrong with them, all of it at once.

mod fields;
mod servers;
mod values;

use super::{BadPlan, ParsedPlan, PhaseKind, Plan, PlannedGate, PlannedPhase, built_in};
use crate::config::{Effort, Mistake};
use crate::work::criterion::Criterion;
use crate::yaml::{self, Node, YamlError};
use fields::{PlanFields, PlanReader};
use values::{check_name, flag_of, iterations_of, model_of, name_of, scalar, text_of, texts_of};
use values::{time_of, timeout_of, word_of};

/// Some editors put it at the beginning of a file.
const BOM: char = '\u{feff}';

const FIELDS: [&str; 4] = ["task_id", "weight", "generated_at", "phases"];
const PHASE_FIELDS: [&str; 14] = [
    "name",
    "type",
    "prompt_template",
    "max_iterations",
    "timeout",
    "completion_criteria",
    "checkpoint",
    "checkpoint_frequency",
    "gate",
    "model",
    "effort",
    "mcp_servers",
    "claude_config",
    "description",
];
const GATE_FIELDS: [&str; 2] = ["type", "criteria"];

/// Two digits of a transcript's name say which phase it is.
const MOST_PHASES: usize = 99;

pub(super) fn plan(text: &str) -> Result<ParsedPlan, BadPlan> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let mut reader = PlanReader::of_text(text);
    let root = match yaml::read(text, 0..text.len()) {
        Ok(Some(root)) => root,
        Ok(None) => return Err(single(1, "the plan is empty".to_owned())),
        Err(YamlError::Invalid { line, message }) => return Err(single(line, message)),
        Err(error @ YamlError::DuplicateKey { line, .. }) => {
            return Err(single(line, error.to_string()));
        }
    };
    let fields = PlanFields::of(&mut reader, "", &root, &FIELDS);
    let task_id = fields.required(&mut reader, "task_id", text_of);
    let weight = fields.required(&mut reader, "weight", word_of);
    let generated_at = fields.required(&mut reader, "generated_at", time_of);
    let phases = match fields.get("phases") {
        Some(node) => reader.phases("phases", node),
        None => {
            reader.mistake(
                "phases",
                root.span().start,
                "is missing: a plan has a list of phases",
            );
            Vec::new()
        }
    };
    match (task_id, weight, generated_at) {
        (Some(task_id), Some(weight), Some(generated_at)) if reader.mistakes.is_empty() => {
            let plan = Plan {
                task_id,
                weight,
                generated_at,
                phases,
            };
            Ok(ParsedPlan {
                plan,
                ignored: reader.ignored,
            })
        }
        _ => Err(BadPlan {
            mistakes: reader.mistakes,
        }),
    }
}

pub(super) fn phases_of_settings(node: &Node) -> Result<Vec<PlannedPhase>, BadPlan> {
    let mut reader = PlanReader::default();
    let list = match node {
        Node::Mapping { .. } => {
            let fields = PlanFields::of(&mut reader, "", node, &["phases"]);
            fields.get("phases").cloned()
        }
        Node::Sequence { .. } | Node::Scalar { .. } => Some(node.clone()),
    };
    let phases = list
        .map(|list| reader.phases("phases", &list))
        .unwrap_or_default();
    if phases.is_empty() && reader.mistakes.is_empty() {
        reader.mistake("phases", 0, "is missing: a plan has a list of phases");
    }
    let ignored = reader.ignored.into_iter();
    let unknown = ignored.map(|reason| Mistake { line: None, reason });
    reader.mistakes.extend(unknown);
    if reader.mistakes.is_empty() {
        Ok(phases)
    } else {
        Err(BadPlan {
            mistakes: reader.mistakes,
        })
    }
}

fn single(line: usize, reason: String) -> BadPlan {
    let line = Some(line);
    BadPlan {
        mistakes: vec![Mistake { line, reason }],
    }
}

impl PlanReader<'_> {
    fn phases(&mut self, path: &str, node: &Node) -> Vec<PlannedPhase> {
        let at = node.span().start;
        let items = match node {
            Node::Sequence { items, .. } => items.as_slice(),
            Node::Scalar { .. } | Node::Mapping { .. } => {
                self.mistake(path, at, "must be a list of phases");
                return Vec::new();
            }
        };
        if items.is_empty() || items.len() > MOST_PHASES {
            self.mistake(path, at, &format!("must have 1 to {MOST_PHASES} phases"));
            return Vec::new();
        }
        let mut phases: Vec<PlannedPhase> = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let Some(phase) = self.phase(&format!("{path}[{}]", number + 1), item) else {
                continue;
            };
            let at = item.span().start;
            if phases.iter().any(|known| known.name == phase.name) {
                self.mistake(
                    &phase.name,
                    at,
                    "is in the plan twice; every phase needs a name of its own",
                );
            }
            if phases.last().is_some_and(|known| !known.is_executed()) {
                self.mistake(
                    &phase.name,
                    at,
                    "stands behind finalize, which has to be the last phase",
                );
            }
            phases.push(phase);
        }
        if !phases.is_empty() && phases.iter().all(|phase| !phase.is_executed()) {
            self.mistake(path, at, "must have a phase besides finalize");
        }
        phases
    }

    fn phase(&mut self, path: &str, node: &Node) -> Option<PlannedPhase> {
        // What a phase is called says more than its number.
        let path = name_in(node).map_or_else(|| path.to_owned(), |name| format!("phases.{name}"));
        let fields = PlanFields::of(self, &path, node, &PHASE_FIELDS);
        let name = fields.required(self, "name", name_of);
        let said = fields.optional(self, "type", word_of::<PhaseKind>);
        let kind = match (said, &name, fields.get("type")) {
            (Some(kind), ..) => Some(kind),
            // `name: spec` says enough.
            (None, Some(name), None) if name.parse::<PhaseKind>().is_ok() => name.parse().ok(),
            (None, Some(_), None) => {
                let words = PhaseKind::WORDS.join(", ");
                let why = format!("is missing: one of {words}");
                self.mistake(&fields.path_of("type"), fields.start, &why);
                None
            }
            (None, ..) => None,
        };
        // Whatever else is wrong is told as well.
        let basis = kind.unwrap_or(PhaseKind::Implement);
        let prompt_template = fields.optional(self, "prompt_template", text_of);
        let max_iterations = fields.optional(self, "max_iterations", iterations_of);
        let timeout = fields.optional(self, "timeout", timeout_of);
        let criteria = fields.get("completion_criteria");
        let completion_criteria = match criteria {
            Some(node) => self.criteria(&fields.path_of("completion_criteria"), node),
            None => built_in::criteria(basis),
        };
        let checkpoint = fields.optional(self, "checkpoint", flag_of);
        let checkpoint_frequency = fields.optional(self, "checkpoint_frequency", iterations_of);
        let gate = match fields.get("gate") {
            Some(node) => self.gate(&fields.path_of("gate"), node, basis),
            None => Some(built_in::gate(basis)),
        };
        let model = fields.optional(self, "model", model_of);
        let effort = fields.optional(self, "effort", word_of::<Effort>);
        let mcp_servers = self.servers_of_phase(&fields);
        let name = name?;
        Some(PlannedPhase {
            kind: kind?,
            prompt_template: prompt_template.unwrap_or_else(|| built_in::prompt_template(&name)),
            max_iterations: max_iterations.unwrap_or_else(|| built_in::max_iterations(basis)),
            timeout,
            completion_criteria,
            checkpoint: checkpoint.unwrap_or_default(),
            checkpoint_frequency,
            gate: gate?,
            model,
            effort,
            mcp_servers,
            name,
        })
    }

    fn criteria(&mut self, path: &str, node: &Node) -> Vec<Criterion> {
        let items = match node {
            Node::Sequence { items, .. } => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut found = Vec::new();
        for item in items {
            match Criterion::from_json(&item.to_json()) {
                Ok(criterion) if found.contains(&criterion) => {}
                Ok(criterion) => found.push(criterion),
                Err(why) => self.mistake(path, item.span().start, &why),
            }
        }
        found
    }

    fn gate(&mut self, path: &str, node: &Node, kind: PhaseKind) -> Option<PlannedGate> {
        if let Node::Scalar { .. } = node {
            // `gate: human`.
            let gate = word_of(node).map_err(|why| self.mistake(path, node.span().start, &why));
            return Some(PlannedGate {
                kind: gate.ok()?,
                criteria: Vec::new(),
            });
        }
        let fields = PlanFields::of(self, path, node, &GATE_FIELDS);
        let said = fields.optional(self, "type", word_of);
        let criteria = fields
            .optional(self, "criteria", texts_of)
            .unwrap_or_default();
        let kind = said.unwrap_or(built_in::gate(kind).kind);
        Some(PlannedGate { kind, criteria })
    }
}

fn name_in(node: &Node) -> Option<&str> {
    let Node::Mapping { entries, .. } = node else {
        return None;
    };
    let entry = entries.iter().find(|entry| entry.key == "name")?;
    scalar(&entry.value).filter(|name| check_name(name).is_ok())
}

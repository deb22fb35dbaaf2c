//! Writes plan.yaml, in the order and the form in which people know it.

use super::{McpServer, Plan, PlannedPhase};
use crate::work::criterion::Criterion;
use crate::yaml::{emit_entry, to_yaml_inline};
use serde_json::{Map, Value, json};

/// Before the fields of a phase.
const INDENT: &str = "    ";

pub(super) fn plan(plan: &Plan) -> String {
    let mut out = String::new();
    emit_entry(&mut out, "", "task_id", &json!(plan.task_id));
    out.push_str(&format!("weight: {}\n", plan.weight));
    out.push_str(&format!("generated_at: {}\n", plan.generated_at));
    out.push_str("\nphases:\n");
    let phases: Vec<String> = plan.phases.iter().map(phase).collect();
    out.push_str(&phases.join("\n"));
    out
}

fn phase(phase: &PlannedPhase) -> String {
    let mut out = String::new();
    let mut field = |name: &str, value: &Value| emit_entry(&mut out, INDENT, name, value);
    field("name", &json!(phase.name));
    field("type", &json!(phase.kind));
    field("prompt_template", &json!(phase.prompt_template));
    field("max_iterations", &json!(phase.max_iterations));
    if let Some(timeout) = phase.timeout {
        // As text it would be in quotes.
        out.push_str(&format!("{INDENT}timeout: {}s\n", timeout.as_secs()));
    }
    criteria(&mut out, &phase.completion_criteria);
    let mut field = |name: &str, value: &Value| emit_entry(&mut out, INDENT, name, value);
    if phase.checkpoint {
        field("checkpoint", &json!(true));
    }
    if let Some(every) = phase.checkpoint_frequency {
        field("checkpoint_frequency", &json!(every));
    }
    let mut gate = Map::from_iter([("type".to_owned(), json!(phase.gate.kind))]);
    if !phase.gate.criteria.is_empty() {
        gate.insert("criteria".to_owned(), json!(phase.gate.criteria));
    }
    field("gate", &Value::Object(gate));
    if let Some(model) = &phase.model {
        field("model", &json!(model));
    }
    if let Some(effort) = phase.effort {
        field("effort", &json!(effort));
    }
    if !phase.mcp_servers.is_empty() {
        field("mcp_servers", &servers(&phase.mcp_servers));
    }
    // The first field stands behind the dash.
    out.replace_range(..INDENT.len(), "  - ");
    out
}

fn criteria(out: &mut String, criteria: &[Criterion]) {
    if criteria.is_empty() {
        out.push_str(&format!("{INDENT}completion_criteria: []\n"));
        return;
    }
    out.push_str(&format!("{INDENT}completion_criteria:\n"));
    for criterion in criteria {
        match criterion.to_json() {
            Value::Object(map) => {
                let mut lines = String::new();
                for (name, value) in &map {
                    emit_entry(&mut lines, &format!("{INDENT}    "), name, value);
                }
                lines.replace_range(..INDENT.len() + 4, &format!("{INDENT}  - "));
                out.push_str(&lines);
            }
            word => {
                let word = to_yaml_inline(&word).unwrap_or_default();
                out.push_str(&format!("{INDENT}  - {word}\n"));
            }
        }
    }
}

/// The names alone, where that is all there is to say.
fn servers(servers: &[McpServer]) -> Value {
    let is_name = |server: &McpServer| {
        server.command.is_empty() && server.env.is_empty() && server.url.is_none()
    };
    if servers.iter().all(is_name) {
        return servers.iter().map(|server| server.name.as_str()).collect();
    }
    let entries = servers.iter().map(|server| {
        let mut fields = Map::new();
        if !server.command.is_empty() {
            fields.insert("command".to_owned(), json!(server.command));
        }
        if !server.env.is_empty() {
            fields.insert("env".to_owned(), json!(server.env));
        }
        if let Some(url) = &server.url {
            fields.insert("url".to_owned(), json!(url));
        }
        (server.name.clone(), Value::Object(fields))
    });
    Value::Object(entries.collect())
}

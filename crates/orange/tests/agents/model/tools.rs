//! What a scripted call means to an agent: the tool it offers for it, and how that one calls its arguments.

use super::request::Tool;
use serde_json::{Map, Value, json};

/// What the model wants to have done.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Shell(String),
    Write {
        path: String,
        text: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Named {
        name: String,
        arguments: Value,
    },
}

impl Call {
    /// The tool's name and its arguments; what is wrong if the agent has no such tool.
    pub(super) fn resolve(&self, tools: &[Tool]) -> Result<(String, Value), String> {
        let wanted = match self {
            Call::Shell(_) => "bash",
            Call::Write { .. } => "write",
            Call::Edit { .. } => "edit",
            Call::Named { name, .. } => name,
        };
        let found = tools
            .iter()
            .find(|tool| tool.name.eq_ignore_ascii_case(wanted));
        let Some(tool) = found else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            return Err(format!("the script wants {wanted}, offered are {names:?}"));
        };
        Ok((tool.name.clone(), self.arguments(tool)))
    }

    fn arguments(&self, tool: &Tool) -> Value {
        match self {
            Call::Shell(command) => shell(tool, command),
            Call::Write { path, text } => {
                let content = ("content".to_owned(), json!(text));
                Value::Object(Map::from_iter([path_of(tool, path), content]))
            }
            Call::Edit { path, old, new } => edit(tool, path, old, new),
            Call::Named { arguments, .. } => arguments.clone(),
        }
    }
}

fn takes(tool: &Tool, argument: &str) -> bool {
    tool.schema["properties"].get(argument).is_some()
}

fn shell(tool: &Tool, command: &str) -> Value {
    let mut arguments = json!({"command": command});
    if takes(tool, "description") {
        arguments["description"] = json!("scripted step");
    }
    arguments
}

fn path_of(tool: &Tool, path: &str) -> (String, Value) {
    let name = if takes(tool, "file_path") {
        "file_path"
    } else {
        "path"
    };
    (name.to_owned(), json!(path))
}

/// Claude replaces one text, pi takes a list of replacements.
fn edit(tool: &Tool, path: &str, old: &str, new: &str) -> Value {
    let replacement = if takes(tool, "edits") {
        json!({"edits": [{"oldText": old, "newText": new}]})
    } else {
        json!({"old_string": old, "new_string": new})
    };
    let mut arguments = Map::from_iter([path_of(tool, path)]);
    arguments.extend(replacement.as_object().cloned().unwrap_or_default());
    Value::Object(arguments)
}

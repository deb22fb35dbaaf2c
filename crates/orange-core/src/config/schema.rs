//! The settings as a JSON Schema, with which editors complete and check a config.yaml.

use super::{Kind, Setting};
use crate::keys::{KEYS, KeyAction, KeyRow};
use serde_json::{Map, Value, json};

/// Draft 2020-12.
pub fn schema() -> Value {
    let mut sections = Map::new();
    for setting in Setting::all() {
        let section = sections.entry(setting.section()).or_insert_with(|| {
            json!({
                "type": ["object", "null"],
                "properties": {},
                "additionalProperties": false,
            })
        });
        let name = setting.key.split('.').next_back().unwrap_or(setting.key);
        if setting.kind == Kind::OwnHarness {
            section["additionalProperties"] = setting_schema(setting);
        } else if setting.kind == Kind::Key {
            let of_action = |row: &&KeyRow| KeyAction::changeable(row.name).is_some();
            let actions = KEYS.iter().filter(of_action);
            let actions = actions.map(|row| (row.name.to_owned(), key_schema(row)));
            section["properties"]["keys"] = json!({
                "description": setting.about,
                "type": ["object", "null"],
                "properties": actions.collect::<Map<String, Value>>(),
                "additionalProperties": false,
            });
        } else {
            section["properties"][name] = setting_schema(setting);
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Orange: config.yaml",
        "description": "Settings of Orange, in ~/orange/config.yaml; some of them also in a repository's .orange/config.yaml.",
        "type": "object",
        "properties": sections,
        "additionalProperties": false,
    })
}

fn setting_schema(setting: &Setting) -> Value {
    let mut schema = Map::new();
    schema.insert("description".into(), setting.about.into());
    if let Value::Object(kind) = kind_schema(setting.kind) {
        schema.extend(kind);
    }
    if !setting.default.is_empty() {
        schema.insert("default".into(), setting.default_value());
    }
    if let Ok(example) = setting.node(setting.example) {
        schema.insert("examples".into(), json!([setting.value(&example)]));
    }
    Value::Object(schema)
}

fn key_schema(row: &KeyRow) -> Value {
    let mut schema = kind_schema(Kind::Key);
    schema["description"] = row.about.into();
    schema["default"] = row.key.into();
    schema
}

fn kind_schema(kind: Kind) -> Value {
    let texts = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
    match kind {
        Kind::Count => json!({"type": "integer", "minimum": 1}),
        Kind::Days => json!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": "^0*[1-9][0-9]*d?$"},
        ]}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Time => json!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": "^0*[1-9][0-9]* *[smh]?$"},
        ]}),
        Kind::Text | Kind::Secret => json!({"type": ["string", "null"]}),
        Kind::Url => {
            json!({"type": ["string", "null"], "pattern": "^https?://[^\\s@/?#]+([/?][^\\s#]*)?$"})
        }
        Kind::Key => json!({"type": "string", "pattern": "^([^\\s0-9]|space)$"}),
        Kind::OneOf(words) => json!({"enum": words}),
        Kind::BranchTemplate | Kind::Harness => json!({"type": "string", "minLength": 1}),
        Kind::Patterns | Kind::Commands => json!({"anyOf": [
            {"type": "string", "minLength": 1},
            texts,
            {"type": "null"},
        ]}),
        Kind::OwnHarness => {
            let command = json!({"anyOf": [{"type": "string", "minLength": 1}, texts]});
            json!({"anyOf": [
                {"type": "string", "minLength": 1},
                texts,
                {
                    "type": "object",
                    "properties": {
                        "command": command,
                        "like": {"type": "string"},
                        "one_shot": {"type": "boolean"},
                        "signals": {"type": "boolean"},
                        "interrupt": {"type": "string"},
                    },
                    "required": ["command"],
                    "additionalProperties": false,
                },
            ]})
        }
    }
}

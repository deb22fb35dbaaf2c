//! The settings as a JSON Schema, with which editors complete and check a config.yaml.

use super::{Alias, Setting, SettingKind};
use crate::keys::{KEYS, KeyAction, KeyRow};
use serde_json::{Map, Value, json};

/// What may be said of a harness that Orange knows.
const CHANGE: &str = "changes of a known harness";

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
        if setting.kind == SettingKind::OwnHarness {
            section["additionalProperties"] = setting_schema(setting);
        } else if let Some(name) = setting.key.strip_prefix("harness.NAME.") {
            // Beside the harnesses of one's own, whose row comes first.
            let Some(Value::Array(forms)) = section.pointer_mut("/additionalProperties/anyOf")
            else {
                continue;
            };
            let is_change = |form: &Value| form["title"] == CHANGE;
            if !forms.iter().any(is_change) {
                forms.push(json!({
                    "title": CHANGE,
                    "type": ["object", "null"],
                    "properties": {},
                    "additionalProperties": false,
                }));
            }
            for form in forms.iter_mut().filter(|form| is_change(form)) {
                form["properties"][name] = setting_schema(setting);
            }
        } else if let [_, groups @ .., name] = setting.key.split('.').collect::<Vec<_>>().as_slice()
            && setting.is_of_names()
            && setting.kind != SettingKind::Key
        {
            add_named(section, groups, name, setting);
        } else if setting.kind == SettingKind::Key {
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
    for alias in Alias::all() {
        add_alias(&mut sections, alias);
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

/// A row of names: mappings within each other, of which the inner ones may have any of the names.
fn add_named(section: &mut Value, groups: &[&str], name: &str, setting: &Setting) {
    let is_word = |part: &str| part.chars().all(|letter| letter.is_ascii_uppercase());
    let mut place = section;
    for group in groups {
        let below = if is_word(group) {
            &mut place["additionalProperties"]
        } else {
            &mut place["properties"][*group]
        };
        if !below.is_object() {
            *below = json!({
                "type": ["object", "null"],
                "properties": {},
                "additionalProperties": false,
            });
        }
        place = below;
    }
    if is_word(name) {
        place["additionalProperties"] = setting_schema(setting);
    } else {
        place["properties"][name] = setting_schema(setting);
    }
}

/// A name of older files: an editor offers it to nobody, and finds nothing wrong with it.
fn add_alias(sections: &mut Map<String, Value>, alias: &Alias) {
    let schema = |about: String| json!({"description": about, "deprecated": true});
    let about = match alias.key {
        Some(key) => format!("Read as {key}. {}", alias.about),
        None => format!("Changes nothing. {}", alias.about),
    };
    let schema = schema(about.trim_end().to_owned());
    match alias.name.split_once('.') {
        None => {
            sections.insert(alias.name.to_owned(), schema);
        }
        Some((section, name)) => {
            let section = sections.entry(section).or_insert_with(|| {
                json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false})
            });
            section["properties"][name] = schema;
        }
    }
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
    let mut schema = kind_schema(SettingKind::Key);
    schema["description"] = row.about.into();
    schema["default"] = row.key.into();
    schema
}

fn kind_schema(kind: SettingKind) -> Value {
    let texts = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
    match kind {
        SettingKind::Count => json!({"type": "integer", "minimum": 1}),
        SettingKind::Days => json!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": "^0*[1-9][0-9]*d?$"},
        ]}),
        SettingKind::Flag => json!({"type": "boolean"}),
        SettingKind::Time => json!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": "^0*[1-9][0-9]* *[smh]?$"},
        ]}),
        SettingKind::Text | SettingKind::Secret => json!({"type": ["string", "null"]}),
        SettingKind::Url => {
            json!({"type": ["string", "null"], "pattern": "^https?://[^\\s@/?#]+([/?][^\\s#]*)?$"})
        }
        SettingKind::Key => json!({"type": "string", "pattern": "^([^\\s0-9]|space)$"}),
        SettingKind::OneOf(words) => json!({"enum": words}),
        SettingKind::BranchTemplate | SettingKind::Harness => {
            json!({"type": "string", "minLength": 1})
        }
        SettingKind::Patterns | SettingKind::Commands => json!({"anyOf": [
            {"type": "string", "minLength": 1},
            texts,
            {"type": "null"},
        ]}),
        SettingKind::UpTo(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
        SettingKind::Dollars => json!({"type": "number", "exclusiveMinimum": 0}),
        SettingKind::Percent => json!({"anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 100},
            {"type": "string", "pattern": "^[0-9]+ ?%$"},
        ]}),
        SettingKind::Line | SettingKind::Folder => json!({"type": "string", "minLength": 1}),
        SettingKind::Phases => json!({"anyOf": [
            {"type": "array", "items": {"type": "object", "required": ["name"]}},
            {"type": "object", "required": ["phases"]},
        ]}),
        SettingKind::Price => {
            let price = json!({"type": "number", "minimum": 0});
            let names = ["input", "output", "cache_read", "cache_write"];
            let properties = names.map(|name| (name.to_owned(), price.clone()));
            json!({
                "type": "object",
                "properties": Map::from_iter(properties),
                "additionalProperties": false,
            })
        }
        SettingKind::Words => json!({"anyOf": [{"type": "string", "minLength": 1}, texts]}),
        SettingKind::OwnHarness => {
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

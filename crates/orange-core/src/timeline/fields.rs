//! What fields and their values are called where people read of them; their names are for TASK.md and programs.

use super::{cut, plain};
use crate::task::Field;
use serde_json::Value;

/// How much of a value a line shows.
const VALUE: usize = 60;

/// `target branch`, `blockers`: fits after "the", and before "to" and a value.
pub fn noun(name: &str) -> String {
    let noun = match Field::from_name(name) {
        Some(Field::BlockedReason) => "reason for being blocked",
        Some(Field::ReviewHarness) => "reviewer's harness",
        Some(Field::ReviewModel) => "reviewer's model",
        Some(Field::ReviewEffort) => "reviewer's effort",
        Some(Field::CrashCount) => "number of crashes",
        Some(Field::QueuedAt) => "time in the queue",
        Some(Field::InitiativeId) => "initiative",
        Some(Field::BlockedBy) => "blockers",
        Some(Field::RelatedTo) => "related tasks",
        Some(Field::RequiresUiTesting) => "UI testing",
        Some(Field::TestingRequirements) => "tests",
        Some(Field::CurrentPhase) => "phase",
        Some(Field::Workspace) => "slot",
        Some(Field::TmuxSession) => "session",
        Some(Field::PrUrl) => "address of the pull request",
        Some(Field::Pr) => "pull request",
        Some(Field::CreatedAt) => "time of creation",
        Some(Field::CreatedBy) => "creator",
        Some(Field::UpdatedAt) => "time of the last change",
        // It is called as it is written.
        _ => return plain(name),
    };
    noun.to_owned()
}

/// A field that changed: `set priority to high`, `put it into the queue`.
pub(super) fn change(name: &str, value: &Value) -> String {
    match (Field::from_name(name), value) {
        (Some(Field::QueuedAt), Value::Null) => "took it out of the queue".into(),
        (Some(Field::QueuedAt), _) => "put it into the queue".into(),
        (Some(Field::Workspace), Value::Null) => "left it without a slot".into(),
        (Some(Field::TmuxSession), Value::Null) => "left it without a session".into(),
        (Some(Field::Metadata), Value::Object(map)) if map.contains_key("resolution_message") => {
            let message = map.get("resolution_message").and_then(Value::as_str);
            format!(
                "resolved it: \"{}\"",
                cut(message.unwrap_or_default(), VALUE)
            )
        }
        _ => match said(value) {
            nothing if nothing.is_empty() => format!("cleared {}", noun(name)),
            value => format!("set {} to {value}", noun(name)),
        },
    }
}

/// A value in a sentence.
pub fn said(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.contains(char::is_whitespace) => {
            format!("\"{}\"", cut(text, VALUE))
        }
        Value::String(text) => cut(text, VALUE),
        Value::Array(list) => cut(&list.iter().map(said).collect::<Vec<_>>().join(" "), VALUE),
        Value::Object(map) => {
            // Of what is either wanted or not, what is wanted; of anything else its name and value.
            let parts = map.iter().filter_map(|(name, value)| match value {
                Value::Bool(false) | Value::Null => None,
                Value::Bool(true) => Some(plain(name)),
                value => Some(format!("{} {}", plain(name), said(value))),
            });
            cut(&parts.collect::<Vec<_>>().join(", "), VALUE)
        }
    }
}

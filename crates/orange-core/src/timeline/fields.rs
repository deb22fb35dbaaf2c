//! What fields and their values are called where people read of them; their names are for TASK.md and programs.

use super::{cut, plain};
use crate::task::Field;
use serde_json::Value;

/// How much of a value a line shows.
const VALUE: usize = 60;

/// `target branch`, `blockers`: fits after "the", and before "to" and a value.
pub fn noun(name: &str) -> String {
    let Some(field) = Field::from_name(name) else {
        return plain(name);
    };
    match field {
        Field::Id => "id",
        Field::Key => "key",
        Field::Revision => "revision",
        Field::Project => "project",
        Field::Workflow => "workflow",
        Field::Status => "status",
        Field::BlockedReason => "reason for being blocked",
        Field::Summary => "summary",
        Field::Branch => "branch",
        Field::Base => "base",
        Field::TargetBranch => "target branch",
        Field::Harness => "harness",
        Field::Model => "model",
        Field::Effort => "effort",
        Field::ReviewHarness => "reviewer's harness",
        Field::ReviewModel => "reviewer's model",
        Field::ReviewEffort => "reviewer's effort",
        Field::Permissions => "permissions",
        Field::ReviewRound => "review round",
        Field::CrashCount => "number of crashes",
        Field::Queue => "queue",
        Field::QueuedAt => "time in the queue",
        Field::Priority => "priority",
        Field::Category => "category",
        Field::Weight => "weight",
        Field::Tags => "tags",
        Field::InitiativeId => "initiative",
        Field::Parent => "parent",
        Field::BlockedBy => "blockers",
        Field::RelatedTo => "related tasks",
        Field::RequiresUiTesting => "UI testing",
        Field::TestingRequirements => "tests",
        Field::CurrentPhase => "phase",
        Field::Workspace => "slot",
        Field::TmuxSession => "session",
        Field::PrUrl => "address of the pull request",
        Field::Pr => "pull request",
        Field::Metadata => "metadata",
        Field::CreatedAt => "time of creation",
        Field::CreatedBy => "creator",
        Field::UpdatedAt => "time of the last change",
    }
    .to_owned()
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

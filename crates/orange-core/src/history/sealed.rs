//! What a seal of an event speaks of.

use super::Event;
use serde_json::Value;

impl Event {
    /// The bytes that a seal speaks of: every member but the seal, with sorted names, so that they are the same
    /// after the line was read again, also by a later version that knows more members by name.
    pub fn unsealed_bytes(&self) -> Vec<u8> {
        let mut event = self.clone();
        event.seal = None;
        let value = serde_json::to_value(&event).unwrap_or_default();
        sorted(value).to_string().into_bytes()
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(String, Value)> = map.into_iter().collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            let members = members.into_iter();
            Value::Object(members.map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

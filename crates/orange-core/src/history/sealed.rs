//! What a seal of an event speaks of.

use super::Event;
use serde_json::Value;

impl Event {
    /// The bytes that a seal speaks of: every member but the seal, with sorted names, so that they are the same
    /// after the line was read again, also by a later version that knows more members by name.
    pub fn unsealed_bytes(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(members) = &mut value {
            members.swap_remove("seal");
        }
        value.sort_all_objects();
        // Straight into bytes: whoever locks a task compares all seals of its journal.
        serde_json::to_vec(&value).unwrap_or_default()
    }
}

//! What an event says in words: messages, reasons, questions. Ids, commits and times are nothing that people look for.

use crate::history::{Event, EventType};
use serde_json::Value;

/// Empty if it says nothing.
pub fn spoken(event: &Event) -> String {
    let mut parts: Vec<&str> = Vec::new();
    parts.extend(event.reason.as_deref());
    // What the engine tells agents is a prompt; what people said in it stands where they said it.
    let is_prompt = event.kind.is_message() && event.by.as_deref().is_none_or(|by| by == "engine");
    for value in event.texts().filter(|_| !is_prompt) {
        collect(value, &mut parts);
    }
    parts.extend(event.append.iter().map(|section| section.text.as_str()));
    if event.kind == EventType::TaskUpdated
        && let Some(summary) = event.fields.get("summary").and_then(Value::as_str)
    {
        parts.push(summary);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join(" · ")
}

fn collect<'v>(value: &'v Value, parts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => parts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, parts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_reasons_are_said_and_ids_are_not() {
        let said = |line: &str| spoken(&serde_json::from_str(line).unwrap());
        let at = r#""timestamp":"2026-01-01T00:00:00Z""#;
        assert_eq!(
            said(&format!(
                r#"{{"type":"message.sent",{at},"by":"human","message":"m1","text":"use the old form"}}"#
            )),
            "use the old form"
        );
        assert_eq!(
            said(&format!(
                r#"{{"type":"message.sent",{at},"by":"engine","text":"You are to use the old form"}}"#
            )),
            ""
        );
        // As this version writes it.
        let message =
            |by: &str| format!(r#"{{"type":"message",{at},"by":"{by}","content":"left"}}"#);
        assert_eq!(said(&message("human")), "left");
        assert_eq!(said(&message("engine")), "");
        assert_eq!(
            said(&format!(
                r#"{{"type":"agent.crashed",{at},"run":"r1","reason":"exit code 1"}}"#
            )),
            "exit code 1"
        );
        assert_eq!(
            said(&format!(r#"{{"type":"note",{at},"who":{{"name":"ann"}}}}"#)),
            "ann"
        );
        assert_eq!(said(&format!(r#"{{"type":"agent.spawned",{at}}}"#)), "");
    }
}

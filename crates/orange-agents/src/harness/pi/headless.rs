//! Pi without a terminal: `pi -p --mode json`, which ends well even if the model's service said no. An extension says what
//! earlier turns used, and refuses what the permissions do not allow: nobody is there to be asked.

use crate::error::Result;
use crate::harness::{SHARED, share};
use crate::headless::{
    AgentOutput, HeadlessStart, Heard, Listener, TurnRequest, kind_of_status, kind_of_word,
    text_of, tool_use, usage_of,
};
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const SOURCE: &str = include_str!("headless.ts");

/// The extension of this version of Orange.
const EXTENSION: &str = concat!("pi-headless-", env!("CARGO_PKG_VERSION"), ".ts");

/// How the extension's lines begin on standard error; pi writes standard output by itself.
const ASIDE: &[u8] = b"orange: ";

pub(super) fn way(request: &TurnRequest, home: &Path) -> Result<HeadlessStart> {
    let shared = home.join(SHARED);
    share(&shared, &[(EXTENSION, SOURCE)])?;
    let mut arguments: Vec<String> = ["-p", "--mode", "json", "--no-approve", "-e"]
        .map(str::to_owned)
        .to_vec();
    arguments.push(shared.join(EXTENSION).display().to_string());
    let conversation = request.conversation();
    arguments.extend(conversation.arguments("--session-id", "--session"));
    arguments.extend(super::choice_arguments(&request.choice));
    let permissions = request.permissions.as_str().to_owned();
    Ok(HeadlessStart {
        arguments,
        environment: BTreeMap::from([("ORANGE_HEADLESS_PERMISSIONS".into(), permissions)]),
        withheld: Vec::new(),
        hear,
        aside: Some(aside),
        unknown_conversation: "No session found",
        logged_out: &["No API key found"],
    })
}

/// What the extension says, as if it were a line of pi's.
fn aside(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line.strip_prefix(ASIDE)?).ok()
}

pub(super) fn hear(heard: &mut Heard, line: &Value, listener: &mut Listener<'_>) {
    let message = line.get("message").unwrap_or(&Value::Null);
    match text_of(line, "type") {
        Some("session") => heard.conversation = text_of(line, "id").map(str::to_owned),
        Some("earlier-usage") => heard.earlier = line.get("usage").map(usage),
        Some("limit") => {
            let until = text_of(line, "until");
            heard.until = until.and_then(|until| until.parse().ok());
        }
        Some("message_end") if text_of(message, "role") == Some("assistant") => {
            hear_answer(heard, message, listener);
        }
        Some("agent_settled") => heard.finished = true,
        Some(_) | None => {}
    }
}

fn hear_answer(heard: &mut Heard, message: &Value, listener: &mut Listener<'_>) {
    let used = message.get("usage").map(usage).unwrap_or_default();
    heard.used = heard.used.plus(used);
    heard.text = text_in(message);
    let model = text_of(message, "model").map(str::to_owned);
    heard.model = model.or(heard.model.take());
    // One that is tried again succeeds in the end, or not: the last one counts.
    heard.error = complaint(message);
    heard.kind = heard.error.as_deref().and_then(|error| {
        // It begins with the status, if the service gave one; otherwise there was no answer at all.
        let status = error
            .trim_start()
            .get(..3)
            .and_then(|text| text.parse().ok());
        match status {
            Some(status) => kind_of_status(status),
            None if text_of(message, "stopReason") == Some("error") => kind_of_word("server_error"),
            None => None,
        }
    });
    let parts = message.get("content").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        match text_of(part, "type") {
            Some("text") => listener(AgentOutput::Text(text_of(part, "text").unwrap_or_default())),
            Some("toolCall") => listener(AgentOutput::Tool {
                name: text_of(part, "name").unwrap_or("a tool"),
                on: &tool_use(part.get("arguments").unwrap_or(&Value::Null)),
            }),
            Some(_) | None => {}
        }
    }
}

fn complaint(message: &Value) -> Option<String> {
    let stop = text_of(message, "stopReason")?;
    let text = text_of(message, "errorMessage").unwrap_or_default();
    match (stop, text) {
        ("error" | "aborted", "") => Some(format!("the turn ended with {stop}")),
        ("error" | "aborted", text) => Some(text.to_owned()),
        _ => None,
    }
}

fn text_in(message: &Value) -> String {
    let parts = message.get("content").and_then(Value::as_array);
    let texts = parts
        .into_iter()
        .flatten()
        .filter_map(|part| text_of(part, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

fn usage(used: &Value) -> Usage {
    Usage {
        cost: used.pointer("/cost/total").and_then(Value::as_f64),
        ..usage_of(used, ["input", "output", "cacheRead", "cacheWrite"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headless::FailureKind;
    use serde_json::json;
    use std::fs;

    fn hear_silently(heard: &mut Heard, line: &Value) {
        hear(heard, line, &mut |_| {});
    }

    fn answer(stop: &str, error: &str, output: u64) -> Value {
        let usage = json!({"input": 10, "output": output, "cacheRead": 1, "cacheWrite": 2, "cost": {"total": 0.5}});
        json!({"type": "message_end", "message": {
            "role": "assistant", "stopReason": stop, "errorMessage": error, "usage": usage,
            "content": [{"type": "text", "text": format!("said {output}")}],
        }})
    }

    #[test]
    fn the_last_answer_decides_and_all_of_them_are_counted() {
        let mut heard = Heard::default();
        hear_silently(&mut heard, &json!({"type": "session", "id": "s"}));
        let before = b"orange: {\"type\":\"earlier-usage\",\"usage\":{\"input\":100,\"cost\":{\"total\":1}}}\n";
        hear_silently(&mut heard, &aside(before).unwrap());
        hear_silently(&mut heard, &answer("error", "529 overloaded", 0));
        assert_eq!(heard.error.as_deref(), Some("529 overloaded"));
        hear_silently(&mut heard, &answer("stop", "", 7));
        hear_silently(&mut heard, &json!({"type": "agent_settled"}));
        assert_eq!((heard.error, heard.text.as_str()), (None, "said 7"));
        let expected = Usage {
            input: 120,
            output: 7,
            cache_read: 2,
            cache_write: 4,
            cost: Some(2.0),
            cost_partial: false,
        };
        assert_eq!(heard.used.plus(heard.earlier.unwrap()), expected);
        assert_eq!(heard.used.cost, Some(1.0));
        assert!(heard.finished);
        assert_eq!(aside(b"Warning: orange\n"), None);
    }

    #[test]
    fn a_failure_is_told_apart_by_its_status() {
        let told = |error: &str| {
            let mut heard = Heard::default();
            hear_silently(
                &mut heard,
                &json!({"type": "limit", "until": "2030-01-01T00:00:00Z"}),
            );
            hear_silently(&mut heard, &answer("error", error, 0));
            assert!(heard.until.is_some());
            heard.kind.map(FailureKind::as_str)
        };
        assert_eq!(told("429 {\"type\":\"error\"}"), Some("service"));
        assert_eq!(told("401 no"), Some("logged out"));
        assert_eq!(told("404 no such model"), Some("refused"));
        assert_eq!(told("Connection error."), Some("service"));
    }

    #[test]
    fn the_extension_is_put_right_when_it_differs() {
        let home = tempfile::tempdir().unwrap();
        let share = || share(&home.path().join(SHARED), &[(EXTENSION, SOURCE)]);
        share().unwrap();
        let path = home.path().join(SHARED).join(EXTENSION);
        fs::write(&path, "something else").unwrap();
        share().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), SOURCE);
    }
}

//! Pi without a terminal: `pi -p --mode json`, which ends well even if the model's service said no. An extension says what
//! earlier turns used, and refuses what the permissions do not allow: nobody is there to be asked.

use crate::error::Result;
use crate::harness::{SHARED, share};
use crate::headless::{Heard, Request, Way, count_of, text_of};
use crate::runs::Conversation;
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const SOURCE: &str = include_str!("headless.ts");

/// The extension of this version of Orange.
const EXTENSION: &str = concat!("pi-headless-", env!("CARGO_PKG_VERSION"), ".ts");

/// How the extension's lines begin on standard error; pi writes standard output by itself.
const ASIDE: &[u8] = b"orange: ";

pub(super) fn way(request: &Request, home: &Path) -> Result<Way> {
    let shared = home.join(SHARED);
    share(&shared, &[(EXTENSION, SOURCE)])?;
    let mut arguments: Vec<String> = ["-p", "--mode", "json", "--no-approve", "-e"]
        .map(str::to_owned)
        .to_vec();
    arguments.push(shared.join(EXTENSION).display().to_string());
    let conversation = Conversation::resumed_or_new(request.resume.clone());
    arguments.extend(conversation.arguments("--session-id", "--session"));
    arguments.extend(super::choice_arguments(&request.choice));
    let permissions = request.permissions.as_str().to_owned();
    Ok(Way {
        arguments,
        environment: BTreeMap::from([("ORANGE_HEADLESS_PERMISSIONS".into(), permissions)]),
        hear,
        aside: Some(aside),
        unknown_conversation: "No session found",
    })
}

/// What the extension says, as if it were a line of pi's.
fn aside(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line.strip_prefix(ASIDE)?).ok()
}

pub(super) fn hear(heard: &mut Heard, line: &Value) {
    let message = line.get("message").unwrap_or(&Value::Null);
    match text_of(line, "type") {
        Some("session") => heard.conversation = text_of(line, "id").map(str::to_owned),
        Some("earlier-usage") => {
            let used = line.get("usage").map(usage).unwrap_or_default();
            heard.usage = heard.usage.plus(used);
        }
        Some("message_end") if text_of(message, "role") == Some("assistant") => {
            let used = message.get("usage").map(usage).unwrap_or_default();
            heard.usage = heard.usage.plus(used);
            heard.text = text_in(message);
            // One that is tried again succeeds in the end, or not: the last one counts.
            heard.error = complaint(message);
        }
        Some("agent_settled") => heard.finished = true,
        Some(_) | None => {}
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
        input: count_of(used, "input"),
        output: count_of(used, "output"),
        cache_read: count_of(used, "cacheRead"),
        cache_write: count_of(used, "cacheWrite"),
        cost: used.pointer("/cost/total").and_then(Value::as_f64),
        cost_partial: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

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
        hear(&mut heard, &json!({"type": "session", "id": "s"}));
        let before = b"orange: {\"type\":\"earlier-usage\",\"usage\":{\"input\":100,\"cost\":{\"total\":1}}}\n";
        hear(&mut heard, &aside(before).unwrap());
        hear(&mut heard, &answer("error", "529 overloaded", 0));
        assert_eq!(heard.error.as_deref(), Some("529 overloaded"));
        hear(&mut heard, &answer("stop", "", 7));
        hear(&mut heard, &json!({"type": "agent_settled"}));
        assert_eq!((heard.error, heard.text.as_str()), (None, "said 7"));
        let expected = Usage {
            input: 120,
            output: 7,
            cache_read: 2,
            cache_write: 4,
            cost: Some(2.0),
            cost_partial: false,
        };
        assert_eq!(heard.usage, expected);
        assert!(heard.finished);
        assert_eq!(aside(b"Warning: orange\n"), None);
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

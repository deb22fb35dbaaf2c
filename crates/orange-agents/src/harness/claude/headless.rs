//! Claude without a terminal: `claude -p`, whose last line is the result. What the result says of tokens is that of this
//! turn, what it says of cost and of models is that of the conversation: the latter is taken for both.

use super::sources::sources;
use crate::headless::{Heard, Request, Way, count_of, text_of};
use crate::runs::Conversation;
use orange_core::config::Permissions;
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn way(request: &Request, given: &BTreeMap<String, String>) -> Way {
    let mut arguments: Vec<String> = ["-p", "--output-format", "stream-json", "--verbose"]
        .map(str::to_owned)
        .to_vec();
    // Without a person to ask, it refuses what the mode does not allow.
    let mode = match request.permissions {
        Permissions::Full => "bypassPermissions",
        Permissions::Edits => "acceptEdits",
        Permissions::Ask => "default",
    };
    arguments.extend(["--permission-mode".into(), mode.into()]);
    let conversation = Conversation::resumed_or_new(request.resume.clone());
    arguments.extend(conversation.arguments("--session-id", "--resume"));
    arguments.extend(super::choice_arguments(&request.choice));
    // No project, so nobody agreed to what is in the folder.
    let sources = sources(&request.folder, given, false);
    arguments.extend(sources.arguments);
    let mut environment = sources.environment;
    environment.extend(super::own_environment(&request.choice, request.permissions));
    Way {
        arguments,
        environment,
        hear,
        aside: None,
        unknown_conversation: "No conversation found",
    }
}

pub(super) fn hear(heard: &mut Heard, line: &Value) {
    if let Some(id) = text_of(line, "session_id") {
        heard.conversation = Some(id.to_owned());
    }
    if text_of(line, "type") != Some("result") {
        return;
    }
    heard.finished = true;
    heard.text = text_of(line, "result").unwrap_or_default().to_owned();
    heard.usage = usage(line);
    if line.get("is_error") == Some(&Value::Bool(true)) {
        heard.error = Some(complaint(line));
    }
}

/// Its own words, of which there are some in every case seen.
fn complaint(line: &Value) -> String {
    let errors = line.get("errors").and_then(Value::as_array);
    let errors: Vec<&str> = errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let text = text_of(line, "result").filter(|text| !text.is_empty());
    match (errors.is_empty(), text) {
        (false, _) => errors.join("; "),
        (true, Some(text)) => text.to_owned(),
        (true, None) => format!(
            "it failed: {}",
            text_of(line, "subtype").unwrap_or("no reason given")
        ),
    }
}

fn usage(line: &Value) -> Usage {
    let models = line.get("modelUsage").and_then(Value::as_object);
    let of_model = |model: &Value| Usage {
        input: count_of(model, "inputTokens"),
        output: count_of(model, "outputTokens"),
        cache_read: count_of(model, "cacheReadInputTokens"),
        cache_write: count_of(model, "cacheCreationInputTokens"),
        ..Usage::default()
    };
    let tokens = models
        .into_iter()
        .flat_map(|models| models.values().map(of_model));
    Usage {
        cost: line.get("total_cost_usd").and_then(Value::as_f64),
        ..tokens.fold(Usage::default(), Usage::plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_tells_tokens_and_cost_of_all_models_in_the_conversation() {
        let mut heard = Heard::default();
        hear(&mut heard, &json!({"type": "system", "session_id": "a"}));
        hear(
            &mut heard,
            &json!({
                "type": "result", "session_id": "a", "result": "Done.", "is_error": false, "total_cost_usd": 0.5,
                "usage": {"input_tokens": 1},
                "modelUsage": {
                    "large": {"inputTokens": 30, "outputTokens": 6, "cacheReadInputTokens": 2, "costUSD": 0.4},
                    "small": {"inputTokens": 4, "outputTokens": 1, "cacheCreationInputTokens": 3, "costUSD": 0.1},
                },
            }),
        );
        assert_eq!(heard.conversation.as_deref(), Some("a"));
        assert_eq!((heard.text.as_str(), heard.error), ("Done.", None));
        let expected = Usage {
            input: 34,
            output: 7,
            cache_read: 2,
            cache_write: 3,
            cost: Some(0.5),
            cost_partial: false,
        };
        assert_eq!(heard.usage, expected);
    }

    #[test]
    fn an_error_is_told_in_claudes_own_words() {
        let told = |line: Value| {
            let mut heard = Heard::default();
            hear(&mut heard, &line);
            heard.error
        };
        let api = json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error: 500"});
        assert_eq!(told(api).as_deref(), Some("API Error: 500"));
        let turns = json!({"type": "result", "is_error": true, "errors": ["Reached maximum number of turns (1)"]});
        assert_eq!(
            told(turns).as_deref(),
            Some("Reached maximum number of turns (1)")
        );
        let bare = json!({"type": "result", "is_error": true, "subtype": "error_during_execution"});
        assert_eq!(
            told(bare).as_deref(),
            Some("it failed: error_during_execution")
        );
    }
}

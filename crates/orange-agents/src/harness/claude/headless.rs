//! Claude without a terminal: `claude -p`, whose last line is the result. What the result says of tokens is that of this
//! turn, what it says of cost and of models is that of the conversation: the latter is taken for both.

use super::dialogs;
use super::limits::limit_in_words;
use super::mcp;
use super::sources::sources;
use crate::error::Result;
use crate::harness::probe::Probe;
use crate::headless::{
    AgentOutput, FailureKind, HeadlessStart, Heard, Listener, TurnRequest, kind_of_status,
    kind_of_word, text_of, tool_use, usage_of,
};
use jiff::tz::TimeZone;
use orange_core::Timestamp;
use orange_core::config::Permissions;
use orange_core::usage::Usage;
use serde_json::Value;

/// The file with the MCP servers of a turn, in the folder of its run.
const SERVERS: &str = "mcp-servers.json";

/// Tokens of an answer, in the service's own names, and those of a model in the result.
const NAMES: [&str; 4] = [
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
];
const NAMES_OF_MODELS: [&str; 4] = [
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
];

pub(super) fn way(request: &TurnRequest, world: &Probe<'_>) -> Result<HeadlessStart> {
    let given = world.environment;
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
    let conversation = request.conversation();
    arguments.extend(conversation.arguments("--session-id", "--resume"));
    arguments.extend(super::choice_arguments(&request.choice));
    // No project, so nobody agreed to what is in the folder.
    let sources = sources(&request.folder, given, world.user_home, false);
    arguments.extend(sources.arguments);
    let servers = request.own_folder(world.home).join(SERVERS);
    arguments.extend(mcp::arguments(&request.extras, &servers)?);
    let mut environment = sources.environment;
    environment.extend(mcp::environment(&request.extras, given));
    environment.extend(super::own_environment(&request.choice, request.permissions));
    Ok(HeadlessStart {
        arguments,
        environment,
        withheld: dialogs::withheld_from_turn(given, world.user_home),
        hear,
        aside: None,
        unknown_conversation: "No conversation found",
        logged_out: &["Please run /login", "Invalid API key", "Not logged in"],
    })
}

pub(super) fn hear(heard: &mut Heard, line: &Value, listener: &mut Listener<'_>) {
    if let Some(id) = text_of(line, "session_id") {
        heard.conversation = Some(id.to_owned());
    }
    match text_of(line, "type") {
        Some("system") => mcp::hear_start(heard, line, listener),
        Some("user") => mcp::hear_results(heard, line, listener),
        Some("assistant") => hear_answer(heard, line, listener),
        Some("rate_limit_event") => {
            let info = line.get("rate_limit_info").unwrap_or(&Value::Null);
            if text_of(info, "status") == Some("rejected") {
                let resets = info.get("resetsAt").and_then(Value::as_i64);
                heard.until = resets.and_then(|second| Timestamp::from_second(second).ok());
            }
        }
        Some("result") => hear_result(heard, line),
        Some(_) | None => {}
    }
}

/// A part of one of the model's answers. Those of agents that this one has started count, and are not heard.
fn hear_answer(heard: &mut Heard, line: &Value, listener: &mut Listener<'_>) {
    let message = line.get("message").unwrap_or(&Value::Null);
    if let (Some(id), Some(used)) = (text_of(message, "id"), message.get("usage")) {
        heard.note_answer(id, usage_of(used, NAMES));
    }
    let is_own = line.get("parent_tool_use_id").is_none_or(Value::is_null);
    if !is_own {
        return;
    }
    // It answers itself where the service does not.
    let model = text_of(message, "model").filter(|model| *model != "<synthetic>");
    heard.model = model.map(str::to_owned).or(heard.model.take());
    heard.kind = text_of(line, "error").and_then(kind_of_word);
    let parts = message.get("content").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        match text_of(part, "type") {
            Some("text") => {
                let text = text_of(part, "text").unwrap_or_default();
                listener(AgentOutput::Text(text));
                // Should it not live to tell its result.
                text.clone_into(&mut heard.text);
            }
            Some("tool_use") => {
                mcp::note_use(heard, part);
                listener(AgentOutput::Tool {
                    name: text_of(part, "name").unwrap_or("a tool"),
                    on: &tool_use(part.get("input").unwrap_or(&Value::Null)),
                });
            }
            Some(_) | None => {}
        }
    }
}

fn hear_result(heard: &mut Heard, line: &Value) {
    heard.finished = true;
    heard.text = text_of(line, "result").unwrap_or_default().to_owned();
    heard.whole = Some(usage(line));
    if let Some(used) = line.get("usage") {
        heard.used = usage_of(used, NAMES);
    }
    if line.get("is_error") != Some(&Value::Bool(true)) {
        heard.kind = None;
        return;
    }
    let error = complaint(line);
    let status = line.get("api_error_status").and_then(Value::as_u64);
    let by_status = status.and_then(kind_of_status);
    heard.kind = by_status.or(heard.kind).or_else(|| kind_in_words(&error));
    let now = Timestamp::now().to_zoned(TimeZone::system());
    heard.until = heard.until.or_else(|| limit_in_words(&error, &now));
    heard.error = Some(error);
}

/// Where nothing but its words tell.
fn kind_in_words(error: &str) -> Option<FailureKind> {
    if error.contains("Credit balance is too low") {
        return Some(FailureKind::Refused);
    }
    if error.contains("limit") && error.contains("resets ") {
        return Some(FailureKind::Limit);
    }
    let (_, rest) = error.split_once("API Error")?;
    let status = rest.trim_start_matches([':', ' ', '(']).get(..3);
    match status.and_then(|status| status.parse().ok()) {
        Some(status) => kind_of_status(status),
        // It did not come to an answer: a connection was refused, cut or too slow.
        None => Some(FailureKind::Service),
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
    let of_model = |model: &Value| usage_of(model, NAMES_OF_MODELS);
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

    fn hear_silently(heard: &mut Heard, line: &Value) {
        hear(heard, line, &mut |_| {});
    }

    #[test]
    fn a_result_tells_tokens_and_cost_of_all_models_in_the_conversation() {
        let mut heard = Heard::default();
        hear_silently(&mut heard, &json!({"type": "system", "session_id": "a"}));
        hear_silently(
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
        assert_eq!(heard.whole, Some(expected));
        assert_eq!(heard.used.input, 1);
    }

    #[test]
    fn answers_are_heard_as_they_come_and_those_of_its_own_agents_only_count() {
        let mut heard = Heard::default();
        let mut told = Vec::new();
        let mut listener = |said: AgentOutput<'_>| told.push(format!("{said:?}"));
        let part = json!({"type": "text", "text": "Look."});
        let tool = json!({"type": "tool_use", "name": "Bash", "input": {"command": "make"}});
        let answer = |id: &str, input: u64, parent: Value, part: &Value| {
            let usage = json!({"input_tokens": input, "output_tokens": 2});
            let message = json!({"id": id, "model": "large", "usage": usage, "content": [part]});
            json!({"type": "assistant", "parent_tool_use_id": parent, "message": message})
        };
        for line in [
            answer("a", 10, Value::Null, &part),
            answer("a", 10, Value::Null, &tool),
            answer("b", 5, json!("t1"), &part),
        ] {
            hear(&mut heard, &line, &mut listener);
        }
        let expected = ["Text(\"Look.\")", "Tool { name: \"Bash\", on: \"make\" }"];
        assert_eq!(told, expected);
        assert_eq!((heard.used.input, heard.used.output), (15, 4));
        assert_eq!(heard.model.as_deref(), Some("large"));
    }

    #[test]
    fn a_failure_is_told_apart_by_status_word_and_words() {
        let told = |lines: &[Value]| {
            let mut heard = Heard::default();
            for line in lines {
                hear_silently(&mut heard, line);
            }
            (heard.kind.map(FailureKind::as_str), heard.until)
        };
        let result = |error: &str| json!({"type": "result", "is_error": true, "result": error});
        let mut overloaded = result("API Error: Overloaded");
        overloaded["api_error_status"] = 529.into();
        assert_eq!(told(&[overloaded]), (Some("service"), None));
        let limit = json!({"type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "resetsAt": 1_900_000_000}});
        let (kind, until) = told(&[limit, result("You've hit your limit · resets 3pm (UTC)")]);
        assert_eq!(kind, Some("limit"));
        assert_eq!(until.map(Timestamp::as_second), Some(1_900_000_000));
        let word = json!({"type": "assistant", "error": "billing_error", "message": {}});
        assert_eq!(
            told(&[word.clone(), result("No.")]),
            (Some("refused"), None)
        );
        let well = json!({"type": "result", "is_error": false, "result": "Done."});
        assert_eq!(told(&[word, well]), (None, None));
        for (error, kind) in [
            ("API Error: 400 too long", Some("refused")),
            ("API Error: Connection refused", Some("service")),
            ("API Error (429 slow down)", Some("service")),
            ("Reached maximum number of turns (1)", None),
        ] {
            assert_eq!(told(&[result(error)]).0, kind, "{error}");
        }
    }

    #[test]
    fn an_error_is_told_in_claudes_own_words() {
        let told = |line: Value| {
            let mut heard = Heard::default();
            hear_silently(&mut heard, &line);
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

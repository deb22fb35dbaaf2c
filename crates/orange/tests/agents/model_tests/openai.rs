//! OpenAI's chat completions: what is read from a request, and the shape of the answers.

use super::client::{CHAT, ask, pi_called, pi_says, plain, text};
use crate::model::{Model, Protocol, edit, say, shell, write};
use serde_json::{Value, json};

#[test]
fn a_request_is_read_with_everything_that_an_agent_sends() {
    let model = Model::start();
    ask(&model, CHAT, &pi_says("Work on it."));
    let request = model.requests().pop().unwrap();
    assert_eq!(request.protocol, Protocol::OpenAi);
    assert_eq!(request.model, "gpt");
    assert_eq!(request.system, "You are pi.");
    let tools: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(tools, ["bash", "write", "edit"]);
    assert_eq!(request.texts(), ["Work on it."]);
}

#[test]
fn an_answer_at_once_has_text_calls_and_usage() {
    let model = Model::start();
    let step = write("a.txt", "one").and(edit("a.txt", "one", "two"));
    model.when("Work", [step.saying("So.").usage(7, 3).cached(2, 1)]);
    let answer = ask(&model, CHAT, &plain(pi_says("Work on it."))).json();
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "So.");
    let calls = choice["message"]["tool_calls"].as_array().unwrap().iter();
    let calls: Vec<(&str, Value)> = calls
        .map(|call| {
            let function = &call["function"];
            let arguments = function["arguments"].as_str().unwrap();
            let arguments = serde_json::from_str(arguments).unwrap();
            (function["name"].as_str().unwrap(), arguments)
        })
        .collect();
    let replacement = json!({"path": "a.txt", "edits": [{"oldText": "one", "newText": "two"}]});
    let expected = [
        ("write", json!({"path": "a.txt", "content": "one"})),
        ("edit", replacement),
    ];
    assert_eq!(calls, expected);
    let usage = &answer["usage"];
    assert_eq!(usage["prompt_tokens"], 9);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 2);
    assert_eq!(usage["completion_tokens"], 3);
    assert_eq!(usage["total_tokens"], 12);
}

#[test]
fn a_call_is_streamed_in_pieces_with_the_usage_at_the_end() {
    let model = Model::start();
    model.when("Work", [shell("echo 'ü'").usage(7, 3)]);
    let response = ask(&model, CHAT, &pi_says("Work on it."));
    assert!(response.whole);
    let mut events: Vec<Value> = response.events().into_iter().map(|event| event.1).collect();
    assert_eq!(events.pop().unwrap(), "[DONE]");
    let usage = events.pop().unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["prompt_tokens"], 7);
    let finish = events.pop().unwrap();
    assert_eq!(finish["choices"][0]["finish_reason"], "tool_calls");
    let functions: Vec<&Value> = events
        .iter()
        .filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0/function"))
        .collect();
    assert_eq!(functions[0]["name"], "bash");
    let arguments: String = functions
        .iter()
        .filter_map(|function| function["arguments"].as_str())
        .collect();
    assert_eq!(arguments, r#"{"command":"echo 'ü'"}"#);
}

#[test]
fn a_stream_has_no_usage_unless_it_is_asked_for() {
    let model = Model::start();
    let mut request = pi_says("Work on it.");
    request["stream_options"] = json!({});
    let events = ask(&model, CHAT, &request).events();
    assert!(events.iter().all(|(_, data)| data.get("usage").is_none()));
}

#[test]
fn results_of_calls_lead_to_the_next_step() {
    let model = Model::start();
    let both = shell("one").and(shell("two"));
    model.when("Work", [both, shell("three"), say("It is done.")]);
    let mut request = plain(pi_says("Work on it."));
    pi_called(&mut request, 2);
    let answer = ask(&model, CHAT, &request).json();
    let calls = answer["choices"][0]["message"]["tool_calls"].as_array();
    assert_eq!(calls.unwrap().len(), 1);
    pi_called(&mut request, 1);
    assert_eq!(text(&ask(&model, CHAT, &request)), "It is done.");
}

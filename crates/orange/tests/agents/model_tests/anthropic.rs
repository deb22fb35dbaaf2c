//! Anthropic's Messages: what is read from a request, and the shape of the answers.

use super::client::{MESSAGES, ask, claude_called, claude_says, plain, typed};
use crate::model::{Model, Protocol, edit, say, shell, tool, write};
use serde_json::{Value, json};

#[test]
fn a_request_is_read_with_everything_that_an_agent_sends() {
    let model = Model::start();
    let asked = claude_says("Work on it.");
    ask(&model, MESSAGES, &asked);
    let request = model.requests().pop().unwrap();
    assert_eq!(request.protocol, Protocol::Anthropic);
    assert_eq!(request.model, "claude-opus");
    assert!(request.streams);
    assert_eq!(request.system, "You are claude.\n# Environment");
    let tools: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(tools, ["Bash", "Write", "Edit"]);
    assert_eq!(request.texts(), ["Work on it."]);
    assert_eq!(request.header("x-test"), Some("Yes"));
    assert_eq!(request.body, asked);
}

#[test]
fn a_text_is_answered_at_once_with_its_usage() {
    let model = Model::start();
    model.when("Work", [say("It is done.").usage(7, 3).cached(2, 1)]);
    let answer = ask(&model, MESSAGES, &plain(claude_says("Work on it."))).json();
    assert_eq!(
        answer["content"],
        json!([{"type": "text", "text": "It is done."}])
    );
    assert_eq!(answer["stop_reason"], "end_turn");
    assert_eq!(answer["model"], "claude-opus");
    let usage = json!({
        "input_tokens": 7,
        "output_tokens": 3,
        "cache_read_input_tokens": 2,
        "cache_creation_input_tokens": 1,
    });
    assert_eq!(answer["usage"], usage);
}

/// The pieces of one kind, put together.
fn joined(events: &[(Option<String>, Value)], key: &str) -> String {
    let pieces = events.iter();
    pieces
        .filter_map(|(_, data)| data["delta"][key].as_str())
        .collect()
}

#[test]
fn a_call_is_streamed_in_pieces() {
    let model = Model::start();
    let step = shell("echo 'ü'").saying("Let me see.").usage(7, 3);
    model.when("Work", [step]);
    let response = ask(&model, MESSAGES, &claude_says("Work on it."));
    assert!(response.whole);
    let events = response.events();
    let names: Vec<&str> = events
        .iter()
        .map(|(name, _)| name.as_deref().unwrap())
        .collect();
    let block = [
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
    ];
    let expected = [
        &["message_start"][..],
        &block,
        &block,
        &["message_delta", "message_stop"],
    ];
    assert_eq!(names, expected.concat());
    assert_eq!(joined(&events, "text"), "Let me see.");
    let arguments: Value = serde_json::from_str(&joined(&events, "partial_json")).unwrap();
    assert_eq!(
        arguments,
        json!({"command": "echo 'ü'", "description": "scripted step"})
    );
    let last = &events[events.len() - 2].1;
    assert_eq!(last["delta"]["stop_reason"], "tool_use");
    assert_eq!(last["usage"]["input_tokens"], 7);
    assert_eq!(last["usage"]["output_tokens"], 3);
}

#[test]
fn calls_are_made_as_the_agent_names_its_tools() {
    let model = Model::start();
    let steps = write("a.txt", "one")
        .and(edit("a.txt", "one", "two"))
        .and(tool("Bash", json!({"command": "ls"})));
    model.when("Work", [steps]);
    let answer = ask(&model, MESSAGES, &plain(claude_says("Work on it."))).json();
    let calls: Vec<(&Value, &Value)> = answer["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (&block["name"], &block["input"]))
        .collect();
    let replacement = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    let expected = [
        (
            json!("Write"),
            json!({"file_path": "a.txt", "content": "one"}),
        ),
        (json!("Edit"), replacement),
        (json!("Bash"), json!({"command": "ls"})),
    ];
    assert!(
        calls.into_iter().eq(expected.iter().map(|(a, b)| (a, b))),
        "{answer}"
    );
}

#[test]
fn what_was_typed_while_claude_worked_is_found_in_its_wrapping() {
    let model = Model::start();
    let mut request = claude_says("Work on it.");
    claude_called(&mut request, 1);
    typed(
        &mut request,
        "The user sent a new message while you were working:\nStop,\n\nplease.\n\nThis is how Claude Code surfaces messages \
         the user sends mid-turn.",
    );
    ask(&model, MESSAGES, &request);
    assert_eq!(model.heard("Stop,\n\nplease."), 1);
    let request = model.requests().pop().unwrap();
    let in_turn: Vec<bool> = request.humans.iter().map(|human| human.in_turn).collect();
    assert_eq!(in_turn, [false, true]);
}

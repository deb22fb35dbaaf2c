//! Anthropic's Messages: a conversation read, a reply written at once or as events.

use super::connection::Reply;
use super::request::{Conversation, Tool, texts};
use super::script::Usage;
use serde_json::{Value, json};

/// Reads the messages; gives the tools.
pub(super) fn read(body: &Value, conversation: &mut Conversation) -> Option<Vec<Tool>> {
    for text in texts(&body["system"]) {
        conversation.system(text);
    }
    for message in body["messages"].as_array()? {
        let content = &message["content"];
        match message["role"].as_str()? {
            "user" => read_user(content, conversation),
            "assistant" => conversation.assistant(),
            // Claude tells about its surroundings so, between the others.
            _ => texts(content)
                .into_iter()
                .for_each(|text| conversation.system(text)),
        }
    }
    let tools = body["tools"].as_array().map(Vec::as_slice);
    let tools = tools.unwrap_or_default().iter().map(|tool| {
        Some(Tool {
            name: tool["name"].as_str()?.to_owned(),
            schema: tool["input_schema"].clone(),
        })
    });
    tools.collect()
}

fn read_user(content: &Value, conversation: &mut Conversation) {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    for block in blocks {
        if block["type"] == "tool_result" {
            conversation.tool_result();
        }
    }
    for text in texts(content) {
        conversation.user(text);
    }
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// The reply as one message.
pub(super) fn message(reply: &Reply) -> Value {
    json!({
        "id": format!("msg_{}", reply.id),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": blocks(reply),
        "stop_reason": stop_reason(reply),
        "stop_sequence": null,
        "usage": usage(&reply.usage),
    })
}

fn blocks(reply: &Reply) -> Vec<Value> {
    let text = reply.text.iter();
    let text = text.map(|text| json!({"type": "text", "text": text}));
    let calls = reply.calls.iter().map(|call| {
        json!({"type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": call.arguments})
    });
    text.chain(calls).collect()
}

fn stop_reason(reply: &Reply) -> &'static str {
    if reply.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_written,
    })
}

/// The reply as the events of a stream.
pub(super) fn events(reply: &Reply) -> Vec<String> {
    let mut start = message(reply);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in blocks(reply).iter().enumerate() {
        events.extend(block_events(index, block));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
        "usage": usage(&reply.usage),
    }));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(event).collect()
}

/// A block begins empty and comes in two pieces, so that the agent has to put it together.
fn block_events(index: usize, block: &Value) -> Vec<Value> {
    let mut empty = block.clone();
    let (whole, kind, key) = if block["type"] == "text" {
        empty["text"] = json!("");
        let text = block["text"].as_str().unwrap_or_default().to_owned();
        (text, "text_delta", "text")
    } else {
        empty["input"] = json!({});
        let arguments = block["input"].to_string();
        (arguments, "input_json_delta", "partial_json")
    };
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": empty})];
    for part in super::connection::halves(&whole) {
        let delta = json!({"type": kind, key: part});
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn event(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n")
}

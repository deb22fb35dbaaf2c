//! OpenAI's chat completions: a conversation read, a reply written at once or as events.

use super::connection::{Reply, ToolCall, halves};
use super::request::{Conversation, Tool, texts};
use super::script::Usage;
use serde_json::{Value, json};

/// Reads the messages; gives the tools.
pub(super) fn read(body: &Value, conversation: &mut Conversation) -> Option<Vec<Tool>> {
    for message in body["messages"].as_array()? {
        let texts = texts(&message["content"]).into_iter();
        match message["role"].as_str()? {
            "user" => texts.for_each(|text| conversation.user(text)),
            "assistant" => conversation.assistant(),
            "tool" => conversation.tool_result(),
            _ => texts.for_each(|text| conversation.system(text)),
        }
    }
    let tools = body["tools"].as_array().map(Vec::as_slice);
    let tools = tools.unwrap_or_default().iter().map(|tool| {
        let function = &tool["function"];
        Some(Tool {
            name: function["name"].as_str()?.to_owned(),
            schema: function["parameters"].clone(),
        })
    });
    tools.collect()
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}})
}

/// The reply as one completion.
pub(super) fn completion(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter();
        let calls = calls.map(|call| tool_call(call, &call.arguments.to_string()));
        message["tool_calls"] = calls.collect();
    }
    let choice = json!({"index": 0, "finish_reason": finish_reason(reply), "message": message});
    let mut completion = frame(reply, "chat.completion", &json!([choice]));
    completion["usage"] = usage(&reply.usage);
    completion
}

fn frame(reply: &Reply, object: &str, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", reply.id),
        "object": object,
        "created": 0,
        "model": reply.model,
        "choices": choices,
    })
}

fn finish_reason(reply: &Reply) -> &'static str {
    if reply.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn tool_call(call: &ToolCall, arguments: &str) -> Value {
    let function = json!({"name": call.name, "arguments": arguments});
    json!({"id": format!("call_{}", call.id), "type": "function", "function": function})
}

/// Here what was read from a cache is a part of the prompt, and nobody counts what was written to it.
fn usage(usage: &Usage) -> Value {
    let prompt = usage.input + usage.cache_read;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    })
}

/// The reply as the events of a stream. The usage is only told to those who ask for it.
pub(super) fn events(reply: &Reply, with_usage: bool) -> Vec<String> {
    let object = "chat.completion.chunk";
    let mut chunks: Vec<Value> = deltas(reply)
        .into_iter()
        .map(|delta| json!([{"index": 0, "delta": delta, "finish_reason": null}]))
        .collect();
    chunks.push(json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}]));
    let mut chunks: Vec<Value> = chunks
        .iter()
        .map(|choices| frame(reply, object, choices))
        .collect();
    if with_usage {
        let mut last = frame(reply, object, &json!([]));
        last["usage"] = usage(&reply.usage);
        chunks.push(last);
    }
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

/// Text and arguments come in two pieces, so that the agent has to put them together.
fn deltas(reply: &Reply) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant", "content": null})];
    if let Some(text) = &reply.text {
        deltas.extend(halves(text).map(|part| json!({"content": part})));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let mut begin = tool_call(call, "");
        begin["index"] = json!(index);
        deltas.push(json!({"tool_calls": [begin]}));
        let arguments = call.arguments.to_string();
        deltas.extend(halves(&arguments).map(
            |part| json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]}),
        ));
    }
    deltas
}

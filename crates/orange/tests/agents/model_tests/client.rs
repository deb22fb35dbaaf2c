//! An agent played by hand: requests written byte by byte, answers read as they come.

use crate::model::Model;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

pub(super) const MESSAGES: &str = "/v1/messages";
pub(super) const CHAT: &str = "/v1/chat/completions";

pub(super) struct Response {
    pub(super) status: u16,
    head: String,
    pub(super) body: Vec<u8>,
    /// Nothing was cut off.
    pub(super) whole: bool,
}

pub(super) fn connect(model: &Model) -> TcpStream {
    let url = model.url();
    let stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    // Generous: only a test that fails waits so long.
    let longest = Some(Duration::from_secs(60));
    stream.set_read_timeout(longest).unwrap();
    stream
}

/// The bytes of a request. The connection is kept open.
pub(super) fn bytes(path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    let head = "host: localhost\r\nContent-Type: application/json\r\nX-Test: Yes";
    format!("POST {path}?beta=true HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// Asks on a connection of its own.
pub(super) fn ask(model: &Model, path: &str, body: &Value) -> Response {
    let mut stream = connect(model);
    stream.write_all(&bytes(path, body)).unwrap();
    read(&mut BufReader::new(stream))
}

/// Reads one answer, or as much of it as comes.
pub(super) fn read(stream: &mut impl BufRead) -> Response {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut response = Response {
        status,
        head,
        body: Vec::new(),
        whole: true,
    };
    if let Some(length) = response.header("content-length") {
        response.body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut response.body).unwrap();
    } else {
        response.whole = chunks(stream, &mut response.body);
    }
    response
}

/// Whether the last chunk came.
fn chunks(stream: &mut impl BufRead, body: &mut Vec<u8>) -> bool {
    while let Some(chunk) = chunk(stream) {
        if chunk.is_empty() {
            return true;
        }
        body.extend(chunk);
    }
    false
}

pub(super) fn chunk(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = String::new();
    stream.read_line(&mut length).unwrap();
    let length = usize::from_str_radix(length.trim(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    stream.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    Some(chunk)
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(header, _)| *header == name);
        found.next().map(|(_, value)| value)
    }

    pub(super) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The events of a stream: their names, and what they say. One that is not JSON is a string.
    pub(super) fn events(&self) -> Vec<(Option<String>, Value)> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        let text = std::str::from_utf8(&self.body).unwrap();
        let events = text.split_terminator("\n\n").map(|event| {
            let name = event.lines().find_map(|line| line.strip_prefix("event: "));
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            let data = data.unwrap();
            let data = serde_json::from_str(data).unwrap_or_else(|_| json!(data));
            (name.map(str::to_owned), data)
        });
        events.collect()
    }
}

/// A request in the manner of claude: noise beside the prompt, instructions in two places.
pub(super) fn claude_says(prompt: &str) -> Value {
    json!({
        "model": "claude-opus",
        "stream": true,
        "system": [{"type": "text", "text": "You are claude."}],
        "tools": [
            {"name": "Bash", "input_schema": {"properties": {"command": {}, "description": {}}}},
            {"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}},
            {"name": "Edit", "input_schema": {"properties": {"file_path": {}, "old_string": {}, "new_string": {}}}},
        ],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\nIt is late.\n</system-reminder>"},
                {"type": "text", "text": prompt},
            ]},
            {"role": "system", "content": "# Environment"},
        ],
    })
}

/// A request in the manner of pi.
pub(super) fn pi_says(prompt: &str) -> Value {
    json!({
        "model": "gpt",
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": [
            {"type": "function", "function": {"name": "bash", "parameters": {"properties": {"command": {}}}}},
            {"type": "function", "function": {"name": "write", "parameters": {"properties": {"path": {}, "content": {}}}}},
            {"type": "function", "function": {"name": "edit", "parameters": {"properties": {"path": {}, "edits": {}}}}},
        ],
        "messages": [
            {"role": "system", "content": "You are pi."},
            {"role": "user", "content": [{"type": "text", "text": prompt}]},
        ],
    })
}

fn add(request: &mut Value, message: Value) {
    request["messages"].as_array_mut().unwrap().push(message);
}

/// Claude has called so many tools at once, and has their results.
pub(super) fn claude_called(request: &mut Value, calls: usize) {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"});
    add(
        request,
        json!({"role": "assistant", "content": vec![call; calls]}),
    );
    add(
        request,
        json!({"role": "user", "content": vec![result; calls]}),
    );
}

/// The same for pi.
pub(super) fn pi_called(request: &mut Value, calls: usize) {
    add(request, json!({"role": "assistant", "content": null}));
    for _ in 0..calls {
        let result = json!({"role": "tool", "tool_call_id": "call_1", "content": "ok"});
        add(request, result);
    }
}

/// A person typed something. Both protocols write it so.
pub(super) fn typed(request: &mut Value, text: &str) {
    let content = json!([{"type": "text", "text": text}]);
    add(request, json!({"role": "user", "content": content}));
}

/// The agent said something, which ended its turn.
pub(super) fn turn_ended(request: &mut Value) {
    add(request, json!({"role": "assistant", "content": "Done."}));
}

/// What the model said in an answer that is not streamed, in either protocol.
pub(super) fn text(response: &Response) -> String {
    let json = response.json();
    let text = json.pointer("/content/0/text");
    let text = text.or(json.pointer("/choices/0/message/content"));
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The same request, answered at once.
pub(super) fn plain(mut request: Value) -> Value {
    request["stream"] = json!(false);
    request
}

//! One connection: requests read, recorded and answered as the script says.

use super::http::{self, HttpRequest};
use super::request::{Protocol, Request};
use super::script::{Answer, Fault, Play, Usage};
use super::server::Shared;
use super::{anthropic, openai};
use serde_json::{Value, json};
use std::io::{self, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// An answer with everything in it that an agent sees.
pub(super) struct Reply {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Usage,
}

pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// What becomes of the connection after an answer.
enum Next {
    GoOn,
    End,
}

/// Serves one connection until either side has enough of it.
pub(super) fn serve(stream: TcpStream, shared: &Shared) {
    // An event must not wait for the next one.
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(request) = http::read(&mut reader) {
        let next = respond(&request, &mut writer, &mut reader, shared);
        if !matches!(next, Ok(Next::GoOn)) || request.is_last() {
            break;
        }
    }
    // The server keeps a copy of this socket, which would hold it open.
    let _ = writer.shutdown(std::net::Shutdown::Both);
}

fn respond(
    http: &HttpRequest,
    writer: &mut TcpStream,
    reader: &mut BufReader<TcpStream>,
    shared: &Shared,
) -> io::Result<Next> {
    let protocol = match (http.method.as_str(), http.path.as_str()) {
        ("POST", path) if path.ends_with("/v1/messages") => Protocol::Anthropic,
        ("POST", path) if path.ends_with("/chat/completions") => Protocol::OpenAi,
        _ => return stray(http, writer, shared),
    };
    let Some(request) = Request::read(protocol, http) else {
        note_stray(http, shared);
        let error = error(protocol, 400, "this is no request to a model");
        return answer_json(writer, 400, &[], &error);
    };
    let play = {
        let mut state = shared.state();
        let play = state.scripts.play(&request);
        state.requests.push(request.clone());
        play
    };
    shared.notify();
    if !wait_for(play.after.as_deref(), shared) {
        return Ok(Next::End);
    }
    perform(play, &request, writer, reader)
}

fn note_stray(http: &HttpRequest, shared: &Shared) {
    let line = format!("{} {}", http.method, http.path);
    shared.state().strays.push(line);
}

/// What is not a request to a model. Some agents count tokens or ask which models there are.
fn stray(http: &HttpRequest, writer: &mut TcpStream, shared: &Shared) -> io::Result<Next> {
    note_stray(http, shared);
    if http.path.ends_with("/count_tokens") {
        return answer_json(
            writer,
            200,
            &[],
            &json!({"input_tokens": http.body.len() / 4}),
        );
    }
    if http.method == "GET" && http.path.ends_with("/models") {
        let model = json!({"id": "scripted", "object": "model", "type": "model"});
        let list = json!({"object": "list", "data": [model]});
        return answer_json(writer, 200, &[], &list);
    }
    if http.method == "HEAD" {
        http::answer(writer, 404, &[], b"")?;
        return Ok(Next::GoOn);
    }
    let error = error(
        Protocol::Anthropic,
        404,
        "the scripted model has no such path",
    );
    answer_json(writer, 404, &[], &error)
}

/// Waits until the file is there. Whether it came before the server ended.
fn wait_for(file: Option<&Path>, shared: &Shared) -> bool {
    let Some(file) = file else { return true };
    let mut state = shared.state();
    while !state.closing {
        if file.exists() {
            return true;
        }
        state = shared.wait(state, Duration::from_millis(10));
    }
    false
}

fn perform(
    play: Play,
    request: &Request,
    writer: &mut TcpStream,
    reader: &mut BufReader<TcpStream>,
) -> io::Result<Next> {
    let events = || events(&reply(&play.answer, request), request);
    match &play.fault {
        None if request.streams => stream(writer, &events()),
        None => {
            let reply = reply(&play.answer, request);
            let whole = match request.protocol {
                Protocol::Anthropic => anthropic::message(&reply),
                Protocol::OpenAi => openai::completion(&reply),
            };
            answer_json(writer, 200, &[], &whole)
        }
        Some(Fault::Status {
            status,
            headers,
            body,
        }) => {
            let usual = || error(request.protocol, *status, &format!("scripted {status}"));
            let body = body.clone().unwrap_or_else(usual);
            answer_json(writer, *status, headers, &body)
        }
        Some(Fault::Hang) => {
            begin_stream(writer, &events(), 1)?;
            until_gone(reader);
            Ok(Next::End)
        }
        Some(Fault::Cut(after)) => {
            begin_stream(writer, &events(), *after)?;
            Ok(Next::End)
        }
        Some(Fault::Junk) => {
            http::begin(writer, "text/event-stream")?;
            http::piece(writer, b"data: {\"type\": \n\n\xff\xfe junk \x00\n\n")?;
            http::end(writer)?;
            Ok(Next::GoOn)
        }
    }
}

fn begin_stream(writer: &mut TcpStream, events: &[String], count: usize) -> io::Result<()> {
    http::begin(writer, "text/event-stream")?;
    let mut events = events.iter().take(count);
    events.try_for_each(|event| http::piece(writer, event.as_bytes()))
}

fn stream(writer: &mut TcpStream, events: &[String]) -> io::Result<Next> {
    begin_stream(writer, events, events.len())?;
    http::end(writer)?;
    Ok(Next::GoOn)
}

fn events(reply: &Reply, request: &Request) -> Vec<String> {
    match request.protocol {
        Protocol::Anthropic => anthropic::events(reply),
        Protocol::OpenAi => {
            let wants_usage = &request.body["stream_options"]["include_usage"];
            openai::events(reply, *wants_usage == true)
        }
    }
}

/// Until the agent gives up or the server ends: both read as an end.
fn until_gone(reader: &mut BufReader<TcpStream>) {
    let mut ignored = [0; 512];
    while reader.read(&mut ignored).is_ok_and(|count| count > 0) {}
}

fn error(protocol: Protocol, status: u16, message: &str) -> Value {
    match protocol {
        Protocol::Anthropic => anthropic::error(status, message),
        Protocol::OpenAi => openai::error(status, message),
    }
}

fn answer_json(
    writer: &mut TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &Value,
) -> io::Result<Next> {
    let mut headers = headers.to_vec();
    headers.push(("content-type".into(), "application/json".into()));
    http::answer(writer, status, &headers, body.to_string().as_bytes())?;
    Ok(Next::GoOn)
}

/// The answer for this agent. If it has no such tool, it is told so and its turn ends: the test will see.
fn reply(answer: &Answer, request: &Request) -> Reply {
    let resolved: Result<Vec<ToolCall>, String> = answer
        .calls
        .iter()
        .map(|call| {
            let (name, arguments) = call.resolve(&request.tools)?;
            let id = unique();
            Ok(ToolCall {
                id,
                name,
                arguments,
            })
        })
        .collect();
    let (text, calls) = match resolved {
        Ok(calls) => (answer.text.clone(), calls),
        Err(problem) => (Some(problem), Vec::new()),
    };
    Reply {
        id: unique(),
        model: request.model.clone(),
        text,
        calls,
        usage: answer.usage.clone(),
    }
}

/// An id that no other server gives either: a resumed conversation has those of an earlier one.
fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |age| age.as_nanos());
    format!("{nanoseconds:x}p{}n{next}", std::process::id())
}

/// A text in two pieces.
pub(super) fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = text.char_indices().nth(text.chars().count() / 2);
    let (first, second) = text.split_at(middle.map_or(0, |(at, _)| at));
    [first, second].into_iter().filter(|part| !part.is_empty())
}

//! Which answer comes when: needles, steps, several conversations, and what was heard of them.

use super::client::{
    CHAT, MESSAGES, ask, bytes, claude_called, claude_says, connect, pi_says, plain, read, text,
    turn_ended, typed,
};
use crate::model::{Model, say, shell, status};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};

/// What is answered to a prompt of claude's.
fn said(model: &Model, prompt: &str) -> String {
    text(&ask(model, MESSAGES, &plain(claude_says(prompt))))
}

#[test]
fn the_script_whose_needle_is_in_the_latest_message_counts() {
    let model = Model::start();
    assert_eq!(said(&model, "Hello"), "I do not know what to do.");
    model.when("Work", [say("worker")]);
    model.when("Work as a reviewer", [say("reviewer")]);
    model.otherwise([say("nobody")]);
    assert_eq!(said(&model, "Work on it."), "worker");
    assert_eq!(said(&model, "Work as a reviewer."), "reviewer");
    assert_eq!(said(&model, "Hello"), "nobody");
    let mut request = plain(claude_says("Work on it."));
    turn_ended(&mut request);
    typed(&mut request, "Hello");
    assert_eq!(text(&ask(&model, MESSAGES, &request)), "nobody");
}

#[test]
fn each_result_leads_to_the_next_step_and_then_that_is_all() {
    let model = Model::start();
    model.when("Work", [shell("one"), shell("two")]);
    let mut request = plain(claude_says("Work on it."));
    for command in ["one", "two"] {
        let answer = ask(&model, MESSAGES, &request).json();
        assert_eq!(answer["content"][0]["input"]["command"], command);
        claude_called(&mut request, 1);
    }
    assert_eq!(text(&ask(&model, MESSAGES, &request)), "That is all.");
}

#[test]
fn a_message_in_the_middle_of_a_turn_has_a_script_or_changes_nothing() {
    let model = Model::start();
    model.when("Work", [shell("one"), say("worked")]);
    let mut request = plain(claude_says("Work on it."));
    claude_called(&mut request, 1);
    typed(&mut request, "By the way");
    assert_eq!(text(&ask(&model, MESSAGES, &request)), "worked");
    model.when("By the way", [say("thanks")]);
    assert_eq!(text(&ask(&model, MESSAGES, &request)), "thanks");
}

#[test]
fn a_request_without_tools_does_not_use_up_a_step() {
    let model = Model::start();
    model.when("Work", [status(500), say("worked")]);
    let mut title = plain(claude_says("Work on it."));
    title["tools"] = json!([]);
    assert_eq!(text(&ask(&model, MESSAGES, &title)), "Scripted");
    let work = plain(claude_says("Work on it."));
    assert_eq!(ask(&model, MESSAGES, &work).status, 500);
    assert_eq!(text(&ask(&model, MESSAGES, &work)), "worked");
}

#[test]
fn a_tool_that_the_agent_does_not_have_is_said() {
    let model = Model::start();
    model.when("Work", [shell("one")]);
    let mut request = plain(claude_says("Work on it."));
    request["tools"] = json!([{"name": "Read", "input_schema": {}}]);
    let answer = text(&ask(&model, MESSAGES, &request));
    assert_eq!(answer, r#"the script wants bash, offered are ["Read"]"#);
}

#[test]
fn heard_is_what_came_whole_and_by_itself() {
    let model = Model::start();
    let mut request = claude_says("Do this.\n\nAnd that.");
    ask(&model, MESSAGES, &request);
    ask(&model, MESSAGES, &request);
    assert_eq!(model.heard("Do this.\n\nAnd that."), 1, "a second try");
    assert_eq!(model.heard("Do this."), 0, "a part");
    turn_ended(&mut request);
    typed(&mut request, "Go on.");
    turn_ended(&mut request);
    typed(&mut request, "Go on.");
    ask(&model, MESSAGES, &request);
    assert_eq!(model.heard("Go on."), 2);
    assert_eq!(model.heard("Do this.\n\nAnd that."), 1);
}

#[test]
fn conversations_at_once_do_not_mix() {
    let model = Model::start();
    let numbers: Vec<String> = (0..8).map(|number| format!("<{number}>")).collect();
    for number in &numbers {
        model.when(number, [shell(number), say(number)]);
    }
    std::thread::scope(|scope| {
        for number in &numbers {
            let model = &model;
            scope.spawn(move || {
                let mut request = plain(claude_says(&format!("Work on {number}")));
                for _ in 0..20 {
                    let answer = ask(model, MESSAGES, &request).json();
                    assert_eq!(answer["content"][0]["input"]["command"], **number);
                }
                claude_called(&mut request, 1);
                assert_eq!(text(&ask(model, MESSAGES, &request)), *number);
                let other = plain(pi_says(&format!("Work on {number}")));
                ask(model, CHAT, &other);
            });
        }
    });
    assert_eq!(model.requests().len(), 8 * 22);
}

#[test]
fn a_test_waits_for_what_is_asked() {
    let model = Model::start();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ask(&model, MESSAGES, &claude_says("First."));
            ask(&model, MESSAGES, &claude_says("Second."));
        });
        model.until("the second prompt", |requests| {
            requests
                .iter()
                .any(|request| request.texts() == ["Second."])
        });
    });
}

#[test]
fn an_answer_can_wait_for_a_file() {
    let model = Model::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    model.when("Work", [say("worked").after(&file)]);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| said(&model, "Work on it."));
        model.until("the prompt", |requests| requests.len() == 1);
        assert!(!asked.is_finished());
        std::fs::write(&file, "").unwrap();
        assert_eq!(asked.join().unwrap(), "worked");
    });
}

#[test]
fn a_connection_takes_several_requests_and_a_body_in_chunks() {
    let model = Model::start();
    model.when("ünï", [say("understood")]);
    let mut stream = connect(&model);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    stream
        .write_all(&bytes(MESSAGES, &claude_says("ünï")))
        .unwrap();
    assert!(read(&mut reader).whole);
    let body = plain(claude_says("ünï")).to_string().into_bytes();
    stream
        .write_all(b"POST /v1/messages HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    assert_eq!(read_head(&mut reader), "HTTP/1.1 100 Continue");
    // Wherever it is cut, also within a letter.
    for part in body.chunks(7) {
        let length = format!("{:X};extension=1\r\n", part.len());
        stream.write_all(length.as_bytes()).unwrap();
        stream.write_all(part).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\nTrailer: x\r\n\r\n").unwrap();
    assert_eq!(text(&read(&mut reader)), "understood");
}

/// The first line of an answer that has nothing but a head.
fn read_head(reader: &mut impl BufRead) -> String {
    let mut lines = reader.by_ref().lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    assert_eq!(lines.next().unwrap(), "");
    first
}

#[test]
fn what_is_no_request_to_a_model_is_noted() {
    let model = Model::start();
    let counted = ask(&model, "/v1/messages/count_tokens", &claude_says("x"));
    assert!(counted.json()["input_tokens"].as_u64().unwrap() > 10);
    assert_eq!(ask(&model, "/api/telemetry", &json!({})).status, 404);
    assert_eq!(ask(&model, MESSAGES, &json!({"messages": 1})).status, 400);
    let mut stream = connect(&model);
    stream
        .write_all(b"GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n")
        .unwrap();
    let list = read(&mut BufReader::new(stream)).json();
    assert_eq!(list["data"][0]["id"], "scripted");
    let expected = [
        "POST /v1/messages/count_tokens",
        "POST /api/telemetry",
        "POST /v1/messages",
        "GET /v1/models",
    ];
    assert_eq!(model.strays(), expected);
    assert_eq!(model.requests().len(), 0);
}

#[test]
#[should_panic(expected = "text ends the turn")]
fn a_script_that_goes_on_after_text_is_a_mistake() {
    Model::start().when("Work", [say("done"), shell("one")]);
}

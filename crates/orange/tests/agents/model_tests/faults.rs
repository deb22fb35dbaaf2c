//! What goes wrong as scripted: errors, hangs, streams that break off, junk.

use super::client::{
    CHAT, MESSAGES, ask, bytes, chunk, claude_called, claude_says, connect, pi_says, plain, text,
};
use crate::model::{Model, cut_stream_after, hang, junk, say, shell, status};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};

#[test]
fn errors_have_the_shape_of_their_protocol() {
    let model = Model::start();
    let kinds = [
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (529, "overloaded_error", "server_error"),
        (500, "api_error", "server_error"),
    ];
    for (code, anthropic, openai) in kinds {
        model.otherwise([status(code).always()]);
        let answer = ask(&model, MESSAGES, &claude_says("x"));
        assert_eq!(answer.status, code);
        assert_eq!(answer.json()["type"], "error");
        assert_eq!(answer.json()["error"]["type"], anthropic);
        let answer = ask(&model, CHAT, &pi_says("x"));
        assert_eq!(answer.status, code);
        assert_eq!(answer.json()["error"]["type"], openai);
    }
}

#[test]
fn an_error_has_the_headers_and_the_body_that_it_is_given() {
    let model = Model::start();
    let reset = "anthropic-ratelimit-unified-reset";
    let body =
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "until five"}});
    let step = status(429).retry_after(1).header(reset, "1790000000");
    model.when("Work", [step.body(body.clone())]);
    let answer = ask(&model, MESSAGES, &claude_says("Work on it."));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header(reset), Some("1790000000"));
    assert_eq!(answer.json(), body);
}

#[test]
fn an_error_in_the_middle_happens_as_often_as_said_and_the_script_goes_on() {
    let model = Model::start();
    let steps = [shell("one"), status(529).times(2), status(500), say("done")];
    model.when("Work", steps);
    let mut request = plain(claude_says("Work on it."));
    assert_eq!(ask(&model, MESSAGES, &request).status, 200);
    claude_called(&mut request, 1);
    for code in [529, 529, 500] {
        assert_eq!(ask(&model, MESSAGES, &request).status, code);
    }
    assert_eq!(text(&ask(&model, MESSAGES, &request)), "done");
}

#[test]
fn a_stream_breaks_off_after_some_events_and_is_whole_the_next_time() {
    let model = Model::start();
    model.when("Work", [cut_stream_after(3), shell("one")]);
    for (path, request) in [
        (MESSAGES, claude_says("Work on it.")),
        (CHAT, pi_says("Work on it.")),
    ] {
        let cut = ask(&model, path, &request);
        assert_eq!(cut.events().len(), 3);
        assert!(!cut.whole);
        let next = ask(&model, path, &request);
        assert!(next.whole);
        model.when("Work", [cut_stream_after(3), shell("one")]);
    }
}

#[test]
fn junk_is_a_whole_answer_that_nobody_understands() {
    let model = Model::start();
    model.when("Work", [junk(), say("sorry")]);
    let request = claude_says("Work on it.");
    let answer = ask(&model, MESSAGES, &request);
    assert_eq!((answer.status, answer.whole), (200, true));
    assert!(std::str::from_utf8(&answer.body).is_err());
    assert_eq!(text(&ask(&model, MESSAGES, &plain(request))), "sorry");
}

#[test]
fn an_answer_hangs_after_its_first_event_until_the_model_ends() {
    let model = Model::start();
    model.when("Work", [hang(), say("back")]);
    let mut stream = connect(&model);
    let request = claude_says("Work on it.");
    stream.write_all(&bytes(MESSAGES, &request)).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let first = String::from_utf8(chunk(&mut reader).unwrap()).unwrap();
    assert!(first.starts_with("event: message_start\n"), "{first}");
    // Others are served meanwhile.
    assert_eq!(text(&ask(&model, MESSAGES, &plain(request))), "back");
    // It joins all its threads.
    drop(model);
    let mut rest = Vec::new();
    // An end or a reset: either way it is over.
    let _ = reader.read_to_end(&mut rest);
    assert_eq!(rest, b"");
}

#[test]
fn the_model_ends_although_an_answer_waits_and_a_connection_is_idle() {
    let model = Model::start();
    model.when("Work", [say("never").after("/nowhere/at/all")]);
    let idle = connect(&model);
    let mut waiting = connect(&model);
    let request = claude_says("Work on it.");
    waiting.write_all(&bytes(MESSAGES, &request)).unwrap();
    model.until("the prompt", |requests| requests.len() == 1);
    drop(model);
    drop(idle);
}

#[test]
#[should_panic(expected = "not for a fault")]
fn a_fault_has_no_usage() {
    let _ = status(500).usage(1, 2);
}

//! Pi by itself, with both protocols: what it does with a prompt, what it tells of a run, and how it takes up a session
//! again.

use crate::cli::{Ended, PI_ANTHROPIC, PI_OPENAI, Place, Variables, pi_env};
use crate::model::{Model, Protocol, edit, say, shell, status, write};
use serde_json::Value;

/// With everything in it that could be mangled on the way.
const PROMPT: &str = "Work on it.\n\n  - an indented line, a 'quote' and a \"double\" one\n\t$HOME `tick` ünï → 漢字\n\n--end";

#[track_caller]
fn pi(place: &Place, variables: &Variables, more: &[&str], prompt: &str) -> Ended {
    let mut arguments = vec!["-p", "--mode", "json"];
    arguments.extend(more);
    arguments.extend(["--", prompt]);
    place.run(variables, "pi", &arguments)
}

/// The usage that it tells, answer by answer.
fn usages(ended: &Ended) -> Vec<[u64; 4]> {
    let of_assistant =
        |line: &&Value| line["type"] == "message_end" && line["message"]["role"] == "assistant";
    let messages = ended.lines.iter().filter(of_assistant);
    let figures = messages.map(|line| {
        let usage = &line["message"]["usage"];
        ["input", "output", "cacheRead", "cacheWrite"].map(|name| usage[name].as_u64().unwrap())
    });
    figures.collect()
}

fn assert_works(name: &str, protocol: Protocol, cache_written: u64) {
    let (model, place) = (Model::start(), Place::new());
    let variables = pi_env(&model, &place.home());
    model.when(
        PROMPT,
        [
            shell("echo worked > proof.txt").usage(1000, 20),
            say("It is done.").usage(200, 10).cached(100, 20),
        ],
    );
    model.when(
        "And then?",
        [
            write("second.txt", "one\ntwo\n").and(shell("echo again >> proof.txt")),
            edit("second.txt", "two", "three"),
            say("Done."),
        ],
    );

    let ended = pi(&place, &variables, &["--model", name], PROMPT).ok();
    assert_eq!(place.read("proof.txt"), "worked\n");
    assert_eq!(model.heard(PROMPT), 1);
    let expected = [[1000, 20, 0, 0], [200, 10, 100, cache_written]];
    assert_eq!(usages(&ended), expected);
    ended.last("agent_settled");
    for request in model.requests() {
        assert_eq!(request.protocol, protocol);
        assert_eq!(request.texts(), [PROMPT]);
    }

    let session = ended.last("session")["id"].as_str().unwrap();
    let resume = ["--model", name, "--session", session];
    pi(&place, &variables, &resume, "And then?").ok();
    assert_eq!(place.read("proof.txt"), "worked\nagain\n");
    assert_eq!(place.read("second.txt"), "one\nthree\n");
    let last = model.requests().pop().unwrap();
    assert_eq!(last.texts(), [PROMPT, "And then?"]);
    assert_eq!(model.strays(), [""; 0]);
}

#[test]
fn pi_works_with_messages_and_takes_up_its_session_again() {
    assert_works(PI_ANTHROPIC, Protocol::Anthropic, 20);
}

#[test]
fn pi_works_with_chat_completions_and_takes_up_its_session_again() {
    assert_works(PI_OPENAI, Protocol::OpenAi, 0);
}

#[test]
fn pi_asks_again_after_an_error_and_says_the_prompt_once() {
    let (model, place) = (Model::start(), Place::new());
    let variables = pi_env(&model, &place.home());
    model.when(PROMPT, [status(429).retry_after(0), say("It went well.")]);
    pi(&place, &variables, &["--model", PI_ANTHROPIC], PROMPT).ok();
    assert_eq!(model.requests().len(), 2);
    assert_eq!(model.heard(PROMPT), 1);
}

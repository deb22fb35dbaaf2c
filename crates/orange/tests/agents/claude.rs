//! Claude by itself: what it does with a prompt, what it tells of a run, and how it takes up a session again.

use crate::cli::{Ended, Place, Variables, claude_env};
use crate::model::{Model, Protocol, say, shell, status};

/// With everything in it that could be mangled on the way.
const PROMPT: &str = "Work on it.\n\n  - an indented line, a 'quote' and a \"double\" one\n\t$HOME `tick` ünï → 漢字\n\n--end";

#[track_caller]
fn claude(place: &Place, variables: &Variables, more: &[&str], prompt: &str) -> Ended {
    let mut arguments = vec!["-p", "--output-format", "stream-json", "--verbose"];
    arguments.push("--dangerously-skip-permissions");
    arguments.extend(more);
    arguments.extend(["--", prompt]);
    place.run(variables, "claude", &arguments)
}

#[test]
fn claude_runs_a_command_tells_its_usage_and_takes_up_its_session_again() {
    let (model, place) = (Model::start(), Place::new());
    let variables = claude_env(&model, &place.home(), &place.repository());
    model.when(
        PROMPT,
        [
            shell("echo worked > proof.txt").usage(1000, 20),
            say("It is done.").usage(200, 10).cached(100, 20),
        ],
    );
    model.when(
        "And then?",
        [shell("echo again >> proof.txt"), say("Done.")],
    );

    let ended = claude(&place, &variables, &[], PROMPT).ok();
    assert_eq!(place.read("proof.txt"), "worked\n");
    assert_eq!(model.heard(PROMPT), 1);
    let result = ended.last("result");
    assert_eq!(result["result"], "It is done.");
    assert_eq!(result["is_error"], false);
    let usage = &result["usage"];
    assert_eq!(usage["input_tokens"], 1200);
    assert_eq!(usage["output_tokens"], 30);
    assert_eq!(usage["cache_read_input_tokens"], 100);
    assert_eq!(usage["cache_creation_input_tokens"], 20);
    assert_only_this_model_was_asked(&model);

    let session = result["session_id"].as_str().unwrap();
    let ended = claude(&place, &variables, &["--resume", session], "And then?").ok();
    assert_eq!(ended.last("result")["session_id"], session);
    assert_eq!(place.read("proof.txt"), "worked\nagain\n");
    let last = model.requests().pop().unwrap();
    assert_eq!(last.texts(), [PROMPT, "And then?"]);
}

/// Nothing but the conversation, with the token that the test gave.
fn assert_only_this_model_was_asked(model: &Model) {
    for request in model.requests() {
        assert_eq!(request.protocol, Protocol::Anthropic);
        assert_eq!(request.header("authorization"), Some("Bearer fake"));
        assert_eq!(request.header("x-api-key"), None);
        assert_eq!(request.texts(), [PROMPT]);
    }
}

#[test]
fn claude_asks_again_after_an_error_and_says_the_prompt_once() {
    let (model, place) = (Model::start(), Place::new());
    let variables = claude_env(&model, &place.home(), &place.repository());
    model.when(
        PROMPT,
        [status(529).times(2).retry_after(0), say("It went well.")],
    );
    let ended = claude(&place, &variables, &[], PROMPT).ok();
    assert_eq!(ended.last("result")["result"], "It went well.");
    assert_eq!(model.requests().len(), 3);
    assert_eq!(model.heard(PROMPT), 1);
}

#[test]
fn claude_ends_with_an_error_that_does_not_go_away() {
    let (model, place) = (Model::start(), Place::new());
    let variables = claude_env(&model, &place.home(), &place.repository());
    model.otherwise([status(400).always()]);
    let ended = claude(&place, &variables, &[], PROMPT);
    assert!(!ended.success, "{ended:?}");
    assert_eq!(ended.last("result")["is_error"], true);
}

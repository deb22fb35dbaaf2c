//! The model and the effort that a task asks for: real agents pass them on to their model's service.

use crate::cli::{PI_ANTHROPIC, PI_THOUGHTFUL};
use crate::env::TestTask;
use crate::model::{Request, say};
use crate::shown::shown;
use crate::world::{World, other, review, worker};
use serde_json::Value;

/// A model of a harness that can be told how hard to think, and another one.
pub(crate) fn models(harness: &str) -> [&'static str; 2] {
    match harness {
        "claude" => ["claude-opus-4-6", "claude-haiku-4-5"],
        _ => [PI_THOUGHTFUL, PI_ANTHROPIC],
    }
}

/// The name that goes over the wire: pi's has its provider in front.
pub(crate) fn wire(model: &str) -> &str {
    model.rsplit('/').next().unwrap()
}

/// The requests that an agent made because it was told this.
pub(crate) fn asked(env: &World, needle: &str) -> Vec<Request> {
    let mut requests = env.model.requests();
    requests.retain(|request| request.texts().iter().any(|text| text.contains(needle)));
    requests
}

/// How hard the model is told to think.
pub(crate) fn effort(request: &Request) -> Value {
    let body = &request.body;
    match &body["output_config"]["effort"] {
        Value::Null => body["thinking"]["budget_tokens"].clone(),
        effort => effort.clone(),
    }
}

/// The same for effort high and low, as each harness says it.
pub(crate) fn words(harness: &str) -> [Value; 2] {
    match harness {
        "claude" => [Value::from("high"), Value::from("low")],
        // Tokens for thinking.
        _ => [Value::from(16384), Value::from(2048)],
    }
}

fn spawned(task: &TestTask, role: &str) -> Value {
    let mut events = task.history().into_iter();
    events
        .find(|event| event["type"] == "agent.spawned" && event["role"] == role)
        .unwrap()
}

const WORKER: &str = "You are the worker of task";

fn worker_and_reviewer_are_told(harness: &str) {
    let mut env = World::new();
    // What the task says counts more than the person's own choices for every claude.
    env.set("ANTHROPIC_MODEL", "claude-sonnet-4-5");
    env.set("CLAUDE_CODE_EFFORT_LEVEL", "medium");
    env.model.when(WORKER, worker("hello"));
    env.model.when("Review round: 1;", review("PASS"));
    let reviewer = other(harness);
    let ([model, _], [review_model, _]) = (models(harness), models(reviewer));
    let task = env.create([
        "it",
        "Greet the user",
        "--harness",
        harness,
        "--model",
        model,
        "--effort",
        "high",
        "--review-harness",
        reviewer,
        "--review-model",
        review_model,
        "--review-effort",
        "low",
    ]);
    env.until_status(&task, "reviewing");
    let mut efforts = Vec::new();
    for (needle, model) in [(WORKER, model), ("Review round: 1;", review_model)] {
        let requests = asked(&env, needle);
        assert!(!requests.is_empty(), "{}", env.dump());
        for request in &requests {
            assert_eq!(request.model, wire(model), "{needle}");
        }
        efforts.push(effort(&requests[0]));
    }
    let ([high, _], [_, low]) = (words(harness), words(reviewer));
    assert_eq!(efforts, [high, low]);
    let event = spawned(&task, "worker");
    assert_eq!(
        (&event["model"], &event["effort"]),
        (&model.into(), &"high".into())
    );
    let event = spawned(&task, "reviewer");
    assert_eq!(event["model"], review_model);
    shown(harness, "model-and-effort");
}

#[test]
fn claude_and_its_reviewer_pi_are_told_model_and_effort() {
    worker_and_reviewer_are_told("claude");
}

#[test]
fn pi_and_its_reviewer_claude_are_told_model_and_effort() {
    worker_and_reviewer_are_told("pi");
}

fn a_setting_counts_and_a_turn_without_a_terminal_is_told(harness: &str) {
    let [model, another] = models(harness);
    let env = World::configured(&format!("  model: {model}\n  effort: low\n"));
    env.model.when("Begin.", [say("Done.")]);
    env.model.when("Again.", [say("Done.")]);
    let set = format!("agents.harness={harness}");
    env.say(&["--config", &set, "headless", "Begin."]).ok();
    let requests = asked(&env, "Begin.");
    assert_eq!(requests[0].model, wire(model));
    assert_eq!(effort(&requests[0]), words(harness)[1]);
    let more = ["--model", another, "--effort", "high", "Again."];
    env.say(&[&["--config", &set, "headless"], &more[..]].concat())
        .ok();
    assert_eq!(asked(&env, "Again.")[0].model, wire(another));
}

#[test]
fn claude_takes_the_settings_without_a_terminal() {
    a_setting_counts_and_a_turn_without_a_terminal_is_told("claude");
}

#[test]
fn pi_takes_the_settings_without_a_terminal() {
    a_setting_counts_and_a_turn_without_a_terminal_is_told("pi");
}

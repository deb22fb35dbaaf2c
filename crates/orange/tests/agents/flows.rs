//! A task's way with real agents: planned, worked on, reviewed by the other agent, mended, and what a person says.

use crate::model::Model;
use crate::world::{World, fix, other, review, worker};

/// Waits until the model was asked about a second review.
fn reviews(model: &Model) -> usize {
    let requests = model.requests();
    let of_reviewer = |text: &&str| text.contains("You are the reviewer of task");
    let texts = requests.iter().filter_map(|request| request.texts().first().copied().filter(of_reviewer));
    let mut prompts: Vec<&str> = texts.collect();
    prompts.dedup();
    prompts.len()
}

fn planned_worked_on_reviewed_and_mended(harness: &str) {
    let env = World::new();
    env.model.when("You are the worker of task", worker("hello"));
    env.model.when("Review round: 1;", review("FAIL"));
    env.model.when("The review of task", fix("hello again"));
    env.model.when("Review round: 2;", review("PASS"));
    let task = env.task(harness, other(harness), "Greet the user — «ünï» 漢字");
    let prompt = env.prompt(&task, "worker");
    env.until_status(&task, "reviewing");

    assert_eq!(env.model.heard(&prompt), 1, "{:?}", env.model.requests());
    let told = env.until_told(&task, "The review of task");
    assert_eq!(env.model.heard(&told), 1);
    assert_eq!(reviews(&env.model), 2);
    let spawned: Vec<_> = task.history();
    let spawned: Vec<(String, String)> = spawned
        .iter()
        .filter(|event| event["type"] == "agent.spawned")
        .map(|event| (event["role"].to_string(), event["harness"].to_string()))
        .collect();
    let quoted = |word: &str| format!("\"{word}\"");
    let reviewed = (quoted("reviewer"), quoted(other(harness)));
    assert_eq!(
        spawned,
        [(quoted("worker"), quoted(harness)), reviewed.clone(), reviewed]
    );
    let log = env.git(&env.slot_of(&task), &["log", "--format=%s", "main..HEAD"]);
    assert_eq!(log, "hello again\nhello");
    assert_eq!(env.attention(&task), "");
    assert_eq!(env.count(&task, "agent.nudged"), 0, "{}", env.dump());
    assert_eq!(env.count(&task, "agent.crashed"), 0, "{}", env.dump());
    env.assert_settings_untouched();
}

#[test]
fn claude_works_and_pi_reviews() {
    planned_worked_on_reviewed_and_mended("claude");
}

#[test]
fn pi_works_and_claude_reviews() {
    planned_worked_on_reviewed_and_mended("pi");
}

//! Real agents that were killed: the next one goes on with the same conversation, as long as there is one.

use crate::env::TestTask;
use crate::model::{Request, say};
use crate::shown::shown;
use crate::world::{World, commit, handoff, plan};
use serde_json::Value;
use std::fs;

/// An agent that has planned and now thinks for ever; after a respawn it finishes.
fn thinker(env: &World, harness: &str) -> TestTask {
    env.model.when(
        "You are the worker of task",
        [plan(), say("Never.").after(env.gate("never"))],
    );
    env.model.when(
        "An earlier session of it ended",
        [commit("hello"), handoff(), say("Handed over.")],
    );
    let task = env.task(harness, "none", "Greet the user");
    let prompt = env.prompt(&task, "worker");
    env.until_status(&task, "working");
    env.model.until("it thinks", |requests| {
        requests
            .iter()
            .filter(|request| request.texts() == [&prompt])
            .count()
            >= 2
    });
    task
}

/// What people said in the last conversation.
fn last_texts(env: &World) -> Vec<String> {
    let requests = env.model.requests();
    let with_tools = requests.iter().rfind(|request| !request.tools.is_empty());
    let texts = with_tools.map(Request::texts).unwrap_or_default();
    texts.into_iter().map(str::to_owned).collect()
}

fn conversation(task: &TestTask) -> (Value, Value) {
    let spawned = task.last("agent.spawned");
    (spawned["conversation"].clone(), spawned["resumed"].clone())
}

fn respawned(env: &World, task: &TestTask) {
    env.until_event(task, "agent.crashed");
    env.say(&["task", "respawn", &task.id]).ok();
    env.until_status(task, "agent-review");
    assert_eq!(env.attention(task), "");
}

fn the_conversation_goes_on(harness: &str) {
    let env = World::new();
    let task = thinker(&env, harness);
    let (first, resumed) = conversation(&task);
    assert_eq!(resumed, false);
    let prompt = env.prompt(&task, "worker");
    env.kill(env.agent(&task, "worker"), "-9");
    respawned(&env, &task);
    assert_eq!(conversation(&task), (first, true.into()));
    let said = last_texts(&env);
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[0].trim_end(), prompt.trim_end());
    assert!(
        said[1].contains("An earlier session of it ended"),
        "{said:?}"
    );
    shown(harness, "respawn-resumes");
}

#[test]
fn claude_goes_on_after_a_kill() {
    the_conversation_goes_on("claude");
}

#[test]
fn pi_goes_on_after_a_kill() {
    the_conversation_goes_on("pi");
}

/// Its window is closed, and what it kept of the conversation is gone.
fn a_lost_conversation_is_begun_anew(harness: &str) {
    let env = World::new();
    let task = thinker(&env, harness);
    let (first, _) = conversation(&task);
    env.tmux(&["kill-window", "-t", &env.pane(&task, "worker")]);
    let crashed = env.until_event(&task, "agent.crashed");
    fs::remove_file(crashed["transcript"].as_str().unwrap()).unwrap();
    env.say(&["task", "respawn", &task.id])
        .ok()
        .says("its conversation is gone, so it begins a new one");
    env.until_status(&task, "agent-review");
    let (second, resumed) = conversation(&task);
    assert_eq!(resumed, false);
    assert_ne!(first, second);
    let said = last_texts(&env);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(env.attention(&task), "");
}

#[test]
fn claude_begins_anew_where_nothing_is_left() {
    a_lost_conversation_is_begun_anew("claude");
}

#[test]
fn pi_begins_anew_where_nothing_is_left() {
    a_lost_conversation_is_begun_anew("pi");
}

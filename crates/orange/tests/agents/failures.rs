//! Real agents that cannot go on: a usage limit, a service that fails, no account, Escape in the middle of a turn, and a
//! dialog that nobody answered.

use crate::env::TestTask;
use crate::model::{Step, cut_stream_after, hang, junk, say, status};
use crate::shown::shown;
use crate::world::{World, plan};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Delays that a test does not notice.
const QUICK: &str = "  retry_delay: 1s\n  start_timeout: 4s\n";

const WORKER: &str = "You are the worker of task";

/// How far ahead a limit ends: long enough to be seen.
const LIMIT: u64 = 12;

/// Agents that give up at once when their model's service fails.
fn impatient(more: &str) -> World {
    let mut env = World::configured(&format!("{QUICK}{more}"));
    env.set("CLAUDE_CODE_MAX_RETRIES", "0");
    let settings = json!({
        "defaultProvider": "scripted-anthropic",
        "defaultModel": "scripted",
        "retry": {"enabled": false},
    });
    env.write("home/.pi/agent/settings.json", settings.to_string());
    env
}

/// Somebody with a subscription instead of a key.
fn subscribe(env: &mut World) {
    env.unset("ANTHROPIC_AUTH_TOKEN");
    env.set("CLAUDE_CODE_OAUTH_TOKEN", "fake");
}

/// A usage limit as the service tells of it, which ends after so many seconds.
fn limit(seconds: u64) -> Step {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let reset = (now.as_secs() + seconds).to_string();
    status(429)
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", &reset)
        .header(
            "anthropic-ratelimit-unified-representative-claim",
            "five_hour",
        )
        .header("retry-after", &seconds.to_string())
}

fn worker(env: &World, task: &TestTask) -> Value {
    env.show(task)["agents"][0].clone()
}

#[track_caller]
fn until_state(env: &World, task: &TestTask, state: &str) {
    env.until(&format!("the worker is {state}"), || {
        worker(env, task)["state"] == state
    });
}

/// How often the engine told the worker to go on.
fn told(task: &TestTask) -> usize {
    let history = task.history();
    let sent = history
        .iter()
        .filter(|event| event["type"] == "message" && event["by"] == "engine");
    sent.filter(|event| {
        event["content"]
            .as_str()
            .unwrap()
            .contains("Go on where you stopped")
    })
    .count()
}

fn waits_for_the_end_of_a_limit(env: &World, harness: &str) {
    env.model
        .when(WORKER, [limit(LIMIT), plan(), say("Planned.")]);
    env.model.otherwise([plan(), say("Planned.")]);
    let task = env.task(harness, "none", "Wait for it");
    until_state(env, &task, "waiting");
    env.say(&["ls"])
        .ok()
        .says("waiting until ")
        .says("(usage limit)");
    assert_eq!(env.attention(&task), "");
    env.until_status(&task, "working");
    env.until("it is journalled that it goes on", || {
        task.last("agent.state")["state"] != "waiting"
    });
    assert_eq!(told(&task), 1, "{}", env.dump());
    shown(harness, "usage-limit");
}

#[test]
fn claude_goes_on_when_its_limit_is_over() {
    let mut env = impatient("");
    subscribe(&mut env);
    waits_for_the_end_of_a_limit(&env, "claude");
}

#[test]
fn pi_is_told_to_go_on_when_its_limit_is_over() {
    let env = impatient("");
    waits_for_the_end_of_a_limit(&env, "pi");
}

fn is_told_to_go_on(harness: &str, fault: Step, said: &str) {
    let env = impatient("");
    env.model.when(WORKER, [fault.always()]);
    env.model.otherwise([plan(), say("Planned.")]);
    let task = env.task(harness, "none", "Try again");
    let state = env.until_event(&task, "agent.state");
    assert_eq!(state["state"], "failed", "{state}");
    assert!(state["reason"].as_str().unwrap().contains(said), "{state}");
    env.until_status(&task, "working");
    assert_eq!(told(&task), 1);
    assert_eq!(env.attention(&task), "");
}

#[test]
fn claude_is_told_to_go_on_after_a_failure() {
    is_told_to_go_on("claude", status(500), "500");
    is_told_to_go_on("claude", status(529), "529");
    shown("claude", "retry");
}

#[test]
fn pi_is_told_to_go_on_after_a_failure() {
    is_told_to_go_on("pi", status(500), "500");
    is_told_to_go_on("pi", status(529), "529");
    shown("pi", "retry");
}

#[test]
fn claude_is_told_to_go_on_when_its_model_is_cut_off_or_makes_no_sense() {
    is_told_to_go_on("claude", cut_stream_after(1), "");
    is_told_to_go_on("claude", junk(), "");
}

#[test]
fn pi_is_told_to_go_on_when_its_model_is_cut_off_or_makes_no_sense() {
    is_told_to_go_on("pi", cut_stream_after(1), "");
    is_told_to_go_on("pi", junk(), "");
}

fn without_an_account_a_person_is_needed(harness: &str) {
    let env = impatient("");
    env.model.when(WORKER, [status(401).always()]);
    let task = env.task(harness, "none", "Log in");
    env.until_attention(&task, "its worker cannot go on: ");
    assert!(
        env.attention(&task).contains("log in"),
        "{}",
        env.attention(&task)
    );
    assert_eq!(worker(&env, &task)["state"], "failed");
    assert_eq!(told(&task), 0);
}

#[test]
fn claude_without_an_account_needs_a_person() {
    without_an_account_a_person_is_needed("claude");
}

#[test]
fn pi_without_an_account_needs_a_person() {
    without_an_account_a_person_is_needed("pi");
}

#[test]
fn a_limit_needs_a_person_where_claude_may_not_go_on_by_itself() {
    let mut env = impatient("  go_on: false\n");
    subscribe(&mut env);
    // Far ahead: nobody waits for its end here.
    env.model.when(WORKER, [limit(3600).always()]);
    let task = env.task("claude", "none", "Wait for me");
    env.until_attention(&task, "its worker has reached its usage limit, until ");
    assert_eq!(told(&task), 0);
}

fn escape_is_seen(harness: &str) {
    let env = impatient("");
    env.model.when(WORKER, [hang()]);
    env.model.otherwise([plan(), say("Planned.")]);
    let task = env.task(harness, "none", "Stop that");
    env.model
        .until("the prompt", |requests| !requests.is_empty());
    until_state(&env, &task, "working");
    let pane = env.pane(&task, "worker");
    env.tmux(&["send-keys", "-t", &pane, "Escape"]);
    until_state(&env, &task, "waits for input");
    env.say(&["ls"]).ok().says("waits for input · Stop that");
    env.say(&["task", "send", &task.id, "now plan it"]).ok();
    env.until_status(&task, "working");
}

#[test]
fn escape_in_the_middle_of_a_turn_of_claude_is_seen() {
    escape_is_seen("claude");
}

#[test]
fn escape_in_the_middle_of_a_turn_of_pi_is_seen() {
    escape_is_seen("pi");
}

#[test]
fn a_dialog_of_claude_is_shown_with_its_words() {
    let env = impatient("");
    // Claude asks about the imports of a file that lead out of the repository.
    let repository = env.shop();
    let outside = env.write("outside.md", "Be kind.\n");
    let rules = format!("@{}\n", outside.display());
    std::fs::write(repository.join("CLAUDE.md"), rules).unwrap();
    env.git(&repository, &["add", "CLAUDE.md"]);
    env.git(&repository, &["commit", "-q", "-m", "rules for agents"]);
    env.model.when(WORKER, [plan(), say("Planned.")]);
    let task = env.task("claude", "none", "Ask first");
    env.until_attention(&task, "its worker has not begun; read from its screen: ");
    assert!(
        env.attention(&task).contains("external"),
        "{}",
        env.attention(&task)
    );
    let pane = env.pane(&task, "worker");
    env.tmux(&["send-keys", "-t", &pane, "Enter"]);
    env.until_status(&task, "working");
    env.until("nobody is needed any more", || {
        env.attention(&task).is_empty()
    });
}

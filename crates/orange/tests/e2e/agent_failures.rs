//! Agents that do not go on: limits, a service that fails, a start that never comes to a prompt, and their states.

use crate::agents::Agents;
use crate::env::TestTask;
use serde_json::Value;

/// Delays that a test does not notice.
const QUICK: &str = "  retry_delay: 1s\n  start_timeout: 1s\n";

/// What there is to do once it goes on.
const REST: &str = "  - plan: 'APPROACH: x'
  - status: working
  - wait for:
      file: ROOT/never
";

fn failing(env: &Agents, steps: &str) -> TestTask {
    env.start("Fail for now", &format!("worker:\n{steps}{REST}"))
}

/// The states that were journalled, in order.
fn states(task: &TestTask) -> Vec<String> {
    let history = task.history();
    let states = history
        .iter()
        .filter(|event| event["type"] == "agent.state");
    let word = |event: &Value| event["state"].as_str().unwrap().to_owned();
    states.map(word).collect()
}

/// What the engine told the agent.
fn told(task: &TestTask) -> Vec<String> {
    let history = task.history();
    let sent = history
        .iter()
        .filter(|event| event["type"] == "message" && event["by"] == "engine");
    sent.map(|event| event["content"].as_str().unwrap().to_owned())
        .collect()
}

fn worker(env: &Agents, task: &TestTask) -> Value {
    env.show(task)["agents"][0].clone()
}

#[test]
fn a_limit_is_waited_for_and_then_it_goes_on_once() {
    let env = Agents::configured(QUICK);
    let task = failing(
        &env,
        "  - fail: You have hit your limit\n    error: rate_limit\n    limit: 4s\n",
    );
    env.until_event(&task, "agent.state");
    assert_eq!(states(&task), ["waiting"]);
    let shown = worker(&env, &task);
    assert_eq!(shown["state"], "waiting", "{shown}");
    assert_eq!(shown["source"], "signals");
    assert_eq!(shown["until"], task.last("agent.state")["until"]);
    assert_eq!(env.attention(&task), "");
    for command in [
        &["ls"][..],
        &["task", "show", &task.id],
        &["task", "why", &task.id],
    ] {
        let said = env.say(command).ok();
        said.says("waiting until ").says(" (usage limit)");
    }
    let why = env.say(&["task", "why", &task.id, "--json"]).ok().json();
    assert_eq!(why["why"]["needs_human"], false, "{why}");
    // Whoever looks meanwhile changes nothing.
    env.look();
    env.look();
    env.until_status(&task, "working");
    env.look();
    assert_eq!(
        told(&task),
        ["The usage limit is over. Go on where you stopped."]
    );
    env.until("that it goes on is journalled", || {
        states(&task) == ["waiting", "working"]
    });
    env.until_count(&task, "message.delivered", 1);
}

#[test]
fn a_limit_needs_a_person_where_agents_do_not_go_on_by_themselves() {
    let env = Agents::configured("  go_on: false\n");
    let task = failing(
        &env,
        "  - fail: limit\n    error: rate_limit\n    limit: 1h\n",
    );
    env.until_attention(&task, "its worker has reached its usage limit, until ");
    assert_eq!(worker(&env, &task)["state"], "waiting");
    env.say(&["task", "send", &task.id, "go on"]).ok();
    env.until_status(&task, "working");
    env.until("nobody is needed any more", || {
        env.attention(&task).is_empty()
    });
    assert_eq!(told(&task), Vec::<String>::new());
}

#[test]
fn a_failed_service_is_tried_again_later_and_later() {
    let env = Agents::configured(QUICK);
    let task = failing(&env, "  - fail: API Error 529\n  - fail: API Error 500\n");
    let state = env.until_event(&task, "agent.state");
    assert_eq!(state["reason"], "API Error 529");
    assert!(state["again"].is_string(), "{state}");
    env.until_status(&task, "working");
    assert_eq!(told(&task).len(), 2);
    env.until("it works again", || {
        states(&task).pop().as_deref() == Some("working")
    });
    let failed = states(&task).into_iter().filter(|state| state == "failed");
    assert_eq!(failed.count(), 2);
    assert_eq!(env.attention(&task), "");
}

#[test]
fn it_is_said_when_a_failed_service_is_tried_again() {
    let env = Agents::configured("  retry_delay: 1h\n");
    let task = failing(&env, "  - fail: API Error 529\n");
    env.until_event(&task, "agent.state");
    env.say(&["task", "why", &task.id])
        .ok()
        .says("has failed: API Error 529; it is told to go on at ");
}

#[test]
fn what_needs_a_person_is_not_tried_again() {
    let env = Agents::configured(QUICK);
    let task = failing(
        &env,
        "  - fail: Not logged in · Please run /login\n    error: authentication_failed\n",
    );
    env.until_attention(
        &task,
        "its worker cannot go on: Not logged in · Please run /login; log in",
    );
    assert_eq!(worker(&env, &task)["state"], "failed");
    env.look();
    assert_eq!(told(&task), Vec::<String>::new());
    env.say(&["task", "send", &task.id, "you are logged in now"])
        .ok();
    env.until_status(&task, "working");
    env.until("nobody is needed any more", || {
        env.attention(&task).is_empty()
    });
}

#[test]
fn a_dialog_at_the_start_is_shown_and_forgotten_when_it_goes_on() {
    let env = Agents::configured(&format!(
        "{QUICK}harness:\n  mine:\n    command: [/bin/sh, ROOT/mine.sh]\n    signals: true\n"
    ));
    let script = "printf '╭────╮\\n│ Do you trust this folder?\\n ❯ No\\n   Yes\\n'\n\
        while ! test -e ROOT/go; do sleep 0.1; done\n\
        orange signal prompt-taken --text x\nexec cat\n";
    env.write(
        "mine.sh",
        script.replace("ROOT", env.root().to_str().unwrap()),
    );
    let task = env.create(["some-words", "Some words", "--harness", "mine"]);
    let words =
        "its worker has not begun; read from its screen: Do you trust this folder? / No / Yes";
    env.until_attention(&task, words);
    assert_eq!(worker(&env, &task)["state"], "starting");
    env.allow("go");
    env.until("nobody is needed any more", || {
        env.attention(&task).is_empty()
    });
    assert_eq!(states(&task), ["working"]);
    assert_eq!(worker(&env, &task)["state"], "working");
}

#[test]
fn a_program_that_cannot_start_has_the_last_word() {
    let env = Agents::configured("harness:\n  mine: [/bin/sh, ROOT/mine.sh]\n");
    env.write(
        "mine.sh",
        "echo 'No conversation found with session ID: 1'\nexit 1\n",
    );
    let task = env.create(["some-words", "Some words", "--harness", "mine"]);
    env.until_event(&task, "agent.crashed");
    let words = "its screen said: No conversation found with session ID: 1";
    env.until_attention(&task, words);
    env.say(&["task", "why", &task.id]).ok().says(words);
}

#[test]
fn many_turns_are_few_events() {
    let env = Agents::new();
    let turns = "  - repeat: 5\n    steps:\n      - say: So\n      - end turn\n";
    let task = env.start(
        "Talk on",
        &format!("worker:\n  - status: clarification\n{turns}"),
    );
    env.until_status(&task, "clarification");
    for word in ["the first word", "the second word", "the third word"] {
        env.until_idle(&task, "worker");
        env.say(&["task", "send", &task.id, word]).ok();
        env.until_told(&task, word);
    }
    env.until_idle(&task, "worker");
    env.until("its last turn is seen to", || {
        worker(&env, &task)["state"] == "finished"
    });
    env.look();
    assert_eq!(states(&task), ["finished"]);
}

#[test]
fn an_agent_without_signals_runs_by_its_screen() {
    let env = Agents::configured("harness:\n  mine: [/bin/sh, -c, 'exec cat']\n");
    let task = env.create(["some-words", "Some words", "--harness", "mine"]);
    let shown = worker(&env, &task);
    assert_eq!(
        (&shown["state"], &shown["source"]),
        (&"running".into(), &"screen".into())
    );
    env.say(&["task", "why", &task.id])
        .ok()
        .says("its worker is running (it gives no signals)");
    let listed = env.say(&["ls", "--json"]).ok().json();
    assert_eq!(
        listed["tasks"][0]["agents"][0]["source"], "screen",
        "{listed}"
    );
}

/// As after `/clear` in the window of an agent: nothing is under way, and nobody else will say something.
#[test]
fn a_conversation_begun_anew_waits_for_its_prompt() {
    let env = Agents::new();
    let script = "worker:\n  - run: orange signal session-started\n  - wait for: {file: never}\n";
    let task = env.start("Begin anew", script);
    env.until("it waits for input", || {
        let shown = env.say(&["task", "show", &task.id, "--json"]).ok().json();
        shown["task"]["agents"][0]["state"] == "waits for input"
    });
}

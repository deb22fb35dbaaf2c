//! What real agents used of their model, as Orange tells it.

use crate::env::TestTask;
use crate::model::{say, shell};
use crate::shown::shown;
use crate::world::World;
use serde_json::Value;

fn used(env: &World, task: &TestTask) -> Value {
    env.show(task)["usage"].clone()
}

fn figures(usage: &Value) -> [u64; 4] {
    ["input", "output", "cache_read", "cache_write"].map(|name| usage[name].as_u64().unwrap_or(0))
}

/// Ends the worker from its own window, as a person does.
fn end_worker(env: &World, task: &TestTask, harness: &str) {
    let pane = env.pane(task, "worker");
    let words = match harness {
        "claude" => "/exit",
        _ => "/quit",
    };
    env.tmux(&["send-keys", "-t", &pane, "-l", words]);
    env.until("it is typed", || env.screen(task, "worker").contains(words));
    env.tmux(&["send-keys", "-t", &pane, "Enter"]);
}

fn tokens_and_cost_are_told(harness: &str) {
    let env = World::new();
    let first = shell("orange task update --status clarification").usage(1000, 20);
    let second = say("Well?").usage(200, 10).cached(3000, 40);
    env.model
        .when("You are the worker of task", [first, second]);
    env.model
        .when("An earlier session of it", [say("So be it.").usage(50, 5)]);
    let task = env.task(harness, "none", "Count it");
    env.until_status(&task, "clarification");
    let both = [1200, 30, 3000, 40];
    env.until("both answers are counted", || {
        figures(&used(&env, &task)) == both
    });
    env.say(&["task", "show", &task.id])
        .ok()
        .says("1.2k in, 0.0k out, 3.0k cached");

    end_worker(&env, &task, harness);
    let ended = env.until_event(&task, "agent.exited");
    assert_eq!(figures(&ended["usage"]), both, "{ended}");
    let cost = ended["usage"]["cost"].as_f64().unwrap_or(0.0);
    assert!(cost > 0.0, "{ended}");
    env.say(&["task", "show", &task.id]).ok().says("$0.0");

    // The conversation goes on, and is counted once.
    env.say(&["task", "respawn", &task.id, "--message", "go on"])
        .ok();
    env.until("the rest is counted", || {
        figures(&used(&env, &task)) == [1250, 35, 3000, 40]
    });
    env.until_idle(&task, "worker");
    if harness == "claude" {
        // It tells the cost of this part when it ends.
        assert_eq!(used(&env, &task)["cost_partial"], true);
        env.say(&["task", "show", &task.id]).ok().says("≥ $0.0");
    }
    end_worker(&env, &task, harness);
    env.until_count(&task, "agent.exited", 2);
    let all = used(&env, &task);
    assert_eq!(figures(&all), [1250, 35, 3000, 40]);
    assert_eq!(all["cost_partial"], Value::Null, "{all}");
    let later = all["cost"].as_f64().unwrap();
    assert!(
        later > cost && later < 2.0 * cost,
        "{cost} and then {later}"
    );
    shown(harness, "tokens-and-cost");
}

#[test]
fn tokens_and_cost_of_claude() {
    tokens_and_cost_are_told("claude");
}

#[test]
fn tokens_and_cost_of_pi() {
    tokens_and_cost_are_told("pi");
}

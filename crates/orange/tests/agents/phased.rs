//! Phased tasks that real agents execute without a terminal: from nothing to merged, with a kill of the executor in between.

use crate::env::TestTask;
use crate::model::{say, shell};
use crate::models::{asked, effort, models, wire, words};
use crate::shown::shown;
use crate::world::World;
use serde_json::Value;

const IMPLEMENT: &str = "in phase implement of its plan";
const TEST: &str = "in phase test of its plan";

fn executed(env: &World, task: &TestTask) -> Value {
    env.show(task)["execution"].clone()
}

fn tokens(env: &World, task: &TestTask) -> [u64; 2] {
    let execution = executed(env, task);
    ["input_tokens", "output_tokens"].map(|name| execution["tokens"][name].as_u64().unwrap_or(0))
}

/// A small task whose two phases have a model and an effort each.
fn planned(env: &World, harness: &str) -> TestTask {
    let [model, another] = models(harness);
    let new = [
        "Greet the user",
        "--workflow",
        "phased",
        "--weight",
        "small",
    ];
    let task = env.create([&new[..], &["--harness", harness]].concat());
    let plan = env
        .orange(["plan", "show", &task.key, "--yaml"])
        .ok()
        .stdout;
    let (mut edited, mut phase) = (String::new(), 0);
    for line in plan.lines() {
        edited.push_str(&format!("{line}\n"));
        if line.trim_start().starts_with("max_iterations:") {
            let (model, effort) = [(model, "high"), (another, "low")][phase];
            edited.push_str(&format!("    model: {model}\n    effort: {effort}\n"));
            phase += 1;
        }
    }
    assert_eq!(phase, 2, "{plan}");
    let file = env.write("plan.yaml", edited);
    let file = file.to_str().unwrap();
    env.orange(["plan", "edit", &task.key, "--file", file]).ok();
    task
}

fn executes_a_small_task(harness: &str) {
    let env = World::new();
    let go = env.gate("go");
    env.model.when(
        IMPLEMENT,
        [
            shell("echo hello >> greeting.txt").usage(1000, 20),
            say("Done.\n{\"status\": \"complete\", \"summary\": \"it greets\"}")
                .usage(200, 10)
                .after(&go),
        ],
    );
    env.model.when(
        TEST,
        [say("{\"status\": \"complete\", \"summary\": \"it was tried\"}").usage(50, 5)],
    );
    let task = planned(&env, harness);
    env.orange(["run", &task.key]).ok();
    env.until("what the first answer used is kept", || {
        tokens(&env, &task)[0] == 1000
    });
    // How long an answer was, claude tells at the end of its turn only.
    let [_, told] = tokens(&env, &task);
    assert!((1..=20).contains(&told), "{told}");
    env.kill(env.run_agent(&task, "executor"), "-9");
    env.look();
    env.until_status(&task, "paused");
    let text = env.git(
        &env.shop(),
        &["show", &format!("{}:greeting.txt", task.branch)],
    );
    assert_eq!(text, "hello", "what the killed turn left is saved");

    env.write("go", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    // The turn that was killed as far as it told, and the two that ended: each once.
    assert_eq!(tokens(&env, &task), [2250, told + 35], "{}", env.dump());
    let execution = executed(&env, &task);
    assert!(
        execution["cost"]["total_cost_usd"].as_f64().unwrap() > 0.0,
        "{execution}"
    );
    // Their second models cannot be told how hard to think.
    let ([first, second], [high, _]) = (models(harness), words(harness));
    for (needle, model) in [(IMPLEMENT, first), (TEST, second)] {
        let requests = asked(&env, needle);
        assert!(!requests.is_empty(), "{}", env.dump());
        let of_it = requests.iter().all(|request| request.model == wire(model));
        assert!(of_it, "{needle} is not of {model}");
    }
    assert_eq!(effort(&asked(&env, IMPLEMENT)[0]), high);
    env.orange(["merge", &task.key]).ok();
    env.until_status(&task, "finished");
    let text = env.git(&env.shop(), &["show", "main:greeting.txt"]);
    assert_eq!(text.lines().next(), Some("hello"));
    env.assert_settings_untouched();
    shown(harness, "phased");
}

#[test]
fn claude_executes_a_plan_is_killed_and_resumed() {
    executes_a_small_task("claude");
}

#[test]
fn pi_executes_a_plan_is_killed_and_resumed() {
    executes_a_small_task("pi");
}

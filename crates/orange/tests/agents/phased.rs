//! Phased tasks that real agents execute without a terminal: from nothing to merged, with a kill of the executor in between.

use crate::env::TestTask;
use crate::model::{Step, say, shell};
use crate::models::{asked, effort, models, wire, words};
use crate::shown::shown;
use crate::world::World;
use serde_json::{Value, json};

const SPEC: &str = "in phase spec of its plan";
const IMPLEMENT: &str = "in phase implement of its plan";
const REVIEW: &str = "in phase review of its plan";
const TEST: &str = "in phase test of its plan";
const JUDGE_OF_SPEC: &str = "You judge phase spec";
const JUDGE_OF_REVIEW: &str = "You judge phase review";

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
    let greeting = env.slot_of(&task).join("greeting.txt");
    env.until("the work has begun", || {
        std::fs::read_to_string(&greeting).is_ok_and(|text| text == "hello\n")
    });
    env.kill(env.run_agent(&task, "executor"), "-9");
    env.look();
    env.until_status(&task, "paused");
    // How long an answer was, claude tells at the end of its turn only.
    let [_, told] = tokens(&env, &task);
    assert!((1..=20).contains(&told), "{told}");
    let text = env.git(
        &env.shop(),
        &["show", &format!("{}:greeting.txt", task.branch)],
    );
    assert_eq!(text, "hello", "what the killed turn left is saved");

    env.write("go", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    // Each turn once. What the killed one did not live to tell is told with the next turn of its conversation.
    assert_eq!(tokens(&env, &task), [2250, 55], "{}", env.dump());
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

fn complete(summary: &str, more: Value) -> Step {
    let mut answer = json!({"status": "complete", "summary": summary});
    let fields = answer.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    say(&format!("Done.\n{answer}"))
}

fn approves(reason: &str) -> [Step; 1] {
    [say(
        &json!({"decision": "approved", "reason": reason}).to_string()
    )]
}

/// A specification that is judged, a person's gate, a review that sends the work back once, a test and a merge.
fn executes_a_medium_task(harness: &str) {
    let env = World::new();
    let spec = "## Problem Statement\nNobody greets.\n\n## Success Criteria\n- [ ] it greets\n\n## Scope\nOne file.\n\n## Technical Approach\nWrite it.\n";
    env.model
        .when(SPEC, [complete("one file", json!({"artifact": spec}))]);
    env.model.when(JUDGE_OF_SPEC, approves("it can be checked"));
    env.model.when(
        IMPLEMENT,
        [
            shell("echo helo > greeting.txt"),
            complete("it greets", json!({})),
        ],
    );
    let finding =
        json!({"severity": "major", "file": "greeting.txt", "line": 1, "text": "It says helo."});
    env.model.when(
        REVIEW,
        [
            shell("echo reviewed > reviewed.txt"),
            complete("a mistake", json!({"findings": [finding]})),
        ],
    );
    env.model.when(TEST, [complete("it was tried", json!({}))]);
    let new = [
        "Greet the user",
        "--workflow",
        "phased",
        "--weight",
        "medium",
    ];
    let options = ["--harness", harness, "--review-harness", harness];
    let task = env.create([&new[..], &options, &["--gate", "implement=human"]].concat());
    let at_gate = |attempt: u64| {
        env.until(&format!("attempt {attempt} of implement waits"), || {
            let shown = env.show(&task);
            let implement = &shown["execution"]["phases"]["implement"];
            shown["status"] == "blocked" && implement["attempt"] == attempt
        });
    };
    env.orange(["run", &task.key]).ok();
    at_gate(1);
    // The judge sees what the phase made.
    let asked = asked(&env, JUDGE_OF_SPEC);
    let texts = asked.iter().flat_map(|request| request.texts());
    assert!(
        texts
            .into_iter()
            .any(|text| text.contains("Nobody greets."))
    );
    env.orange(["approve", &task.key]).ok();
    at_gate(2);
    let review = std::fs::read_to_string(task.folder.join("review.md")).unwrap();
    assert!(
        review.contains("## Verdict: CHANGES REQUESTED") && review.contains("It says helo."),
        "{review}"
    );
    env.model
        .when(REVIEW, [complete("nothing is left", json!({}))]);
    env.model
        .when(JUDGE_OF_REVIEW, approves("there are no findings"));
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    let execution = executed(&env, &task);
    let gates = execution["gates"].as_array().unwrap().iter();
    let gates: Vec<String> = gates
        .map(|gate| {
            format!(
                "{} {} {}",
                gate["phase"].as_str().unwrap(),
                gate["gate_type"].as_str().unwrap(),
                gate["approved"]
            )
        })
        .collect();
    assert_eq!(
        gates,
        [
            "spec ai true",
            "implement human true",
            "implement human true",
            "review ai true"
        ]
    );
    env.orange(["merge", &task.key]).ok();
    env.until_status(&task, "finished");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", "main"]);
    assert!(
        files.contains("greeting.txt") && !files.contains("reviewed.txt"),
        "{files}"
    );
    env.assert_settings_untouched();
}

#[test]
fn claude_is_judged_and_sent_back_by_its_review() {
    executes_a_medium_task("claude");
}

#[test]
fn pi_is_judged_and_sent_back_by_its_review() {
    executes_a_medium_task("pi");
}

#[test]
fn claude_executes_a_plan_is_killed_and_resumed() {
    executes_a_small_task("claude");
}

#[test]
fn pi_executes_a_plan_is_killed_and_resumed() {
    executes_a_small_task("pi");
}

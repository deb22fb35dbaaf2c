//! Gates that a judge decides at, and what a person does where it does not.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::phased;
use serde_json::Value;
use std::sync::Barrier;
use std::thread;

/// A task of small weight whose first phase is looked at by a judge; both play this script.
fn judged(env: &Agents, judge: &str, more: &[&str]) -> TestTask {
    let script = format!(
        "\
executor:
  - say: The password of the worker is swordfish.
  - use: {{input: 30, output: 3, cost: 0.003}}
  - write: '{{phase}}.txt'
    text: written in {{phase}}
  - answer: complete
    summary: wrote {{phase}}.txt
{judge}"
    );
    let harness = env.script("phased", &script);
    let options = ["--gate", "implement=ai", "--review-harness", &harness];
    phased(env, "small", &script, &[&options[..], more].concat())
}

fn gates(env: &Agents, task: &TestTask) -> Vec<Value> {
    let shown = env.show(task);
    shown["execution"]["gates"].as_array().unwrap().clone()
}

const APPROVES: &str = "\
judge implement:
  - use: {input: 50, output: 5, cost: 0.005}
  - say: |
      It is whole.
      {{\"decision\": \"approved\", \"reason\": \"it does what is asked\"}}
      That is all.
";

#[test]
fn a_phase_that_its_judge_approves_counts() {
    let env = Agents::new();
    let task = judged(&env, APPROVES, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let decided = gates(&env, &task);
    assert_eq!(decided.len(), 1, "{decided:?}");
    let gate = &decided[0];
    assert_eq!(
        (&gate["phase"], &gate["gate_type"]),
        (&"implement".into(), &"ai".into())
    );
    assert_eq!(gate["approved"], true);
    assert_eq!(gate["reason"], "it does what is asked");
    let by = gate["by"].as_str().unwrap();
    assert!(by.starts_with("judge (sim:"), "{by}");
    // What it costs counts, and it uses up nothing.
    let execution = &env.show(&task)["execution"];
    let phase = &execution["phases"]["implement"];
    assert_eq!(phase["tokens"]["input_tokens"], 80, "{phase}");
    assert_eq!(
        (&phase["used"], &phase["iterations"]),
        (&1.into(), &1.into())
    );
    assert_eq!(execution["cost"]["total_cost_usd"], 0.011);
    env.orange(["show", &task.key, "--full"])
        .ok()
        .says("implement: approved by judge (sim:")
        .says(": it does what is asked");
    env.orange(["show", &task.key, "--history"])
        .ok()
        .says("approved phase implement: it does what is asked")
        .says("the judge of implement, iteration 2: approved, $0.01");
    let of_judge = [
        "transcript",
        &task.key,
        "--phase",
        "implement",
        "--iteration",
        "2",
    ];
    let text = env.orange(of_judge).ok();
    text.says("/ implement / iteration 2 (judge)")
        .says("Its summary: wrote implement.txt")
        .says("+written in implement")
        .says("- Phase complete: yes (approved by the judge: it does what is asked)")
        .silent_about("swordfish");
    let list = env.orange(["transcript", &task.key, "--list"]).ok();
    list.says("approved");
}

#[test]
fn a_phase_that_its_judge_rejects_is_done_again_with_the_reason() {
    let env = Agents::new();
    let judge = "\
judge implement attempt 1:
  - say: '{{\"decision\": \"rejected\", \"reason\": \"the label is missing\"}}'
judge implement:
  - say: '{{\"decision\": \"approved\"}}'
";
    let task = judged(&env, judge, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let decided = gates(&env, &task);
    let words: Vec<_> = decided.iter().map(|one| &one["approved"]).collect();
    assert_eq!(words, [&Value::from(false), &Value::from(true)]);
    let second = [
        "transcript",
        &task.key,
        "--phase",
        "implement",
        "--iteration",
        "3",
    ];
    env.orange(second)
        .ok()
        .says("rejected by the judge: the label is missing");
    assert_eq!(
        env.show(&task)["execution"]["phases"]["implement"]["attempt"],
        2
    );
}

#[test]
fn a_phase_that_is_rejected_too_often_fails() {
    let env = Agents::configured("phases:\n  retries: 0\n");
    let judge =
        "judge:\n  - say: '{{\"decision\": \"rejected\", \"reason\": \"nothing is there\"}}'\n";
    let task = judged(&env, judge, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "failed");
    env.orange(["why", &task.key])
        .ok()
        .says("rejected by the judge: nothing is there");
}

#[test]
fn what_a_judge_does_not_decide_is_left_to_a_person() {
    for (judge, why) in [
        (
            "  - say: I approve of it, all is well.",
            "it gave no decision that can be read",
        ),
        ("  - end turn", "it gave no decision that can be read"),
        (
            "  - say: |\n      {{\"decision\": \"approved\"}}\n      {{\"decision\": \"rejected\"}}",
            "it gave two decisions, approved and rejected",
        ),
        (
            "  - say: '{{\"decision\": \"blocked\", \"reason\": \"the diff says too little\"}}'",
            "the diff says too little",
        ),
        ("  - crash: KILL", "ended in the middle of the turn"),
        ("  - exit: 3", "exit code 3"),
        ("  - hang:", "it said nothing for longer than 2s"),
    ] {
        let env = Agents::configured("phases:\n  idle_timeout: 2s\n");
        let task = judged(&env, &format!("judge implement:\n{judge}\n"), &[]);
        env.orange(["run", &task.key]).ok();
        env.until_status(&task, "blocked");
        assert_eq!(env.field(&task, "blocked_reason"), "gate");
        env.orange(["why", &task.key])
            .ok()
            .says("its judge leaves it to you")
            .says(why)
            .says(&format!("next: orange approve {}", task.key));
        env.orange(["inbox"]).ok().says(why);
        assert_eq!(gates(&env, &task).len(), 0, "{judge}");
        // Nothing else leaves the gate.
        env.orange(["resume", &task.key]).fails_with(3);
        env.orange(["run", &task.key, "--force"]).fails_with(3);
        env.orange(["approve", &task.key]).ok();
        env.until_status(&task, "completed");
        let decided = gates(&env, &task);
        assert_eq!(decided.len(), 1);
        assert!(
            !decided[0]["by"].as_str().unwrap().contains("judge"),
            "{decided:?}"
        );
    }
}

#[test]
fn a_judge_that_the_service_fails_is_asked_again() {
    let env = Agents::configured("  retry_delay: 1s\n");
    let judge = "\
judge implement:
  - say: '{{\"decision\": \"approved\"}}'
judge implement iteration 2:
  - fail: API Error 529
";
    let task = judged(&env, judge, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let outcomes = outcomes(&task);
    assert!(
        outcomes.contains(&"judge 2 service".to_owned()),
        "{outcomes:?}"
    );
    assert!(
        outcomes.contains(&"judge 3 completed".to_owned()),
        "{outcomes:?}"
    );
}

/// The last outcome of each iteration of implement, by kind and number.
fn outcomes(task: &TestTask) -> Vec<String> {
    let history = task.history();
    let ended = history
        .iter()
        .filter(|event| event["type"] == "iteration.ended" && event["phase"] == "implement");
    let words = |name: &str, event: &Value| {
        let value = &event[name];
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    ended
        .map(|event| {
            let [kind, number, outcome] =
                ["kind", "iteration", "outcome"].map(|name| words(name, event));
            format!("{kind} {number} {outcome}")
        })
        .collect()
}

const LOOKS_LONG: &str = "\
judge implement:
  - say: I look.
  - wait for: {file: ROOT/go}
    timeout: 60s
  - say: '{{\"decision\": \"approved\"}}'
";

#[test]
fn a_judge_that_looks_is_shown_and_paused_and_asked_again() {
    let env = Agents::new();
    let task = judged(&env, LOOKS_LONG, &[]);
    env.orange(["run", &task.key]).ok();
    env.until("the judge looks", || {
        env.orange(["transcript", &task.key])
            .stdout
            .contains("I look.")
    });
    env.orange(["why", &task.key])
        .ok()
        .says("iteration 1 of 5 of implement: the judge has been looking at implement since");
    let shown = env.show(&task);
    let phase = &shown["execution"]["phases"]["implement"];
    assert_eq!(phase["judge"], "the judge looks at it");
    env.orange(["approve", &task.key]).fails_with(3);
    env.orange(["pause", &task.key]).ok();
    assert_eq!(env.status(&task), "paused");
    env.write("go", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    let outcomes = outcomes(&task);
    let of_judge = outcomes.iter().filter(|one| one.starts_with("judge"));
    assert_eq!(of_judge.count(), 2, "{outcomes:?}");
    assert_eq!(gates(&env, &task).len(), 1);
}

#[test]
fn a_gate_that_a_person_takes_over_waits_for_that_person() {
    let env = Agents::new();
    let task = judged(&env, LOOKS_LONG, &[]);
    env.orange(["run", &task.key]).ok();
    env.until("the judge looks", || {
        env.orange(["transcript", &task.key])
            .stdout
            .contains("I look.")
    });
    env.orange(["pause", &task.key]).ok();
    env.update(&task, &["--gate", "implement=human"]).ok();
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["reject", &task.key, "--reason", "no"]).ok();
    env.until("it is at the gate once more", || {
        env.status(&task) == "blocked" && env.count(&task, "gate.decided") == 1
    });
    assert_eq!(gates(&env, &task)[0]["approved"], false);
}

/// Runs two commands from the same moment on; how many were carried out.
fn at_once(env: &Agents, commands: [&[&str]; 2]) -> usize {
    let start = Barrier::new(2);
    let calls = commands.map(|words| env.call(words));
    let runs = thread::scope(|scope| {
        let threads = calls.map(|call| {
            scope.spawn(|| {
                start.wait();
                call.run()
            })
        });
        threads.map(|thread| thread.join().unwrap())
    });
    for run in &runs {
        assert!([0, 3].contains(&run.code), "{run}");
    }
    runs.iter().filter(|run| run.code == 0).count()
}

#[test]
fn of_two_decisions_at_the_same_moment_one_counts() {
    for reject in [false, true] {
        let env = Agents::new();
        let task = judged(&env, "judge:\n  - say: I cannot tell.\n", &[]);
        env.orange(["run", &task.key]).ok();
        env.until_status(&task, "blocked");
        let approve = ["approve", &task.key];
        let other = ["reject", &task.key, "--reason", "no"];
        let other = if reject { &other[..] } else { &approve[..] };
        assert_eq!(at_once(&env, [&approve, other]), 1);
        assert_eq!(env.count(&task, "gate.decided"), 1);
        assert_eq!(gates(&env, &task).len(), 1);
    }
}

#[test]
fn an_approved_task_waits_for_a_slot_and_that_is_said() {
    let env = Agents::new();
    let waits = "executor:\n  - say: It begins.\n  - wait for: {file: ROOT/go}\n    timeout: 60s\n  - answer: complete\n";
    let task = judged(&env, "judge:\n  - say: I cannot tell.\n", &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.orange(["project", "update", "shop", "--pool-size", "1"])
        .ok();
    let harness = env.script("waits", waits);
    let options = [
        "--workflow",
        "phased",
        "--weight",
        "trivial",
        "--harness",
        &harness,
    ];
    let holder = env.create([&["Hold the slot"], &options[..]].concat());
    env.orange(["run", &holder.key]).ok();
    env.until_status(&holder, "running");
    env.orange(["approve", &task.key]).ok().says("is queued");
    env.orange(["why", &task.key]).ok().says("slot");
    env.write("go", "");
    env.until_status(&task, "completed");
}

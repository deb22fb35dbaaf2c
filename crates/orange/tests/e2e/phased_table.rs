//! Every status of phased tasks × every verb of people: made, or refused with a hint; a slot is held only while it runs, and
//! what `orange why` advises moves the task on.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WORKS, phased};

/// Every verb and what it is said with; TASK stands for the task's key.
const VERBS: &[(&str, &[&str])] = &[
    ("run", &["run", "TASK"]),
    ("run --force", &["run", "TASK", "--force"]),
    ("pause", &["pause", "TASK"]),
    ("resume", &["resume", "TASK"]),
    ("retry", &["retry", "TASK"]),
    ("skip", &["skip", "TASK", "implement", "--reason", "x"]),
    ("rewind", &["rewind", "TASK", "--to", "implement"]),
    ("approve", &["approve", "TASK"]),
    ("reject", &["reject", "TASK", "--reason", "no"]),
    ("answer", &["answer", "TASK", "blue"]),
    ("request-changes", &["request-changes", "TASK", "bigger"]),
    ("weight", &["update", "TASK", "--weight", "medium"]),
    ("plan", &["plan", "edit", "TASK", "--file", "-"]),
    ("merge", &["merge", "TASK"]),
    ("merge --force", &["merge", "TASK", "--force"]),
    ("resolve", &["resolve", "TASK", "--message", "done"]),
    ("cancel", &["cancel", "TASK", "--yes"]),
    ("delete", &["delete", "TASK", "--yes"]),
];

/// A change, and then it runs until the test is over.
const RUNS: &str = "\
executor:
  - write: begun.txt
    text: begun
  - say: It begins.
  - wait for: {file: ROOT/never}
    timeout: 600s
";
/// Something that no other task has.
const NEW: &str = "\
executor:
  - run: cat /proc/sys/kernel/random/uuid >new.txt
  - answer: complete
";
/// As RUNS in its first turn, then whatever is asked.
const WORKS_ON: &str = "\
executor:
  - run: cat /proc/sys/kernel/random/uuid >new.txt
  - answer: complete
executor implement iteration 1:
  - say: It begins.
  - wait for: {file: ROOT/never}
    timeout: 600s
";
const ASKS: &str = "executor:\n  - answer: blocked\n    question: Which colour?\n";
const FAILS: &str = "executor:\n  - write: some.txt\n    text: some\n  - answer: continue\n";

fn machine() -> Agents {
    Agents::configured("phases:\n  retries: 0\n")
}

/// A task that stands there. Nothing else holds a slot.
fn stands(env: &Agents, status: &str) -> TestTask {
    let small = |script: &str, more: &[&str]| phased(env, "small", script, more);
    let run = |task: TestTask, until: &str| {
        env.orange(["run", &task.key]).ok();
        env.until_status(&task, until);
        task
    };
    match status {
        "created" => {
            let harness = env.script("created", WORKS);
            env.create(["Some work", "--workflow", "phased", "--harness", &harness])
        }
        "planned" => small(RUNS, &[]),
        "blocked (dependencies)" => {
            let first = small(RUNS, &[]);
            run(small(RUNS, &["--blocked-by", &first.key]), "blocked")
        }
        "running" => run(small(RUNS, &[]), "running"),
        "blocked (gate)" => run(small(NEW, &["--gate", "implement=human"]), "blocked"),
        "blocked (input)" => run(small(ASKS, &[]), "blocked"),
        "paused" => {
            let task = run(small(RUNS, &[]), "running");
            env.until("its turn has begun", || {
                let said = env.orange(["transcript", &task.key]).stdout;
                said.contains("It begins.")
            });
            env.orange(["pause", &task.key]).ok();
            task
        }
        "completed" => run(small(NEW, &[]), "completed"),
        "failed" => run(phased(env, "trivial", FAILS, &[]), "failed"),
        "cancelled" => {
            let task = small(RUNS, &[]);
            env.orange(["cancel", &task.key, "--yes"]).ok();
            task
        }
        "finished" => {
            let task = small(RUNS, &[]);
            env.orange(["resolve", &task.key, "--message", "x"]).ok();
            task
        }
        other => panic!("{other}"),
    }
}

/// `blocked (gate)`
fn status(env: &Agents, task: &TestTask) -> String {
    let shown = env.show(task);
    let status = shown["status"].as_str().unwrap_or("deleted");
    match shown["blocked_reason"].as_str() {
        Some(reason) => format!("{status} ({reason})"),
        None => status.to_owned(),
    }
}

fn slots_are_held_by_running_tasks_only(env: &Agents, what: &str) {
    env.until(&format!("no slot is held after {what}"), || {
        let list = env.orange(["workspace", "list", "--json"]).ok().json();
        let slots = list["workspaces"].as_array().unwrap().iter();
        let mut held = slots.filter_map(|slot| slot["task"].as_str());
        let running: Vec<_> = env.list(["--status", "running"]);
        held.all(|id| {
            running
                .iter()
                .any(|task| task["id"] == id || task["key"] == id)
        })
    });
}

fn said(words: &[&str], task: &TestTask) -> Vec<String> {
    let words = words.iter();
    words.map(|word| word.replace("TASK", &task.key)).collect()
}

/// Tries every verb; `allowed` says which are made and where the task stands then. All others are refused, with a hint.
#[track_caller]
fn verbs(from: &str, allowed: &[(&str, &str)]) {
    let env = machine();
    let mut task = stands(&env, from);
    assert_eq!(status(&env, &task), from);
    let mut plan = String::new();
    for (verb, words) in VERBS {
        if *verb == "plan" {
            let shown = env.orange(["plan", "show", &task.key, "--yaml"]).stdout;
            plan = shown.replacen("max_iterations: 5", "max_iterations: 7", 1);
        }
        let what = format!("{from} × {verb}");
        let before = task.events();
        let made = env.call(said(words, &task)).input(plan.clone()).run();
        let Some((_, to)) = allowed.iter().find(|(name, _)| name == verb) else {
            assert!((2..=4).contains(&made.code), "{what}: {made}");
            assert!(made.stderr.contains("hint: "), "{what}: {made}");
            assert_eq!(status(&env, &task), from, "{what}");
            // An executor goes on meanwhile.
            if from != "running" {
                assert_eq!(task.events(), before, "{what} leaves something");
            }
            continue;
        };
        assert_eq!(made.code, 0, "{what}: {made}");
        if *to != "deleted" {
            env.until(&format!("{what} → {to}"), || status(&env, &task) == *to);
        }
        slots_are_held_by_running_tasks_only(&env, &what);
        // Whatever became of it, it can be ended, and the next one begins where this one did.
        env.orange(["cancel", &task.key, "--yes"]);
        slots_are_held_by_running_tasks_only(&env, "its end");
        task = stands(&env, from);
    }
}

const ENDS: [(&str, &str); 2] = [("resolve", "finished"), ("cancel", "cancelled")];

#[test]
fn created_tasks() {
    // Its weight is found, and everything is executed.
    let end = "completed";
    let allowed = [
        ("run", end),
        ("run --force", end),
        ("resume", end),
        ("retry", end),
        ("weight", "planned"),
        ("delete", "deleted"),
    ];
    verbs("created", &[&allowed[..], &ENDS].concat());
}

#[test]
fn planned_tasks() {
    let allowed = [
        ("run", "running"),
        ("run --force", "running"),
        ("resume", "running"),
        ("retry", "running"),
        ("skip", "planned"),
        ("rewind", "planned"),
        ("weight", "planned"),
        ("plan", "planned"),
        ("delete", "deleted"),
    ];
    verbs("planned", &[&allowed[..], &ENDS].concat());
}

#[test]
fn tasks_that_wait_for_others() {
    let here = "blocked (dependencies)";
    let allowed = [
        ("run", here),
        ("run --force", "running"),
        ("pause", "planned"),
        ("resume", here),
        ("retry", here),
        ("skip", here),
        ("rewind", here),
        ("weight", here),
        ("plan", here),
    ];
    verbs(here, &[&allowed[..], &ENDS].concat());
}

#[test]
fn running_tasks() {
    verbs("running", &[&[("pause", "paused")][..], &ENDS].concat());
}

#[test]
fn tasks_at_a_gate() {
    let allowed = [
        ("approve", "completed"),
        ("reject", "failed"),
        ("request-changes", "failed"),
        ("cancel", "cancelled"),
    ];
    verbs("blocked (gate)", &allowed);
}

#[test]
fn tasks_that_ask() {
    let here = "blocked (input)";
    // It asks in every phase.
    let allowed = [("skip", here), ("answer", here), ("plan", here)];
    verbs(here, &[&allowed[..], &ENDS].concat());
}

#[test]
fn paused_tasks() {
    let allowed = [
        ("run", "running"),
        ("run --force", "running"),
        ("resume", "running"),
        ("retry", "running"),
        ("skip", "paused"),
        ("rewind", "planned"),
        ("request-changes", "running"),
        ("weight", "planned"),
        ("plan", "paused"),
        ("merge --force", "finished"),
    ];
    verbs("paused", &[&allowed[..], &ENDS].concat());
}

#[test]
fn completed_tasks() {
    let allowed = [
        ("rewind", "planned"),
        ("request-changes", "completed"),
        ("weight", "planned"),
        ("plan", "completed"),
        ("merge", "finished"),
        ("merge --force", "finished"),
    ];
    verbs("completed", &[&allowed[..], &ENDS].concat());
}

#[test]
fn failed_tasks() {
    let allowed = [
        ("run", "failed"),
        ("run --force", "failed"),
        ("resume", "failed"),
        ("retry", "failed"),
        ("skip", "failed"),
        ("rewind", "planned"),
        ("request-changes", "failed"),
        ("weight", "planned"),
        ("plan", "failed"),
        ("merge --force", "finished"),
    ];
    verbs("failed", &[&allowed[..], &ENDS].concat());
}

#[test]
fn tasks_that_are_over() {
    verbs("cancelled", &[("delete", "deleted")]);
    verbs("finished", &[("delete", "deleted")]);
}

#[test]
fn what_why_advises_is_done_and_moves_the_task_on() {
    for (from, to) in [
        ("created", "completed"),
        ("planned", "running"),
        ("blocked (gate)", "completed"),
        ("blocked (input)", "completed"),
        ("paused", "completed"),
        ("failed", "completed"),
        ("completed", "finished"),
    ] {
        let env = machine();
        let task = stands(&env, from);
        // From now on its agent does what it should.
        env.script("phased", WORKS_ON);
        let text = env.orange(["why", &task.key]).ok().stdout;
        let next = text
            .lines()
            .find_map(|line| line.strip_prefix("next: orange "));
        let next = next.unwrap_or_else(|| panic!("{from}: {text}"));
        let next = next.replace("TEXT", "blue");
        env.orange(next.split(' ')).ok();
        env.until(&format!("{from}: {next}"), || status(&env, &task) == to);
    }
}

#[test]
fn a_task_that_waits_for_a_slot_can_be_run_again() {
    let env = machine();
    let busy = [stands(&env, "running"), stands(&env, "running")];
    let task = phased(&env, "small", RUNS, &[]);
    for _ in 0..2 {
        env.orange(["run", &task.key]).ok().says("is queued");
    }
    assert_eq!(env.status(&task), "planned");
    for task in busy {
        env.orange(["pause", &task.key]).ok();
    }
    env.until_status(&task, "running");
}

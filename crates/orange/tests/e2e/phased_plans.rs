//! Plans: shown, edited, refused, written anew; weights and gates of a phased task.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WORKS, phased};
use serde_json::Value;
use std::path::Path;

fn plan(env: &Agents, task: &TestTask) -> Value {
    let shown = env
        .orange(["plan", "show", &task.key, "--json"])
        .ok()
        .json();
    shown["plan"].clone()
}

fn phases(env: &Agents, task: &TestTask) -> Vec<String> {
    let plan = plan(env, task);
    let phases = plan["phases"].as_array().unwrap().iter();
    phases
        .map(|phase| phase["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Where a refused plan is kept, by what the refusal says.
fn kept(message: &str) -> &Path {
    let (_, path) = message.split_once("your text is in ").unwrap();
    Path::new(path.lines().next().unwrap())
}

#[test]
fn a_plan_is_shown_for_people_for_programs_and_as_a_file() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &["--gate", "test=human"]);
    let text = env.orange(["plan", "show", &task.key]).ok();
    text.says("weight small, 2 phases")
        .says("all_tests_pass in implement, test: ")
        .says("next: orange run TASK-001");
    let plan = plan(&env, &task);
    assert_eq!(
        (&plan["task_id"], &plan["weight"]),
        (&"TASK-001".into(), &"small".into())
    );
    let test = &plan["phases"][1];
    assert_eq!(test["max_iterations"], 3);
    assert_eq!(test["timeout"], "300s");
    assert_eq!(test["gate"]["type"], "auto");
    assert_eq!(
        (&test["resolved_gate"], &test["gate_from"]),
        (&"human".into(), &"task".into())
    );
    assert_eq!(test["status"], "pending");
    let yaml = env
        .orange(["plan", "show", &task.key, "--yaml"])
        .ok()
        .stdout;
    assert!(
        yaml.starts_with("task_id: TASK-001\nweight: small\ngenerated_at: "),
        "{yaml}"
    );
    assert!(
        yaml.contains("    max_iterations: 5\n    timeout: 600s\n"),
        "{yaml}"
    );
}

#[test]
fn a_plan_is_taken_from_a_file_or_refused_without_losing_it() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    let yaml = env
        .orange(["plan", "show", &task.key, "--yaml"])
        .ok()
        .stdout;
    let file = env.write(
        "plan.yaml",
        yaml.replace("max_iterations: 5", "max_iterations: 9"),
    );
    let file = file.to_str().unwrap();
    let taken = env
        .orange(["plan", "edit", &task.key, "--file", file, "--json"])
        .ok()
        .json();
    assert_eq!(taken["message"], "TASK-001: has a new plan");
    assert_eq!(plan(&env, &task)["phases"][0]["max_iterations"], 9);
    assert_eq!(task.last("plan.written")["edited"], true);

    let broken = yaml.replace("max_iterations: 5", "max_iterations: 0");
    let edit = ["plan", "edit", &task.key, "--file", "-", "--json"];
    let error = env
        .call(edit)
        .input(broken.clone())
        .run()
        .refuses(2, "usage");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("max_iterations"), "{message}");
    assert_eq!(std::fs::read_to_string(kept(message)).unwrap(), broken);
    assert!(
        error["hint"].as_str().unwrap().contains("--file"),
        "{error}"
    );
    std::fs::remove_file(kept(message)).unwrap();
    for (old, new) in [
        ("all_tests_pass", "all_is_well"),
        ("name: test", "name: implement"),
        ("type: test", "type: tset"),
    ] {
        let file = env.write("plan.yaml", yaml.replace(old, new));
        env.orange(["plan", "edit", &task.key, "--file", file.to_str().unwrap()])
            .fails_with(2);
    }
    assert_eq!(plan(&env, &task)["phases"][0]["max_iterations"], 9);
}

#[test]
fn an_editor_changes_the_plan_and_its_text_is_kept() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    let edit = |editor: &str| {
        let call = env.call(["plan", "edit", &task.key, "--json"]);
        call.var("VISUAL", editor).run()
    };
    let unchanged = edit("true").ok().json();
    assert_eq!(unchanged["message"], "TASK-001: nothing was changed");
    edit("sed -i 's/max_iterations: 5/max_iterations: 7/'").ok();
    assert_eq!(plan(&env, &task)["phases"][0]["max_iterations"], 7);
    let error = edit("sed -i 's/type: implement/type: implemnt/'").refuses(2, "usage");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("implemnt"), "{message}");
    let text = std::fs::read_to_string(kept(message)).unwrap();
    assert!(text.contains("type: implemnt"), "{text}");
    std::fs::remove_file(kept(message)).unwrap();
    edit("false").refuses(1, "failed");
    env.orange(["plan", "reset", &task.key])
        .ok()
        .says("plan of weight small");
    assert_eq!(plan(&env, &task)["phases"][0]["max_iterations"], 5);
}

#[test]
fn a_new_weight_is_a_new_plan_that_keeps_what_is_over() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let all = ["trivial", "small", "medium", "large", "greenfield"];
    for weight in all.iter().rev() {
        env.update(&task, &["--weight", weight]).ok();
        assert_eq!(plan(&env, &task)["weight"], *weight);
        assert_eq!(env.status(&task), "planned");
    }
    assert_eq!(phases(&env, &task), ["implement"]);
    assert_eq!(plan(&env, &task)["phases"][0]["status"], "completed");
    env.update(&task, &["--weight", ""]).fails_with(2);
    env.update(&task, &["--weight", "medium", "--status", "planned"])
        .fails_with(2);
}

#[test]
fn a_weight_that_is_edited_in_the_file_is_a_new_plan() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    let edited = task.text().replace("weight: small", "weight: medium");
    std::fs::write(task.file(), edited).unwrap();
    env.update(&task, &["--priority", "high"]).ok();
    assert_eq!(plan(&env, &task)["weight"], "medium");
    assert_eq!(env.field(&task, "weight"), "medium");
    // What else is wrong with an update keeps its weight from counting.
    env.update(&task, &["--weight", "large", "--priority", "hgih"])
        .fails_with(2);
    assert_eq!(env.field(&task, "weight"), "medium");
    assert_eq!(plan(&env, &task)["weight"], "medium");
}

#[test]
fn a_plan_that_cannot_be_read_bars_nothing_but_its_execution() {
    let env = Agents::new();
    let gate = ["--gate", "implement=human"];
    let tasks = [
        phased(&env, "small", WORKS, &gate),
        phased(&env, "small", WORKS, &gate),
    ];
    for task in &tasks {
        env.orange(["run", &task.key]).ok();
        env.until_status(task, "blocked");
        let database = rusqlite::Connection::open(env.home().join("orange.db")).unwrap();
        database
            .execute(
                "UPDATE plans SET yaml = 'phases: 7' WHERE task_id = ?1",
                [&task.id],
            )
            .unwrap();
        env.orange(["why", &task.key])
            .fails_with(1)
            .says("orange plan reset");
    }
    let [reset, cancelled] = tasks;
    // The phase that stood at its gate is executed anew, and somebody is asked again.
    env.orange(["plan", "reset", &reset.key]).ok();
    env.until("it stands at the gate again", || {
        env.count(&reset, "iteration.ended") == 2 && env.status(&reset) == "blocked"
    });
    env.orange(["approve", &reset.key]).ok();
    env.until_status(&reset, "completed");
    env.orange(["cancel", &cancelled.key, "--yes"]).ok();
    assert_eq!(env.status(&cancelled), "cancelled");
}

#[test]
fn settings_may_leave_weights_to_the_classification() {
    let env = Agents::configured("weights:\n  allow_override: false\n");
    let new = ["new", "Rename", "it", "--workflow", "phased"];
    env.orange([&new[..], &["--weight", "small"]].concat())
        .fails_with(3)
        .says("weights.allow_override");
    let task = env.create(new.iter().skip(1).copied().collect::<Vec<_>>());
    env.update(&task, &["--weight", "small"]).fails_with(3);
    env.orange(["run", &task.key])
        .ok()
        .says("created → classifying");
    env.until_status(&task, "completed");
}

#[test]
fn gates_of_a_task_are_a_persons_and_name_its_phases() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.update(&task, &["--gate", "review=human"])
        .fails_with(2)
        .says("implement");
    // Nor is one accepted for a phase that the plan of that weight will not have.
    let new = ["new", "Other", "--workflow", "phased", "--weight", "small"];
    env.orange([&new[..], &["--gate", "review=human"]].concat())
        .fails_with(2)
        .says("the plan of weight small has none");
    env.update(&task, &["--gate", "test=sometimes"])
        .fails_with(2)
        .says("skip, auto, ai, human");
    env.update(&task, &["--gate", "test"])
        .fails_with(2)
        .says("PHASE=TYPE");
    env.update(&task, &["--gate", "test=human", "--gate", "implement=skip"])
        .ok();
    assert_eq!(plan(&env, &task)["phases"][0]["resolved_gate"], "skip");
    env.update(&task, &["--gate", "implement="]).ok();
    assert_eq!(plan(&env, &task)["phases"][0]["resolved_gate"], "auto");
    let as_agent = env.call(["task", "update", &task.key, "--gate", "test=auto"]);
    as_agent.agent(&task, "worker").run().fails_with(3);
    let interactive = env.create(["other", "Look at it", "--no-spawn"]);
    env.update(&interactive, &["--gate", "test=human"])
        .fails_with(2)
        .says("no phase gates");
}

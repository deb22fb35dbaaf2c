//! A workspace that somebody deleted while its task needs it: what is said, and that the advice works.

use crate::agents::Agents;
use crate::env::TestEnvironment;
use serde_json::Value;
use std::fs;

fn why(env: &TestEnvironment) -> Value {
    let told = env.orange(["task", "why", "TASK-001", "--json"]).ok();
    told.json()["why"].take()
}

#[test]
fn lists_and_why_name_it_and_the_repair_brings_it_back() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Log in"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    let work = env.commit(&slot, "a.txt", "work");
    fs::remove_dir_all(&slot).unwrap();
    let deleted = "its workspace shop--1 was deleted";
    env.orange(["ls"]).ok().says(deleted);
    assert_eq!(env.list([""; 0])[0]["attention"], deleted);
    assert_eq!(env.show(&task)["attention"], deleted);
    env.orange(["task", "show", &task.id])
        .ok()
        .says(deleted)
        .says("`orange doctor --repair` checks its branch out again");
    let told = why(&env);
    assert_eq!(told["because"], deleted, "{told}");
    assert_eq!(told["next"], "orange doctor --repair", "{told}");
    assert_eq!(told["needs_human"], true, "{told}");
    env.orange(["task", "wait", &task.id, "--for", "needs-me"])
        .ok()
        .says(deleted);

    env.orange(["doctor", "--repair"]).ok();
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), work);
    assert_eq!(env.show(&task)["attention"], Value::Null);
    env.orange(["ls"]).ok().silent_about("deleted");
    assert!(!why(&env).to_string().contains("deleted"));
}

#[test]
fn an_agent_that_runs_in_it_gets_no_message() {
    let env = Agents::new();
    let task = env.start(
        "Busy",
        "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - wait for: {file: never}\n",
    );
    env.until_status(&task, "working");
    let slot = env.slot_of(&task);
    fs::remove_dir_all(&slot).unwrap();
    env.say(&["ls"])
        .ok()
        .says("its workspace shop--1 was deleted, and its worker still runs in it");
    let send = ["task", "send", &task.id, "use blue"];
    let refused = "runs in a workspace that was deleted";
    env.say(&send).fails_with(3).says(refused);

    // The folder is there again, but the agent is still in the one that was deleted.
    env.say(&["doctor", "--repair"]).ok();
    env.say(&send).fails_with(3).says(refused);
    env.say(&["task", "request-changes", &task.id, "use blue"])
        .fails_with(3)
        .says(refused)
        .says("use blue");
    assert_eq!(env.count(&task, "message"), 0);
    let told = why(&env);
    let because = told["because"].as_str().unwrap();
    assert!(because.contains("deleted and made anew"), "{told}");
    assert_eq!(told["next"], "orange attach TASK-001", "{told}");

    env.kill(env.run_agent(&task, "worker"), "-9");
    env.until("its end is seen", || {
        why(&env)["next"] == "orange respawn TASK-001"
    });
    env.say(&["task", "respawn", &task.id, "--message", "use blue"])
        .ok();
    env.until("the new worker runs", || env.prompts(&task).len() == 2);
    assert!(!why(&env).to_string().contains("deleted"));
    env.say(&send).ok();
}

//! Who works where nobody says it: the first agent CLI that is installed. Those of these tests are shell scripts.

use crate::agents::Agents;
use crate::env::TestTask;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A machine on which only these programs are found besides what every machine has, and none of them is an agent.
fn without_agents() -> Agents {
    let mut env = Agents::bare();
    let tools = env.root().join("tools");
    fs::create_dir(&tools).unwrap();
    let found = std::env::var_os("PATH").unwrap();
    for tool in ["git", "tmux", "sh", "cat", "sleep", "env", "true"] {
        let mut folders = std::env::split_paths(&found);
        let program = folders.find_map(|folder| Some(folder.join(tool)).filter(|it| it.exists()));
        std::os::unix::fs::symlink(program.unwrap(), tools.join(tool)).unwrap();
    }
    env.set_path(&tools);
    let repository = env.init_repository("shop");
    env.say(&[
        "project",
        "add",
        repository.to_str().unwrap(),
        "--permissions",
        "full",
    ])
    .ok();
    env
}

/// Puts a program there that runs until it is ended.
fn install(env: &Agents, name: &str) -> PathBuf {
    let script = "#!/bin/sh\ncase \"$*\" in *version*) echo 9.9.9 ;; *) exec sleep 1000 ;; esac\n";
    let path = env.write(&format!("tools/{name}"), script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn used(env: &Agents, command: &[&str]) -> Vec<Value> {
    let answer = env.say(command);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let all = answer
        .get("harnesses")
        .unwrap_or(&answer["doctor"]["harnesses"]);
    let all = all.as_array().unwrap().iter();
    let used = all.filter(|harness| harness["used"] == true);
    used.map(|harness| harness["name"].clone()).collect()
}

fn harness_of(env: &Agents, task: &TestTask) -> Value {
    env.show(task)["harness"].clone()
}

#[test]
fn the_first_that_is_installed_works_and_the_task_keeps_it() {
    let env = without_agents();
    install(&env, "opencode");
    install(&env, "gemini");
    for command in [&["harness", "list", "--json"][..], &["doctor", "--json"]] {
        assert_eq!(used(&env, command), [json!("opencode")]);
    }
    env.say(&["harness", "list"])
        .ok()
        .says("new tasks use opencode, the first that is installed");
    env.say(&["config", "show"])
        .ok()
        .says("not set: first installed (opencode)");
    let setting = env.say(&["config", "show", "--json"]).ok().json();
    let all = setting["settings"].as_array().unwrap();
    let first = all.iter().find(|row| row["key"] == "agents.harness");
    let first = first.unwrap();
    assert_eq!(
        (&first["value"], &first["chosen"]),
        (&json!(null), &json!("opencode"))
    );
    let later = env.create(["Later", "--no-spawn"]);
    let now = env.create(["Now"]);
    assert_eq!(now.last("agent.spawned")["harness"], "opencode");
    // One that comes before it changes what follows, and nothing that is there.
    install(&env, "codex");
    assert_eq!(harness_of(&env, &later), "opencode");
    assert_eq!(
        harness_of(&env, &env.create(["Next", "--no-spawn"])),
        "codex"
    );
    env.say(&["task", "spawn", &later.id]).ok();
    assert_eq!(later.last("agent.spawned")["harness"], "opencode");
    // A setting comes first, and a task that names none goes on following it.
    env.say(&["config", "set", "agents.harness", "sim"]).ok();
    assert_eq!(
        harness_of(&env, &env.create(["By setting", "--no-spawn"])),
        json!(null)
    );
    env.say(&["harness", "list"])
        .ok()
        .says("new tasks use sim, by `agents.harness`");
    assert_eq!(used(&env, &["harness", "list", "--json"]), [json!("sim")]);
}

#[test]
fn without_any_a_new_task_is_refused_and_told_what_to_install() {
    let env = without_agents();
    env.say(&["new", "Add a login form"])
        .fails_with(1)
        .says("no agent is installed: none of claude, codex, opencode, pi, gemini was found")
        .says("install one of claude (")
        .says("`--harness none` starts no agent, `--harness sim` a scripted one")
        .says("nothing was created");
    assert!(env.list(["--all"]).is_empty());
    env.say(&["harness", "list"])
        .ok()
        .says("no agent is installed: new tasks have to name a harness with --harness");
    env.say(&["doctor"]).ok();
    env.say(&["headless", "Say hello"])
        .fails_with(1)
        .says("no agent is installed");
    let by_hand = env.create(["By hand", "--harness", "none"]);
    assert_eq!(env.status(&by_hand), "planning");
    // One for later is made, and gets its agent when it starts.
    let later = env.create(["Later", "--no-spawn"]);
    env.update(&later, &["--model", "some-model"]).ok();
    env.update(&later, &["--model", ""]).ok();
    assert_eq!(harness_of(&env, &later), json!(null));
    env.say(&["task", "spawn", &later.id])
        .fails_with(1)
        .says("no agent is installed");
    install(&env, "gemini");
    env.say(&["task", "spawn", &later.id]).ok();
    assert_eq!(harness_of(&env, &later), "gemini");
    let started = later.last("agent.spawned");
    assert_eq!(started["fields"]["harness"], "gemini");
    assert_eq!(started["tmux_session"], env.show(&later)["tmux_session"]);
}

//! An agent CLI that nobody is logged in to: said before anything is created or started. The claude of these tests is a
//! script that counts how often it is asked.

use crate::agents::Agents;
use insta::assert_snapshot;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
--version) echo "2.1.325 (Claude Code)" ;;
"auth status") echo >> "ROOT/asked"; cat "ROOT/answer" ;;
*) echo started >> "ROOT/started"; exec sleep 1000 ;;
esac
"#;

const IN: &str = r#"{"loggedIn": true, "authMethod": "claude_ai"}"#;
const OUT: &str = r#"{"loggedIn": false, "authMethod": "none"}"#;

fn with_claude() -> Agents {
    let mut env = Agents::configured("");
    let text = CLAUDE.replace("ROOT", env.root().to_str().unwrap());
    let path = env.write("clis/claude", text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    env.put_first_in_path(path.parent().unwrap());
    env.say(&["project", "update", "shop", "--permissions", "full"])
        .ok();
    env.say(&["config", "set", "agents.harness", "claude"]).ok();
    env
}

fn answers(env: &Agents, text: &str) {
    env.write("answer", text);
}

/// How often it was asked since the last time.
fn asked(env: &Agents) -> usize {
    let file = env.root().join("asked");
    let count = fs::read(&file).unwrap_or_default().len();
    let _ = fs::remove_file(file);
    count
}

#[test]
fn nothing_is_created_for_an_agent_that_could_not_work() {
    let env = with_claude();
    answers(&env, OUT);
    assert_snapshot!(env.say(&["new", "Fix", "it"]), @"
    ------- stderr -------
    error: harness claude has no account to work with
    hint: not logged in: start `claude` and give it /login, or set ANTHROPIC_API_KEY; nothing was created, --no-spawn creates it for later
    [exit status: 3]
    ");
    let error = env.say(&["new", "Fix", "it", "--json"]);
    let error = error.refuses(3, "refused");
    assert!(
        error["hint"].as_str().unwrap().contains("/login"),
        "{error}"
    );
    assert_eq!(asked(&env), 2);
    assert!(env.list(["--all"]).is_empty());
    // For later it can be made, and nobody is asked.
    let task = env.create(["Fix it", "--no-spawn"]);
    env.create(["And that", "--no-spawn"]);
    assert_eq!(asked(&env), 0);
    env.say(&["task", "spawn", &task.id])
        .fails_with(3)
        .says("has no account to work with");
    assert_eq!(asked(&env), 1);
    // Once for all tasks.
    env.say(&["run", "--ready"])
        .fails_with(3)
        .says("has no account to work with");
    assert_eq!(asked(&env), 1);
    assert_eq!(env.show(&task)["status"], "pending");
    assert!(!env.root().join("started").exists());
    env.say(&["doctor"]).says("/login");
}

#[test]
fn who_is_logged_in_is_asked_once() {
    let env = with_claude();
    answers(&env, IN);
    let task = env.create(["One"]);
    env.until("it is started", || env.root().join("started").exists());
    assert_eq!(asked(&env), 1);
    env.create(["Two"]);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    env.create(["Three"]);
    assert_eq!(asked(&env), 0);
    // A harness that nobody is logged in to holds up its own tasks alone.
    env.say(&["task", "cancel", "2", "3", "--yes"]).ok();
    answers(&env, OUT);
    env.create(["Four", "--no-spawn"]);
    env.create(["Five", "--no-spawn", "--harness", "sim"]);
    fs::remove_dir_all(env.home().join("versions")).unwrap();
    env.say(&["run", "--ready"])
        .ok()
        .says("started TASK-005")
        .says("TASK-004 was not started: harness claude has no account to work with");
    env.say(&["task", "cancel", "4", "5", "--yes"]).ok();
}

#[test]
fn one_that_cannot_tell_is_started() {
    let env = with_claude();
    answers(&env, "error: unknown command 'auth'");
    let task = env.create(["One"]);
    env.until("it is started", || env.root().join("started").exists());
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn a_task_that_waits_anyway_is_created_and_it_is_told() {
    let env = with_claude();
    answers(&env, OUT);
    env.create(["One", "--no-spawn"]);
    let said = env.say(&["new", "Two", "--blocked-by", "1"]).ok();
    said.says("when its turn comes it cannot start: harness claude has no account");
    env.say(&[
        "new",
        "Three",
        "--harness",
        "sim",
        "--review-harness",
        "claude",
        "--blocked-by",
        "1",
    ])
    .ok()
    .says("its reviewer cannot start: harness claude has no account");
}

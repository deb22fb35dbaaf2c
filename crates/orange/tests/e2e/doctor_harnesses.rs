//! Agent CLIs as they are found: missing, too old, logged out, not heard. Those of these tests are shell scripts.

use crate::agents::Agents;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A claude that says this version, and this of its login.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
--version) echo "VERSION (Claude Code)" ;;
"auth status") echo '{"loggedIn": LOGGED_IN, "authMethod": "claude_ai", "email": "martha@example.com"}' ;;
*) echo started >> "ROOT/started"; exec sleep 1000 ;;
esac
"#;

/// Puts it first on the PATH.
fn claude(env: &mut Agents, version: &str, logged_in: bool) {
    let text = CLAUDE
        .replace("VERSION", version)
        .replace("LOGGED_IN", if logged_in { "true" } else { "false" })
        .replace("ROOT", env.root().to_str().unwrap());
    let path = env.write("clis/claude", text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    env.put_first_in_path(path.parent().unwrap());
}

fn harness(env: &Agents, name: &str) -> Value {
    let output = env.say(&["doctor", "--json"]);
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    let harnesses = found["doctor"]["harnesses"].as_array().unwrap().clone();
    let is_it = |harness: &&Value| harness["name"] == name;
    harnesses.iter().find(is_it).unwrap().clone()
}

#[test]
fn the_doctor_tells_version_and_login_without_the_whole_address() {
    let mut env = Agents::new();
    claude(&mut env, "2.1.325", true);
    let found = harness(&env, "claude");
    assert_eq!(found["version"], "2.1.325 (Claude Code)");
    assert_eq!(found["login"], "in");
    assert_eq!(found["login_detail"], "claude ai, ma…@example.com");
    assert_eq!(found["needed_version"], json!(null));
    let said = env.say(&["doctor"]).ok();
    assert!(!said.stdout.contains("martha"), "{said}");
    // It was asked, and not started.
    assert!(!env.root().join("started").exists());
}

#[test]
fn a_cli_that_is_too_old_is_refused_before_anything_changes() {
    let mut env = Agents::new();
    claude(&mut env, "2.1.9", false);
    let refused = env.say(&["task", "create", "Too old", "--harness", "claude"]);
    let refused = refused
        .says("is too old")
        .says("2.1.9")
        .says("2.1.78 is needed");
    assert!(env.list(["--all"]).is_empty(), "{refused}");
    let task = env.create(["Too old", "--harness", "claude", "--no-spawn"]);
    assert!(!env.root().join("started").exists());
    env.say(&["task", "spawn", &task.id])
        .fails_with(1)
        .says("is too old");

    // Somebody wants it: that is a problem, and so is that it has no account.
    let said = env.say(&["doctor"]).fails_with(1);
    let said = said.says("harness claude: is too old").says("2.1.78");
    said.says("has no account to work with").says("/login");

    // The next version is asked for again.
    claude(&mut env, "2.2.0", true);
    env.say(&["task", "spawn", &task.id]).ok();
    env.until("it is started", || env.root().join("started").exists());
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn a_missing_cli_is_a_problem_only_if_somebody_names_it() {
    let mut env = Agents::configured("harness:\n  ours: [no-such-agent-here]\n");
    claude(&mut env, "2.1.325", true);
    env.say(&["doctor"]).ok().says("not installed: ours");
    env.say(&[
        "task",
        "create",
        "For ours",
        "--harness",
        "ours",
        "--no-spawn",
    ])
    .ok();
    let said = env.say(&["doctor"]).fails_with(1);
    said.says("harness ours: is not installed, and shop:TASK-001 names it");
}

#[test]
fn hooks_that_are_switched_off_are_found() {
    let mut env = Agents::new();
    claude(&mut env, "2.1.325", true);
    let settings = env.write("home/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    env.say(&["doctor"]).ok().says("disableAllHooks");
    fs::remove_file(settings).unwrap();
    env.say(&["doctor"]).ok().silent_about("disableAllHooks");
}

#[test]
fn an_agent_that_is_not_heard_is_found() {
    let mut env = Agents::new();
    claude(&mut env, "2.1.325", true);
    let task = env.create(["not-heard", "Not heard", "--harness", "claude"]);
    // It started long ago, and has not said a word.
    let run = task.last("agent.spawned")["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let file = env.home().join("runs").join(&run).join("started.json");
    let mut started: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    started["at"] = json!("2026-01-01T00:00:00Z");
    fs::write(&file, started.to_string()).unwrap();
    let said = env.say(&["doctor"]).fails_with(1);
    said.says("claude has given no signal since it started");
    assert_eq!(harness(&env, "claude")["signals_work"], false);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn a_list_tells_what_each_harness_is_good_for() {
    let mut env =
        Agents::configured("harness:\n  mine: {command: [claude, --model, x], like: claude}\n");
    claude(&mut env, "2.1.325", true);
    let output = env.say(&["harness", "list", "--json"]).ok();
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    let listed = value["harnesses"].as_array().unwrap();
    let of = |name: &str| listed.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(of("mine")["adapter"], "claude");
    assert_eq!(of("mine")["version"], "2.1.325 (Claude Code)");
    assert_eq!(of("mine")["supports"], of("claude")["supports"]);
    assert!(of("codex")["supports"]["signals"].is_null());
    assert_eq!(of("codex")["supports"]["resume"], false);
    let text = env.say(&["harness", "list"]).ok();
    text.says("2.1.325 (Claude Code)")
        .says("typed and confirmed");
}

#[test]
fn a_headless_turn_needs_a_harness_that_can_take_one() {
    let env = Agents::new();
    let said = env.say(&["headless", "--harness", "codex", "Hello"]);
    said.fails_with(2)
        .says("cannot be run without a terminal")
        .says("claude and pi can");
    let said = env.say(&["headless", "--harness", "none", "Hello"]);
    said.fails_with(2).says("cannot be run without a terminal");
    let said = env.say(&["headless", "--harness", "claude", "  "]);
    said.fails_with(2).says("the prompt is empty");
    let said = env.say(&["headless", "--harness", "claude", "--timeout", "soon", "x"]);
    said.fails_with(2).says("90s, 10m, 1h");
}

/// What it leaves behind in a session of its own holds its output open.
#[test]
fn a_cli_that_leaves_something_behind_holds_nothing_up() {
    let mut env = Agents::new();
    claude(&mut env, "2.1.325", true);
    let path = env.root().join("clis/claude");
    let root = env.root();
    let wait = "until [ -e ROOT/go ]; do sleep 0.05; done; touch ROOT/gone";
    let wait = wait.replace("ROOT", root.to_str().unwrap());
    let leaves = format!("#!/bin/sh\n[ \"$1\" = auth ] || setsid sh -c '{wait}' &\necho 2.1.325\n");
    fs::write(&path, leaves).unwrap();
    // This comes back although what was left behind goes on for as long as it is not told to end.
    harness(&env, "claude");
    assert!(!root.join("gone").exists());
    fs::write(root.join("go"), "").unwrap();
    env.until("what was left behind has ended", || {
        root.join("gone").exists()
    });
}

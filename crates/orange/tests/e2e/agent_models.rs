//! The model and the effort that a task or a setting asks for: what is passed on, and what is refused. The agent CLIs of
//! these tests are shell scripts that write down how they were started.

use crate::agents::Agents;
use crate::env::TestTask;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const CLI: &str = r#"#!/bin/sh
case "$*" in
--version) echo "9.9.9" ;;
"auth "*) ;;
*) printf '%s\n' "$@" > "ROOT/new.$$"; mv "ROOT/new.$$" "ROOT/NAME.$ORANGE_ROLE"; exec sleep 1000 ;;
esac
"#;

/// With a claude and a pi, and this in config.yaml below `agents:`.
pub(crate) fn with_clis(settings: &str) -> Agents {
    let mut env = Agents::configured(settings);
    for name in ["claude", "pi"] {
        let text = CLI
            .replace("NAME", name)
            .replace("ROOT", env.root().to_str().unwrap());
        let path = env.write(&format!("clis/{name}"), text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let folder = env.root().join("clis");
    env.put_first_in_path(&folder);
    env
}

/// The arguments that an agent was started with, one on each line.
fn started(env: &Agents, name: &str, role: &str) -> String {
    let file = env.root().join(format!("{name}.{role}"));
    env.until("the agent notes its arguments", || file.exists());
    fs::read_to_string(file).unwrap()
}

fn cancel(env: &Agents, task: &TestTask) {
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

#[test]
fn a_worker_is_told_and_the_timeline_says_so() {
    let env = with_clis("");
    let asked = [
        "--model",
        "opus[1m]",
        "--effort",
        "max",
        "--permissions",
        "full",
    ];
    let task = env.create([&["Think", "--harness", "claude"], &asked[..]].concat());
    let arguments = started(&env, "claude", "worker");
    assert!(
        arguments.contains("\n--model\nopus[1m]\n--effort\nmax\n"),
        "{arguments}"
    );
    env.say(&["task", "show", &task.id, "--history"])
        .ok()
        .says("claude (model opus[1m], effort max)");
    cancel(&env, &task);
}

#[test]
fn a_value_is_one_word_that_the_harness_accepts() {
    let env = with_clis("");
    for bad in [
        "-x",
        "a b",
        "a\nb",
        "a'b",
        "a\"b",
        "$(touch x)",
        "`x`",
        "{prompt}",
    ] {
        let model = format!("--model={bad}");
        env.say(&["task", "create", "Bad", "--harness", "claude", &model])
            .fails_with(2)
            .says("is not the name of a model");
    }
    for (harness, accepted) in [
        ("claude", "low, medium, high, xhigh, max"),
        ("pi", "off, minimal, low, medium, high, xhigh, max"),
    ] {
        let words = [
            "task",
            "create",
            "Bad",
            "--harness",
            harness,
            "--effort",
            "banana",
        ];
        env.say(&words)
            .fails_with(2)
            .says("does not accept effort \"banana\"")
            .says(accepted);
    }
    assert!(env.list(["--all"]).is_empty());
}

#[test]
fn a_harness_that_cannot_be_told_refuses() {
    let env = with_clis("");
    for name in ["sim", "codex", "none"] {
        for option in ["--model", "--effort"] {
            let words = ["task", "create", "No", "--harness", name, option, "high"];
            env.say(&words).fails_with(2).says(name).says("clears it");
        }
        let words = [
            "task",
            "create",
            "No",
            "--review-harness",
            name,
            "--review-model",
            "x",
        ];
        env.say(&words).fails_with(2).says(name);
    }
    assert!(env.list(["--all"]).is_empty());

    // The same when the harness changes afterwards, unless the model goes with it.
    let task = env.create(["Later", "--no-spawn", "--harness", "pi", "--model", "a/b"]);
    env.say(&["task", "update", &task.id, "--harness", "sim"])
        .fails_with(2)
        .says("harness sim cannot be told its model");
    assert_eq!(env.show(&task)["harness"], "pi");
    env.say(&[
        "task",
        "update",
        &task.id,
        "--harness",
        "sim",
        "--model",
        "",
    ])
    .ok();
    env.say(&["task", "update", &task.id, "--effort", "high"])
        .fails_with(2);
    assert_eq!(env.show(&task)["model"], json!(null));
}

#[test]
fn a_task_whose_file_asks_for_too_much_does_not_start() {
    let env = with_clis("");
    let task = env.create(["Later", "--no-spawn", "--harness", "claude"]);
    task.set_field("effort", "banana");
    env.say(&["task", "spawn", &task.id])
        .fails_with(2)
        .says("does not accept effort \"banana\"");
    assert_eq!(env.status(&task), "pending");
    env.say(&["doctor"])
        .fails_with(1)
        .says("does not accept effort \"banana\"");
}

#[test]
fn settings_are_for_their_harness_and_what_is_not_used_is_said() {
    let settings = "  harness: claude\n  model: opus\n  effort: low\n  review_model: haiku\n";
    let env = with_clis(&settings.replace("  harness: claude\n", ""));
    env.say(&["config", "set", "agents.harness", "claude"]).ok();
    let task = env.create(["Think", "--permissions", "full"]);
    let arguments = started(&env, "claude", "worker");
    assert!(
        arguments.contains("\n--model\nopus\n--effort\nlow\n"),
        "{arguments}"
    );
    cancel(&env, &task);

    // The effort is a word of both, the model is not.
    env.say(&[
        "task",
        "create",
        "More",
        "--harness",
        "pi",
        "--permissions",
        "full",
    ])
    .ok()
    .says("`agents.model` (opus) is for claude; pi uses its own model");
    let arguments = started(&env, "pi", "worker");
    assert!(arguments.contains("\n--thinking\nlow\n"), "{arguments}");
    assert!(!arguments.contains("--model"), "{arguments}");
    let listed = env.list(["--search", "More"]);
    cancel(&env, &env.task_of(&listed[0]));

    // The reviewer of the settings is the scripted one.
    env.say(&["doctor"])
        .fails_with(1)
        .says("`agents.review_model` (haiku) is not used: harness sim cannot be told its model");
    env.say(&["config", "set", "agents.effort", "banana"])
        .fails_with(2)
        .says("minimal");
    env.say(&["config", "set", "agents.model", "a b"])
        .fails_with(2)
        .says("is not the name of a model");
}

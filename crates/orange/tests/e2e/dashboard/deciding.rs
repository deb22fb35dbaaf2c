//! Every flow of a task by keys alone, with scripted agents.

use super::begin;
use crate::agents::Agents;
use crate::env::TestTask;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn first_task(env: &Agents) -> TestTask {
    env.task_of(&env.list(["--all"])[0])
}

fn reasons(task: &TestTask, kind: &str) -> Vec<String> {
    let history = task.history().into_iter();
    let of_kind = history.filter(|event| event["type"] == kind);
    of_kind
        .map(|event| event["reason"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_task_is_created_started_later_and_told_something() {
    let env = Agents::new();
    let harness = env.script(
        "listener",
        "worker:\n  - say: Ready.\n  - repeat: forever\n    steps:\n      - end turn\n      - say: \"I was told: {message}\"\n",
    );
    let looker = begin(&env, "", "no tasks yet");
    looker.press(&["c"]);
    looker.until_shown("new task");
    looker.press(&["-l", "Log out"]);
    // Summary, context, project, harness.
    looker.press(&["Tab", "Tab", "Tab"]);
    looker.press(&["-l", &harness]);
    // Left and opened again, the draft is there.
    looker.press(&["Escape"]);
    looker.until_gone("new task");
    looker.press(&["c"]);
    looker.until_shown("Log out");
    looker.press(&["M-Enter"]);
    looker.until_shown("created TASK-001");
    looker.until_shown("⏎ start");
    assert_eq!(env.list(["--all"])[0]["status"], "pending");
    looker.press(&["Enter"]);
    looker.until_shown("pending → planning");
    let task = first_task(&env);
    looker.until_shown("i message");
    looker.press(&["i"]);
    looker.until_shown("message to the worker of TASK-001");
    looker.press(&["-l", "use the blue button"]);
    looker.press(&["Enter"]);
    looker.until_shown("TASK-001: delivered");
    env.until_event(&task, "message.delivered");
    looker.press(&["v", "3"]);
    looker.until_shown("I was told: use the blue button");
}

#[test]
fn a_question_is_answered_in_words() {
    let env = Agents::new();
    let script = "worker:\n  - questions: |\n      1. Which colour: blue or green?\n  - status: clarification\n  - end turn\n  - say: \"I was told: {message}\"\n  - hang\n";
    let task = env.start("Paint the button", script);
    env.until_status(&task, "clarification");
    let looker = begin(&env, "dashboard", "a answer");
    looker.until_shown("Which colour: blue or green?");
    looker.press(&["a"]);
    looker.until_shown("answer TASK-001: 1. Which colour: blue or green?");
    // Nothing is sent by an Enter alone.
    looker.press(&["Enter"]);
    looker.until_shown("write something first");
    looker.press(&["-l", "blue, as the brand"]);
    looker.press(&["Enter"]);
    looker.until_shown("TASK-001: clarification → planning");
    env.until("the worker hears it", || {
        env.say(&["task", "peek", &task.id])
            .stdout
            .contains("blue, as the brand")
    });
}

#[test]
fn a_permission_is_denied_with_words_allowed_and_always_allowed() {
    let env = Agents::new();
    let script = "worker:\n  - ask permission: May I deploy?\n  - ask permission: May I clean up?\n  - hang\n";
    let task = env.start("Deploy it", script);
    let looker = begin(&env, "dashboard", "May I deploy?");
    looker.until_shown("r deny");
    looker.until_question_is_read();
    looker.press(&["r"]);
    looker.until_shown("deny it; what TASK-001 is told");
    looker.press(&["-l", "not on a Friday"]);
    looker.press(&["Enter"]);
    looker.until_shown("May I clean up?");
    looker.until_gone("May I deploy?");
    looker.until_shown("a allow");
    looker.until_question_is_read();
    looker.press(&["a"]);
    // On a busy machine it may not have been drawn whole by then: it is shown first, and asked about.
    env.until("it is allowed", || {
        if looker.shows().contains("y allow") {
            looker.until_question_is_read();
            looker.press(&["y"]);
        }
        env.count(&task, "agent.answered") == 2
    });
    assert_eq!(
        reasons(&task, "agent.answered"),
        ["denied: not on a Friday", "allowed"]
    );
    looker.until_shown("nothing needs you");
}

#[test]
fn the_workspace_is_opened_in_an_editor_and_in_a_shell() {
    let mut env = Agents::new();
    let root = env.root().display().to_string();
    let editor = env.write(
        "bin/editor",
        format!("#!/bin/sh\nprintf '%s' \"$*\" > {root}/edited\npwd > {root}/edited-in\n"),
    );
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    env.set("EDITOR", &editor);
    env.set("SHELL", "/bin/sh");
    let task = env.start("Log out", "worker:\n  - hang\n");
    let slot = env.slot_of(&task);
    let looker = begin(&env, "dashboard", "e editor");
    looker.press(&["e"]);
    looker.until_shown("back from TASK-001");
    let edited = fs::read_to_string(env.root().join("edited")).unwrap();
    let within = fs::read_to_string(env.root().join("edited-in")).unwrap();
    let slot = slot.display().to_string();
    assert!(
        edited.contains(&slot) || within.contains(&slot),
        "{edited} in {within}"
    );
    looker.press(&["!"]);
    looker.until_given_back(true);
    looker.type_line(&format!("pwd > {root}/shell-in; exit"));
    looker.until_given_back(false);
    looker.until_shown("back from TASK-001");
    let within = fs::read_to_string(env.root().join("shell-in")).unwrap();
    assert_eq!(within.trim(), slot);
}

#[test]
fn an_agent_that_crashed_is_started_again() {
    let env = Agents::new();
    let script = "worker:\n  - crash\nworker attempt 2:\n  - say: Once more.\n  - hang\n";
    let task = env.start("Log out", script);
    env.until_event(&task, "agent.crashed");
    let looker = begin(&env, "dashboard", "⏎ start again");
    looker.press(&["Enter"]);
    looker.until_shown("start the agent of TASK-001 again?");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("TASK-001: its agent is started again");
    env.until_count(&task, "agent.spawned", 2);
    looker.until_shown("i message");
}

/// Check 9.
#[test]
fn a_merge_with_a_concern_needs_a_yes_to_what_was_shown() {
    let env = Agents::new();
    let task = env.create(["Add a login form"]);
    env.until_status(&task, "reviewing");
    let slot = env.slot_of(&task);
    env.commit(&slot, "extra.txt", "extra");
    let looker = begin(&env, "dashboard", "m merge");
    let ask = || {
        looker.press(&["m"]);
        looker.until_shown("1 commit since review");
        looker.until_shown("y merge anyway");
        looker.until_question_is_read();
    };
    ask();
    let before = task.events();
    looker.press(&["Enter"]);
    looker.until_shown("nothing was done");
    assert_eq!(task.events(), before);
    ask();
    env.commit(&slot, "more.txt", "more");
    looker.press(&["y"]);
    looker.until_shown("moved");
    assert_eq!(env.status(&task), "reviewing");
    let merged = |task: &TestTask| {
        env.git(&env.shop(), &["log", "--format=%s", "main"])
            .matches(&task.key)
            .count()
    };
    assert_eq!(merged(&task), 0);
    looker.press(&["m"]);
    looker.until_shown("2 commits since review");
    looker.until_shown("y merge anyway");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("merged into main");
    env.until_status(&task, "done");
    assert_eq!(merged(&task), 1);
}

#[test]
fn a_task_is_cancelled_created_anew_deleted_and_restored() {
    let env = Agents::new();
    let task = env.start("Log out", "worker:\n  - hang\n");
    let looker = begin(&env, "dashboard", "x cancel");
    looker.press(&["x"]);
    looker.until_shown("cancel TASK-001 \"Log out\"?");
    looker.until_question_is_read();
    looker.press(&["n"]);
    looker.until_shown("nothing was done");
    looker.press(&["x"]);
    looker.until_shown("y cancel it");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("u creates it anew");
    env.until_status(&task, "cancelled");
    looker.press(&["u"]);
    looker.until_shown("created TASK-002");
    // The cancelled one is still listed, and goes.
    looker.press(&["-l", "/"]);
    looker.press(&["-l", "001"]);
    looker.press(&["Enter"]);
    looker.until_selected("TASK-001");
    looker.until_shown("d delete");
    looker.press(&["d"]);
    looker.until_shown("delete TASK-001 \"Log out\"?");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("TASK-001: deleted; u restores it");
    assert!(!task.folder.exists());
    looker.press(&["u"]);
    looker.until_shown("TASK-001: restored");
    env.until_status(&task, "cancelled");
}

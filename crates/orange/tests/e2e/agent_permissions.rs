//! What agents may do without asking, what they ask, and who answers it where.

use crate::agents::Agents;
use crate::env::{TestTask, with_answers};
use crate::run::program;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const ASKS: &str = "\
worker:
  - ask permission: May I deploy?
    allowed:
      - write: deployed
        text: x
    denied:
      - write: left-alone
        text: x
  - ask permission: May I clean up?
    allowed:
      - write: cleaned
        text: x
  - wait for: {file: never}
";

fn asking(env: &Agents) -> TestTask {
    let task = env.start("Ask me", ASKS);
    env.until_attention(&task, "May I deploy?");
    task
}

fn question(env: &Agents, task: &TestTask) -> Value {
    let said = env.say(&["task", "answer", &task.id, "--json"]).ok().json();
    assert_eq!(said["questions"].as_array().unwrap().len(), 1, "{said}");
    said["questions"][0].clone()
}

fn until_file(env: &Agents, task: &TestTask, name: &str) {
    let file = env.slot_of(task).join(name);
    env.until(&format!("{name} is there"), || file.exists());
}

#[test]
fn a_question_is_shown_and_answered_from_the_command_line() {
    let env = Agents::new();
    let task = asking(&env);
    let answer = format!("orange answer {}", task.key);
    for command in [
        &["ls"][..],
        &["task", "why", &task.id],
        &["task", "show", &task.id],
    ] {
        let said = env.say(command).ok();
        assert!(
            said.stdout.contains("asks permission: May I deploy?"),
            "{said}"
        );
        assert_eq!(said.stdout.contains(&answer), command != ["ls"], "{said}");
    }
    let why = env.say(&["task", "why", &task.id]).ok().stdout;
    let asked = "its worker asks permission: May I deploy?";
    let expected = format!("{} is planning\n{asked}\nnext: {answer}\n", task.key);
    assert_eq!(why, expected);
    let why = env.say(&["task", "why", &task.id, "--json"]).ok().json();
    assert_eq!(why["why"]["next"], answer.as_str());
    env.say(&["task", "answer", &task.id])
        .ok()
        .says("--allow, or --deny");

    env.say(&["task", "answer", &task.id, "--allow"])
        .ok()
        .says("allowed");
    until_file(&env, &task, "deployed");
    env.until_attention(&task, "May I clean up?");
    assert_eq!(env.count(&task, "agent.answered"), 1);
    assert_eq!(task.last("agent.answered")["reason"], "allowed");
}

#[test]
fn a_person_at_a_terminal_is_asked_for_the_answer() {
    let env = Agents::new();
    let task = asking(&env);
    let line = format!("{} answer {}", program().display(), task.id);
    let asked = "TASK-001: its worker asks permission: May I deploy?\nallow it?";
    let said = with_answers(&env, 80, &line, "\n");
    assert!(said.contains(asked), "{said}");
    assert!(said.ends_with("not answered; it stays open\n"), "{said}");
    let said = with_answers(&env, 80, &line, "sure, if the tests pass\n");
    assert!(said.contains("is no answer"), "{said}");
    assert_eq!(env.count(&task, "agent.answered"), 0);
    let said = with_answers(&env, 80, &line, "n not today\n");
    assert!(said.contains("denied: not today (May I deploy?)"), "{said}");
    until_file(&env, &task, "left-alone");
    env.until_attention(&task, "May I clean up?");
    let said = with_answers(&env, 80, &line, "y\n");
    assert!(said.contains("allowed (May I clean up?)"), "{said}");
    until_file(&env, &task, "cleaned");
}

/// The last line of a command alone may be the harmless one.
#[test]
fn all_lines_of_what_is_asked_are_shown() {
    let env = Agents::new();
    let script =
        "worker:\n  - ask permission: \"Bash: rm -r /\\n\\nls\"\n  - wait for: {file: never}\n";
    let task = env.start("Ask me", script);
    env.until_attention(&task, "asks permission: Bash: rm -r / ⏎ ls");
}

#[test]
fn a_no_goes_to_the_agent_and_clears_the_attention() {
    let env = Agents::new();
    let task = asking(&env);
    let said = env.say(&[
        "task",
        "answer",
        &task.id,
        "--deny",
        "--message",
        "not today",
        "--json",
    ]);
    let said = said.ok().json();
    assert_eq!(said["state"], "answered", "{said}");
    until_file(&env, &task, "left-alone");
    env.until_attention(&task, "May I clean up?");
    env.say(&["task", "answer", &task.id, "--deny"]).ok();
    assert_eq!(env.attention(&task), "");
    let reasons: Vec<Value> = task
        .history()
        .into_iter()
        .filter(|event| event["type"] == "agent.answered")
        .map(|event| event["reason"].clone())
        .collect();
    assert_eq!(reasons, ["denied: not today", "denied"]);
}

#[test]
fn what_is_answered_in_the_window_is_known_as_answered() {
    let env = Agents::new();
    let task = asking(&env);
    let pane = task.last("agent.spawned")["pane"]
        .as_str()
        .unwrap()
        .to_owned();
    env.tmux(&["send-keys", "-t", &pane, "y"]);
    until_file(&env, &task, "deployed");
    env.until_attention(&task, "May I clean up?");
    let answered = env.until_event(&task, "agent.answered");
    assert_eq!(answered["reason"], "answered in its window");
    env.tmux(&["send-keys", "-t", &pane, "y"]);
    env.until("nothing is asked", || env.attention(&task).is_empty());
}

#[test]
fn an_answer_to_one_question_never_goes_to_another() {
    let env = Agents::new();
    let task = asking(&env);
    let first = question(&env, &task)["id"].as_str().unwrap().to_owned();
    env.say(&["task", "answer", &task.id, "--question", &first, "--deny"])
        .ok();
    env.until_attention(&task, "May I clean up?");
    let late = env.say(&[
        "task",
        "answer",
        &task.id,
        "--question",
        &first,
        "--allow",
        "--json",
    ]);
    let error = late.refuses(3, "conflict");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("not open any more"),
        "{error}"
    );
    assert_eq!(question(&env, &task)["text"], "May I clean up?");
    assert!(!env.slot_of(&task).join("cleaned").exists());
}

#[test]
fn a_wrong_answer_is_refused_with_what_would_be_right() {
    let env = Agents::new();
    let task = asking(&env);
    env.say(&["task", "answer", &task.id, "perhaps"])
        .fails_with(2)
        .says("--allow or --deny");
    env.call(["task", "answer", &task.id, "--allow"])
        .agent(&task, "worker")
        .run()
        .fails_with(3)
        .says("may not answer questions");
    let quiet = env.create(["Quiet", "--harness", "none"]);
    env.say(&["task", "answer", &quiet.id, "--allow"])
        .fails_with(3)
        .says("asks anything");
    assert_eq!(question(&env, &task)["text"], "May I deploy?");
}

#[test]
fn a_question_goes_with_its_agent() {
    let env = Agents::new();
    let task = asking(&env);
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
    env.say(&["task", "answer", &task.id, "--allow"])
        .fails_with(3)
        .says("asks anything");
}

/// A stand-in for an agent CLI that is not there: it only waits.
fn with_program(name: &str) -> Agents {
    let mut env = Agents::new();
    let program = env.write(&format!("programs/{name}"), "#!/bin/sh\nexec cat\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    env.put_first_in_path(program.parent().unwrap());
    env
}

#[test]
fn task_then_project_then_setting_say_what_agents_may_do() {
    let env = with_program("claude");
    let mode = |task: &TestTask| {
        let shown = env.show(task);
        let mode = &shown["permission_mode"];
        format!(
            "{} {}",
            mode["mode"].as_str().unwrap(),
            mode["said_by"].as_str().unwrap()
        )
    };
    let task = env.create(["one", "One", "--harness", "claude", "--no-spawn"]);
    assert_eq!(mode(&task), "full nobody");
    let config = env.home().join("config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace("agents:\n", "agents:\n  permissions: ask\n"),
    )
    .unwrap();
    assert_eq!(mode(&task), "ask setting");
    env.say(&["project", "update", "shop", "--permissions", "edits"])
        .ok()
        .says("permissions edits");
    env.say(&["project", "list"]).ok().says("edits");
    assert_eq!(mode(&task), "edits project");
    env.say(&["task", "update", &task.id, "--permissions", "full"])
        .ok();
    assert_eq!(mode(&task), "full task");
    env.say(&["task", "show", &task.id])
        .ok()
        .says("permissions");
    env.say(&["task", "update", &task.id, "--permissions", "some"])
        .fails_with(2)
        .says("full, edits, ask");
    env.say(&["task", "update", &task.id, "--permissions", "edits"])
        .ok();
    env.say(&["task", "spawn", &task.id]).ok();
    assert_eq!(task.last("agent.spawned")["permissions"], "edits");
}

#[test]
fn without_a_terminal_full_is_used_and_stated_once() {
    let env = with_program("claude");
    let start = |summary: &str| env.say(&["new", summary, "--harness", "claude"]).ok();
    let stated = "agents of shop do everything without asking (permissions full)";
    start("One thing")
        .says(stated)
        .says("orange project update shop --permissions");
    start("Another thing").silent_about(stated);
}

#[test]
fn on_a_terminal_the_person_chooses_once() {
    let env = with_program("claude");
    let new = |summary: &str| {
        let orange = program().display();
        format!("{orange} new '{summary}' --harness claude")
    };
    let shown = with_answers(&env, 120, &new("One thing"), "7\n2\n");
    assert!(
        shown.contains("What may agents of project shop do"),
        "{shown}"
    );
    let wrong = "\"7\" is none of them: 1, 2, 3, full, edits or ask?";
    assert!(shown.contains(wrong), "{shown}");
    assert!(shown.contains("tmux session shop"), "{shown}");
    env.say(&["project", "list"]).ok().says("edits");
    let again = with_answers(&env, 120, &new("Another thing"), "2\n");
    assert!(!again.contains("What may agents"), "{again}");
}

#[test]
fn a_harness_that_asks_for_nothing_is_not_started_where_it_should_ask() {
    let env = with_program("codex");
    let refused = env.say(&["new", "One", "--harness", "codex", "--permissions", "ask"]);
    assert_ne!(refused.code, 0, "{refused}");
    refused
        .says("cannot be started with permissions ask")
        .says("--permissions full");
    assert_eq!(env.windows(), Vec::<String>::new());
}

#[test]
fn an_agent_does_not_choose_for_itself_or_its_children() {
    let env = Agents::new();
    let task = env.create(["one", "One", "--harness", "none", "--permissions", "ask"]);
    let as_agent = |arguments: &[&str]| {
        env.call(arguments.iter().copied())
            .agent(&task, "worker")
            .run()
    };
    as_agent(&["task", "update", &task.id, "--permissions", "full"]).fails_with(3);
    let child = ["new", "Child", "--parent", &task.id, "--no-spawn"];
    as_agent(&[&child[..], &["--permissions", "full"]].concat())
        .fails_with(3)
        .says("may not choose");
    let created = as_agent(&[&child[..], &["--json"]].concat()).ok().json();
    assert_eq!(created["task"]["permissions"], "ask");
    // By hand in the file: put back.
    task.edit("permissions: ask", "permissions: full");
    assert_eq!(env.show(&task)["permissions"], "ask");
}

//! `orange status`: the numbers, the line, and that a prompt is never disturbed.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use std::fs;

fn json(env: &TestEnvironment) -> serde_json::Value {
    env.orange(["status", "--json"]).ok().json()["status"].take()
}

#[test]
fn nothing_is_said_where_there_is_nothing() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["status"]), @"");
    assert_snapshot!(env.orange(["status", "--format", "{working} at work"]), @"");
    assert!(!env.home().exists(), "looking creates nothing");
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["status"]), @"");
    assert_eq!(json(&env)["open"], 0);
}

#[test]
fn tasks_are_counted_as_they_move() {
    let env = TestEnvironment::new();
    let tasks: Vec<_> = (0..6).map(|n| env.create([format!("Task {n}")])).collect();
    env.bring_to(&tasks[0], "working");
    env.bring_to(&tasks[1], "clarification");
    env.orange(["task", "cancel", &tasks[5].id]).ok();
    assert_snapshot!(env.orange(["status"]), @"1 needs you · 1 working");
    env.bring_on(&tasks[0], "reviewing");
    assert_snapshot!(env.orange(["status"]), @"2 need you");
    let numbers = json(&env);
    assert_eq!(numbers["needs_me"], 2);
    assert_eq!(numbers["pending"], 3);
    assert_eq!(numbers["open"], 5);
    assert_eq!(numbers["cancelled"], 1);
    assert_eq!(numbers["agents"], 0);
    assert_snapshot!(env.orange(["status", "--format", "{{{reviewing}/{open}}} {line}"]), @"{1/5} 2 need you");
    // The same after everything was read anew.
    fs::remove_file(env.home().join("index.db")).unwrap();
    assert_eq!(json(&env), numbers);
    fs::write(env.home().join("index.db"), "nonsense").unwrap();
    assert_eq!(json(&env), numbers);
}

#[test]
fn it_needs_you_where_wait_and_the_list_say_so() {
    let env = TestEnvironment::new();
    let first = env.create(["First"]);
    let waiting = env.create(["Second", "--blocked-by", "TASK-001"]);
    assert_eq!(json(&env)["needs_me"], 0);
    env.orange(["task", "cancel", &first.id]).ok();
    assert!(env.list([""; 0])[0]["attention"].is_string());
    env.orange([
        "task",
        "wait",
        &waiting.id,
        "--for",
        "needs-me",
        "--timeout",
        "0",
    ])
    .ok();
    assert_eq!(json(&env)["needs_me"], 1);
    // Also when all rows were written at once, and when the other one changes.
    fs::remove_file(env.home().join("index.db")).unwrap();
    assert_eq!(json(&env)["needs_me"], 1);
    env.update(&waiting, &["--priority", "high"]).ok();
    assert_eq!(json(&env)["needs_me"], 1);
    env.orange(["task", "delete", &first.id, "--yes"]).ok();
    assert_eq!(json(&env)["needs_me"], 0);
    // A damaged one is for a person too.
    fs::write(waiting.file(), "no frontmatter at all").unwrap();
    fs::remove_file(waiting.journal()).unwrap();
    env.orange(["ls"]).ok();
    let numbers = json(&env);
    assert_eq!(
        (&numbers["damaged"], &numbers["needs_me"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn one_project() {
    let env = TestEnvironment::new();
    let task = env.create(["Right here"]);
    env.bring_to(&task, "planning");
    let books = env.init_repository("books");
    env.call(["new", "Over there"]).at(&books).run().ok();
    assert_snapshot!(env.orange(["status", "--project", "shop"]), @"1 planning");
    assert_snapshot!(env.orange(["status", "--project", "books"]), @"");
    assert_snapshot!(env.orange(["status", "--project", "magazines"]), @r#"
    ------- stderr -------
    error: there is no project "magazines"
    hint: known projects: shop, books
    [exit status: 4]
    "#);
}

#[test]
fn what_means_nothing_is_refused() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["status", "--format", "{workin}"]), @"
    ------- stderr -------
    error: --format: {workin} means nothing here
    hint: did you mean {working}? `orange status --help` lists all placeholders
    [exit status: 2]
    ");
    env.orange(["status", "--format", "{", "--json"])
        .refuses(2, "usage");
}

#[test]
fn a_prompt_is_not_disturbed() {
    let mut env = TestEnvironment::new();
    env.create(["A task"]);
    // A home that cannot be one, a registry that is broken, a folder that is gone.
    fs::write(env.home().join("projects.json"), "{").unwrap();
    assert_snapshot!(env.orange(["status"]), @"");
    env.set("ORANGE_HOME", "/dev/null");
    assert_snapshot!(env.orange(["status"]), @"");
    env.unset("ORANGE_HOME");
    env.unset("HOME");
    assert_snapshot!(env.orange(["status"]), @"");
}

#[test]
fn in_a_prompt_of_bash() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    env.bring_to(&task, "clarification");
    let prompt = r#"PS1='[$(orange status)] $ '; shopt -s promptvars; printf '%s' "${PS1@P}""#;
    let program = crate::run::program();
    let folder = program.parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", env.variable("PATH").to_string_lossy());
    let shown = env
        .foreign("bash")
        .args(["--norc", "-c", prompt])
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&shown.stdout),
        "[1 needs you] $ ",
        "{shown:?}"
    );
}

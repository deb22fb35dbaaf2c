//! `orange search`: what is found, in which order, where, and whatever people type.

use crate::env::{TestEnvironment, TestTask, in_terminal};
use crate::run::program;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// The keys of what is found, best first.
fn found(env: &TestEnvironment, words: &[&str]) -> Vec<String> {
    let mut all = vec!["search", "--json"];
    all.extend(words);
    let matches = env.orange(all).ok().json();
    let key = |task: &Value| task["key"].as_str().unwrap().to_owned();
    matches["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(key)
        .collect()
}

fn several() -> (TestEnvironment, Vec<TestTask>) {
    let env = TestEnvironment::new();
    let tasks = vec![
        env.create(["Add a login form", "--tag", "auth"]),
        env.create(["Fix the crash"]),
        env.create(["Write the manual"]),
    ];
    tasks[1].append(
        "## Context\n\nIt happens in src/app.rs, after the LOGIN of a user with `login_form`.\n",
    );
    tasks[2].append("Über das Café: 登录表单 and c++ 🍊.\n");
    (env, tasks)
}

/// With a reason that stands in its history and nowhere else.
fn give_up(env: &TestEnvironment, task: &TestTask) {
    env.bring_to(task, "working");
    env.orange([
        "task",
        "stuck",
        &task.id,
        "--reason",
        "nobody reads about the login",
    ])
    .ok();
}

#[test]
fn words_are_found_everywhere_and_summaries_come_first() {
    let (env, tasks) = several();
    give_up(&env, &tasks[2]);
    assert_eq!(
        found(&env, &["login"]),
        ["TASK-001", "TASK-002", "TASK-003"]
    );
    // All words, in whatever part; the last may be a beginning.
    assert_eq!(found(&env, &["crash", "log"]), ["TASK-002"]);
    assert_eq!(found(&env, &["log", "crash"]), [""; 0]);
    assert_eq!(found(&env, &["login", "-crash"]), ["TASK-001", "TASK-003"]);
    assert_eq!(found(&env, &["\"login form\""]), ["TASK-001", "TASK-002"]);
    assert_eq!(found(&env, &["\"form login\""]), [""; 0]);
    assert_eq!(found(&env, &["login_form"]), ["TASK-001", "TASK-002"]);
    assert_eq!(found(&env, &["src/app.rs"]), ["TASK-002"]);
    assert_eq!(found(&env, &["app.r"]), ["TASK-002"]);
    assert_eq!(found(&env, &["uber", "cafe"]), ["TASK-003"]);
    assert_eq!(found(&env, &["表单"]), ["TASK-003"]);
    assert_eq!(found(&env, &["c++"]), ["TASK-003"]);
    assert_eq!(found(&env, &["🍊"]), ["TASK-003"]);
    assert_eq!(found(&env, &["task-002"]), ["TASK-002"]);
    assert_eq!(found(&env, &["auth"]), ["TASK-001"]);
    assert_eq!(found(&env, &[&tasks[1].id]), ["TASK-002"]);
    assert_eq!(found(&env, &["-login", "-crash"]), [""; 0]);
    assert_eq!(found(&env, &["-crash"]).len(), 2);
    assert_eq!(found(&env, &["login", "--limit", "1"]), ["TASK-001"]);
    // A word counts for more than one that begins like it.
    assert_eq!(found(&env, &["man"]), ["TASK-003"]);
    env.create(["A man at the door"]);
    assert_eq!(found(&env, &["man"]), ["TASK-004", "TASK-003"]);
}

#[test]
fn a_word_to_leave_out_changes_nothing_about_the_others() {
    let (env, _) = several();
    assert_eq!(found(&env, &["manu"]), found(&env, &["manu", "-draft"]));
    assert_eq!(found(&env, &["manu", "-draft"]).len(), 1);
    assert!(found(&env, &["manu", "-writ", "-write"]).is_empty());
}

#[test]
fn it_says_where() {
    let (env, tasks) = several();
    give_up(&env, &tasks[2]);
    assert_snapshot!(env.orange(["search", "login"]), @"
    · TASK-001  Add a login form
    · TASK-002  Fix the crash
        body: It happens in src/app.rs, after the LOGIN of a user with `login_form`.
    ! TASK-003  Write the manual
        history ([AGE]): nobody reads about the login
    ");
    assert_snapshot!(env.orange(["search", "login", "--limit", "1"]), @"
    · TASK-001  Add a login form
    2 tasks more: --limit 3 shows them
    ");
    assert_snapshot!(env.orange(["search", "logout"]), @"no task in shop has this word; --all-projects looks everywhere, deleted tasks are not searched");
    assert_snapshot!(env.orange(["search", "…"]), @r#"
    ------- stderr -------
    error: there is nothing to look for in "…": brackets, dots and the like only separate words
    hint: name a word; `orange search --help` has examples
    [exit status: 2]
    "#);
    let json = env.orange(["search", "reads", "--json"]).ok().json();
    let place = &json["matches"][0]["found"][0];
    assert_eq!(place["in"], "history");
    assert_eq!(place["event"], "status.changed");
    assert_eq!(place["text"], "nobody reads about the login");
    assert!(place["timestamp"].is_string());
    assert_eq!(json["total"], 1);
    let shown = in_terminal(&env, 80, &format!("{} search login", program().display()));
    assert!(shown.contains("\u{1b}[33mlogin\u{1b}[0m"), "{shown}");
}

#[test]
fn what_people_said_is_shown_and_not_what_the_engine_made_of_it() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["search", "zebra"]), @r#"there are no tasks in shop to search; `orange new "what is to be done"` creates one"#);
    let task = env.create(["Fix the crash"]);
    let sent = |by: &str, text: &str| {
        format!(
            r#"{{"type":"message.sent","timestamp":"2026-01-01T00:00:00Z","by":"{by}","message":"{by}","role":"worker","text":"{text}"}}"#
        )
    };
    let mut journal = fs::read_to_string(task.journal()).unwrap();
    for line in [
        sent("human", "paint it like a zebra"),
        sent(
            "engine",
            "You are the worker. Asked for: paint it like a zebra",
        ),
    ] {
        journal.push_str(&line);
        journal.push('\n');
    }
    fs::write(task.journal(), journal).unwrap();
    assert_snapshot!(env.orange(["search", "zebra"]), @"
    · TASK-001  Fix the crash
        message ([AGE]): paint it like a zebra
    ");
    let json = env.orange(["search", "zebra", "--json"]).ok().json();
    let place = &json["matches"][0]["found"][0];
    assert_eq!(
        (&place["in"], &place["event"]),
        (&"message".into(), &"message.sent".into())
    );
}

#[test]
fn what_changes_is_found_and_what_goes_is_not() {
    let (env, tasks) = several();
    assert_eq!(found(&env, &["pomegranate"]), [""; 0]);
    tasks[0].append("a pomegranate\n");
    assert_eq!(found(&env, &["pomegranate"]), ["TASK-001"]);
    env.update(&tasks[1], &["--summary", "A pomegranate first"])
        .ok();
    assert_eq!(found(&env, &["pomegranate"]), ["TASK-002", "TASK-001"]);
    tasks[0].edit("a pomegranate", "an apple");
    env.orange(["task", "delete", &tasks[1].id, "--yes"]).ok();
    assert_eq!(found(&env, &["pomegranate"]), [""; 0]);
}

#[test]
fn projects_are_as_in_a_list() {
    let (env, _) = several();
    let books = env.init_repository("books");
    env.call(["new", "Write about the login"])
        .at(&books)
        .run()
        .ok();
    assert_eq!(found(&env, &["write"]), ["TASK-003"]);
    assert_eq!(found(&env, &["write", "--project", "books"]), ["TASK-001"]);
    assert_eq!(found(&env, &["write", "--all-projects"]).len(), 2);
    // Wherever the key alone would not do, its project stands beside it.
    let shown =
        |folder: &std::path::Path, words: &str| env.call(words.split(' ')).at(folder).run().ok();
    let lines = "· TASK-003  shop  Write the manual";
    shown(&env.root(), "search manual").says(lines);
    shown(&books, "search manual --project shop").says(lines);
    shown(&env.shop(), "search manual --all-projects").silent_about("shop");
    env.orange(["search", "x", "--project", "magazines", "--json"])
        .refuses(4, "not_found");
}

#[test]
fn a_list_is_narrowed_by_the_same_words_and_by_parts_of_words() {
    let (env, tasks) = several();
    env.bring_to(&tasks[1], "planning");
    assert_eq!(env.keys(["--search", "login"]), ["TASK-002", "TASK-001"]);
    assert_eq!(env.keys(["--search", "ogin for"]), ["TASK-001"]);
    assert_eq!(env.keys(["--search", "-login"]), ["TASK-003"]);
    assert_eq!(
        env.keys(["--search", "login", "--status", "planning"]),
        ["TASK-002"]
    );
    assert_eq!(env.keys(["--search", ""]).len(), 3);
}

#[test]
fn whatever_is_typed_is_no_error() {
    let (env, _) = several();
    for text in [
        "\"",
        "AND",
        "NEAR(a b",
        "a* OR",
        "(",
        "summary:login",
        "^login",
        "a\\b",
        "'; DROP TABLE tasks",
        "{a b}",
        "-",
        "*",
        "\u{202e}",
        "a:b:c",
        "login AND NOT crash",
        "+",
        "💥",
        "NOT x",
        "%_",
        "a\nb",
    ] {
        let run = env.orange(["search", text, "--json"]);
        assert!(matches!(run.code, 0 | 2), "{text:?}: {run}");
    }
    env.orange(["search", "", "--json"]).refuses(2, "usage");
    let long = "word ".repeat(20_000);
    env.orange(["search", long.trim()]).ok();
}

#[test]
fn damage_is_survived() {
    let (env, tasks) = several();
    assert_eq!(found(&env, &["crash"]), ["TASK-002"]);
    let index = env.home().join("index.db");
    // A file that is no database.
    fs::write(&index, "nonsense").unwrap();
    assert_eq!(found(&env, &["crash"]), ["TASK-002"]);
    // Bodies that are no text, and far too large.
    let mut bytes = fs::read(tasks[0].file()).unwrap();
    bytes.extend(b"\xff\xfe broken pomegranate\n");
    fs::write(tasks[0].file(), &bytes).unwrap();
    bytes.resize(50 * 1024 * 1024, b'x');
    let second = fs::read(tasks[1].file()).unwrap();
    fs::write(
        tasks[1].file(),
        [&second[..], b"\ntangerine\n", &bytes].concat(),
    )
    .unwrap();
    let matches = env.orange(["search", "pomegranate", "--json"]).ok().json();
    assert_eq!(matches["total"], 2, "{matches}");
    let matches = env.orange(["search", "tangerine", "--json"]).ok().json();
    assert_eq!(matches["total"], 1, "{matches}");
    // A folder where the file should be.
    fs::remove_file(tasks[2].file()).unwrap();
    fs::create_dir(tasks[2].file()).unwrap();
    env.orange(["search", "manual"]).ok();
}

#[test]
fn several_search_at_once() {
    let env = TestEnvironment::new();
    for number in 0..30 {
        env.create([
            format!("branch-{number}"),
            format!("Number {number} of many"),
        ]);
    }
    fs::remove_file(env.home().join("index.db")).unwrap();
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let mut command = env.foreign(program().to_str().unwrap());
            command.args(["search", "many", "--json", "--limit", "100"]);
            command.current_dir(env.shop());
            command.stdout(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for call in calls {
        let output = call.wait_with_output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["total"], 30);
    }
}

#[test]
fn nothing_that_is_found_reaches_the_terminal_as_a_command() {
    let env = TestEnvironment::new();
    let task = env.create(["Harmless"]);
    task.append("login \u{1b}[31m bell\u{7} \u{202e}txt\n");
    let shown = in_terminal(
        &env,
        80,
        &format!("NO_COLOR=1 {} search login", program().display()),
    );
    assert!(
        shown.contains("login") && !shown.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{shown:?}"
    );
}

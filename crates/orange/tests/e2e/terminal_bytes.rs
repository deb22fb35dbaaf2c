//! Text of agents and repositories on its way to a terminal: no control character of it arrives, in JSON neither.

use crate::env::{TestEnvironment, TestTask};
use crate::run::program;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

/// Every control character that can stand in an argument, in a sequence that a terminal would obey.
fn every_control() -> String {
    let all = (1..=0x9f_u32)
        .filter_map(char::from_u32)
        .filter(|c| c.is_control());
    let start = "Owned \u{9b}2J\u{1b}]0;title\u{7}\u{90}q\u{9c}".to_owned();
    start + &all.map(|c| format!("{c}[31m")).collect::<String>()
}

#[track_caller]
fn harmless(bytes: &[u8], what: &str) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if let Some(at) = text.find(acts) {
        let around: String = text[at..].chars().take(20).collect();
        panic!("{what} prints {around:?}");
    }
}

#[track_caller]
fn says_harmless(env: &TestEnvironment, words: &[&str]) {
    let mut command = env.foreign(program().to_str().unwrap());
    let output = command.args(words).current_dir(env.shop()).output();
    let output = output.unwrap();
    harmless(&output.stdout, &format!("{words:?}"));
    harmless(&output.stderr, &format!("{words:?}"));
}

/// Every command that shows what tasks say, as text and as JSON.
fn all_ways_to_show(env: &TestEnvironment, task: &TestTask) {
    let id = task.id.as_str();
    for words in [
        &["ls"][..],
        &["task", "list", "--all", "--search", "Owned"],
        &["task", "show", id],
        &["task", "show", id, "--full", "--history"],
        &["task", "why", id],
        &["task", "deps", id],
        &["task", "path", id],
        &["task", "rescue", "list"],
        &["task", "diff", id, "--stat"],
        &["search", "Owned"],
        &["status"],
        &["log", "--lines", "500"],
        &["watch", "--once"],
        &["project", "list"],
        &["workspace", "list"],
        &["config", "show"],
        &["doctor"],
        &["gc", "--dry-run"],
        &["task", "update", id, "--status", "done"],
        &["task", "show", "\u{9b}31mnone\u{1b}[0m"],
        &["\u{9b}31m", "--\u{1b}[0m"],
    ] {
        says_harmless(env, words);
        says_harmless(env, &[words, &["--json"]].concat());
    }
}

#[test]
fn every_control_character_in_a_task_is_shown_harmlessly() {
    let env = TestEnvironment::new();
    let nasty = every_control();
    let context = env.write("context", &nasty);
    let task = env.create([
        "--branch",
        "own\u{9b}31m\u{85}ed",
        "--summary",
        &nasty,
        "--tag",
        "x\u{9b}y",
        "--context",
        context.to_str().unwrap(),
    ]);
    env.bring_to(&task, "working");
    task.append(&format!("## Notes\n\n{nasty}\n"));
    env.orange(["task", "stuck", &task.id, "--reason", &nasty])
        .ok();
    all_ways_to_show(&env, &task);
}

#[test]
fn any_summary_is_shown_harmlessly() {
    let env = TestEnvironment::new();
    let task = env.create(["Owned"]);
    let mut runner = TestRunner::new(Config {
        cases: 8,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..Config::default()
    });
    let any = proptest::collection::vec(
        prop_oneof![any::<char>(), proptest::char::range('\u{1}', '\u{9f}')],
        1..60,
    );
    let tried = runner.run(&any, |letters| {
        let summary: String = letters.into_iter().filter(|c| *c != '\0').collect();
        let summary = format!("Owned {summary}");
        env.orange(["task", "update", &task.id, "--summary", &summary]);
        for words in [
            &["ls"][..],
            &["task", "show", &task.id],
            &["task", "why", &task.id],
            &["search", "Owned"],
        ] {
            says_harmless(&env, words);
            says_harmless(&env, &[words, &["--json"]].concat());
        }
        Ok(())
    });
    tried.unwrap();
}

/// What an agent, or anything else, wrote into the log.
#[test]
fn lines_of_the_log_are_shown_harmlessly() {
    let env = TestEnvironment::new();
    let log = env.home().join("orange.log");
    let time = r#""time":"2026-11-15T10:00:00.000Z""#;
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    for line in [
        &b"\x1b[31m not JSON \x9b2J\n"[..],
        format!("{{{time},\"level\":\"in\u{9b}fo\",\"component\":\"c\u{9b}31m\",\"message\":\"m\u{85}\",\"pid\":1,\"fields\":{{\"a\u{9b}\":\"b\u{90}\",\"key\":\"k\u{9b}\"}}}}\n").as_bytes(),
        b"{\"broken\": \"\xc2\x9b2J\n",
    ] {
        file.write_all(line).unwrap();
    }
    for words in [
        &["log"][..],
        &["log", "--json"],
        &["log", "--level", "info"],
    ] {
        says_harmless(&env, words);
    }
    let mut follow = env.foreign(program().to_str().unwrap());
    let follow = follow.args(["log", "--follow", "--json"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    file.write_all("{\"the\": \"last\u{9b}2J\"}\n".as_bytes())
        .unwrap();
    let last = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("last")));
    harmless(last.unwrap().unwrap().as_bytes(), "log --follow");
    follow.kill().unwrap();
    follow.wait().unwrap();
}

#[test]
fn orange_logs_no_control_character() {
    let mut env = TestEnvironment::new();
    env.set("ORANGE_LOG_LEVEL", "trace");
    let nasty = every_control();
    let task = env.create(["--branch", "own\u{9b}31m", "--summary", &nasty]);
    env.orange(["task", "show", "\u{9b}31m none"]).fails_with(4);
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    harmless(
        &fs::read(env.home().join("orange.log")).unwrap(),
        "orange.log",
    );
}

#[test]
fn variables_of_notify_have_no_control_character() {
    let env = TestEnvironment::new();
    env.orange([
        "config",
        "set",
        "notify.command",
        "env -0 > \"$ORANGE_HOME/.told.new\"; mv \"$ORANGE_HOME/.told.new\" \"$ORANGE_HOME/told\"",
    ])
    .ok();
    let nasty = every_control();
    let task = env.create(["--branch", "own\u{9b}31m", "--summary", &nasty]);
    env.bring_to(&task, "working");
    let stuck = ["task", "stuck", "--reason", &nasty];
    env.call(stuck).agent(&task, "worker").run().ok();
    let told = env.home().join("told");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !told.exists() {
        assert!(std::time::Instant::now() < deadline, "nobody was told");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let told = fs::read(told).unwrap();
    let about: Vec<&[u8]> = told
        .split(|byte| *byte == 0)
        .filter(|variable| variable.starts_with(b"ORANGE_NOTIFY_"))
        .collect();
    assert_eq!(about.len(), 11, "{about:?}");
    for variable in about {
        assert!(!variable.contains(&b'\n'));
        harmless(
            variable,
            &std::ffi::OsStr::from_bytes(variable).to_string_lossy(),
        );
    }
}

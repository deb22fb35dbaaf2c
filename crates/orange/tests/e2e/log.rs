//! `orange log`: what happened, read from orange.log and the files it was before.

use crate::env::{TestEnvironment, in_terminal};
use crate::run::program;
use crate::running::Running;
use insta::assert_snapshot;
use std::fs;
use std::io::Write;

fn record(time: &str, level: &str, component: &str, message: &str) -> String {
    format!(
        r#"{{"time":"2026-01-02T03:{time}Z","level":"{level}","component":"{component}","message":"{message}","pid":1,"fields":{{"key":"TASK-001","path":"a b"}}}}"#
    )
}

/// A home with a log of four files, and things in it that Orange did not write.
fn with_log() -> TestEnvironment {
    let env = TestEnvironment::new();
    let files = [
        (
            "orange.log.3",
            vec![record("00:01.000", "info", "task", "the oldest")],
        ),
        (
            "orange.log.1",
            vec![record(
                "00:02.000",
                "warn",
                "merge",
                "Conflict in a\\u001b[31m file",
            )],
        ),
        (
            "orange.log",
            vec![
                record("00:03.500", "error", "store", "disk full"),
                "not ours".to_owned(),
                record("00:04.000", "info", "task", "the newest"),
                r#"{"time":"2026-01-02T03:00"#.to_owned(),
            ],
        ),
    ];
    for (name, lines) in files {
        fs::write(env.home().join(name), lines.join("\n")).unwrap();
    }
    env
}

#[test]
fn the_newest_lines_come_last_through_all_files() {
    let env = with_log();
    assert_snapshot!(env.orange(["log"]).ok(), @r#"
    [TIME] info  task     the oldest key=TASK-001 path="a b"
    [TIME] warn  merge    Conflict in a␛[31m file key=TASK-001 path="a b"
    [TIME] error store    disk full key=TASK-001 path="a b"
    not ours
    [TIME] info  task     the newest key=TASK-001 path="a b"
    {"time":"2026-01-02T03:00
    "#);
    assert_snapshot!(env.orange(["log", "-n", "3"]).ok(), @r#"
    not ours
    [TIME] info  task     the newest key=TASK-001 path="a b"
    {"time":"2026-01-02T03:00
    "#);
    assert_snapshot!(env.orange(["log", "--level", "warn"]).ok(), @r#"
    [TIME] warn  merge    Conflict in a␛[31m file key=TASK-001 path="a b"
    [TIME] error store    disk full key=TASK-001 path="a b"
    "#);
    assert_snapshot!(env.orange(["log", "--component", "task", "--lines", "1"]).ok(), @r#"[TIME] info  task     the newest key=TASK-001 path="a b""#);
    assert_snapshot!(env.orange(["log", "--grep", "CONFLICT"]).ok(), @r#"[TIME] warn  merge    Conflict in a␛[31m file key=TASK-001 path="a b""#);
    assert_snapshot!(env.orange(["log", "--since", "2026-01-02T03:00:03Z"]).ok(), @r#"
    [TIME] error store    disk full key=TASK-001 path="a b"
    [TIME] info  task     the newest key=TASK-001 path="a b"
    "#);
    assert_snapshot!(env.orange(["log", "--grep", "nowhere"]).ok(), @r#"
    ------- stderr -------
    note: no lines with "nowhere" in the log
    "#);
    for (line, said) in [
        (
            "--level warn --since 8h",
            "no warnings or errors in the last 8h",
        ),
        (
            "--level error --since 2099-01-01",
            "no errors since 2099-01-01",
        ),
        (
            "--component merge --level info --grep x --since 2d",
            "no lines of level info or worse of component merge with \"x\" in the last 2d",
        ),
    ] {
        let all = ["log"].into_iter().chain(line.split(' '));
        let end = format!("note: {said}\n");
        env.orange(all).ok().says(&end);
    }
}

#[test]
fn a_terminal_shows_short_lines_that_go_on_under_their_words() {
    let env = with_log();
    let log = env.home().join("orange.log");
    let mut lines = vec![record(
        "00:05.000",
        "warn",
        "merge",
        &"long words ".repeat(9),
    )];
    lines.extend(
        (0..60).map(|number| record("00:06.000", "info", "task", &format!("number {number}"))),
    );
    fs::write(log, lines.join("\n")).unwrap();
    let terminal = |more: &str| {
        let orange = program().display().to_string();
        in_terminal(
            &env,
            80,
            &format!("NO_COLOR=1 TZ=UTC '{orange}' log {more}"),
        )
    };
    assert_snapshot!(terminal("--lines 62 --component merge"), @r#"
    02 Jan 03:00  TASK-001  warn: Conflict in a␛[31m file [merge] path="a b"
    02 Jan 03:00  TASK-001  warn: long words long words long words long words long
                            words long words long words long words long words
                            [merge] path="a b"
    "#);
    // Who named no number is told of more.
    let shown = terminal("");
    assert!(shown.starts_with("… earlier lines: --lines 500"), "{shown}");
    assert!(!terminal("-n 5").contains("earlier"));
    assert!(!terminal("--level warn").contains("earlier"));
    assert!(!env.orange(["log"]).ok().stdout.contains("earlier"));
}

#[test]
fn a_wrong_clock_hides_nothing_and_no_lines_are_no_answer() {
    let env = with_log();
    let now = "2026-03-01T00:00:00.000Z";
    let newer =
        record("00:01.000", "info", "task", "newer").replace("2026-01-02T03:00:01.000Z", now);
    let wrong = record("00:01.000", "info", "task", "wrong clock").replace("2026-01", "1970-01");
    let log = env.home().join("orange.log");
    fs::write(log, [newer.clone(), wrong, newer].join("\n")).unwrap();
    let shown = env.orange(["log", "--since", "2026-02-01"]).ok().stdout;
    assert_eq!(shown.matches("newer").count(), 2, "{shown}");
    assert!(!shown.contains("wrong clock"), "{shown}");
    env.orange(["log", "--lines", "0", "--json"])
        .refuses(2, "usage");
    for command in ["search", "ls"] {
        let words: &[&str] = if command == "search" { &["x"] } else { &[] };
        env.orange([&[command, "--limit", "0", "--json"], words].concat())
            .refuses(2, "usage");
    }
}

#[test]
fn slips_of_the_fingers_are_nothing_that_went_wrong() {
    let env = TestEnvironment::new();
    let task = env.create(["Mine"]);
    env.orange(["task", "show", "TASK-777"]).fails_with(4);
    env.orange(["task", "update", &task.id, "--status", "done"])
        .fails_with(3);
    let went_wrong = env.orange(["log", "--level", "warn", "--json"]).ok().json();
    assert_eq!(went_wrong["log"], serde_json::json!([]));
    env.orange(["log", "--grep", "TASK-777"])
        .ok()
        .says("info  command");
    let forbidden = env
        .call(["task", "cancel", &task.id, "--yes"])
        .agent(&task, "worker");
    forbidden.run().fails_with(3);
    env.orange(["log", "--level", "warn"])
        .ok()
        .says("by=worker");
}

#[test]
fn json_is_one_value_and_keeps_what_it_does_not_know() {
    let env = with_log();
    let log = env.orange(["log", "--json"]).ok().json();
    let lines = log["log"].as_array().unwrap();
    assert_eq!(lines.len(), 6, "{log}");
    assert_eq!(lines[0]["message"], "the oldest");
    assert_eq!(lines[0]["pid"], 1);
    assert_eq!(lines[3]["line"], "not ours");
}

#[test]
fn wrong_words_are_named_with_what_may_be_meant() {
    let env = with_log();
    assert_snapshot!(env.orange(["log", "--component", "taks"]), @r#"
    ------- stderr -------
    error: no line of the log is of a component "taks"
    hint: did you mean task? there are agent, check, command, file, hook, merge, message, store, task
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["log", "--level", "wran"]), @r#"
    ------- stderr -------
    error: --level: "wran" is not one of: error, warn, info, debug, trace
    hint: did you mean warn? for usage, run `orange log --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["log", "--since", "yesterday"]), @r#"
    ------- stderr -------
    error: --since: "yesterday": neither a time span (30m, 8h, 2d) nor a time ([TIME])
    hint: for usage, run `orange log --help`
    [exit status: 2]
    "#);
    env.orange(["log", "--component", "zzz", "--json"])
        .refuses(2, "usage");
    env.orange(["log", "--task", "TASK-777", "--json"])
        .refuses(4, "not_found");
}

#[test]
fn a_home_without_a_log_says_so() {
    let env = TestEnvironment::empty();
    env.orange(["log"]).ok().says("nothing has been logged yet");
    assert_eq!(
        env.orange(["log", "--json"]).ok().json()["log"],
        serde_json::json!([])
    );
    fs::create_dir_all(env.home().join("orange.log")).unwrap();
    env.orange(["log"]).fails_with(1).says("orange.log");
}

#[test]
fn what_is_journalled_is_in_the_log_and_an_agent_may_read_it() {
    let env = TestEnvironment::new();
    let task = env.create(["Log it"]);
    let other = env.create(["Another"]);
    env.bring_to(&task, "working");
    env.move_to(&task, "agent-review").fails_with(3);
    let log = env.orange(["log", "--task", &task.key]).ok().stdout;
    for words in [
        "you created the task",
        "you moved pending → planning",
        "you moved planning → working",
    ] {
        assert_eq!(log.matches(words).count(), 1, "{words}\n{log}");
    }
    assert!(!log.contains(&other.key), "{log}");
    let agent = env
        .call(["log", "--component", "command"])
        .agent(&task, "worker");
    let errors = agent.run().ok();
    errors
        .says("by=you")
        .says("--status agent-review")
        .says("no \"## Handoff\"");
    // Of a task that is gone the log still tells.
    env.orange(["task", "cancel", &other.id, "--yes"]).ok();
    env.orange(["task", "delete", &other.id, "--yes"]).ok();
    env.orange(["log", "--task", &other.id])
        .ok()
        .says("you deleted the task");
}

#[test]
fn following_shows_every_line_once_across_rotation() {
    let env = TestEnvironment::new();
    let path = env.home().join("orange.log");
    fs::write(
        &path,
        format!("{}\n", record("00:00.000", "info", "task", "before")),
    )
    .unwrap();
    let mut view = Running::start(env.call(["log", "--follow", "--component", "task"]));
    view.until_printed("before");
    let append = |text: &str| {
        let mut file = fs::File::options()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(&format!(
        "{}\n",
        record("00:01.000", "info", "task", "line one")
    ));
    append(&format!(
        "{}\n",
        record("00:01.000", "info", "store", "another component")
    ));
    let two = record("00:01.000", "info", "task", "line two");
    append(&two[..20]);
    view.until_printed("line one");
    append(&format!("{}\n", &two[20..]));
    fs::rename(&path, env.home().join("orange.log.1")).unwrap();
    append(&format!(
        "{}\n",
        record("00:01.000", "info", "task", "line three")
    ));
    view.until_printed("line three");
    let printed = view.printed();
    for line in ["before", "line one", "line two", "line three"] {
        assert_eq!(printed.matches(line).count(), 1, "{line}\n{printed}");
    }
    assert!(!printed.contains("another component"), "{printed}");
    view.interrupt();
    assert_eq!(view.wait().code(), Some(130));
}

#[test]
fn following_into_a_closed_pipe_ends_without_an_error() {
    let env = with_log();
    let mut child = env.call(["log", "--follow", "--json"]).spawn();
    let mut first = [0; 1];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    drop(child.stdout.take());
    // Nothing more is logged; it ends nevertheless.
    assert!(child.wait().unwrap().success());
}

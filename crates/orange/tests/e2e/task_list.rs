//! `orange task list`: filters, order, width, colours, and text that wants to break the screen.

use crate::env::{TestEnvironment, TestTask, in_terminal};
use crate::run::program;
use insta::assert_snapshot;
use std::fs;
use std::process::Stdio;

const RED: &str = "\u{1b}[";

/// Tasks of every kind; keys in the order of creation.
fn several() -> TestEnvironment {
    let env = TestEnvironment::new();
    let login = env.create(["Add a login form", "--tag", "auth", "--tag", "web"]);
    env.create(["Log out", "--blocked-by", "TASK-001", "--tag", "auth"]);
    let crash = env.create([
        "crash-fix",
        "Fix the crash",
        "--category",
        "bug",
        "--priority",
        "critical",
    ]);
    env.create(["Some day", "--queue", "backlog", "--priority", "low"]);
    let old = env.create(["Given up on"]);
    env.bring_to(&login, "working");
    env.bring_to(&crash, "planning");
    env.orange(["task", "cancel", &old.id]).ok();
    env
}

#[test]
fn filters() {
    let env = several();
    assert_eq!(
        env.keys([""; 0]),
        ["TASK-001", "TASK-003", "TASK-002", "TASK-004", "TASK-005"]
    );
    assert_eq!(env.keys(["--all"]).len(), 5);
    assert_eq!(env.keys(["--status", "cancelled"]), ["TASK-005"]);
    assert_eq!(
        env.keys(["--status", "working,planning"]),
        ["TASK-001", "TASK-003"]
    );
    assert_eq!(
        env.keys(["--status", "working", "--status", "planning"])
            .len(),
        2
    );
    assert_eq!(env.keys(["--queue", "backlog"]), ["TASK-004"]);
    assert_eq!(env.keys(["--category", "bug"]), ["TASK-003"]);
    assert_eq!(
        env.keys(["--priority", "critical,low"]),
        ["TASK-003", "TASK-004"]
    );
    assert_eq!(env.keys(["--tag", "auth"]), ["TASK-001", "TASK-002"]);
    assert_eq!(env.keys(["--tag", "auth", "--tag", "web"]), ["TASK-001"]);
    assert_eq!(env.keys(["--search", "LOGIN"]), ["TASK-001"]);
    assert_eq!(env.keys(["--search", "crash-fix"]), ["TASK-003"]);
    assert_eq!(env.keys(["--search", "task-004"]), ["TASK-004"]);
    // What waits is not ready; what runs is not either.
    assert_eq!(env.keys(["--ready"]), ["TASK-004"]);
    assert_eq!(env.keys(["--limit", "2"]), ["TASK-001", "TASK-003"]);
    assert_eq!(env.keys(["--search", "nothing like it"]), [""; 0]);
}

#[test]
fn as_text() {
    let env = several();
    assert_snapshot!(env.orange(["ls"]), @"
       KEY       STATUS     PRIORITY  SUMMARY                       BRANCH                            UPDATED
    ▶  TASK-001  working              Add a login form              orange/TASK-001-add-a-login-form  [AGE]
    ✎  TASK-003  planning   critical  Fix the crash                 crash-fix                         [AGE]
    ·  TASK-002  pending              Log out · waits for TASK-001  orange/TASK-002-log-out           [AGE]
    ·  TASK-004  pending    low       Some day                      orange/TASK-004-some-day          [AGE]
    –  TASK-005  cancelled            Given up on                   orange/TASK-005-given-up-on       [AGE]
    ");
    assert_eq!(env.keys(["--all"]), env.keys([""; 0]));
    assert_snapshot!(env.orange(["task", "list", "--status", "stuck"]), @"no task in shop matches");
    assert_snapshot!(env.orange(["task", "list", "--ready", "--queue", "active"]), @"no task in shop is ready to start");
}

/// Makes a task as old as that, as its files would have it.
fn ended_days_ago(task: &TestTask, days: i64) {
    let then = orange_core::Timestamp::now() - orange_core::SignedDuration::from_hours(24 * days);
    let edit = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let old = times_in(&text);
        let text = old
            .iter()
            .fold(text, |text, time| text.replace(time, &then.to_string()));
        fs::write(path, text).unwrap();
    };
    edit(task.file());
    edit(task.journal());
}

/// All times of a text.
fn times_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-:.".contains(c)));
    let times = words.filter(|word| word.parse::<orange_core::Timestamp>().is_ok());
    times.map(str::to_owned).collect()
}

#[test]
fn what_is_over_leaves_the_list_after_a_week() {
    let mut env = several();
    let old = env.task_of(&env.list(["--status", "cancelled"])[0]);
    ended_days_ago(&old, 6);
    assert_eq!(env.keys([""; 0]).len(), 5);
    ended_days_ago(&old, 8);
    assert_eq!(env.keys([""; 0]).len(), 4);
    assert_eq!(env.keys(["--all"]).len(), 5);
    assert_eq!(env.keys(["--status", "cancelled"]), ["TASK-005"]);
    assert_eq!(env.keys(["--search", "given"]), [""; 0]);
    assert_snapshot!(env.orange(["ls", "--search", "given"]), @"
    no task in shop matches
    1 older one is over: `orange ls --all`
    ");
    assert_snapshot!(env.orange(["ls", "--limit", "1"]), @"
       KEY       STATUS   SUMMARY           BRANCH                            UPDATED
    ▶  TASK-001  working  Add a login form  orange/TASK-001-add-a-login-form  [AGE]
    1 older one is over: `orange ls --all`
    ------- stderr -------
    … and 3 more
    ");
    assert_snapshot!(env.orange(["ls", "--ready"]), @"
       KEY       STATUS   PRIORITY  SUMMARY   BRANCH                    UPDATED
    ·  TASK-004  pending  low       Some day  orange/TASK-004-some-day  [AGE]
    ");
    env.set("ORANGE_LIST_KEEP_DAYS", "30");
    assert_eq!(env.keys([""; 0]).len(), 5);
    // Damaged settings are no reason to show nothing.
    env.unset("ORANGE_LIST");
    fs::write(env.home().join("config.yaml"), "list: [").unwrap();
    assert_eq!(env.keys([""; 0]).len(), 4);
}

#[test]
fn an_empty_home_is_told_what_to_do() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["ls"]), @r#"no open tasks; `orange new "…"` creates one"#);
    assert_snapshot!(env.orange(["ls", "--all", "--json"]), @r#"{"tasks":[]}"#);
    // Looking creates nothing.
    assert!(!env.tasks().exists());
}

#[test]
fn projects_are_told_apart() {
    let env = several();
    let books = env.init_repository("books");
    env.call(["new", "Write a book"]).at(&books).run().ok();
    assert_eq!(env.keys([""; 0]).len(), 5);
    assert_eq!(env.keys(["--project", "books"]), ["TASK-001"]);
    assert_eq!(env.keys(["--project", "books,shop"]).len(), 6);
    assert_eq!(env.keys(["--all-projects"]).len(), 6);
    // Outside of every project all of them are meant.
    let elsewhere = env.call(["ls", "--json"]).at(env.root()).run().ok().json();
    assert_eq!(elsewhere["tasks"].as_array().unwrap().len(), 6);
    assert_snapshot!(env.orange(["ls", "--all-projects", "--limit", "2"]), @"
       KEY       PROJECT  STATUS   SUMMARY           BRANCH                            UPDATED
    ·  TASK-001  books    pending  Write a book      orange/TASK-001-write-a-book      [AGE]
    ▶  TASK-001  shop     working  Add a login form  orange/TASK-001-add-a-login-form  [AGE]
    ------- stderr -------
    … and 4 more
    ");
    assert_snapshot!(env.orange(["ls", "--project", "magazines"]), @r#"
    ------- stderr -------
    error: there is no project "magazines"
    hint: known projects: shop, books
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["ls", "--project", "shop", "--all-projects"]), @"
    ------- stderr -------
    error: --project cannot be used with --all-projects
    hint: for usage, run `orange ls --help`
    [exit status: 2]
    ");
    env.orange(["ls", "--project", "magazines", "--json"])
        .refuses(4, "not_found");
}

#[test]
fn unknown_words_are_refused() {
    let env = several();
    assert_snapshot!(env.orange(["ls", "--status", "sleeping"]), @r#"
    ------- stderr -------
    error: --status: "sleeping" is not a status; allowed: pending, planning, clarification, working, agent-review, reviewing, stuck, delegated, done, cancelled, created, classifying, planned, running, blocked, paused, completed, finalizing, failed, finished
    hint: for usage, run `orange ls --help`
    [exit status: 2]
    "#);
    env.orange(["ls", "--limit", "-1", "--json"])
        .refuses(2, "usage");
    env.orange(["ls", "--priority", "urgent", "--json"])
        .refuses(2, "usage");
}

#[test]
fn at_eighty_columns_every_line_fits() {
    let env = several();
    env.create([
        "a-very-long-branch-name-for-a-task-that-nobody-would-type-twice",
        "A summary that goes on and on, far beyond what fits on a terminal of eighty columns",
    ]);
    let shown = in_terminal(&env, 80, &format!("NO_COLOR=1 {} ls", program().display()));
    for line in shown.lines() {
        let width: usize = line.chars().count();
        assert!(width <= 80, "{width} columns in {line:?}");
    }
    assert_snapshot!(shown, @"
       KEY       STATUS     PRIORITY  SUMMARY                                UPDATED
    ▶  TASK-001  working              Add a login form                       [AGE]
    ✎  TASK-003  planning   critical  Fix the crash                          [AGE]
    ·  TASK-002  pending              Log out · waits for TASK-001           [AGE]
    ·  TASK-006  pending              A summary that goes on and on, far b…  [AGE]
    ·  TASK-004  pending    low       Some day                               [AGE]
    –  TASK-005  cancelled            Given up on                            [AGE]
    ");
    // A wide one shows the branch as well.
    let shown = in_terminal(&env, 200, &format!("NO_COLOR=1 {} ls", program().display()));
    assert!(shown.contains("crash-fix"), "{shown}");
    assert!(
        shown.contains("far beyond what fits on a terminal of eighty columns"),
        "{shown}"
    );
}

#[test]
fn the_project_stays_where_keys_look_alike_and_a_long_summary_is_cut_first() {
    let env = TestEnvironment::new();
    let long =
        "A summary that goes on and on, far beyond what fits on a terminal of eighty columns";
    let task = env.create(["login", long]);
    let books = env.init_repository("books");
    env.call(["task", "create", "book", "Write"])
        .at(&books)
        .run()
        .ok();
    env.bring_to(&task, "reviewing");
    env.commit(&env.slot_of(&task), "login.txt", "a form\n");
    let list = format!("NO_COLOR=1 {} ls --all-projects", program().display());
    for width in [80, 60, 45] {
        let shown = in_terminal(&env, width, &list);
        for word in ["PROJECT", "STATUS", "books", "shop", "A summ"] {
            assert!(shown.contains(word), "{word} at {width}\n{shown}");
        }
        assert_eq!(shown.contains("DIFF"), width == 80, "{width}\n{shown}");
    }
}

#[test]
fn a_damaged_task_takes_no_columns_from_the_others() {
    let env = TestEnvironment::new();
    let task = env.create(["feature/one-and-more-words", "Short"]);
    env.create(["feature/two", "Another"]);
    let list = format!("NO_COLOR=1 {} ls", program().display());
    assert!(in_terminal(&env, 80, &list).contains("BRANCH"));
    fs::write(task.file(), "no frontmatter at all").unwrap();
    assert_snapshot!(in_terminal(&env, 80, &list), @"
       KEY       STATUS   SUMMARY  BRANCH                      UPDATED
    ✗  TASK-001  damaged  Short    feature/one-and-more-words  [AGE]
       the file does not start with a `---` line
    ·  TASK-002  pending  Another  feature/two                 [AGE]
    ");
    env.orange(["ls", "--search", "short"]).ok().says("damaged");
    env.orange(["search", "short"]).ok().says("TASK-001");
}

#[test]
fn colours_only_on_a_terminal_and_only_if_wanted() {
    let env = several();
    let line = format!("{} ls", program().display());
    assert!(in_terminal(&env, 120, &line).contains(RED));
    assert!(!in_terminal(&env, 120, &format!("NO_COLOR=1 {line}")).contains(RED));
    assert!(!env.orange(["ls"]).ok().stdout.contains(RED));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let env = several();
    for number in 0..40 {
        env.create([format!("task-{number}"), "word ".repeat(300)]);
    }
    let line = format!(
        "{} ls --json | head -c 10; {} ls | head -1",
        program().display(),
        program().display()
    );
    let output = env
        .foreign("bash")
        .args([
            "-c",
            &format!("set -o pipefail; {line}; exit ${{PIPESTATUS[0]}}"),
        ])
        .current_dir(env.shop())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stdout.is_empty());
}

#[test]
fn nothing_in_a_summary_reaches_the_terminal_as_a_command() {
    let env = TestEnvironment::new();
    let task = env.create(["Harmless at first"]);
    let wild =
        "red\u{1b}[31m bell\u{7} rtl\u{202e}txt zero\u{200b}width del\u{7f} c1\u{9b}31m emoji 👩‍💻 é";
    env.update(&task, &["--summary", wild])
        .ok()
        .silent_about("\u{1b}");
    for arguments in [
        &["ls"][..],
        &["task", "show", "TASK-001"],
        &["task", "why", "TASK-001"],
        &["task", "deps", "TASK-001", "--tree"],
        &["task", "show", "TASK-001", "--history"],
    ] {
        let run = env.orange(arguments).ok();
        for bad in [
            '\u{1b}', '\u{7}', '\u{202e}', '\u{200b}', '\u{7f}', '\u{9b}',
        ] {
            assert!(!run.stdout.contains(bad), "{bad:?} in {run}");
        }
    }
    assert_snapshot!(env.orange(["ls"]), @"
       KEY       STATUS   SUMMARY                                                   BRANCH                             UPDATED
    ·  TASK-001  pending  red␛[31m bell␇ rtl�txt zero�width del␡ c1�31m emoji 👩‍💻 é  orange/TASK-001-harmless-at-first  [AGE]
    ");
    // JSON keeps the text as it is, escaped.
    assert_eq!(env.show(&task)["summary"], wild);
    let json = env.orange(["ls", "--json"]).ok();
    assert!(
        !json.stdout.contains('\u{1b}') && json.stdout.contains("\\u001b"),
        "{json}"
    );
}

#[test]
fn a_list_in_json_has_every_field_also_of_nested_values() {
    let env = TestEnvironment::new();
    let task = env.create(["With metadata"]);
    task.edit(
        "crash_count: 0",
        "crash_count: 0\nmetadata: {team: {name: a, size: 3}}",
    );
    let listed = env.list([""; 0]);
    assert_eq!(listed[0]["metadata"]["team"]["size"], 3);
    assert_eq!(listed[0]["damaged"], serde_json::Value::Null);
    let shown = env.show(&task);
    for (name, value) in listed[0].as_object().unwrap() {
        if !matches!(
            name.as_str(),
            "waits_for" | "agents" | "checks_failed" | "needs_me" | "revision" | "updated_at"
        ) {
            assert_eq!(*value, shown[name], "{name}");
        }
    }
}

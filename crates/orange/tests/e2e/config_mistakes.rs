//! `orange config …` with mistakes: in the file, where none of them hides anything else, and in what is typed.

use crate::config::{edit, settings, with_settings};
use crate::env::TestEnvironment;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

const WRONG: &str = "agents:\n  limit: many\n  review_harness: cluade\nreview:\n  maxrounds: 3\nlog:\n  level: debug\n";

#[test]
fn show_marks_every_mistake_and_hides_nothing() {
    let env = with_settings(WRONG);
    let show = env.orange(["config", "show"]).fails_with(1);
    let row = |key: &str| {
        let mut lines = show.stdout.lines();
        let line = lines.find(|line| line.starts_with(key)).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        words
            .join(" ")
            .replace(env.home().to_str().unwrap(), "~/orange")
    };
    assert_eq!(
        row("agents.limit"),
        "agents.limit ✗ many ~/orange/config.yaml:2"
    );
    assert_eq!(
        row("review.maxrounds"),
        "review.maxrounds ✗ 3 ~/orange/config.yaml:5"
    );
    assert_eq!(row("log.level"), "log.level debug ~/orange/config.yaml:7");
    assert_eq!(row("merge.strategy"), "merge.strategy squash default");
    let told = show
        .stderr
        .replace(env.home().to_str().unwrap(), "~/orange");
    assert_snapshot!(told, @r#"
    error: ~/orange/config.yaml has 3 mistakes:
      line 2: agents.limit must be a whole number above 0
      line 3: agents.review_harness: there is no harness "cluade"; did you mean claude?
      line 5: there is no setting "review.maxrounds"; did you mean review.max_rounds?
    hint: `orange config edit` opens it
    "#);
    let json = env
        .orange(["config", "show", "--json"])
        .fails_with(1)
        .json();
    let limit = json["settings"].as_array().unwrap().iter();
    let limit = limit.clone().find(|one| one["key"] == "agents.limit");
    assert_eq!(
        limit.unwrap()["mistake"],
        "agents.limit must be a whole number above 0"
    );
    assert_eq!(json["unknown"][0]["key"], "review.maxrounds");
    // What can be used is given; what cannot, is not.
    let get = env.orange(["config", "get", "log.level"]).ok();
    assert_eq!(get.stdout, "debug\n");
    assert!(get.stderr.contains("config.yaml has 3 mistakes:"), "{get}");
    assert_snapshot!(env.orange(["config", "get", "agents.limit"]), @"
    ------- stderr -------
    error: config.yaml, line 2: agents.limit must be a whole number above 0
    hint: correct it with `orange config set`, or `orange config edit`
    [exit status: 2]
    ");
    let section = env.orange(["config", "get", "review"]).fails_with(1);
    assert!(section.stdout.contains("✗ 3"), "{section}");
    let told = "config.yaml, line 5: there is no setting \"review.maxrounds\"";
    assert!(section.stderr.contains(told), "{section}");
    // Whoever needs settings names all mistakes, too.
    let new = env.orange(["new", "Add a login form"]).fails_with(2);
    assert!(
        new.stderr
            .contains("config.yaml has 3 mistakes:\n  line 2: "),
        "{new}"
    );
    let doctor = env.orange(["doctor"]).fails_with(1);
    for told in [
        "line 2: agents.limit",
        "line 3: agents.review_harness",
        "line 5: there is no setting \"review.maxrounds\"",
    ] {
        assert!(
            doctor.stdout.contains(&format!("config.yaml: {told}")),
            "{doctor}"
        );
    }
}

#[test]
fn mistakes_are_corrected_one_by_one() {
    let env = with_settings(WRONG);
    assert_snapshot!(env.orange(["config", "set", "agents.limit", "4"]), @r#"
    agents.limit: many → 4
    ------- stderr -------
    note: config.yaml has 2 mistakes:
      line 3: agents.review_harness: there is no harness "cluade"; did you mean claude?
      line 5: there is no setting "review.maxrounds"; did you mean review.max_rounds?
    note: `orange config edit` opens it
    "#);
    let unset = env
        .orange(["config", "unset", "agents.review_harness"])
        .ok();
    assert_eq!(unset.stdout, "agents.review_harness: cluade → not set\n");
    // What means nothing stops nobody, but is told.
    assert_snapshot!(env.orange(["config", "get", "agents.limit"]), @r#"
    4
    ------- stderr -------
    note: config.yaml, line 4: there is no setting "review.maxrounds"; did you mean review.max_rounds?
    "#);
    env.orange(["config", "show"]).fails_with(1);
    env.orange(["new", "Add a login form"]).ok();
}

#[test]
fn what_is_no_yaml_can_only_be_edited() {
    let env = with_settings("");
    let file = env.home().join("config.yaml");
    for text in [
        &b"agents: [\n"[..],
        b"agents:\n  limit: \xff\n",
        b"hello\n",
        b"a: 1\na: 2\n",
    ] {
        fs::write(&file, text).unwrap();
        for arguments in [&["config", "show"][..], &["config", "get", "agents.limit"]] {
            let run = env.orange(arguments).fails_with(2);
            assert!(run.stderr.contains("error: config.yaml, line "), "{run}");
            assert_eq!(run.stdout, "", "no defaults as if they counted");
        }
        let ls = env.orange(["ls"]).ok();
        assert!(ls.stderr.contains("note: config.yaml, line "), "{ls}");
        assert!(
            ls.stderr.contains("all settings have their defaults"),
            "{ls}"
        );
        env.orange(["new", "Add a login form"]).fails_with(2);
        let run = env.orange(["config", "set", "agents.limit", "3"]);
        run.fails_with(2).says("`orange config edit` opens it");
        let doctor = env.orange(["doctor"]).fails_with(1);
        assert!(doctor.stdout.contains("✗ config.yaml: line "), "{doctor}");
        assert_eq!(fs::read(&file).unwrap(), text);
        edit(&env, "printf 'agents:\\n  limit: 5\\n' > \"$1\"").ok();
        assert_eq!(settings(&env), "agents:\n  limit: 5\n");
    }
    let run = edit(
        &env,
        "printf 'agents:\\n  limit: x\\nlog:\\n  level: y\\n' > \"$1\"",
    );
    let told = "config.yaml has 2 mistakes:\n  line 2: agents.limit must be a whole number above 0\n  line 4: \
                log.level must be one of: off, error, warn, info, debug, trace\nnothing was changed; your text is in ";
    assert!(run.fails_with(2).stderr.contains(told));
}

#[test]
fn what_cannot_be_used_is_not_set() {
    let env = TestEnvironment::empty();
    let refused = |arguments: &[&str]| {
        let mut all = vec!["config", "set"];
        all.extend(arguments);
        let run = env.orange(all).fails_with(2);
        let first = run.stderr.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_owned()
    };
    for (arguments, told) in [
        (
            &["agents.harness", "frog"][..],
            "agents.harness: there is no harness \"frog\"; there are claude, codex, opencode, pi, gemini, sim, none, and what you define as `harness.NAME`",
        ),
        (
            &["agents.review_harness", "codx"],
            "agents.review_harness: there is no harness \"codx\"; did you mean codex?",
        ),
        (
            &["git.branch_template", "foo"],
            "git.branch_template: the branch template \"foo\" gives all tasks the same branch; {key}, {slug} or {id} tells them apart",
        ),
        (
            &["git.branch_template", "a b/{key}"],
            "git.branch_template: the branch template \"a b/{key}\" gives \"a b/TASK-001\", and git takes no branch of that name",
        ),
        (
            &["harness.NAME", "my-agent"],
            "harness.NAME: write a name of your own for NAME, such as harness.mine",
        ),
        (
            &["agents.limit", "-1"],
            "agents.limit must be a whole number above 0",
        ),
        (
            &["agents.retry_delay", "-5"],
            "agents.retry_delay must be a time above 0: seconds, or such as 90s, 10m, 1h",
        ),
        (
            &["trash", "3"],
            "trash is a section, not a setting: it has trash.keep_days",
        ),
    ] {
        assert_eq!(refused(arguments), told);
    }
    assert!(!env.home().join("config.yaml").exists());
    // A harness of the user's own is one; and a time has a unit.
    env.orange(["config", "set", "harness.mine", "my-agent"])
        .ok();
    env.orange(["config", "set", "agents.harness", "mine"]).ok();
    assert_snapshot!(env.orange(["config", "set", "agents.retry_delay", "5"]), @"agents.retry_delay: not set → 5s");
    // What another setting needs stays.
    let before = fs::read_to_string(env.home().join("config.yaml")).unwrap();
    env.orange(["config", "unset", "harness.mine"])
        .fails_with(2)
        .says("harness.mine is in use, and without it agents.harness: there is no harness \"mine\"")
        .says("hint: change agents.harness first");
    let after = fs::read_to_string(env.home().join("config.yaml")).unwrap();
    assert_eq!(after, before);
    let run = env
        .call(["config", "show"])
        .var("ORANGE_AGENTS_REVIEW_HARNESS", "frog");
    env.orange(["config", "unset", "agents.harness"]).ok();
    run.run().fails_with(2).says("there is no harness \"frog\"");
}

#[test]
fn a_section_is_its_settings() {
    let env = with_settings("trash:\n  keep_days: 5\n");
    let get = env.orange(["config", "get", "trash"]).ok();
    let words: Vec<&str> = get.stdout.split_whitespace().take(5).collect();
    assert_eq!(
        words,
        ["SETTING", "VALUE", "SOURCE", "trash.keep_days", "5"]
    );
    let json = env.orange(["config", "get", "log", "--json"]).ok().json();
    let keys: Vec<&Value> = json["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["key"])
        .collect();
    assert_eq!(keys, [&json!("log.level"), &json!("log.keep_days")]);
    assert_snapshot!(env.orange(["config", "unset", "log"]), @"
    ------- stderr -------
    error: log is a section, not a setting: it has log.level, log.keep_days
    hint: `orange config get log` shows their values
    [exit status: 2]
    ");
}

#[test]
fn a_byte_order_mark_stays_where_it_is() {
    let env = with_settings("\u{feff}merge:\r\n  strategy: rebase # why\r\n");
    assert_eq!(
        env.orange(["config", "get", "merge.strategy"]).ok().stdout,
        "rebase\n"
    );
    env.orange(["config", "set", "merge.strategy", "ff"]).ok();
    assert_eq!(settings(&env), "\u{feff}merge:\r\n  strategy: ff # why\r\n");
}

#[test]
fn the_other_name_of_a_file_is_told_of() {
    let env = with_settings("merge:\n  strategy: rebase\n");
    let other = env.root().join("dotfile.yaml");
    fs::hard_link(env.home().join("config.yaml"), &other).unwrap();
    let set = env.orange(["config", "set", "merge.strategy", "ff"]).ok();
    assert!(
        set.stderr
            .contains("had another name (a hard link), which keeps the text from before"),
        "{set}"
    );
    assert_eq!(
        fs::read_to_string(other).unwrap(),
        "merge:\n  strategy: rebase\n"
    );
    let again = env
        .orange(["config", "set", "merge.strategy", "merge"])
        .ok();
    assert_eq!(again.stderr, "");
}

#[test]
fn who_only_reads_goes_on_with_what_can_be_used() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    let file = env.home().join("config.yaml");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let wrong = format!("{before}\nmerge:\n  strategy: sqash\nlist:\n  keepdays: 3\n");
    fs::write(&file, wrong).unwrap();
    for arguments in [
        &["ls"][..],
        &["task", "show", "TASK-001"],
        &["task", "why", "TASK-001"],
        &["task", "deps"],
        &["task", "path", "TASK-001", "--json"],
        &["search", "login"],
        &["log"],
        &["watch", "--once"],
        &["project", "list"],
        &["workspace", "list"],
        &["harness", "list"],
        &["prompt", "list"],
    ] {
        let run = env.orange(arguments);
        for told in [
            "note: config.yaml has 2 mistakes:",
            ": merge.strategy must be one of: ",
            ": there is no setting \"list.keepdays\"; did you mean list.keep_days?",
            "what cannot be used has its default until you correct it",
        ] {
            assert_eq!(run.stderr.matches(told).count(), 1, "{arguments:?}: {run}");
        }
        assert!(!run.stderr.contains("error: config.yaml"), "{run}");
    }
    env.orange(["task", "why", "TASK-001"]).ok();
    assert_eq!(env.orange(["status"]).ok().stderr, "");
    let merge = env.orange(["merge", "TASK-001"]);
    assert!(merge.stderr.contains("error: "), "{merge}");
    let new = env.orange(["new", "Add a logout button"]).fails_with(2);
    assert!(
        new.stderr.contains("error: config.yaml has 2 mistakes:"),
        "{new}"
    );
}

#[test]
fn variables_that_cannot_be_used_are_all_named() {
    let env = TestEnvironment::new();
    let with = |arguments: &[&str]| {
        env.call(arguments)
            .var("ORANGE_AGENTS_LIMIT", "many")
            .var("ORANGE_MERGE_PUSH", "perhaps")
            .var("ORANGE_LOG_LEVEL", "loud")
            .run()
    };
    assert_snapshot!(with(&["new", "Add a login form"]), @"
    ------- stderr -------
    error: 3 variables cannot be used:
      ORANGE_AGENTS_LIMIT: agents.limit must be a whole number above 0
      ORANGE_MERGE_PUSH: merge.push must be true or false
      ORANGE_LOG_LEVEL: log.level must be one of: off, error, warn, info, debug, trace
    hint: correct them, or unset them
    [exit status: 2]
    ");
    assert_snapshot!(with(&["ls"]), @r#"
    no open tasks in shop; `orange new "…"` creates one
    ------- stderr -------
    note: ORANGE_AGENTS_LIMIT: agents.limit must be a whole number above 0; the variable does not count
    note: ORANGE_MERGE_PUSH: merge.push must be true or false; the variable does not count
    note: ORANGE_LOG_LEVEL: log.level must be one of: off, error, warn, info, debug, trace; the variable does not count
    "#);
    let one = env.call(["new", "Add a login form"]);
    let one = one.var("ORANGE_AGENTS_LIMIT", "many").run().fails_with(2);
    one.says("error: ORANGE_AGENTS_LIMIT: agents.limit must be a whole number above 0\nhint: correct the variable");
}

#[test]
fn a_section_with_a_value_is_told_for_what_it_is() {
    let env = with_settings("trash: 3\n");
    let told = "config.yaml, line 1: trash is a section and has no value of its own; its settings stand on lines below it: trash.keep_days";
    env.orange(["ls"]).ok().says(told);
}

#[test]
fn what_was_corrected_is_not_told_any_more() {
    let env = with_settings("trash:\n  keepdays: 3\n  keep_days: 4\n");
    let run = edit(&env, "printf 'trash:\\n  keep_days: 3\\n' > \"$1\"").ok();
    assert_eq!(run.stderr, "");
    // What is still there, is told from where it stands now.
    fs::write(
        env.home().join("config.yaml"),
        "log:\n  level: info\ntrash:\n  keepdays: 3\n",
    )
    .unwrap();
    assert_snapshot!(env.orange(["config", "unset", "log.level"]), @r#"
    log.level: info → not set (default: info)
    ------- stderr -------
    note: config.yaml, line 2: there is no setting "trash.keepdays"; did you mean trash.keep_days?
    "#);
    assert_eq!(settings(&env), "trash:\n  keepdays: 3\n");
}

#[test]
fn an_empty_text_is_not_set() {
    let env = TestEnvironment::empty();
    for text in ["", "  ", "null"] {
        assert_eq!(
            env.orange(["config", "set", "notify.command", text])
                .fails_with(2)
                .stderr,
            "error: notify.command: the text is empty\nhint: to have none: `orange config unset notify.command`\n"
        );
    }
    assert!(!env.home().join("config.yaml").exists());
}

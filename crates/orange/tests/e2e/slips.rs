//! Slips of the fingers: what may have been meant is said wherever a word names nothing.

use crate::env::TestEnvironment;
use insta::assert_snapshot;

#[test]
fn a_word_that_names_nothing_is_answered_with_the_nearest_one() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    assert_snapshot!(env.orange(["task", "list", "--project", "shpo"]), @r#"
    ------- stderr -------
    error: there is no project "shpo"
    hint: did you mean shop? known projects: shop
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "show", "TSAK-001"]), @r#"
    ------- stderr -------
    error: there is no task "TSAK-001"
    hint: did you mean TASK-001? `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "show", "lgoin"]), @r#"
    ------- stderr -------
    error: there is no task "lgoin"
    hint: did you mean login? `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "show", "shpo:TASK-001"]), @"
    ------- stderr -------
    error: there is no TASK-001 in project shpo
    hint: did you mean shop:TASK-001? `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["task", "show", "shop/logon"]), @r#"
    ------- stderr -------
    error: there is no task "shop/logon"
    hint: did you mean shop/login? `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--status", "plannig"]), @r#"
    ------- stderr -------
    error: --status: "plannig" is not a status; did you mean planning? allowed: pending, planning, clarification, working, agent-review, reviewing, stuck, delegated, done, cancelled, created, classifying, planned, running, blocked, paused, completed, finalizing, failed, finished
    hint: for usage, run `orange task update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "create", "x", "--harness", "cluade"]), @r#"
    ------- stderr -------
    error: there is no harness "cluade"
    hint: did you mean claude? known: claude, codex, opencode, pi, gemini, sim, none; another one can be set up in config.yaml, as `harness.cluade`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--review-harness", "codx"]), @r#"
    ------- stderr -------
    error: there is no harness "codx"
    hint: did you mean codex? known: claude, codex, opencode, pi, gemini, sim, none; another one can be set up in config.yaml, as `harness.codx`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["prompt", "show", "reviwer"]), @r#"
    ------- stderr -------
    error: "reviwer" is not a prompt; did you mean reviewer? allowed: worker, worker-wait, clarify, reviewer, stuck-fix, review-failed, check-failed, changes-requested, answered, told-stuck, nudge, respawn-planning, respawn-clarification, respawn-working, respawn-agent-review, respawn-reviewing, respawn-stuck, phase-research, phase-spec, phase-design, phase-implement, phase-review, phase-docs, phase-test, phase-validate, classify, judge
    hint: for usage, run `orange prompt show --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["workflow", "show", "interative"]), @r#"
    ------- stderr -------
    error: "interative" is not a workflow; did you mean interactive? allowed: interactive, phased
    hint: for usage, run `orange workflow show --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "merge", "TASK-001", "--strategy", "sqash"]), @r#"
    ------- stderr -------
    error: --strategy: "sqash" is not a merge strategy; did you mean squash? allowed: squash, merge, rebase, ff
    hint: for usage, run `orange task merge --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--priority", "hihg"]), @r#"
    ------- stderr -------
    error: --priority: "hihg" is not a priority; did you mean high? allowed: critical, high, normal, low
    hint: for usage, run `orange task update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "create", "x", "--permissions", "ful"]), @r#"
    ------- stderr -------
    error: --permissions: "ful" is not a permission mode; did you mean full? allowed: full, edits, ask
    hint: for usage, run `orange task create --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "lsit"]), @r#"
    ------- stderr -------
    error: there is no command "lsit"
    hint: did you mean `orange task list`?
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "mrege"]), @r#"
    ------- stderr -------
    error: there is no command "mrege"
    hint: did you mean `orange task merge`?
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["ls", "--done"]), @"
    ------- stderr -------
    error: there is no option --done
    hint: --status done, with --all however long ago
    [exit status: 2]
    ");
    env.orange(["task", "list", "--sort", "age"])
        .fails_with(2)
        .says("hint: what needs you comes first");
    env.orange(["ls", "--trash"])
        .fails_with(2)
        .says("hint: `orange restore` lists deleted tasks")
        .silent_about("a similar argument");
    env.orange(["ls", "--stauts", "done"])
        .fails_with(2)
        .says("did you mean `orange ls --status done`?");
    env.orange(["run", "TASK-001"])
        .fails_with(3)
        .says("hint: start it: `orange spawn TASK-001`");
    assert_snapshot!(env.orange(["run"]), @"
    ------- stderr -------
    error: no task is named
    hint: `orange run --ready` starts what nothing holds back (TASK-001); `orange spawn ID` starts one, `orange run ID` a phased one
    [exit status: 2]
    ");
    // Another number is another task, not a slip.
    for other in ["TASK-002", "TASK-9x", "TSAK-009"] {
        env.orange(["task", "show", other])
            .fails_with(4)
            .silent_about("did you mean");
    }
}

#[test]
fn a_command_that_people_know_from_elsewhere_is_answered_with_its_name_here() {
    let env = TestEnvironment::new();
    for (line, tip) in [
        ("init", "hint: `orange project add .` registers"),
        ("version", "hint: `orange --version` tells"),
        ("start 1", "did you mean `orange spawn 1`?"),
        ("task start 1", "did you mean `orange task spawn 1`?"),
        ("config list", "did you mean `orange config show`?"),
        ("config show merge", "hint: `orange config get merge` shows"),
        (
            "config set agents.harness=sim",
            "hint: key and value are two words: `orange config set agents.harness sim`",
        ),
    ] {
        env.orange(line.split(' ')).fails_with(2).says(tip);
    }
    for line in [
        "blub",
        "task blub",
        "config set merge.push",
        "workspace show",
    ] {
        let said = env.orange(line.split(' ')).fails_with(2);
        said.silent_about("did you mean").silent_about("two words");
    }
}

#[test]
fn the_whole_line_is_repeated_with_the_word_that_was_meant() {
    let env = TestEnvironment::new();
    let long = "x".repeat(200);
    for (words, line) in [
        (
            &["reqest-changes", "3", "make it blue", "--json"][..],
            "orange request-changes 3 \"make it blue\" --json",
        ),
        (&["task", "shwo", "3"], "orange task show 3"),
        (&["shwo", "3"], "orange show 3"),
        (&["sl"], "orange ls"),
        (&["tsak", "show", "3"], "orange task show 3"),
        (
            &["--json", "mrege", "3", "--strategy=ff"],
            "orange --json merge 3 --strategy=ff",
        ),
        (
            &["sned", "3", "it's $HOME"],
            r"orange send 3 'it'\''s $HOME'",
        ),
        (&["sned", "3", "two\nlines", &long], "orange send 3 … …"),
        (&["config", "gte", "merge"], "orange config get merge"),
        (&["ls", "--stauts", "done"], "orange ls --status done"),
        (&["ls", "--stauts=done"], "orange ls --status=done"),
        (
            &["new", "Fix", "it", "--prioriy", "high"],
            "orange new Fix it --priority high",
        ),
    ] {
        let said = env.orange(words).fails_with(2);
        let json = words.contains(&"--json");
        let hint = if json {
            said.json()["error"]["hint"].as_str().unwrap().to_owned()
        } else {
            said.stderr.replace("\n      ", " ")
        };
        assert!(hint.contains(&format!("did you mean `{line}`?")), "{said}");
    }
    // What is only a little alike is not what was meant.
    for words in [
        &["frobnicate", "3"][..],
        &["xx"],
        &["task", "go", "3"],
        &["ls", "--colour"],
    ] {
        env.orange(words).fails_with(2).silent_about("did you mean");
    }
    env.orange(["log", "--level", "wran"])
        .fails_with(2)
        .says("did you mean warn?");
}

#[test]
fn little_of_an_id_counts_and_what_it_was_taken_for_is_told() {
    let env = TestEnvironment::new();
    // Ids begin with a letter or a digit; a few digits are a key.
    let task = std::iter::repeat_with(|| env.create(["--no-spawn", "One more"]))
        .find(|task| !task.id.starts_with(|letter: char| letter.is_ascii_digit()))
        .unwrap();
    let unique = (1..=task.id.len()).find(|length| {
        let tasks = env.list(["--all"]);
        let same = |other: &&serde_json::Value| {
            other["id"]
                .as_str()
                .unwrap()
                .starts_with(&task.id[..*length])
        };
        tasks.iter().filter(same).count() == 1
    });
    let short = &task.id[..unique.unwrap()];
    let shown = env.orange(["task", "why", short]).ok();
    shown.says(&format!("{short:?} is taken for {}, {}", task.key, task.id));
    env.orange(["task", "why", &task.id[..8]])
        .ok()
        .silent_about("is taken for");
}

//! `orange config …`: what counts, why, and how it is changed.

use crate::env::{TestEnvironment, with_answers};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const FILE: &str = "# mine\nmerge:\n  strategy: rebase   # linear\n\nworkspace:\n  copy: [.env]\n";

pub(crate) fn with_settings(text: &str) -> TestEnvironment {
    let env = TestEnvironment::new();
    fs::write(env.home().join("config.yaml"), text).unwrap();
    env
}

pub(crate) fn settings(env: &TestEnvironment) -> String {
    fs::read_to_string(env.home().join("config.yaml")).unwrap()
}

/// What the shop's repository says, committed.
fn commit_settings(env: &TestEnvironment, text: &str) -> String {
    fs::create_dir_all(env.shop().join(".orange")).unwrap();
    let commit = env.commit(&env.shop(), ".orange/config.yaml", text);
    commit[..7].to_owned()
}

/// A setting as `config show` has it.
fn shown(env: &TestEnvironment, arguments: &[&str], key: &str) -> Value {
    let mut all = vec!["config", "show", "--json"];
    all.extend(arguments);
    let shown = env.call(all).at(env.root()).run().ok().json();
    let settings = shown["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["key"] == key);
    found.unwrap_or(&Value::Null).clone()
}

fn value_and_source(env: &TestEnvironment, arguments: &[&str], key: &str) -> (Value, String) {
    let setting = shown(env, arguments, key);
    let source = setting["source"].as_str().unwrap();
    let home = env.home();
    let source = source.replace(home.to_str().unwrap(), "[HOME]");
    (
        setting["value"].clone(),
        source.replace("~/orange", "[HOME]"),
    )
}

#[test]
fn every_layer_overrides_the_one_before_and_is_named() {
    let mut env = TestEnvironment::new();
    let of = |env: &TestEnvironment, more: &[&str], key: &str| value_and_source(env, more, key);
    assert_eq!(
        of(&env, &[], "merge.strategy"),
        (json!("squash"), "default".into())
    );
    fs::write(env.home().join("config.yaml"), FILE).unwrap();
    let user = (json!("rebase"), "[HOME]/config.yaml:3".into());
    assert_eq!(of(&env, &[], "merge.strategy"), user);
    let commit = commit_settings(
        &env,
        "workspace:\n  copy: [certs]\n  timeout: 5m\nmerge:\n  strategy: merge\n",
    );
    // Without a project, no repository speaks.
    assert_eq!(of(&env, &[], "merge.strategy"), user);
    let shop = ["--project", "shop"];
    let theirs = format!(".orange/config.yaml@{commit}");
    assert_eq!(
        of(&env, &shop, "merge.strategy"),
        (json!("merge"), format!("{theirs}:5"))
    );
    assert_eq!(
        of(&env, &shop, "workspace.copy"),
        (
            json!(["certs", ".env"]),
            format!("{theirs}:2, [HOME]/config.yaml:6")
        )
    );
    assert_eq!(
        of(&env, &shop, "workspace.timeout"),
        (json!("5m"), format!("{theirs}:3"))
    );
    env.set("ORANGE_MERGE_STRATEGY", "ff");
    env.set("ORANGE_WORKSPACE_TIMEOUT", "1m");
    assert_eq!(
        of(&env, &shop, "merge.strategy"),
        (json!("ff"), "ORANGE_MERGE_STRATEGY".into())
    );
    assert_eq!(
        of(&env, &shop, "workspace.timeout"),
        (json!("1m"), "ORANGE_WORKSPACE_TIMEOUT".into())
    );
    let line = ["--project", "shop", "--config", "merge.strategy=squash"];
    assert_eq!(
        of(&env, &line, "merge.strategy"),
        (json!("squash"), "--config".into())
    );
    // In the repository's folder its project is meant.
    let get = |arguments: &[&str]| env.orange(arguments).ok().stdout;
    assert_eq!(get(&["config", "get", "workspace.copy"]), "certs\n.env\n");
    assert_eq!(get(&["config", "get", "merge.strategy"]), "ff\n");
    assert_eq!(get(&["config", "get", "notify.command"]), "");
}

#[test]
fn what_only_a_checkout_or_a_branch_says_does_not_count() {
    let env = TestEnvironment::new();
    commit_settings(&env, "review:\n  max_rounds: 3\n");
    fs::write(
        env.shop().join(".orange/config.yaml"),
        "review:\n  max_rounds: 9\n",
    )
    .unwrap();
    env.git(&env.shop(), &["checkout", "-q", "-b", "other"]);
    env.git(&env.shop(), &["commit", "-qam", "mine"]);
    let get = env.orange(["config", "get", "review.max_rounds"]).ok();
    assert_eq!(get.stdout, "3\n");
}

#[test]
fn a_repository_decides_for_its_tasks_what_it_may() {
    let env = TestEnvironment::new();
    commit_settings(
        &env,
        "git:\n  branch_template: team/{key}\nreview:\n  max_rounds: 1\nagents:\n  spawn_on_create: true\n",
    );
    env.orange(["new", "Add a login form"])
        .ok()
        .says("team/TASK-001");
    let task = env.list([""; 0]);
    assert_eq!(task[0]["status"], "pending", "{task:?}");
    let show = env.orange(["config", "show"]).ok();
    assert!(
        show.stderr.contains(
            "note: .orange/config.yaml, line 6: agents.spawn_on_create does not count here: it decides what agents spend"
        ),
        "{show}"
    );
    let doctor = env.orange(["doctor"]).fails_with(1);
    assert!(
        doctor
            .stdout
            .contains("line 6: agents.spawn_on_create does not count here"),
        "{doctor}"
    );
    // The one failed review that the team allows.
    let task = env.create(["other", "Another one"]);
    env.bring_to(&task, "agent-review");
    task.append("\n## Review\n\nVerdict: FAIL\n\nIt is not good.\n");
    env.move_to(&task, "working")
        .fails_with(3)
        .says("review round 1 of 1 was the last");
}

#[test]
fn a_repository_whose_settings_cannot_be_read_decides_nothing() {
    let env = with_settings(FILE);
    commit_settings(&env, "merge:\n  strategy: many\n");
    let show = env.orange(["config", "show"]).ok();
    let told = ", line 2: merge.strategy must be one of: squash, merge, rebase, ff";
    assert!(show.stderr.contains(told), "{show}");
    assert_eq!(
        env.orange(["config", "get", "merge.strategy"]).ok().stdout,
        "rebase\n"
    );
    // Nothing that a person can do is stopped by it: the branch has the user's own name for it.
    env.orange(["new", "Add a login form", "--no-spawn"])
        .ok()
        .says("your own settings count");
}

#[test]
fn set_keeps_everything_else() {
    let env = with_settings(FILE);
    assert_snapshot!(env.orange(["config", "set", "merge.strategy", "ff"]), @"merge.strategy: rebase → ff");
    assert_eq!(settings(&env), FILE.replace("rebase", "ff"));
    env.orange(["config", "set", "workspace.copy", ".env", "certs/*.pem"])
        .ok();
    env.orange(["config", "set", "workspace.setup", "[npm ci, make]"])
        .ok();
    env.orange([
        "config",
        "set",
        "harness.mine",
        "--",
        "my-agent",
        "-x",
        "{prompt}",
    ])
    .ok();
    assert_snapshot!(settings(&env), @r#"
    # mine
    merge:
      strategy: ff   # linear

    workspace:
      copy: [".env", certs/*.pem]
      setup: [npm ci, make]
    harness:
      mine: [my-agent, "-x", "{prompt}"]
    "#);
    assert_snapshot!(env.orange(["config", "unset", "workspace.copy"]), @r#"workspace.copy: [".env", certs/*.pem] → not set"#);
    assert_snapshot!(env.orange(["config", "unset", "workspace.copy"]), @"workspace.copy is not set in config.yaml");
    assert_snapshot!(env.orange(["config", "set", "merge.strategy", "--unset"]), @"merge.strategy: ff → not set (default: squash)");
    assert_snapshot!(env.orange(["config", "unset", "merge.strategy"]), @"merge.strategy is not set in config.yaml (default: squash)");
    let json = env.orange(["config", "set", "review.max_rounds", "4", "--json"]);
    assert_eq!(json.ok().json()["setting"]["after"], 4);
    assert_eq!(
        env.orange(["config", "get", "review.max_rounds"])
            .ok()
            .stdout,
        "4\n"
    );
    env.orange(["doctor"]).ok();
    let outdone = env
        .call(["config", "set", "log.level", "debug"])
        .var("ORANGE_LOG_LEVEL", "warn")
        .run()
        .ok();
    assert!(
        outdone
            .stderr
            .contains("note: ORANGE_LOG_LEVEL says otherwise, and wins"),
        "{outdone}"
    );
}

#[test]
fn mistakes_are_named_with_the_nearest_right_key() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["config", "set", "agent.harnes", "sim"]), @r#"
    ------- stderr -------
    error: there is no setting "agent.harnes"; did you mean agents.harness?
    hint: `orange config show` lists the settings
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["config", "get", "keep_dayz"]), @r#"
    ------- stderr -------
    error: there is no setting "keep_dayz"; did you mean list.keep_days?
    hint: `orange config show` lists the settings
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["config", "set", "agents.limit", "many"]), @"
    ------- stderr -------
    error: agents.limit must be a whole number above 0
    hint: for example: `orange config set agents.limit 4`
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["config", "set", "agents.limit", "1", "2"]), @"
    ------- stderr -------
    error: agents.limit has one value, not several
    hint: for example: `orange config set agents.limit 4`
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["ls", "--config", "merge.strateg=ff"]), @r#"
    ------- stderr -------
    error: --config: there is no setting "merge.strateg"; did you mean merge.strategy?
    hint: write it as KEY=VALUE, such as `--config merge.strategy=rebase`; `orange config show` lists the keys
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["ls", "--config", "merge.strategy"]), @r#"
    ------- stderr -------
    error: --config: "merge.strategy" has no value
    hint: write it as KEY=VALUE, such as `--config merge.strategy=rebase`; `orange config show` lists the keys
    [exit status: 2]
    "#);
    env.orange(["config", "set", "agents.limit"]).fails_with(2);
    env.orange(["workflow", "show", "--config", "agents.limit=3"])
        .fails_with(2)
        .says("has no use for settings");
    // Nothing of this has made a file.
    assert!(!env.home().join("config.yaml").exists());
}

/// An editor that is a script; its argument is the copy.
fn editor(env: &TestEnvironment, script: &str) -> String {
    let path = env.write("editor", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn edit(env: &TestEnvironment, script: &str) -> crate::run::Run {
    let editor = editor(env, script);
    let call = env.call(["config", "edit"]).var("VISUAL", editor);
    // What is kept of somebody's text is cleared away with the rest.
    call.var("TMPDIR", env.root().to_str().unwrap()).run()
}

#[test]
fn edit_works_on_a_copy_that_is_checked() {
    let env = with_settings(FILE);
    assert_snapshot!(edit(&env, ":"), @"[HOME]/config.yaml: nothing was changed");
    let run = edit(
        &env,
        "cmp -s \"$1\" \"$ORANGE_HOME/config.yaml\" && sed -i s/rebase/ff/ \"$1\"",
    );
    assert_snapshot!(run, @"[HOME]/config.yaml: the new settings count from now on");
    assert_eq!(settings(&env), FILE.replace("rebase", "ff"));
    // A mistake: the file stays, and so does what was typed.
    let run = edit(&env, "sed -i s/ff/fff/ \"$1\"").fails_with(2);
    assert!(
        run.stderr.contains(
            "error: config.yaml, line 3: merge.strategy must be one of: squash, merge, rebase, ff: nothing was changed; your text is in "
        ),
        "{run}"
    );
    assert_eq!(settings(&env), FILE.replace("rebase", "ff"));
    let kept = run.stderr.split("your text is in ").nth(1).unwrap();
    let kept = kept.lines().next().unwrap();
    assert_eq!(
        fs::read_to_string(kept).unwrap(),
        FILE.replace("rebase", "fff")
    );
    fs::remove_file(kept).unwrap();
    // An editor that fails, one that is not there, none at all.
    edit(&env, "exit 7").fails_with(1).says("the editor failed");
    for missing in [
        "no-such-editor -w",
        "/no/such/editor",
        "'/no/such editor' -w",
    ] {
        let run = env.call(["config", "edit"]).var("VISUAL", missing).run();
        let told = format!("cannot start the editor {missing}: there is no ");
        run.fails_with(127).says(&told);
    }
    let folder = env.root().display().to_string();
    let run = env.call(["config", "edit"]).var("EDITOR", &folder).run();
    let told = format!("cannot start the editor {folder}: permission denied");
    run.fails_with(127).says(&told);
    env.call(["config", "edit"])
        .var("VISUAL", "")
        .var("EDITOR", "")
        .run()
        .fails_with(2)
        .says("neither VISUAL nor EDITOR is set");
    // Somebody else was faster.
    let run = edit(
        &env,
        "echo '# more' >> \"$1\"; echo '# theirs' >> \"$ORANGE_HOME/config.yaml\"",
    );
    run.fails_with(1)
        .says("was changed meanwhile; your text is in ");
    assert!(settings(&env).ends_with("# theirs\n"));
    // What means nothing is no mistake, but told.
    let run = edit(&env, "printf 'merge:\\n  pusch: true\\n' > \"$1\"").ok();
    assert!(
        run.stderr.contains(
            "note: config.yaml, line 2: there is no setting \"merge.pusch\"; did you mean merge.push?"
        ),
        "{run}"
    );
}

#[test]
fn a_first_edit_starts_with_every_setting_explained() {
    let env = TestEnvironment::empty();
    let run = edit(
        &env,
        "grep -q '#  strategy: squash' \"$1\" && sed -i -e 's/^#log:/log:/' -e 's/^#  level: info/  level: debug/' \"$1\"",
    );
    run.ok();
    assert_eq!(
        env.orange(["config", "get", "log.level"]).ok().stdout,
        "debug\n"
    );
    assert!(settings(&env).contains("#  strategy: squash"));
}

#[test]
fn a_person_at_a_terminal_may_edit_again() {
    let env = with_settings(FILE);
    let editor = editor(
        &env,
        "if grep -q wrong \"$1\"; then sed -i s/wrong/ff/ \"$1\"; else sed -i s/rebase/wrong/ \"$1\"; fi",
    );
    let orange = crate::run::program().display();
    let line = format!("VISUAL={editor} {orange} config edit");
    let screen = with_answers(&env, 120, &line, "y\n");
    assert!(screen.contains("edit again?"), "{screen}");
    assert_eq!(settings(&env), FILE.replace("rebase", "ff"), "{screen}");
}

#[test]
fn agents_read_settings_and_change_none() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let call = |arguments: &[&str]| env.call(arguments).agent(&task, "worker").run();
    call(&["config", "get", "merge.strategy"]).ok();
    for arguments in [
        &["config", "set", "review.max_rounds", "99", "--json"][..],
        &["config", "unset", "merge.strategy", "--json"],
        &["config", "edit", "--json"],
        &["ls", "--config", "review.max_rounds=99", "--json"],
    ] {
        call(arguments).refuses(3, "not_allowed");
    }
    assert!(!env.home().join("config.yaml").exists());
    // A variable is the same in other clothes.
    let mut env = env;
    env.set("ORANGE_REVIEW_MAX_ROUNDS", "99");
    let rounds = ["config", "get", "review.max_rounds"];
    env.call(rounds).agent(&task, "worker").run().ok().says("2");
    env.orange(rounds).ok().says("99");
}

#[test]
fn a_pipe_in_the_place_of_the_file_is_not_waited_for() {
    let env = TestEnvironment::new();
    let made = env
        .foreign("mkfifo")
        .arg(env.home().join("config.yaml"))
        .status();
    assert!(made.unwrap().success());
    let said = env.orange(["config", "get", "merge.strategy"]);
    said.fails_with(2).says("config.yaml is not a file");
    env.orange(["doctor"]).fails_with(1).says("is not a file");
}

#[test]
fn two_at_once_lose_nothing() {
    let env = with_settings("# all of it\n");
    let keys = [
        ("review.max_rounds", "5"),
        ("agents.limit", "6"),
        ("log.keep_days", "7"),
        ("trash.keep_days", "8"),
        ("list.keep_days", "9"),
        ("git.fetch", "never"),
    ];
    let running: Vec<_> = keys
        .iter()
        .map(|(key, value)| env.call(["config", "set", key, value]).spawn())
        .collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    for (key, value) in keys {
        let get = env.orange(["config", "get", key]).ok();
        assert_eq!(get.stdout.trim_end(), value, "{}", settings(&env));
    }
    assert!(settings(&env).starts_with("# all of it\n"));
}

#[test]
fn a_file_that_is_somewhere_else_stays_there() {
    let env = TestEnvironment::new();
    let dotfile = env.write("dotfiles.yaml", FILE);
    std::os::unix::fs::symlink(&dotfile, env.home().join("config.yaml")).unwrap();
    env.orange(["config", "set", "merge.strategy", "ff"]).ok();
    assert!(env.home().join("config.yaml").is_symlink());
    assert_eq!(
        fs::read_to_string(&dotfile).unwrap(),
        FILE.replace("rebase", "ff")
    );
    // It need not be there yet.
    fs::remove_file(&dotfile).unwrap();
    env.orange(["config", "set", "merge.strategy", "ff"]).ok();
    assert!(env.home().join("config.yaml").is_symlink());
    assert!(dotfile.is_file());
}

#[test]
fn the_level_of_the_log_is_a_setting() {
    let env = with_settings("log:\n  level: off\n");
    // What was logged before there was the setting.
    fs::remove_file(env.home().join("orange.log")).unwrap();
    env.create(["login", "Add a login form"]);
    assert!(!env.home().join("orange.log").exists());
    env.call(["ls"]).var("ORANGE_LOG_LEVEL", "").run().ok();
    assert!(!env.home().join("orange.log").exists());
    env.call(["config", "edit"])
        .var("EDITOR", "/no/editor")
        .var("ORANGE_LOG_LEVEL", "ERROR")
        .run()
        .fails_with(127);
    let log = fs::read_to_string(env.home().join("orange.log")).unwrap();
    assert!(log.contains(r#""level":"error""#), "{log}");
}

#[test]
fn the_schema_and_the_reference_need_no_home() {
    let env = TestEnvironment::empty();
    let call = |arguments: [&str; 2]| {
        let call = env.call(arguments).var("ORANGE_HOME", "");
        call.var("HOME", "relative").run().ok().stdout
    };
    let schema: Value = serde_json::from_str(&call(["config", "schema"])).unwrap();
    let docs = env.orange(["config", "docs", "--json"]).ok().json();
    assert_eq!(docs["docs"], call(["config", "docs"]));
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(schema["$schema"], draft);
    let strategy = &schema["properties"]["merge"]["properties"]["strategy"];
    assert_eq!(strategy["enum"][0], "squash");
    assert!(
        call(["config", "docs"])
            .contains("| `merge.strategy` | `squash` | one of `squash`, `merge`")
    );
}

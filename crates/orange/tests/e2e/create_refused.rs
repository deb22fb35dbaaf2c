//! What `orange task create` refuses: names, references and words that cannot be.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn names_that_git_refuses_are_refused_with_a_hint() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["task", "create", "a..b", "Two dots"]), @r#"
    ------- stderr -------
    error: git does not accept "a..b" as a branch name
    hint: no spaces, `~ ^ : ? * [ \`, `..`, no leading `-`, no trailing `/` or `.lock`
    [exit status: 2]
    "#);
    for name in [
        "a..b", "x.lock", "HEAD", "@", "a b", "a~1", "a//b", "/a", "a/", "@{-1}", "é\u{7}",
    ] {
        let mut arguments = vec!["task", "create", "--json"];
        // A name with a space would be a sentence; only an update can mean it as a branch.
        if name.contains(' ') {
            env.create(["to-rename", "Gets another branch"]);
            arguments = vec!["task", "update", "TASK-001", "--json", "--branch"];
        }
        arguments.push(name);
        if !name.contains(' ') {
            arguments.push("With a summary");
        }
        let error = env.orange(arguments).refuses(2, "usage");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("git does not accept"),
            "{name}: {message}"
        );
        assert!(error["hint"].as_str().unwrap().contains("no spaces"));
    }
    // Looks like a flag: after `--` it is a branch nevertheless, and refused as one.
    env.orange(["task", "create", "--json", "--", "-x", "Leading dash"])
        .refuses(2, "usage");
    assert_snapshot!(env.orange(["task", "create", "-x", "Leading dash"]), @"
    ------- stderr -------
    error: there is no option -x
    hint: for usage, run `orange task create --help`; to pass `-x` as a value, use `-- -x`
    [exit status: 2]
    ");
    // A refused command uses no key up, and names that merely look unusual are git's to judge.
    assert_eq!(env.keys(["--all"]), ["TASK-001"]);
    for name in ["@home", "é", "a@b", "v1.0", "x#(y)"] {
        env.create([name, "Fine with git"]);
    }
    assert_eq!(env.keys(["--all"]).len(), 6);
}

#[test]
fn a_branch_belongs_to_one_live_task() {
    let env = TestEnvironment::new();
    let first = env.create(["login", "The first"]);
    assert_snapshot!(env.orange(["task", "create", "login", "The second"]), @"
    ------- stderr -------
    error: branch login belongs to TASK-001 (pending)
    hint: choose another branch, or end that task first: `orange cancel TASK-001`
    [exit status: 3]
    ");
    let second = env.create(["other", "The second"]);
    env.orange(["task", "update", &second.id, "--branch", "login", "--json"])
        .refuses(3, "conflict");
    env.orange(["task", "cancel", &first.id]).ok();
    let third = env.create(["login", "The third"]);
    // Both have the branch now; the name means the live one.
    let found = env.orange(["task", "show", "shop/login", "--json"]).ok();
    assert_eq!(found.json()["task"]["key"], third.key);
    // Another project may have the same branch.
    let books = env.init_repository("books");
    env.call(["task", "create", "login", "Of another project"])
        .at(books)
        .run()
        .ok();
}

#[test]
fn dependencies_must_exist_and_must_not_go_round() {
    let env = TestEnvironment::new();
    let first = env.create(["The first"]);
    let second = env.create(["The second", "--blocked-by", "TASK-001"]);
    let third = env.create(["The third", "--blocked-by", &second.id]);
    assert_eq!(env.show(&third)["blocked_by"], json!(["TASK-002"]));
    assert_snapshot!(env.orange(["task", "create", "No such blocker", "--blocked-by", "TASK-009"]), @"
    ------- stderr -------
    error: there is no TASK-009 in project shop
    hint: `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--add-blocker", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 cannot be among its own blockers
    hint: name another task
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--add-blocker", "TASK-003"]), @"
    ------- stderr -------
    error: TASK-001 cannot wait for TASK-003: a cycle, TASK-001 → TASK-003 → TASK-002 → TASK-001
    hint: remove one of these dependencies first, with `orange update TASK --remove-blocker TASK`
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--add-related", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 cannot be among its own related tasks
    hint: name another task
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["task", "update", "TASK-002", "--remove-blocker", "TASK-003"]), @r#"
    ------- stderr -------
    error: "TASK-003" is not among the blockers of TASK-002
    hint: it has: TASK-001
    [exit status: 4]
    "#);
    assert_eq!(env.show(&first)["blocked_by"], json!([]));
    let error = env
        .orange([
            "task",
            "update",
            "TASK-001",
            "--add-blocker",
            "TASK-003",
            "--json",
        ])
        .refuses(3, "conflict");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("TASK-001 → TASK-003 → TASK-002 → TASK-001")
    );
    // Nothing of a refused creation is left.
    assert_eq!(env.keys(["--all"]).len(), 3);
}

#[test]
fn dependencies_across_projects_carry_the_projects_name() {
    let env = TestEnvironment::new();
    let own = env.create(["Ours"]);
    let books = env.init_repository("books");
    let created = env
        .call([
            "new",
            "Theirs",
            "now",
            "--blocked-by",
            "shop:TASK-001",
            "--json",
        ])
        .at(&books)
        .run()
        .ok();
    assert_eq!(
        created.json()["task"]["blocked_by"],
        json!(["shop:TASK-001"])
    );
    let error = env
        .orange([
            "task",
            "update",
            &own.id,
            "--add-blocker",
            "books:TASK-001",
            "--json",
        ])
        .refuses(3, "conflict");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("TASK-001 → books:TASK-001 → TASK-001"),
        "{error}"
    );
}

#[test]
fn a_base_must_be_a_commit() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["new", "From nowhere", "--base", "no-such-ref"]), @r#"
    ------- stderr -------
    error: the base "no-such-ref" is no commit in [TMP]/shop
    hint: give a branch, a tag or a commit of that repository
    [exit status: 4]
    "#);
    env.orange(["new", "From a flag", "--base=--all", "--json"])
        .refuses(4, "not_found");
    env.git(&env.shop(), &["tag", "v1"]);
    let task = env.create(["From a tag", "--base", "v1"]);
    assert_eq!(env.show(&task)["base"], "v1");
    assert_eq!(env.keys(["--all"]).len(), 1);
}

#[test]
fn words_outside_a_closed_set_are_refused_with_the_allowed_ones() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["new", "Too urgent", "--priority", "urgent"]), @r#"
    ------- stderr -------
    error: --priority: "urgent" is not a priority; allowed: critical, high, normal, low
    hint: for usage, run `orange new --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["new", "Unknown", "--workflow", "waterfall"]), @r#"
    ------- stderr -------
    error: --workflow: "waterfall" is not a workflow; allowed: interactive, phased
    hint: for usage, run `orange new --help`
    [exit status: 2]
    "#);
    for option in [
        "--status",
        "--priority",
        "--queue",
        "--category",
        "--weight",
        "--workflow",
    ] {
        let error = env
            .orange(["new", "Strange", option, "purple", "--json"])
            .refuses(2, "usage");
        assert!(
            error["message"].as_str().unwrap().contains("purple"),
            "{error}"
        );
    }
    assert_snapshot!(env.orange(["new", "Strange", "--colour", "red"]), @"
    ------- stderr -------
    error: there is no option --colour
    hint: for usage, run `orange new --help`; to pass `--colour` as a value, use `-- --colour`
    [exit status: 2]
    ");
    assert!(!env.tasks().exists() || env.keys(["--all"]).is_empty());
}

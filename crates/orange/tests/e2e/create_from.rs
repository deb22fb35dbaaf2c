//! `orange task create --from`: once more, from a task that is over.

use crate::env::{TestEnvironment, TestTask};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A cancelled task with settings of its own, one commit on `login` and a file that was not committed.
fn cancelled(env: &TestEnvironment) -> TestTask {
    let context = env.write("context.md", "# Wishes\n\nOnly Chrome.\n");
    let task = env.create([
        "login",
        "Add a login form",
        "--context",
        context.to_str().unwrap(),
        "--priority",
        "high",
        "--category",
        "bug",
        "--weight",
        "small",
        "--tag",
        "ui",
        "--review-harness",
        "pi",
        "--review-model",
        "a/b",
        "--review-effort",
        "off",
        "--target-branch",
        "main",
    ]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.commit(&slot, "login.txt", "a form\n");
    fs::write(slot.join("half.txt"), "half done\n").unwrap();
    fs::write(slot.join("README.md"), "changed\n").unwrap();
    env.cancel(&task).ok();
    task
}

fn again<const N: usize>(env: &TestEnvironment, more: [&str; N]) -> (TestTask, Value) {
    let mut words = vec!["task", "create", "--json", "--from", "TASK-001"];
    words.extend(more);
    let created = env.orange(words).ok().json();
    (env.task_of(&created["task"]), created)
}

fn start(env: &TestEnvironment, task: &TestTask) -> PathBuf {
    env.move_to(task, "planning").ok();
    env.slot_of(task)
}

fn head(env: &TestEnvironment, revision: &str) -> String {
    env.git(&env.shop(), &["rev-parse", revision])
}

fn read(folder: &std::path::Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

#[test]
fn words_and_settings_are_taken_over_and_nothing_else() {
    let env = TestEnvironment::new();
    let old = cancelled(&env);
    env.update(&old, &["--add-tag", "later"]).ok();
    assert_snapshot!(env.orange(["task", "create", "--from", "TASK-001"]), @"
    created TASK-002 Add a login form
      branch   orange/TASK-002-add-a-login-form (not made yet) from main@[HASH]
      from     TASK-001 (cancelled)
      testing  UI, by its words; else orange update TASK-002 --ui-testing false
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-002
    ");
    let task = env.task_of(&env.list(["--status", "pending"])[0]);
    let shown = env.show(&task);
    for (field, value) in [
        ("summary", json!("Add a login form")),
        ("status", json!("pending")),
        ("priority", json!("high")),
        ("category", json!("bug")),
        ("weight", json!("small")),
        ("tags", json!(["ui", "later"])),
        ("review_harness", json!("pi")),
        ("review_model", json!("a/b")),
        ("review_effort", json!("off")),
        ("target_branch", json!("main")),
        ("related_to", json!(["TASK-001"])),
        ("review_round", json!(0)),
        ("workspace", Value::Null),
        ("metadata", json!({})),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    assert_ne!(task.branch, old.branch);
    let text = task.text();
    let body = &text[text.find("## Context").unwrap()..];
    let body = body.replace(&head(&env, "login")[..7], "[HEAD]");
    assert_snapshot!(body, @"
    ## Context

    ### Wishes

    Only Chrome.

    ### Earlier attempt: TASK-001 (cancelled)

    - Its branch is `login`, at [HEAD], with 1 commit that main does not have.
    - Read its Plan before you plan: [HOME]/tasks/shop/[ID]/TASK.md
    ");
    // The old branch is neither moved nor used.
    let before = head(&env, "login");
    let slot = start(&env, &task);
    assert_eq!(head(&env, "login"), before);
    assert_eq!(head(&env, &task.branch), head(&env, "main"));
    assert_eq!(read(&slot, "login.txt"), None);
    assert_eq!(read(&slot, "half.txt"), None);
}

#[test]
fn what_is_said_wins_over_what_was() {
    let env = TestEnvironment::new();
    cancelled(&env);
    let context = env.write("other.md", "Firefox too.\n");
    let (task, created) = again(
        &env,
        [
            "Add a better form",
            "--branch",
            "better",
            "--context",
            context.to_str().unwrap(),
            "--priority",
            "low",
            "--tag",
            "forms",
            "--target-branch",
            "next",
        ],
    );
    assert_eq!(created["from"]["task"], "TASK-001");
    assert_eq!(created["from"]["status"], "cancelled");
    assert_eq!(created["from"]["head"], Value::Null);
    let shown = &created["task"];
    assert_eq!(shown["summary"], "Add a better form");
    assert_eq!(shown["branch"], "better");
    assert_eq!(shown["priority"], "low");
    assert_eq!(shown["tags"], json!(["forms"]));
    assert_eq!(shown["target_branch"], "next");
    assert_eq!(shown["category"], "bug");
    let text = task.text();
    assert!(text.contains("Firefox too."), "{text}");
    assert!(!text.contains("Only Chrome."), "{text}");
    assert!(text.contains("Its summary was: Add a login form"), "{text}");
}

#[test]
fn the_work_comes_along_if_it_is_wanted() {
    let env = TestEnvironment::new();
    let old = cancelled(&env);
    env.commit(&env.shop(), "README.md", "moved on\n");
    let run = env.orange(["task", "create", "--from", "TASK-001", "--with-work"]);
    assert_snapshot!(run, @"
    created TASK-002 Add a login form
      branch   orange/TASK-002-add-a-login-form (not made yet) from login@[HASH]
      from     TASK-001 (cancelled), with its commits and what it had not committed
      testing  UI, by its words; else orange update TASK-002 --ui-testing false
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-002
    ");
    let task = env.task_of(&env.list(["--status", "pending"])[0]);
    assert!(task.text().contains("put back into your worktree"));
    env.orange(["task", "spawn", "TASK-002"])
        .ok()
        .says("  branch   orange/TASK-002-add-a-login-form starts from login@")
        .says("  slot     shop--")
        .says(" are put back, uncommitted\n");
    let slot = env.slot_of(&task);
    let start = head(&env, "login");
    assert_eq!(head(&env, &task.branch), start);
    assert_eq!(env.branch_at(&slot), task.branch);
    assert_eq!(read(&slot, "login.txt").as_deref(), Some("a form\n"));
    assert_eq!(read(&slot, "half.txt").as_deref(), Some("half done\n"));
    assert_eq!(read(&slot, "README.md").as_deref(), Some("changed\n"));
    // The rules are still those of the base, not those of a branch that an agent wrote.
    assert_eq!(env.show(&task)["base"], "main");
    // The earlier task has all it had.
    assert_eq!(head(&env, &old.branch), start);
    let saved = env.rescued(&env.shop(), &old, "half.txt");
    assert_eq!(saved.as_deref(), Some("half done\n"));
}

#[test]
fn the_files_are_put_back_once() {
    let env = TestEnvironment::new();
    cancelled(&env);
    let (task, created) = again(&env, ["--with-work"]);
    assert!(
        created["from"]["rescue"]
            .as_str()
            .is_some_and(|name| name.starts_with("refs/orange/rescue/")),
        "{created}"
    );
    let slot = start(&env, &task);
    env.bring_on(&task, "working");
    fs::remove_file(slot.join("half.txt")).unwrap();
    env.git(&slot, &["add", "README.md"]);
    env.git(&slot, &["commit", "-q", "-m", "the rest"]);
    // It gives its slot back and gets one again.
    let child = env.create(["A part", "--parent", &task.key]);
    env.move_to(&task, "delegated").ok();
    env.cancel(&child).ok();
    env.move_to(&task, "working").ok();
    let slot = env.slot_of(&task);
    assert_eq!(read(&slot, "half.txt"), None);
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
}

#[test]
fn a_branch_that_is_gone_is_found_through_its_rescue() {
    let env = TestEnvironment::new();
    cancelled(&env);
    let before = head(&env, "login");
    env.git(&env.shop(), &["branch", "-q", "-D", "login"]);
    let run = env
        .orange(["task", "create", "--from", "TASK-001", "--with-work"])
        .ok();
    run.says("branch login is gone");
    let task = env.task_of(&env.list(["--status", "pending"])[0]);
    let slot = start(&env, &task);
    assert_eq!(head(&env, &task.branch), before);
    assert_eq!(read(&slot, "half.txt").as_deref(), Some("half done\n"));
}

#[test]
fn work_that_is_not_there_is_told() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.cancel(&task).ok();
    let words = ["task", "create", "--from", "TASK-001", "--with-work"];
    assert_snapshot!(env.orange(words), @"
    ------- stderr -------
    error: TASK-001 left no work: there is no branch login and no rescue of it
    hint: leave --with-work out to start from the base
    [exit status: 4]
    ");
    assert_eq!(env.keys(["--all"]), ["TASK-001"]);
    // Without it there is no need for a branch.
    again(&env, []);
}

#[test]
fn a_rescue_of_another_state_is_not_put_over_later_work() {
    let env = TestEnvironment::new();
    cancelled(&env);
    let shop = env.shop();
    env.git(&shop, &["switch", "-q", "login"]);
    env.commit(&shop, "README.md", "by hand, later\n");
    env.git(&shop, &["switch", "-q", "main"]);
    let run = env
        .orange(["task", "create", "--from", "TASK-001", "--with-work"])
        .ok();
    run.says("so it is not put back");
    let task = env.task_of(&env.list(["--status", "pending"])[0]);
    let slot = start(&env, &task);
    assert_eq!(head(&env, &task.branch), head(&env, "login"));
    assert_eq!(
        read(&slot, "README.md").as_deref(),
        Some("by hand, later\n")
    );
    assert_eq!(read(&slot, "half.txt"), None);
}

#[test]
fn work_that_is_in_the_target_is_not_done_twice() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.finish(&task);
    let run = env
        .orange(["task", "create", "--from", "TASK-001", "--with-work"])
        .ok();
    run.says("the work of TASK-001 is in main already");
    let task = env.task_of(&env.list(["--status", "pending"])[0]);
    start(&env, &task);
    assert_eq!(head(&env, &task.branch), head(&env, "main"));
    assert!(
        task.text()
            .contains("it has no commit that main does not have")
    );
}

#[test]
fn a_named_branch_is_taken_only_where_the_work_ended() {
    let env = TestEnvironment::new();
    cancelled(&env);
    env.git(&env.shop(), &["branch", "-q", "other"]);
    let words = ["task", "create", "--from", "TASK-001", "--with-work"];
    assert_snapshot!(env.orange([&words[..], &["--branch", "other"]].concat()), @"
    ------- stderr -------
    error: there is a branch other already, and it is not where the work of login ended
    hint: name a new branch, or leave --with-work out to go on with what is on this one
    [exit status: 3]
    ");
    // The old branch itself, because it was asked for.
    let (task, _) = again(&env, ["--with-work", "--branch", "login"]);
    let slot = start(&env, &task);
    assert_eq!(env.branch_at(&slot), "login");
    assert_eq!(read(&slot, "half.txt").as_deref(), Some("half done\n"));
}

#[test]
fn only_a_task_that_is_over_can_be_started_again() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let words = ["task", "create", "--from", "TASK-001"];
    env.orange(words).fails_with(3).says("TASK-001 is pending");
    env.bring_to(&task, "working");
    assert_snapshot!(env.orange(words), @"
    ------- stderr -------
    error: TASK-001 is working; only a task that is done or cancelled can be started again
    hint: give it up first: `orange cancel TASK-001`; or let it go on: `orange why TASK-001`
    [exit status: 3]
    ");
    env.cancel(&task).ok();
    env.orange(["task", "delete", "TASK-001"]).ok();
    assert_snapshot!(env.orange(words), @"
    ------- stderr -------
    error: TASK-001 is deleted
    hint: bring it back first: `orange restore TASK-001`
    [exit status: 3]
    ");
    // No name is not the beginning of every name.
    for nameless in [
        &["task", "create", "--from", ""][..],
        &["task", "restore", ""],
    ] {
        let run = env.orange(nameless);
        assert_ne!(run.code, 0, "{run}");
        run.silent_about("TASK-001");
    }
    env.orange(["task", "create", "--from", "TASK-009"])
        .fails_with(4)
        .says("TASK-009");
    env.orange(["task", "create", "--with-work", "Some work"])
        .fails_with(2)
        .says("--from");
    env.orange(["task", "restore", "TASK-001"]).ok();
    env.orange([&words[..], &["--with-work", "--base", "main"]].concat())
        .fails_with(2);
    env.call(words)
        .agent(&task, "worker")
        .run()
        .fails_with(3)
        .says("only a person may do that");
    assert_eq!(env.keys(["--all"]), ["TASK-001"]);
}

#[test]
fn it_stays_in_its_project() {
    let env = TestEnvironment::new();
    cancelled(&env);
    let other = env.init_repository("other");
    env.orange(["project", "add", other.to_str().unwrap()]).ok();
    let words = ["task", "create", "--from", "shop:TASK-001"];
    assert_snapshot!(env.orange([&words[..], &["--project", "other"]].concat()), @"
    ------- stderr -------
    error: TASK-001 is a task of project shop, and starts again only there
    hint: leave --project out
    [exit status: 2]
    ");
    // Wherever one is.
    let run = env.call(words).at(&other).run().ok();
    assert!(run.stdout.starts_with("created TASK-002"), "{run}");
    assert_eq!(env.keys(["--all", "--project", "other"]), [""; 0]);
}

#[test]
fn links_that_still_mean_something_are_taken_over() {
    let env = TestEnvironment::new();
    env.create(["The whole"]);
    let done = env.create(["Done before"]);
    env.finish(&done);
    env.create(["Open before"]);
    let task = env.create([
        "A part",
        "--parent",
        "TASK-001",
        "--blocked-by",
        "TASK-002,TASK-003",
        "--related-to",
        "TASK-002",
    ]);
    env.create(["Afterwards", "--blocked-by", "TASK-004"]);
    env.cancel(&task).ok();
    let run = env
        .orange(["task", "create", "--json", "--from", "TASK-004"])
        .ok();
    let created = run.json();
    assert_eq!(created["task"]["parent"], "TASK-001");
    assert_eq!(created["task"]["blocked_by"], json!(["TASK-003"]));
    assert_eq!(
        created["task"]["related_to"],
        json!(["TASK-002", "TASK-004"])
    );
    run.says("orange update TASK-005 --remove-blocker TASK-004 --add-blocker TASK-006");
    // A parent that is over gets no children any more.
    env.orange(["task", "cancel", "TASK-001", "--with-children"])
        .ok();
    let created = env
        .orange(["task", "create", "--json", "--from", "TASK-004"])
        .ok();
    assert_eq!(created.json()["task"]["parent"], Value::Null);
}

#[test]
fn a_third_attempt_knows_of_both_before() {
    let env = TestEnvironment::new();
    let first = cancelled(&env);
    let (second, _) = again(&env, []);
    env.cancel(&second).ok();
    let third = env.create(["--from", "TASK-002"]);
    let text = third.text();
    for earlier in [&first, &second] {
        let heading = format!("### Earlier attempt: {} (cancelled)", earlier.key);
        assert_eq!(text.matches(&heading).count(), 1, "{text}");
        assert!(text.contains(earlier.file().to_str().unwrap()), "{text}");
    }
    assert_eq!(text.matches("Only Chrome.").count(), 1, "{text}");
    assert_eq!(
        env.show(&third)["related_to"],
        json!(["TASK-001", "TASK-002"])
    );
}

#[test]
fn a_branch_that_only_the_remote_has_is_not_taken_by_accident() {
    let env = TestEnvironment::new();
    env.config("git:\n  branch_template: \"{slug}\"\n");
    let remote = env.root().join("remote.git");
    let shop = env.shop();
    env.git(&shop, &["init", "-q", "--bare", remote.to_str().unwrap()]);
    env.git(
        &shop,
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    env.git(&shop, &["push", "-q", "origin", "main"]);
    let task = env.create(["Add a login form"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.commit(&slot, "login.txt", "a form\n");
    env.git(&shop, &["push", "-q", "origin", &task.branch]);
    env.cancel(&task).ok();
    env.git(&shop, &["branch", "-q", "-D", &task.branch]);
    let (again, _) = again(&env, []);
    assert_ne!(again.branch, task.branch);
    let slot = start(&env, &again);
    assert_eq!(read(&slot, "login.txt"), None);
}

/// Only debug builds die on request.
#[cfg(debug_assertions)]
#[test]
fn a_kill_while_the_work_is_brought_leaves_none_of_it_out() {
    for point in ["worktree", "checked-out", "linked", "set-up", "brought"] {
        let env = TestEnvironment::new();
        cancelled(&env);
        let (task, _) = again(&env, ["--with-work"]);
        let start = env
            .call(["task", "update", &task.id, "--status", "planning"])
            .var("ORANGE_CRASH_AT", format!("acquire.{point}"))
            .run();
        assert_ne!(start.code, 0, "{point}: {start}");
        assert_eq!(env.show(&task)["status"], "planning", "{point}");
        let slot = env.slot_of(&task);
        assert_eq!(head(&env, &task.branch), head(&env, "login"), "{point}");
        assert_eq!(env.branch_at(&slot), task.branch, "{point}");
        let half = read(&slot, "half.txt");
        assert_eq!(half.as_deref(), Some("half done\n"), "{point}");
        let changed = read(&slot, "README.md");
        assert_eq!(changed.as_deref(), Some("changed\n"), "{point}");
        let history = task.history();
        let brought = history.iter().filter(|event| event["brought"].is_string());
        assert_eq!(brought.count(), 1, "{point}");
    }
}

#[test]
fn a_rescue_that_is_gone_when_the_task_starts_is_told() {
    let env = TestEnvironment::new();
    let old = cancelled(&env);
    let (task, created) = again(&env, ["--with-work"]);
    let rescue = created["from"]["rescue"].as_str().unwrap();
    env.git(&env.shop(), &["update-ref", "-d", rescue]);
    env.move_to(&task, "planning")
        .ok()
        .says("what was not committed cannot be put back");
    assert_eq!(head(&env, &task.branch), head(&env, &old.branch));

    // Without its commits there is nothing to start from, and that is no reason to start from something else.
    let env = TestEnvironment::new();
    cancelled(&env);
    let (task, created) = again(&env, ["--with-work"]);
    let rescue = created["from"]["rescue"].as_str().unwrap();
    env.git(&env.shop(), &["update-ref", "-d", rescue]);
    env.git(&env.shop(), &["branch", "-q", "-D", "login"]);
    env.git(&env.shop(), &["reflog", "expire", "--expire=all", "--all"]);
    env.git(&env.shop(), &["prune", "--expire=now"]);
    env.move_to(&task, "planning")
        .fails_with(1)
        .says("the work that it goes on with is gone");
}

#[test]
fn a_repository_inside_the_worktree_comes_along() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    let nested = env.slot_of(&task).join("nested");
    fs::create_dir(&nested).unwrap();
    env.git(&nested, &["init", "-q", "-b", "main"]);
    let commit = env.commit(&nested, "inside.txt", "inside\n");
    env.cancel(&task).ok();
    let (task, _) = again(&env, ["--with-work"]);
    // Git holds no nested repository: its copy lies in the folder of the earlier task.
    let nested = start(&env, &task).join("nested");
    assert_eq!(read(&nested, "inside.txt").as_deref(), Some("inside\n"));
    assert_eq!(env.git(&nested, &["rev-parse", "HEAD"]), commit);
}

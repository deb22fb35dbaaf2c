//! What makes a slot ready: commands and copied files, by the rules of the base and the word of the user.

use crate::env::{TestEnvironment, TestTask};
use serde_json::Value;
use std::fs;

fn log(task: &TestTask, name: &str) -> String {
    fs::read_to_string(task.folder.join(name)).unwrap_or_default()
}

fn rules(env: &TestEnvironment, repository: &std::path::Path, text: &str) -> String {
    fs::create_dir_all(repository.join(".orange")).unwrap();
    env.commit(repository, ".orange/config.yaml", text)
}

#[test]
fn setup_succeeds() {
    let env = TestEnvironment::new();
    env.config("workspace:\n  setup:\n    - pwd\n    - echo \"$ORANGE_TASK_KEY on $ORANGE_BRANCH in $ORANGE_WORKSPACE\"\n");
    let (task, slot) = env.started("login");
    let log = log(&task, "setup.log");
    assert!(log.contains(slot.to_str().unwrap()), "{log}");
    assert!(log.contains("TASK-001 on login in shop--1"), "{log}");
    // Once is enough.
    env.orange(["task", "retry-hooks", &task.id])
        .ok()
        .says("nothing failed");
}

#[test]
fn setup_fails() {
    let env = TestEnvironment::new();
    let config = env.home().join("config.yaml");
    fs::write(&config, "workspace:\n  setup: echo oh dear; exit 3\n").unwrap();
    let task = env.create(["login", "Some work"]);
    env.move_to(&task, "planning")
        .fails_with(1)
        .says("could not take a slot")
        .says("exit code 3")
        .says("oh dear")
        .says("orange retry-hooks TASK-001");
    assert!(log(&task, "setup.log").contains("oh dear"));
    // The task is where it went, and has its slot.
    let shown = env.show(&task);
    assert_eq!(
        (&shown["status"], &shown["workspace"]),
        (&"planning".into(), &"shop--1".into())
    );
    assert_eq!(env.branch_at(&env.slot(1)), "login");
    env.orange(["task", "retry-hooks", &task.id])
        .fails_with(1)
        .says("oh dear");
    fs::write(&config, "workspace:\n  setup: touch ready\n").unwrap();
    env.orange(["task", "retry-hooks", &task.id]).ok();
    assert!(env.slot(1).join("ready").exists());
    env.orange(["task", "retry-hooks", &task.id])
        .ok()
        .says("nothing failed");
    // Given back like any other, even if it never was ready.
    fs::write(&config, "workspace:\n  setup: \"false\"\n").unwrap();
    let other = env.create(["other", "Other work"]);
    env.move_to(&other, "planning").fails_with(1);
    env.cancel(&other).ok();
    assert_eq!(env.pool_entry(2)["status"], "available");
}

#[test]
fn setup_hangs() {
    let env = TestEnvironment::new();
    env.config("workspace:\n  setup: echo waiting; sleep 600\n  timeout: 1\n");
    let task = env.create(["login", "Some work"]);
    env.move_to(&task, "planning")
        .fails_with(1)
        .says("stopped after 1 s");
    assert!(log(&task, "setup.log").contains("waiting"));
}

#[test]
fn commands_of_a_repository_need_consent() {
    let env = TestEnvironment::new();
    rules(
        &env,
        &env.shop(),
        "workspace:\n  setup: touch \"$ORANGE_REPOSITORY/../ran\"\n",
    );
    let ran = env.root().join("ran");
    let task = env.create(["login", "Some work"]);
    let events = task.events();
    env.move_to(&task, "planning")
        .fails_with(3)
        .says("you have not agreed to")
        .says("orange project trust shop");
    assert_eq!(task.events(), events);
    assert_eq!(env.show(&task)["status"], "pending");
    assert_ne!(env.pool_entry(1)["status"], "bound");
    assert!(!ran.exists() && !env.slot(1).exists());
    env.orange(["project", "trust", "shop", "--yes"]).ok();
    env.start(&task);
    assert!(ran.exists());
}

#[test]
fn an_agent_does_not_write_its_own_rules() {
    let env = TestEnvironment::new();
    let good = "workspace:\n  setup: echo good\n  teardown: echo good\n";
    rules(&env, &env.shop(), good);
    env.orange(["project", "trust", "shop", "--yes"]).ok();
    let (task, slot) = env.started("login");
    let evil = "touch \"$ORANGE_REPOSITORY/../evil\"";
    rules(
        &env,
        &slot,
        &format!("workspace:\n  setup: {evil}\n  teardown: {evil}\n"),
    );
    fs::write(slot.join(".worktreeinclude"), "*\n").unwrap();
    env.cancel(&task).ok();
    assert!(log(&task, "teardown.log").contains("good"));
    // A new task on the branch that has them.
    let (again, _) = env.started("login");
    assert!(log(&again, "setup.log").contains("good"));
    env.cancel(&again).ok();
    assert!(!env.root().join("evil").exists());
}

#[test]
fn teardown_runs_while_everything_is_there() {
    let env = TestEnvironment::new();
    env.config("workspace:\n  teardown:\n    - cat work.txt TASK.md && echo by teardown > made.txt\n    - exit 4\n    - echo never\n");
    let (task, slot) = env.started("login");
    fs::write(slot.join("work.txt"), "the work").unwrap();
    env.cancel(&task)
        .ok()
        .says("exit code 4")
        .says("teardown.log");
    let log = log(&task, "teardown.log");
    assert!(
        log.contains("the work") && log.contains("branch: login"),
        "{log}"
    );
    assert!(!log.contains("never\n"), "{log}");
    // One that fails keeps no slot from being given back, and what it made is saved too.
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(
        env.rescued(&env.shop(), &task, "made.txt").as_deref(),
        Some("by teardown\n")
    );
    assert_eq!(env.show(&task)["workspace"], Value::Null);
}

#[test]
fn ignored_files_are_copied() {
    let env = TestEnvironment::new();
    let shop = env.shop();
    env.commit(&shop, ".gitignore", ".env\n*.secret\n");
    env.commit(&shop, ".worktreeinclude", ".env\nnotes.txt\n");
    fs::write(shop.join(".env"), "KEY=1").unwrap();
    fs::write(shop.join("other.secret"), "stays").unwrap();
    fs::write(shop.join("notes.txt"), "not ignored").unwrap();
    let (task, slot) = env.started("login");
    let env_file = || fs::read_to_string(slot.join(".env")).unwrap();
    assert_eq!(env_file(), "KEY=1");
    assert!(!slot.join("other.secret").exists() && !slot.join("notes.txt").exists());
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    // The next task gets the file as it is now, not as the one before left it.
    fs::write(slot.join(".env"), "KEY=changed by the agent").unwrap();
    env.cancel(&task).ok();
    fs::write(shop.join(".env"), "KEY=2").unwrap();
    env.config("workspace:\n  copy: [\"*.secret\"]\n");
    env.started("next");
    assert_eq!(env_file(), "KEY=2");
    assert_eq!(
        fs::read_to_string(slot.join("other.secret")).unwrap(),
        "stays"
    );
}

//! Ways in which work could get lost, each met by somebody once: every test here fails if one of them opens again.

use super::env::{TestEnvironment, TestTask};
use std::fs;
use std::path::PathBuf;

fn started(env: &TestEnvironment) -> (TestTask, PathBuf) {
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "planning");
    let slot = env.slot_of(&task);
    (task, slot)
}

/// Every file of every rescue, with its content.
fn rescued(env: &TestEnvironment, path: &str) -> Vec<String> {
    let refs = env.git(
        &env.shop(),
        &["for-each-ref", "--format=%(refname)", "refs/orange/rescue"],
    );
    let has = |reference: &&str| {
        let list = env.git(&env.shop(), &["ls-tree", "-r", "--name-only", reference]);
        list.lines().any(|name| name == path)
    };
    refs.lines()
        .filter(has)
        .map(|reference| env.git(&env.shop(), &["show", &format!("{reference}:{path}")]))
        .collect()
}

#[test]
fn a_fetch_leaves_branches_and_rescues_alone_whatever_the_settings() {
    let env = TestEnvironment::unregistered();
    let mirror = env.root().join("mirror.git");
    let path = mirror.to_str().unwrap();
    env.git(&env.root(), &["clone", "-q", "--mirror", "shop", path]);
    env.git(&mirror, &["config", "fetch.prune", "true"]);
    let orange = |words: &[&str]| env.call(words.iter().copied()).at(&mirror).run().ok();
    orange(&["project", "add", "."]);
    orange(&["task", "create", "first", "The first"]);
    orange(&["task", "update", "TASK-001", "--status", "planning"]);
    let slot = env.home().join("workspaces/mirror--1");
    let head = env.commit(&slot, "work.txt", "work");
    fs::write(slot.join("untracked.txt"), "untracked").unwrap();
    orange(&["task", "cancel", "TASK-001", "--yes"]);
    let before = env.git(&mirror, &["for-each-ref", "refs/heads", "refs/orange"]);
    assert!(before.contains(&head) && before.contains("refs/orange/rescue"));
    orange(&["task", "create", "second", "The second"]);
    let after = env.git(&mirror, &["for-each-ref", "refs/heads", "refs/orange"]);
    assert_eq!(after, before);
}

#[test]
fn a_slot_with_somebody_in_it_is_saved_and_left_alone() {
    let env = TestEnvironment::new();
    let (task, slot) = started(&env);
    fs::write(slot.join("being-written.txt"), "so far").unwrap();
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .current_dir(&slot)
        .spawn()
        .unwrap();
    let run = env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    let there = slot.join("being-written.txt").exists();
    let next = env.create(["next", "The next one"]);
    let other = env.move_to(&next, "planning");
    child.kill().unwrap();
    child.wait().unwrap();
    run.says("is not tidied yet").says("(sleep 1000)");
    assert!(there);
    assert_eq!(rescued(&env, "being-written.txt"), ["so far"]);
    other.ok().says("slot     shop--2");
    let third = env.create(["third", "One more"]);
    env.move_to(&third, "planning")
        .ok()
        .says("slot     shop--1");
    assert!(!slot.join("being-written.txt").exists());
}

/// A git that goes on after Orange was killed must not meet the next one in the same folder.
#[test]
fn a_git_that_outlives_its_orange_is_waited_for() {
    let env = TestEnvironment::new();
    let shop = env.shop();
    let gate = env.root().join("gate");
    let begun = env.root().join("begun");
    let wait = format!(
        "sh -c 'touch {0}; until [ -e {1} ]; do sleep 0.05; done; cat'",
        begun.display(),
        gate.display()
    );
    fs::write(shop.join(".gitattributes"), "*.slow filter=slow\n").unwrap();
    env.git(&shop, &["add", "."]);
    env.commit(&shop, "a.slow", "slow\n");
    env.git(&shop, &["config", "filter.slow.smudge", &wait]);
    let task = env.create(["login", "Add a login form"]);
    let mut first = env
        .call(["task", "update", &task.id, "--status", "planning"])
        .spawn();
    while !begun.exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let next = env.call(["task", "list"]).spawn();
    fs::write(&gate, "").unwrap();
    let next = next.wait_with_output().unwrap();
    assert!(next.status.success(), "{next:?}");
    let slot = env.slot_of(&task);
    fs::write(slot.join("work.txt"), "work").unwrap();
    env.orange(["doctor"]).ok().says("all is well");
    assert_eq!(fs::read_to_string(slot.join("a.slow")).unwrap(), "slow\n");
    assert!(slot.join("work.txt").exists());
}

#[test]
fn teardown_is_not_run_twice_after_a_kill() {
    let env = TestEnvironment::new();
    let log = env.root().join("teardowns");
    let config = format!(
        "workspace:\n  teardown: echo $ORANGE_BRANCH >> {}\n",
        log.display()
    );
    fs::write(env.home().join("config.yaml"), config).unwrap();
    let (task, _) = started(&env);
    let killed = env
        .call(["task", "cancel", &task.id, "--yes"])
        .var("ORANGE_CRASH_AT", "release.parked")
        .run();
    killed.says("killed at release.parked");
    env.orange(["task", "list"]).ok();
    assert_eq!(env.show(&task)["workspace"], serde_json::Value::Null);
    assert_eq!(fs::read_to_string(&log).unwrap(), "login\n");
}

/// A setup command has a session of its own, so Ctrl-C does not reach it; the next command ends it.
#[test]
fn a_setup_that_outlives_its_orange_is_ended_before_another_runs() {
    let env = TestEnvironment::new();
    let pid = env.root().join("pid");
    let config = env.home().join("config.yaml");
    let setup = format!(
        "echo $$ > {0}.new && mv {0}.new {0} && exec sleep 1000",
        pid.display()
    );
    fs::write(&config, format!("workspace:\n  setup: {setup:?}\n")).unwrap();
    let task = env.create(["login", "Add a login form"]);
    let mut first = env
        .call(["task", "update", &task.id, "--status", "planning"])
        .spawn();
    // It is known to be running, and runs.
    let running = task.folder.join("setup.running");
    let is_known = || fs::read_to_string(&running).is_ok_and(|text| !text.is_empty());
    while !pid.exists() || !is_known() {
        assert!(first.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    fs::write(&config, "").unwrap();
    env.orange(["task", "list"]).ok();
    assert_eq!(env.show(&task)["workspace"], "shop--1");
    let pid = fs::read_to_string(&pid).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // Gone, or dead and waiting for whoever inherited it to notice.
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert!(!running.exists());
}

//! Which branch a workspace is on: where it comes from, who has it already, and when its name changes.

use crate::env::TestEnvironment;
use std::fs;
use std::path::Path;

/// The state of everything a refused start must leave alone.
fn standing(env: &TestEnvironment) -> String {
    let shop = env.shop();
    let refs = env.git(&shop, &["for-each-ref"]);
    let list = env.git(&shop, &["worktree", "list", "--porcelain"]);
    let held = (1..5).filter(|number| env.pool_entry(*number)["status"] == "bound");
    format!("{refs}\n{list}\n{:?}", held.collect::<Vec<_>>())
}

#[test]
fn checked_out_elsewhere() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Some work"]);
    let place = env.root().join("my own place");
    let path = place.to_str().unwrap();
    env.git(&env.shop(), &["worktree", "add", "-q", "-b", "login", path]);
    let (before, events) = (standing(&env), task.events());
    env.move_to(&task, "planning")
        .fails_with(3)
        .says(&format!("branch login is checked out at {path}"));
    assert_eq!((standing(&env), task.events()), (before, events));
    assert_eq!(env.show(&task)["status"], "pending");
    // In the user's own checkout too.
    env.git(&env.shop(), &["worktree", "remove", path]);
    env.git(&env.shop(), &["switch", "-q", "login"]);
    env.move_to(&task, "planning")
        .fails_with(3)
        .says(env.shop().to_str().unwrap());
    env.git(&env.shop(), &["switch", "-q", "main"]);
    env.start(&task);
    // A worktree that is not there right now may be on a disk that is not.
    let other = env.create(["other", "Other work"]);
    env.git(&env.shop(), &["worktree", "add", "-q", "-b", "other", path]);
    fs::rename(&place, env.root().join("unplugged")).unwrap();
    env.move_to(&other, "planning").fails_with(3).says(path);
    env.orange(["workspace", "gc"]).ok();
    fs::rename(env.root().join("unplugged"), &place).unwrap();
    assert_eq!(env.branch_at(&place), "other");
}

#[test]
fn that_is_here_already() {
    let env = TestEnvironment::new();
    env.git(&env.shop(), &["switch", "-q", "-c", "login"]);
    let tip = env.commit(&env.shop(), "login.txt", "begun");
    env.git(&env.shop(), &["switch", "-q", "main"]);
    let (_, slot) = env.started("login");
    assert_eq!(env.branch_at(&slot), "login");
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), tip);
}

#[test]
fn that_only_the_remote_has() {
    let env = TestEnvironment::empty();
    let origin = env.init_repository("origin");
    env.git(&origin, &["switch", "-q", "-c", "login"]);
    let tip = env.commit(&origin, "login.txt", "begun");
    env.git(&origin, &["switch", "-q", "main"]);
    env.git(&env.root(), &["clone", "-q", "origin", "shop"]);
    env.orange(["project", "add", "."]).ok();
    let (_, slot) = env.started("login");
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), tip);
    let upstream = ["rev-parse", "--abbrev-ref", "login@{upstream}"];
    assert_eq!(env.git(&slot, &upstream), "origin/login");
    // A new one starts at what the remote has now, not at what was fetched some day.
    let news = env.commit(&origin, "news.txt", "news");
    let task = env.create(["fresh", "Fresh work"]);
    env.commit(&env.shop(), "local.txt", "only here");
    env.move_to(&task, "planning")
        .ok()
        .says(&format!("from origin/main@{}, fetched now", &news[..7]))
        .says("your local main has 1 commit that is not in it");
    let slot = env.slot_of(&task);
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), news);
}

/// `HEAD` is that of the worktree where it was typed, at that time.
#[test]
fn a_base_that_means_something_else_elsewhere_is_kept_as_a_commit() {
    let env = TestEnvironment::new();
    let first = env.create(["first", "The first"]);
    env.bring_to(&first, "working");
    let slot = env.slot_of(&first);
    env.git(&slot, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let head = env.git(&slot, &["rev-parse", "HEAD"]);
    let main = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    assert_ne!(head, main);
    let make = |folder: &Path, base: &str| {
        let words = ["new", "Go on from here", "--base", base, "--json"];
        let made = env.call(words).at(folder).run().ok().json();
        made["task"]["base"].as_str().unwrap().to_owned()
    };
    assert_eq!(make(&slot, "HEAD"), head);
    assert_eq!(make(&slot, "@~1"), main);
    assert_eq!(make(&env.shop(), "HEAD"), main);
    assert_eq!(make(&slot, "main"), "main");
    env.call(["new", "From nowhere", "--base", "HEAD~9"])
        .at(&slot)
        .run()
        .fails_with(4)
        .says("HEAD~9");
}

#[test]
fn from_a_base() {
    let env = TestEnvironment::new();
    let old = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    env.git(&env.shop(), &["tag", "v1"]);
    env.commit(&env.shop(), "later.txt", "later");
    let task = env.create(["fix", "A fix", "--base", "v1"]);
    let slot = env.start(&task);
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), old);
    let done = task
        .history()
        .into_iter()
        .find(|event| event["type"] == "hook.completed" && event["slot"] == "shop--1")
        .unwrap();
    assert_eq!(
        (&done["base"], &done["base_commit"]),
        (&"v1".into(), &old.into())
    );
    // One that is gone when the work is to start.
    env.git(&env.shop(), &["branch", "short-lived"]);
    let task = env.create(["late", "Too late", "--base", "short-lived"]);
    env.git(&env.shop(), &["branch", "-q", "-D", "short-lived"]);
    let (before, events) = (standing(&env), task.events());
    env.move_to(&task, "planning")
        .fails_with(4)
        .says("short-lived");
    assert_eq!((standing(&env), task.events()), (before, events));
    assert_eq!(env.show(&task)["status"], "pending");
}

#[test]
fn renamed_in_the_worktree() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let tip = env.commit(&slot, "login.txt", "begun");
    env.git(&slot, &["branch", "-m", "sign-in"]);
    env.update(&task, &["--priority", "high"])
        .ok()
        .says("its branch was renamed from login to sign-in");
    assert_eq!(env.show(&task)["branch"], "sign-in");
    assert_eq!(env.pool_entry(1)["task"], "shop/sign-in");
    env.cancel(&task).ok();
    assert_eq!(env.git(&env.shop(), &["rev-parse", "sign-in"]), tip);
}

#[test]
fn switched_in_the_worktree() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.git(&slot, &["switch", "-q", "-c", "other"]);
    let tip = env.commit(&slot, "other.txt", "on the other");
    let report = "shop--1 is on other, its branch is login";
    env.update(&task, &["--priority", "high"]).ok().says(report);
    assert_eq!(env.show(&task)["branch"], "login");
    // Given back from there, both branches are what they were.
    let login = env.git(&slot, &["rev-parse", "login"]);
    env.cancel(&task).ok();
    assert_eq!(env.git(&env.shop(), &["rev-parse", "other"]), tip);
    assert_eq!(env.git(&env.shop(), &["rev-parse", "login"]), login);
}

#[test]
fn taken_over_by_update() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.git(&slot, &["switch", "-q", "-c", "other"]);
    env.update(&task, &["--branch"]).ok();
    assert_eq!(env.show(&task)["branch"], "other");
    assert_eq!(env.pool_entry(1)["task"], "shop/other");
    env.git(&slot, &["checkout", "-q", "--detach"]);
    env.update(&task, &["--branch"])
        .fails_with(3)
        .says("no branch is checked out in shop--1");
    // Another task's is not for the taking.
    env.started("second");
    env.git(&slot, &["switch", "-q", "other"]);
    env.update(&task, &["--branch", "second"])
        .fails_with(3)
        .says("belongs to TASK-002");
}

#[test]
fn renamed_by_update() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let tip = env.commit(&slot, "login.txt", "begun");
    env.update(&task, &["--branch", "sign-in"]).ok();
    assert_eq!(env.branch_at(&slot), "sign-in");
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), tip);
    assert_eq!(env.git(&slot, &["branch", "--list", "login"]), "");
    assert_eq!(env.pool_entry(1)["task"], "shop/sign-in");
    // A name that git has already.
    env.git(&env.shop(), &["branch", "taken"]);
    let (before, events) = (standing(&env), task.events());
    let run = env.update(&task, &["--branch", "taken"]);
    run.fails_with(3).says("there is a branch taken already");
    assert_eq!((standing(&env), task.events()), (before, events));
    assert_eq!(env.show(&task)["branch"], "sign-in");
    env.update(&task, &["--branch", "not a name"]).fails_with(2);
    assert_eq!(env.branch_at(&slot), "sign-in");
}

/// Killed in the middle of a renaming, the next command ends it: git, task and pool agree.
#[test]
fn renaming_and_killed_on_the_way() {
    for hit in 1.. {
        let env = TestEnvironment::new();
        let (task, slot) = env.started("login");
        let run = env
            .call(["task", "update", &task.id, "--branch", "sign-in"])
            .var("ORANGE_CRASH_AT", format!("*:{hit}"))
            .run();
        if run.code == 0 {
            assert!(hit > 3, "{hit} points only");
            break;
        }
        env.update(&task, &["--priority", "high"]).ok();
        let branch = env.branch_at(&slot);
        assert_eq!(env.show(&task)["branch"], branch, "{run}");
        assert_eq!(env.pool_entry(1)["task"], format!("shop/{branch}"), "{run}");
    }
}

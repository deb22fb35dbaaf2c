//! Which branch a workspace is on: where it comes from, who has it already, and when its name changes.

use crate::home::TestHome;
use orange_core::task::Field;
use orange_engine::Code;
use orange_engine::verbs::change::Edit;
use std::fs;

/// The state of everything a refused start must leave alone.
fn standing(home: &TestHome) -> String {
    let shop = home.shop();
    let refs = home.git(&shop, &["for-each-ref"]);
    let list = home.git(&shop, &["worktree", "list", "--porcelain"]);
    let held = (1..5).filter(|number| home.pool_entry(*number)["status"] == "bound");
    format!("{refs}\n{list}\n{:?}", held.collect::<Vec<_>>())
}

#[test]
fn checked_out_elsewhere() {
    let home = TestHome::new();
    let task = home.create("login");
    let place = home.root().join("my own place");
    let path = place.to_str().unwrap();
    home.git(
        &home.shop(),
        &["worktree", "add", "-q", "-b", "login", path],
    );
    let (before, events) = (standing(&home), task.events());
    home.move_to(&task, "planning")
        .fails(Code::ConditionUnmet)
        .says(&format!("branch login is checked out at {path}"));
    assert_eq!((standing(&home), task.events()), (before, events));
    assert_eq!(home.show(&task)["status"], "pending");
    // In the user's own checkout too.
    home.git(&home.shop(), &["worktree", "remove", path]);
    home.git(&home.shop(), &["switch", "-q", "login"]);
    home.move_to(&task, "planning")
        .fails(Code::ConditionUnmet)
        .says(home.shop().to_str().unwrap());
    home.git(&home.shop(), &["switch", "-q", "main"]);
    home.start(&task);
    // A worktree that is not there right now may be on a disk that is not.
    let other = home.create("other");
    home.git(
        &home.shop(),
        &["worktree", "add", "-q", "-b", "other", path],
    );
    fs::rename(&place, home.root().join("unplugged")).unwrap();
    home.move_to(&other, "planning")
        .fails(Code::ConditionUnmet)
        .says(path);
    home.collect_slots();
    fs::rename(home.root().join("unplugged"), &place).unwrap();
    assert_eq!(home.branch_at(&place), "other");
}

#[test]
fn that_is_here_already() {
    let home = TestHome::new();
    home.git(&home.shop(), &["switch", "-q", "-c", "login"]);
    let tip = home.commit(&home.shop(), "login.txt", "begun");
    home.git(&home.shop(), &["switch", "-q", "main"]);
    let (_, slot) = home.started("login");
    assert_eq!(home.branch_at(&slot), "login");
    assert_eq!(home.git(&slot, &["rev-parse", "HEAD"]), tip);
}

#[test]
fn that_only_the_remote_has() {
    let home = TestHome::empty();
    let origin = home.init_repository("origin");
    home.git(&origin, &["switch", "-q", "-c", "login"]);
    let tip = home.commit(&origin, "login.txt", "begun");
    home.git(&origin, &["switch", "-q", "main"]);
    home.git(&home.root(), &["clone", "-q", "origin", "shop"]);
    home.add_project(&home.shop()).ok();
    let (_, slot) = home.started("login");
    assert_eq!(home.git(&slot, &["rev-parse", "HEAD"]), tip);
    let upstream = ["rev-parse", "--abbrev-ref", "login@{upstream}"];
    assert_eq!(home.git(&slot, &upstream), "origin/login");
    // A new one starts at what the remote has now, not at what was fetched some day.
    let news = home.commit(&origin, "news.txt", "news");
    let task = home.create("fresh");
    home.commit(&home.shop(), "local.txt", "only here");
    home.move_to(&task, "planning").ok();
    let slot = home.slot_of(&task);
    assert_eq!(home.git(&slot, &["rev-parse", "HEAD"]), news);
}

#[test]
fn from_a_base() {
    let home = TestHome::new();
    let old = home.git(&home.shop(), &["rev-parse", "HEAD"]);
    home.git(&home.shop(), &["tag", "v1"]);
    home.commit(&home.shop(), "later.txt", "later");
    let task = home.create_with("fix", |new| new.base = Some("v1".to_owned()));
    let slot = home.start(&task);
    assert_eq!(home.git(&slot, &["rev-parse", "HEAD"]), old);
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
    home.git(&home.shop(), &["branch", "short-lived"]);
    let task = home.create_with("late", |new| new.base = Some("short-lived".to_owned()));
    home.git(&home.shop(), &["branch", "-q", "-D", "short-lived"]);
    let (before, events) = (standing(&home), task.events());
    home.move_to(&task, "planning")
        .fails(Code::NotFound)
        .says("short-lived");
    assert_eq!((standing(&home), task.events()), (before, events));
    assert_eq!(home.show(&task)["status"], "pending");
}

#[test]
fn renamed_in_the_worktree() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let tip = home.commit(&slot, "login.txt", "begun");
    home.git(&slot, &["branch", "-m", "sign-in"]);
    home.set(&task, Field::Priority, "high")
        .ok()
        .says("its branch was renamed from login to sign-in");
    assert_eq!(home.show(&task)["branch"], "sign-in");
    assert_eq!(home.pool_entry(1)["task"], "shop/sign-in");
    home.cancel(&task).ok();
    assert_eq!(home.git(&home.shop(), &["rev-parse", "sign-in"]), tip);
}

#[test]
fn switched_in_the_worktree() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    home.git(&slot, &["switch", "-q", "-c", "other"]);
    let tip = home.commit(&slot, "other.txt", "on the other");
    let report = "shop--1 is on other, its branch is login";
    home.set(&task, Field::Priority, "high").ok().says(report);
    assert_eq!(home.show(&task)["branch"], "login");
    // Given back from there, both branches are what they were.
    let login = home.git(&slot, &["rev-parse", "login"]);
    home.cancel(&task).ok();
    assert_eq!(home.git(&home.shop(), &["rev-parse", "other"]), tip);
    assert_eq!(home.git(&home.shop(), &["rev-parse", "login"]), login);
}

#[test]
fn taken_over_by_update() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    home.git(&slot, &["switch", "-q", "-c", "other"]);
    home.edit(&task, Edit::Branch(None)).ok();
    assert_eq!(home.show(&task)["branch"], "other");
    assert_eq!(home.pool_entry(1)["task"], "shop/other");
    home.git(&slot, &["checkout", "-q", "--detach"]);
    home.edit(&task, Edit::Branch(None))
        .fails(Code::ConditionUnmet)
        .says("no branch is checked out in shop--1");
    // Another task's is not for the taking.
    home.started("second");
    home.git(&slot, &["switch", "-q", "other"]);
    home.edit(&task, Edit::Branch(Some("second".to_owned())))
        .fails(Code::Conflict)
        .says("belongs to TASK-002");
}

#[test]
fn renamed_by_update() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let tip = home.commit(&slot, "login.txt", "begun");
    home.edit(&task, Edit::Branch(Some("sign-in".to_owned())))
        .ok();
    assert_eq!(home.branch_at(&slot), "sign-in");
    assert_eq!(home.git(&slot, &["rev-parse", "HEAD"]), tip);
    assert_eq!(home.git(&slot, &["branch", "--list", "login"]), "");
    assert_eq!(home.pool_entry(1)["task"], "shop/sign-in");
    // A name that git has already.
    home.git(&home.shop(), &["branch", "taken"]);
    let (before, events) = (standing(&home), task.events());
    let run = home.edit(&task, Edit::Branch(Some("taken".to_owned())));
    run.fails(Code::Conflict)
        .says("there is a branch taken already");
    assert_eq!((standing(&home), task.events()), (before, events));
    assert_eq!(home.show(&task)["branch"], "sign-in");
    home.edit(&task, Edit::Branch(Some("not a name".to_owned())))
        .fails(Code::Usage);
    assert_eq!(home.branch_at(&slot), "sign-in");
}

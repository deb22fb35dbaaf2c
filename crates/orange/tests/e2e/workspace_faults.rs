//! Slots that somebody deleted, replaced or damaged: nothing outside is touched, nothing inside is lost.

use crate::env::TestEnvironment;
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn deleted_by_hand() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let tip = env.commit(&slot, "login.txt", "begun");
    fs::remove_dir_all(&slot).unwrap();
    env.orange(["task", "show", &task.id]).ok().says("gone");
    env.orange(["workspace", "list"]).ok().says("not made yet");
    env.orange(["ls"]).ok();
    env.update(&task, &["--priority", "high"]).ok();
    env.cancel(&task).ok();
    assert_eq!(env.show(&task)["workspace"], Value::Null);
    assert_eq!(env.pool_entry(1)["status"], "available");
    assert_eq!(env.git(&env.shop(), &["rev-parse", "login"]), tip);
    let (_, again) = env.started("other");
    assert_eq!(
        (again, env.branch_at(&slot)),
        (slot.clone(), "other".into())
    );
}

fn standing(env: &TestEnvironment, repository: &Path) -> String {
    let refs = env.git(repository, &["for-each-ref"]);
    let log = env.git(repository, &["reflog"]);
    let status = env.git(
        repository,
        &["status", "--porcelain=v2", "--branch", "-uno"],
    );
    format!(
        "{refs}\n{log}\n{status}\n{}",
        env.git(repository, &["ls-files", "-s"])
    )
}

/// Git would find the repository around it, which is the user's.
#[test]
fn its_link_to_the_repository_deleted_inside_of_another_one() {
    let env = TestEnvironment::new();
    let outer = env.root();
    env.git(&outer, &["init", "-q", "-b", "outer"]);
    fs::write(outer.join("precious.txt"), "committed").unwrap();
    env.git(&outer, &["add", "precious.txt"]);
    env.git(&outer, &["commit", "-q", "-m", "outer"]);
    fs::write(outer.join("precious.txt"), "not committed").unwrap();
    fs::write(outer.join("untracked.txt"), "untracked").unwrap();
    let before = standing(&env, &outer);
    let (task, slot) = env.started("login");
    fs::write(slot.join("work.txt"), "work").unwrap();
    fs::remove_file(slot.join(".git")).unwrap();
    env.orange(["task", "show", &task.id]).ok();
    env.orange(["workspace", "list"]).ok().says("no .git");
    env.update(&task, &["--branch"]).fails_with(3);
    env.update(&task, &["--branch", "other"]);
    assert_ne!(env.show(&task)["branch"], "outer");
    env.orange(["task", "exec", &task.id, "--", "true"]);
    env.cancel(&task).ok();
    let (_, other) = env.started("other-work");
    assert_eq!(other, slot);
    assert_eq!(env.branch_at(&slot), "other-work");
    assert_eq!(standing(&env, &outer), before);
    for (file, text) in [
        ("precious.txt", "not committed"),
        ("untracked.txt", "untracked"),
    ] {
        assert_eq!(fs::read_to_string(outer.join(file)).unwrap(), text);
    }
    // The slot got its link back, and what was in it is saved.
    assert!(!slot.join("work.txt").exists());
    let rescues = env.orange(["rescue", "list", &task.id, "--json"]);
    let rescue = rescues.ok().json()["rescues"][0]["commit"].clone();
    let file = format!("{}:work.txt", rescue.as_str().unwrap());
    assert_eq!(env.git(&env.shop(), &["show", &file]), "work");
}

//! How much tasks change, in `task list` and `task show`: right, and without git while nothing moves.

use crate::env::{TestEnvironment, in_terminal};
use crate::task_place::script;
use crate::task_show_workspace::gits_of;
use crate::verify::{checked, handed_over, only_warn, result};
use insta::assert_snapshot;
use std::fs;

const LIST: &[&str] = &["task", "list"];

#[test]
fn lists_tell_commits_and_lines() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.started("empty");
    env.create(["later", "Not begun"]);
    // Nothing to tell, no column.
    env.orange(LIST).ok().silent_about("DIFF");
    env.commit(&slot, "a", "1\n2\n3\n");
    env.commit(&slot, "README.md", "else\n");
    assert_snapshot!(env.orange(LIST).ok(), @"
       KEY       STATUS    SUMMARY    DIFF               BRANCH  UPDATED
    ✎  TASK-001  planning  Some work  +4 −1 · 2 commits  login   [AGE]
    ✎  TASK-002  planning  Some work                     empty   [AGE]
    ·  TASK-003  pending   Not begun                     later   [AGE]
    ");
    let diffs = |task: &serde_json::Value| format!("{} {}", task["key"], task["diff"]);
    let listed: Vec<String> = env.list(["--project", "shop"]).iter().map(diffs).collect();
    assert_snapshot!(listed.join("\n"), @r#"
    "TASK-001" {"base":"[HASH]","head":"[HASH]","commits":2,"files":2,"added":4,"deleted":1,"conflicts":[],"since_review":null}
    "TASK-002" {"base":"[HASH]","head":"[HASH]","commits":0,"files":0,"added":0,"deleted":0,"conflicts":[],"since_review":null}
    "TASK-003" null
    "#);
    let list = |columns| {
        let orange = crate::run::program().display().to_string();
        in_terminal(&env, columns, &format!("NO_COLOR=1 '{orange}' ls"))
    };
    assert!(list(100).contains("+4 −1 · 2 commits"));
    for line in list(80).lines().chain(list(60).lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    env.orange(["task", "show", &task.id])
        .ok()
        .says("diff      2 commits, 2 files, +4 −1 against main");
}

#[test]
fn a_list_shows_what_speaks_against_a_merge() {
    let env = checked();
    only_warn(&env);
    let task = handed_over(&env, "login", "x.bad");
    result(&env, &task);
    env.bring_on(&task, "reviewing");
    env.commit(&env.slot_of(&task), "README.md", "ours\n");
    env.commit(&env.shop(), "README.md", "theirs\n");
    let orange = crate::run::program().display().to_string();
    let list = |columns| in_terminal(&env, columns, &format!("NO_COLOR=1 '{orange}' ls"));
    assert_snapshot!(env.orange(LIST).ok(), @"
       KEY       STATUS     SUMMARY               DIFF               CHECKS  REVIEW  CONFLICTS  BRANCH  UPDATED
    ★  TASK-001  reviewing  ✗ checks · Some work  +2 −1 · 2 commits  ✗       +1      1 file     login   [AGE]
    ");
    assert!(list(110).contains("✗       +1      1 file"));
    // Where a column has no room, a line says it in words.
    let narrow = list(70);
    assert!(!narrow.contains("CONFLICTS"), "{narrow}");
    let words = "checks failed; conflicts in README.md; 1 commit since review";
    assert!(narrow.contains(words), "{narrow}");
}

#[test]
fn git_is_started_only_when_a_branch_moved() {
    let env = TestEnvironment::new();
    env.pool_size(4);
    let (first, slot) = env.started("first");
    let (_, second) = env.started("second");
    let shop = env.shop();
    let list = || gits_of(&env, LIST, &shop);
    // As they were made: nobody need be asked.
    assert_eq!(list(), 0);
    env.commit(&slot, "a", "1\n");
    env.commit(&second, "b", "1\n2\n");
    // One that lists commits, one that counts lines, however many tasks.
    assert_eq!(list(), 2);
    assert_eq!(list(), 0);
    env.git(&shop, &["pack-refs", "--all"]);
    assert_eq!(list(), 0);
    // The target moved: what a branch changes is known. Since when it is apart is asked, and whether it conflicts.
    let main = env.commit(&shop, "README.md", "more\n");
    assert_eq!(list(), 2);
    assert_eq!(list(), 0);
    // It came in by a merge: the lines that main has already are not the task's.
    env.git(&slot, &["merge", "-q", "--no-edit", "main"]);
    list();
    let diff = &env.show(&first)["diff"];
    assert_eq!((&diff["base"], &diff["added"]), (&main.into(), &1.into()));
    assert_eq!(list(), 0);
    // The cache may vanish at any time.
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(env.home().join(name));
    }
    assert!(list() >= 2);
    assert_eq!(list(), 0);
}

#[test]
fn what_the_remote_has_is_not_the_tasks_own() {
    let env = TestEnvironment::new();
    let origin = env.root().join("origin.git");
    let shop = env.shop();
    env.git(
        &shop,
        &["clone", "-q", "--bare", ".", origin.to_str().unwrap()],
    );
    env.git(
        &shop,
        &["remote", "add", "origin", origin.to_str().unwrap()],
    );
    let (task, slot) = env.started("login");
    // Somebody pushed to main, the branch was rebased onto it, the local main is behind.
    let theirs = env.commit(&slot, "theirs", "1\n");
    env.git(&slot, &["push", "-q", "origin", "HEAD:main"]);
    env.git(&shop, &["fetch", "-q", "origin"]);
    env.commit(&slot, "ours", "1\n2\n");
    let diff = &env.show(&task)["diff"];
    assert_eq!((&diff["commits"], &diff["added"]), (&1.into(), &2.into()));
    assert_eq!(diff["base"], theirs);
    let shown = env.orange(["task", "diff", &task.id, "--json"]).ok().json();
    assert_eq!(shown["diff"]["base"], theirs);
    assert_eq!(shown["diff"]["totals"]["files"], 1);
}

#[test]
fn a_repository_that_hangs_or_is_gone_stops_no_list() {
    let env = TestEnvironment::new();
    let (_, slot) = env.started("login");
    env.commit(&slot, "a", "1\n");
    let hanging = script(&env, "bin/git", "exec sleep 600");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", hanging.parent().unwrap().display());
    let listed = env.call(LIST).var("PATH", path).run().ok();
    assert!(listed.stdout.contains("TASK-001"), "{listed}");
    listed.silent_about("DIFF");
    // Git gives up on it at once.
    fs::write(env.shop().join(".git/refs/heads/login"), "1".repeat(40)).unwrap();
    env.orange(LIST).ok().says("TASK-001").silent_about("DIFF");
    env.orange(["task", "show", "TASK-001"]).ok();
    fs::rename(env.shop(), env.root().join("moved")).unwrap();
    let listed = env.call(["task", "list", "--project", "shop"]).run();
    listed.ok().says("TASK-001");
}

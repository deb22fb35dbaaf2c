//! Homes of the programs before this one: shown as they are, adopted by the first command, nothing lost.

use crate::env::{TestEnvironment, fingerprint};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What the tasks of these homes name.
const CLAUDE: &str = "#!/bin/sh\necho '2.1.325 (Claude Code)'\n";

fn older_home(name: &str) -> TestEnvironment {
    let mut env = TestEnvironment::unregistered();
    put_older_home(&mut env, name);
    env
}

/// Makes a home of an older program the home, with the repository `shop` as its project.
pub(crate) fn put_older_home(env: &mut TestEnvironment, name: &str) {
    let claude = env.write("clis/claude", CLAUDE);
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let path = env.variable("PATH").into_string().unwrap();
    env.set(
        "PATH",
        format!("{}:{path}", claude.parent().unwrap().display()),
    );
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    copy(&fixture, &env.home());
    // What doctor says of an older home's own mode is tested in home_modes.rs.
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o700)).unwrap();
    let registry = env.home().join("projects.json");
    let text = fs::read_to_string(&registry).unwrap();
    fs::write(
        &registry,
        text.replace("@SHOP@", env.shop().to_str().unwrap()),
    )
    .unwrap();
    let slot = env.home().join("workspaces/shop--1");
    let slot = slot.to_str().unwrap();
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "-b", "dark-mode", slot],
    );
}

fn by_id(env: &TestEnvironment, id: &str) -> Value {
    let shown = env.orange(["task", "show", id, "--json"]).ok().json();
    shown["task"].clone()
}

#[test]
fn a_home_of_seed_000_is_shown_without_writing_a_byte() {
    let env = older_home("home-000");
    let before = fingerprint(&env.tasks());
    assert_snapshot!(env.orange(["ls", "--all"]), @"
          KEY       STATUS     SUMMARY                   BRANCH                              UPDATED
    ★  ○  A1b2C3d4  reviewing  Export: orders as CSV     csv-export                          [AGE]
    ▶  ✗  Zb3kQ9xT  working    Let people read at night  dark-mode                           [AGE]
    ·  ○  M4n5B6v7  pending    (no summary yet)          orange-tasks/[ID]  [AGE]
    ✓  ○  Q1w2E3r4  done       New tax rates             tax-rates                           [AGE]
    ");
    assert_snapshot!(env.orange(["project", "list"]), @"
    PROJECT  PREFIX  BRANCH  WORKSPACES  PERMISSIONS  PATH
    shop     TASK    main    2           -            [TMP]/shop
    ");
    env.orange(["ls", "--json", "--search", "night"]).ok();
    env.orange(["doctor"]).ok();
    assert_eq!(fingerprint(&env.tasks()), before);
    assert!(env.home().join("workspaces/.pool.json").is_file());
}

#[test]
fn the_first_command_adopts_and_keeps_what_it_does_not_know() {
    let env = older_home("home-000");
    let id = "Zb3kQ9xT1mW7pLr5vNc2Y";
    let file = env.tasks().join("shop").join(id).join("TASK.md");
    let old = fs::read_to_string(&file).unwrap();
    assert_snapshot!(env.orange(["task", "why", id]), @r###"
    TASK-003 is working
    its worker crashed: its tmux session shop/dark-mode is gone; no "## Handoff" section in TASK.md
    next: orange respawn TASK-003
    "###);
    // The oldest task has the first key.
    let shown = by_id(&env, id);
    assert_eq!(shown["key"], "TASK-003");
    assert_eq!(shown["created_at"], "2025-03-02T09:15:00Z");
    assert_eq!(shown["status"], "working");
    let new = fs::read_to_string(&file).unwrap();
    let (_, old_body) = old.split_once("\n---\n").unwrap();
    assert!(new.ends_with(&format!("\n---\n{old_body}")), "{new}");
    // The agent is gone, and that counts.
    let front = old.split_once("\n---\n").unwrap().0;
    let front = front.replace("crash_count: 0", "crash_count: 1");
    for line in front
        .lines()
        .filter(|line| !line.starts_with("updated_at:"))
    {
        assert!(new.contains(line), "{line:?} is gone from\n{new}");
    }
    // The old history stays, and ours begins after it.
    let history = fs::read_to_string(file.with_file_name("history.jsonl")).unwrap();
    let kinds: Vec<Value> = history
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "task.created",
            "agent.spawned",
            "status.changed",
            "status.changed",
            "task.adopted",
            // Its session is gone, and it had not handed over.
            "agent.spawned",
            "agent.crashed"
        ]
    );
    let adopted: Value = serde_json::from_str(history.lines().nth(4).unwrap()).unwrap();
    assert_eq!(adopted["fields"]["workspace"], "shop--1");
    assert_eq!(adopted["fields"]["updated_at"], "2025-03-02T11:40:12.345Z");
    // And it goes its way like any other.
    env.orange(["task", "complete", id])
        .fails_with(3)
        .says("## Handoff");
    fs::write(&file, format!("{new}\n## Handoff\n\nDONE: the palette\n")).unwrap();
    env.orange(["task", "update", id, "--review-harness", "none"])
        .ok();
    env.orange(["task", "complete", id]).ok();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("# agreed with Ann on Monday\nestimate: 3 days   # a guess\nlinks:\n  - https://example.com/night\n  - {kind: mail, from: ann}\nanswer: no\nversion: 1.10\n"), "{text}");
}

#[test]
fn new_tasks_are_numbered_after_the_old_ones() {
    let env = older_home("home-000");
    assert_eq!(env.create(["The first of ours"]).key, "TASK-005");
    for (id, key) in [
        ("M4n5B6v7C8x9Z0a1S2d3F", "TASK-004"),
        ("Q1w2E3r4T5y6U7i8O9p0L", "TASK-001"),
        ("Zb3kQ9xT1mW7pLr5vNc2Y", "TASK-003"),
        ("A1b2C3d4E5f6G7h8I9j0K", "TASK-002"),
    ] {
        env.orange(["task", "update", id, "--add-tag", "seen"]).ok();
        assert_eq!(by_id(&env, id)["key"], key);
    }
    assert_eq!(env.create(["The second of ours"]).key, "TASK-006");
    // The session of the older program is gone: its worker needs a decision.
    env.orange(["doctor"])
        .fails_with(1)
        .says("TASK-003: is working, and its worker crashed");
}

#[test]
fn a_home_of_seed_001_is_shown_without_writing_a_byte() {
    let env = older_home("home-001");
    let before = fingerprint(&env.tasks());
    assert_snapshot!(env.orange(["ls", "--all"]), @"
          KEY     STATUS     SUMMARY                    BRANCH              UPDATED
    !  ○  def456  stuck      Count in the cart badge    feature/cart/badge  [AGE]
    ★  ✗  abc123  reviewing  Let people read at night.  dark-mode           [AGE]
    ·  ○  ghi789  pending    Find products by name      feature/search      [AGE]
    ✓  ○  jkl012  done       Replace the old logo       old-logo            [AGE]
    ");
    assert_eq!(env.list(["--status", "stuck"])[0]["id"], "def456");
    assert_eq!(env.list(["--status", "reviewing"])[0]["id"], "abc123");
    assert_eq!(fingerprint(&env.tasks()), before);
}

#[test]
fn folders_named_after_branches_are_adopted_where_they_are() {
    let env = older_home("home-001");
    // By id, by a prefix of one, and by branch.
    assert_eq!(by_id(&env, "def456")["key"], "TASK-002");
    assert_eq!(by_id(&env, "def")["key"], "TASK-002");
    assert_eq!(by_id(&env, "shop/feature/cart/badge")["id"], "def456");
    let shown = by_id(&env, "TASK-002");
    assert_eq!(shown["summary"], "Count in the cart badge");
    assert_eq!(shown["status"], "stuck");
    env.orange(["task", "update", "TASK-002", "--status", "working"])
        .ok();
    assert!(
        env.tasks()
            .join("shop/feature/cart/badge/TASK.md")
            .is_file()
    );
    let text = fs::read_to_string(env.tasks().join("shop/feature/cart/badge/TASK.md")).unwrap();
    assert!(text.contains("\nstatus: working\n"), "{text}");
    assert!(
        text.ends_with("---\n\n# Count in the cart badge\n\nIt shows one too many.\n"),
        "{text}"
    );
    // What lies beside it in the same folder is a task of its own.
    assert_eq!(by_id(&env, "ghi789")["summary"], "Find products by name");
    let shown = by_id(&env, "abc123");
    assert_eq!(
        (&shown["status"], &shown["workspace"]),
        (&json!("reviewing"), &json!("shop--1"))
    );
    assert_snapshot!(env.orange(["task", "show", "abc123", "--history"]), @r#"
    TASK-003 Let people read at night.
    status    ★ reviewing
    project   shop
    branch    dark-mode
    category  feature
    session   shop/dark-mode
    created   [TIME] ([AGE])
    updated   [AGE], revision 1
    id        abc123
    file      [HOME]/tasks/shop/dark-mode/TASK.md

    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      branch   dark-mode
      commits  none that main has not
      changes  none uncommitted

    Let people read at night.

    - follow the system
    - remember the choice

    history
      [TIME]  orchestrator  created the task
      [TIME]  agent         started: ?
      [TIME]  engine        message: "Looking at the styles"
      [TIME]  engine        review round 1 started
      [TIME]  engine        review round 1 passed
      [TIME]  agent         stopped: completed
      [TIME]  engine        moved working → needs_human
      [TIME]  engine        took the task over as it was found
    "#);
    assert_eq!(env.create(["After them"]).key, "TASK-005");
    env.orange(["doctor"]).ok();
}

#[test]
fn an_adopted_task_is_deleted_and_restored_with_its_nested_folder() {
    let env = older_home("home-001");
    env.orange(["task", "delete", "ghi789"]).ok();
    assert!(!env.tasks().join("shop/feature/search").exists());
    assert!(
        env.tasks()
            .join("shop/feature/cart/badge/TASK.md")
            .is_file()
    );
    env.orange(["task", "restore", "ghi789"]).ok();
    assert!(env.tasks().join("shop/feature/search/TASK.md").is_file());
    assert_eq!(by_id(&env, "ghi789")["summary"], "Find products by name");
}

#[test]
fn a_bad_value_in_an_older_file_is_left_to_the_person_and_its_slot_too() {
    let env = older_home("home-000");
    let file = env.tasks().join("shop/Zb3kQ9xT1mW7pLr5vNc2Y/TASK.md");
    let text = fs::read_to_string(&file).unwrap();
    let broken = text.replace("review_round: 0", "review_round: none");
    fs::write(&file, &broken).unwrap();
    env.orange(["ls"])
        .ok()
        .says("damaged")
        .says("\"none\" is not a whole number");
    env.orange(["task", "stuck", "Zb3kQ9xT1mW7pLr5vNc2Y", "--json"])
        .refuses(1, "damaged");
    // Nothing else knows its last good value, and its slot may hold its work.
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("there is no journal that has its last good value")
        .says("shop--1: may be held by shop/Zb3kQ9xT1mW7pLr5vNc2Y, whose TASK.md cannot be read");
    assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    fs::write(&file, text).unwrap();
    env.orange(["doctor", "--repair"]).ok();
    let shown = by_id(&env, "Zb3kQ9xT1mW7pLr5vNc2Y");
    assert_eq!(shown["summary"], "Let people read at night");
    assert_eq!(shown["status"], "working");
    assert_eq!(shown["workspace"], "shop--1");
}

#[test]
fn a_task_of_an_older_home_can_be_a_dependency() {
    let env = older_home("home-001");
    let task = env.create(["Waits for it", "--blocked-by", "ghi789"]);
    assert_eq!(env.show(&task)["blocked_by"], json!(["TASK-004"]));
}

#[test]
fn a_folder_made_by_hand_is_a_task() {
    let env = TestEnvironment::new();
    env.write(
        "home/orange/tasks/shop/by-hand/TASK.md",
        "---\nstatus: pending\n---\n\nDo this by hand\n",
    );
    let rows = env.list([""; 0]);
    assert_eq!(rows[0]["summary"], "Do this by hand");
    assert_eq!(rows[0]["branch"], "by-hand");
    env.orange(["task", "update", "by-hand", "--status", "planning"])
        .ok();
    assert_eq!(by_id(&env, "by-hand")["key"], "TASK-001");
}

#[test]
fn a_task_that_another_one_names_is_adopted_with_it() {
    let env = older_home("home-000");
    let (first, second) = ("A1b2C3d4E5f6G7h8I9j0K", "Q1w2E3r4T5y6U7i8O9p0L");
    env.orange(["task", "update", first, "--add-related", second])
        .ok();
    let key = by_id(&env, second)["key"].clone();
    assert_eq!(by_id(&env, first)["related_to"], json!([key]));
}

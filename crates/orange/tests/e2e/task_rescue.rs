//! `orange task rescue`: what was saved before something could destroy it.

use crate::env::{TestEnvironment, TestTask, in_terminal};
use crate::run::program;
use insta::assert_snapshot;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Starts a task, so that it has a workspace.
fn workspace(env: &TestEnvironment, task: &TestTask) -> PathBuf {
    env.bring_to(task, "planning");
    env.slot_of(task)
}

/// Makes a rescue as the engine does, at a chosen second, of what is in the slot.
pub(crate) fn rescue(env: &TestEnvironment, task: &TestTask, slot: &Path, second: u32) -> String {
    let head = env.git(slot, &["rev-parse", "HEAD"]);
    env.git(slot, &["add", "-A"]);
    let tree = env.git(slot, &["write-tree"]);
    env.git(slot, &["reset", "-q", "--hard"]);
    let message = format!(
        "rescue: release\n\nOrange-Reason: release of shop--1\nOrange-Task: {}\n\
         Orange-Time: 2026-01-02T03:04:{second:02}Z\nOrange-Files: 2\nOrange-Commits: 0\nOrange-Head: {head}\n",
        task.id
    );
    let output = env
        .foreign("git")
        .args(["commit-tree", &tree, "-p", &head, "-m", &message])
        .env("GIT_COMMITTER_EMAIL", "orange@localhost")
        .current_dir(slot)
        .output()
        .unwrap();
    let commit = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let name = format!("20260102T0304{second:02}.000Z");
    let reference = format!("refs/orange/rescue/{}/{name}", task.id);
    env.git(slot, &["update-ref", &reference, &commit]);
    name
}

/// A task with a workspace, and two rescues of it.
fn rescued(env: &TestEnvironment) -> (TestTask, PathBuf) {
    let task = env.create(["login", "Add a login form"]);
    let slot = workspace(env, &task);
    fs::write(slot.join("README.md"), "first try").unwrap();
    fs::write(slot.join("new.txt"), "new").unwrap();
    rescue(env, &task, &slot, 5);
    fs::write(slot.join("README.md"), "second try").unwrap();
    rescue(env, &task, &slot, 6);
    (task, slot)
}

#[test]
fn list_and_show() {
    let env = TestEnvironment::new();
    let (task, _) = rescued(&env);
    let line = format!("{} task rescue list TASK-001", program().display());
    assert_snapshot!(in_terminal(&env, 80, &format!("NO_COLOR=1 {line}")), @"
    NAME                  HOLDS    REASON              AGE
    20260102T030405.000Z  2 files  release of shop--1  [AGE]
    20260102T030406.000Z  2 files  release of shop--1  [AGE]
    ");
    assert_snapshot!(env.orange(["task", "rescue", "list", "TASK-001"]), @"
    NAME                  HOLDS    REASON              AGE
    20260102T030405.000Z  2 files  release of shop--1  [AGE]
    20260102T030406.000Z  2 files  release of shop--1  [AGE]
    ");
    assert_snapshot!(env.orange(["task", "rescue", "show", "TASK-001", "20260102T030405"]), @"
    rescue  20260102T030405.000Z of TASK-001
    saved   [TIME] ([AGE])
    reason  release of shop--1
    commit  [HASH]

    files
      M README.md
      A new.txt

    ignored files are not in it
    ");
    let listed = env
        .orange(["task", "rescue", "list", &task.id, "--json"])
        .ok()
        .json();
    assert_eq!(listed["rescues"].as_array().unwrap().len(), 2);
    assert_eq!(listed["rescues"][0]["name"], "20260102T030405.000Z");
    assert_eq!(listed["rescues"][0]["reason"], "release of shop--1");
    let shown = env
        .orange(["task", "rescue", "show", &task.id, "--json"])
        .ok()
        .json();
    assert_eq!(shown["rescue"]["name"], "20260102T030406.000Z");
    assert_eq!(
        shown["rescue"]["changes"],
        json!([{"status": "M", "path": "README.md"}])
    );
}

#[test]
fn restore_into_the_workspace() {
    let env = TestEnvironment::new();
    let (task, slot) = rescued(&env);
    fs::write(slot.join("README.md"), "of now").unwrap();
    let head = env.git(&slot, &["rev-parse", "HEAD"]);
    let run = env
        .orange(["task", "rescue", "restore", "TASK-001", "20260102T030405"])
        .ok();
    assert!(
        run.stdout.starts_with(
            "TASK-001: 20260102T030405.000Z is back in shop--1: 2 files written, 0 deleted\n"
        ),
        "{run}"
    );
    assert!(
        run.stdout.contains("what was there before is rescue "),
        "{run}"
    );
    assert_eq!(
        fs::read_to_string(slot.join("README.md")).unwrap(),
        "first try"
    );
    assert_eq!(fs::read_to_string(slot.join("new.txt")).unwrap(), "new");
    assert_eq!(env.git(&slot, &["rev-parse", "HEAD"]), head);
    assert_eq!(
        task.last("rescue.restored")["rescue"],
        "20260102T030405.000Z"
    );
    assert_eq!(task.last("rescue.restored")["workspace"], "shop--1");
    // The state before is a rescue like any other.
    let done = env
        .orange(["task", "rescue", "restore", &task.id, "latest", "--json"])
        .ok()
        .json();
    assert_eq!(done["written"], 1);
    assert_eq!(
        fs::read_to_string(slot.join("README.md")).unwrap(),
        "of now"
    );
}

#[test]
fn restore_as_a_branch() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "--detach", "../slot"],
    );
    let slot = env.root().join("slot");
    fs::write(slot.join("new.txt"), "new").unwrap();
    let name = rescue(&env, &task, &slot, 5);
    assert_snapshot!(env.orange(["task", "rescue", "restore", "TASK-001", "latest"]), @"
    ------- stderr -------
    error: TASK-001 has no workspace, so files cannot be put back
    hint: add --to-branch NAME to get it as a branch
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["task", "rescue", "restore", "TASK-001", "latest", "--to-branch", "main"]), @"
    ------- stderr -------
    error: there is a branch main already
    hint: choose another name
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["task", "rescue", "restore", "TASK-001", "latest", "--to-branch", "a..b"]), @r#"
    ------- stderr -------
    error: "a..b" cannot be the name of a branch
    hint: letters, digits, - and / do, as in rescued/login
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "rescue", "restore", "TASK-001", &name, "--to-branch", "back"]), @"TASK-001: 20260102T030405.000Z is the branch back now");
    assert_eq!(env.git(&env.shop(), &["show", "back:new.txt"]), "new");
    assert_eq!(task.last("rescue.restored")["branch"], "back");
}

#[test]
fn names_that_fit_none_or_several() {
    let env = TestEnvironment::new();
    let other = env.create(["other", "Another"]);
    let (task, _) = rescued(&env);
    assert_snapshot!(env.orange(["task", "rescue", "list", &other.key]), @"TASK-001 has no rescues");
    assert_snapshot!(env.orange(["task", "rescue", "show", &other.key]), @"
    ------- stderr -------
    error: TASK-001 has no rescues
    hint: one is made before anything that could destroy work
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["task", "rescue", "show", &task.key, "2026"]), @r#"
    ------- stderr -------
    error: "2026" begins 2 rescues of TASK-002
    hint: `orange rescue list TASK-002` shows them
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "rescue", "show", &task.key, "1999"]), @r#"
    ------- stderr -------
    error: TASK-002 has no rescue "1999"
    hint: `orange rescue list TASK-002` shows them
    [exit status: 4]
    "#);
    env.orange(["task", "rescue", "show", &task.key, "", "--json"])
        .refuses(4, "not_found");
    env.orange(["task", "rescue", "list", "nothing", "--json"])
        .refuses(4, "not_found");
    env.orange(["task", "rescue", "restore", &task.key, "--json"])
        .refuses(2, "usage");
}

#[test]
fn a_deleted_task_and_one_that_is_gone() {
    let env = TestEnvironment::new();
    let (task, slot) = rescued(&env);
    env.git(
        &env.shop(),
        &["worktree", "remove", "--force", slot.to_str().unwrap()],
    );
    env.orange(["task", "cancel", &task.id, "--yes"]).ok();
    env.orange(["task", "delete", &task.id, "--yes"]).ok();
    let count = |name: &str| {
        let listed = env
            .orange(["task", "rescue", "list", name, "--json"])
            .ok()
            .json();
        listed["rescues"].as_array().unwrap().len()
    };
    assert_eq!(count("TASK-001"), 2);
    env.orange(["task", "rescue", "restore", &task.id, "latest", "--json"])
        .refuses(3, "condition_unmet");
    env.orange([
        "task",
        "rescue",
        "restore",
        &task.id,
        "latest",
        "--to-branch",
        "one",
    ])
    .ok();
    fs::remove_dir_all(env.home().join("trash")).unwrap();
    assert_eq!(count(&task.id), 2);
    assert_eq!(count(&task.id[..6]), 2);
    env.orange([
        "task",
        "rescue",
        "restore",
        &task.id,
        "latest",
        "--to-branch",
        "two",
    ])
    .ok();
    env.call([
        "task",
        "rescue",
        "restore",
        &task.id,
        "latest",
        "--to-branch",
        "three",
        "--json",
    ])
    .agent(&task, "worker")
    .run()
    .refuses(3, "not_allowed");
    assert_eq!(
        env.git(&env.shop(), &["show", "two:README.md"]),
        "second try"
    );
}

#[test]
fn a_project_that_is_not_registered_any_more() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.orange(["project", "remove", "shop", "--force"]).ok();
    assert_snapshot!(env.call(["task", "rescue", "list", &task.id]).at(env.root()).run(), @"
    ------- stderr -------
    error: project shop is not registered, so its repository is not known
    hint: register it again: `orange project add PATH --name shop`
    [exit status: 4]
    ");
}

#[test]
fn agents_look_everywhere_and_restore_their_own() {
    let env = TestEnvironment::new();
    let other = env.create(["other", "Another"]);
    let (task, _) = rescued(&env);
    let as_agent = |of: &TestTask, arguments: &[&str]| {
        env.call(arguments.iter().copied())
            .agent(of, "worker")
            .run()
    };
    as_agent(&other, &["task", "rescue", "list", &task.id]).ok();
    as_agent(&other, &["task", "rescue", "show", &task.id]).ok();
    as_agent(
        &other,
        &["task", "rescue", "restore", &task.id, "latest", "--json"],
    )
    .refuses(3, "not_allowed");
    as_agent(&task, &["task", "rescue", "restore", &task.id, "latest"]).ok();
}

/// The names of a task's rescues, the oldest first.
fn names(env: &TestEnvironment, task: &TestTask) -> Vec<String> {
    let listed = env
        .orange(["task", "rescue", "list", &task.id, "--json"])
        .ok()
        .json();
    let rescues = listed["rescues"].as_array().unwrap().iter();
    rescues
        .map(|rescue| rescue["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_latest_of_many_of_one_millisecond_is_found_by_its_number() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let slot = workspace(&env, &task);
    let mut expected = Vec::new();
    for number in 1..=11 {
        fs::write(slot.join("README.md"), format!("try {number}")).unwrap();
        let name = rescue(&env, &task, &slot, 5);
        let reference = format!("refs/orange/rescue/{}/{name}", task.id);
        let numbered = match number {
            1 => name,
            _ => format!("{name}-{number}"),
        };
        let kept = format!("refs/keep/{number}");
        env.git(&slot, &["update-ref", &kept, &reference]);
        env.git(&slot, &["update-ref", "-d", &reference]);
        expected.push(numbered);
    }
    for (number, name) in (1..).zip(&expected) {
        let reference = format!("refs/orange/rescue/{}/{name}", task.id);
        env.git(
            &slot,
            &["update-ref", &reference, &format!("refs/keep/{number}")],
        );
    }
    assert_eq!(names(&env, &task), expected);
    env.orange(["task", "rescue", "restore", &task.id, "latest"])
        .ok();
    assert_eq!(
        fs::read_to_string(slot.join("README.md")).unwrap(),
        "try 11"
    );
}

#[test]
fn a_release_that_is_taken_up_again_saves_once() {
    for point in ["rescue.saved", "release.saved", "release.detached"] {
        let env = TestEnvironment::new();
        let task = env.create(["login", "Add a login form"]);
        let slot = workspace(&env, &task);
        fs::write(slot.join("work.txt"), "not committed").unwrap();
        fs::write(slot.join("README.md"), "staged").unwrap();
        env.git(&slot, &["add", "README.md"]);
        fs::write(slot.join("README.md"), "and changed again").unwrap();
        let killed = env
            .call(["task", "cancel", &task.id])
            .var("ORANGE_CRASH_AT", point)
            .run();
        assert_ne!(killed.code, 0, "{killed}");
        env.orange(["task", "list"]).ok();
        assert_eq!(env.show(&task)["workspace"], json!(null), "{point}");
        assert_eq!(names(&env, &task).len(), 1, "{point}");
        env.orange(["task", "rescue", "show", &task.id])
            .ok()
            .says("A work.txt")
            .says("staged");
    }
}

#[test]
fn the_latest_is_the_work_and_not_what_was_found_when_the_slot_was_cleaned() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let slot = workspace(&env, &task);
    env.commit(&slot, ".gitignore", "out/\n");
    fs::create_dir(slot.join("out")).unwrap();
    fs::write(slot.join("out/built"), "built").unwrap();
    fs::write(slot.join("work.txt"), "not committed").unwrap();
    env.orange(["task", "cancel", &task.id]).ok();
    env.orange(["task", "rescue", "show", &task.id])
        .ok()
        .says("A work.txt");
}

/// A trace goes to standard error, where git says what is wrong.
#[test]
fn a_trace_of_git_is_no_failure() {
    let mut env = TestEnvironment::new();
    for name in [
        "GIT_TRACE",
        "GIT_TRACE2",
        "GIT_TRACE_SETUP",
        "GIT_CURL_VERBOSE",
    ] {
        env.set(name, "1");
    }
    let trace = env.root().join("trace2");
    env.set("GIT_TRACE2_EVENT", trace.clone());
    let task = env.create(["login", "Add a login form"]);
    let slot = workspace(&env, &task);
    fs::write(slot.join("README.md"), "changed").unwrap();
    fs::write(slot.join("new.txt"), "new").unwrap();
    let before = rescue(&env, &task, &slot, 5);
    fs::write(slot.join("new.txt"), "in the way").unwrap();
    env.orange(["task", "rescue", "restore", &task.id, &before])
        .ok();
    assert_eq!(fs::read_to_string(slot.join("new.txt")).unwrap(), "new");
    env.orange(["task", "cancel", &task.id]).ok();
    assert_eq!(names(&env, &task).len(), 3);
    env.orange(["doctor"]).ok();
    // A trace into a file is written.
    assert!(fs::metadata(trace).unwrap().len() > 0);
}

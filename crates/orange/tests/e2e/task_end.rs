//! `orange task cancel`, `delete` and `restore`.

use crate::env::{TestEnvironment, with_answers};
use crate::run::program;
use crate::running::Running;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn cancel() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    assert_snapshot!(env.orange(["task", "cancel", "TASK-001"]), @"TASK-001: working → cancelled");
    let shown = env.show(&task);
    let hooks: Vec<&str> = shown["hooks"]["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| hook["hook"].as_str().unwrap())
        .collect();
    assert_eq!(
        hooks,
        ["kill_reviewer", "kill_session", "release_workspace"]
    );
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @"
    TASK-001 is cancelled
    it was cancelled; `orange create --from TASK-001` starts the work again
    ");
}

#[test]
fn a_parent_with_open_children_is_not_cancelled_by_accident() {
    let env = TestEnvironment::new();
    let parent = env.create(["The whole"]);
    let child = env.create(["A part", "--parent", "TASK-001"]);
    let grandchild = env.create(["A part of the part", "--parent", "TASK-002"]);
    let other = env.create(["Another part", "--parent", "TASK-001"]);
    env.orange(["task", "cancel", &other.id]).ok();
    assert_snapshot!(env.orange(["task", "cancel", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 has open children: TASK-003, TASK-002
    hint: `orange cancel TASK-001 --with-children` cancels them too, --keep-children leaves them
    [exit status: 3]
    ");
    env.orange(["task", "cancel", "TASK-001", "--yes", "--json"])
        .refuses(3, "condition_unmet");
    assert_eq!(env.show(&parent)["status"], "pending");
    assert_snapshot!(env.orange(["task", "cancel", "TASK-001", "--with-children", "--keep-children"]), @"
    ------- stderr -------
    error: --with-children cannot be used with --keep-children
    hint: for usage, run `orange task cancel --help`
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["task", "cancel", "TASK-001", "--with-children"]), @"TASK-001: pending → cancelled, TASK-003 too, TASK-002 too");
    for task in [&parent, &child, &grandchild] {
        assert_eq!(env.show(task)["status"], "cancelled");
    }
}

#[test]
fn children_can_be_kept() {
    let env = TestEnvironment::new();
    let parent = env.create(["The whole"]);
    let child = env.create(["A part", "--parent", "TASK-001"]);
    let done = env
        .orange(["task", "cancel", "TASK-001", "--keep-children", "--json"])
        .ok()
        .json();
    assert_eq!(done["children"], json!([]));
    assert_eq!(env.show(&parent)["status"], "cancelled");
    assert_eq!(env.show(&child)["status"], "pending");
}

#[test]
fn what_waits_for_a_cancelled_task_needs_a_person() {
    let env = TestEnvironment::new();
    let first = env.create(["first", "The first"]);
    let second = env.create(["second", "The second", "--blocked-by", "TASK-001"]);
    env.orange(["task", "cancel", &first.id]).ok();
    assert_snapshot!(env.orange(["ls"]), @"
       KEY       STATUS     SUMMARY                                               BRANCH  UPDATED
    ·  TASK-002  pending    needs attention: TASK-001 was cancelled · The second  second  [AGE]
    –  TASK-001  cancelled  The first                                             first   [AGE]
    ");
    assert_snapshot!(env.orange(["task", "why", "TASK-002"]), @"
    TASK-002 is pending
    it waits for TASK-001, which was cancelled, so it would wait for ever; needs attention: TASK-001, which it waits for, was cancelled
    next: orange update TASK-002 --remove-blocker TASK-001
    ");
    env.move_to(&second, "planning")
        .fails_with(3)
        .says("TASK-001 (cancelled)");
    env.update(&second, &["--remove-blocker", "TASK-001"]).ok();
    env.move_to(&second, "planning").ok();
}

#[test]
fn delete_and_restore() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    task.append("## Notes\n\nWorth keeping.\n");
    env.create(["logout", "Log out", "--blocked-by", "TASK-001"]);
    assert_snapshot!(env.orange(["task", "restore"]), @"the trash is empty");
    let text = task.text();
    assert_snapshot!(env.orange(["task", "delete", "TASK-001"]), @"
    TASK-001: moved to the trash; `orange restore TASK-001` brings it back within 30 days
    ------- stderr -------
    note: TASK-002 waits for TASK-001, which is deleted now
    ");
    assert!(!task.folder.exists());
    assert_eq!(env.keys(["--all"]), ["TASK-002"]);
    for name in ["TASK-001", "1", &task.id, "login", "shop/login"] {
        env.orange(["task", "show", name])
            .fails_with(4)
            .says("error: TASK-001 is in the trash")
            .says("hint: `orange restore TASK-001` brings it back");
    }
    assert_snapshot!(env.orange(["task", "restore"]), @"shop:TASK-001  pending  Add a login form");
    assert_eq!(
        env.orange(["task", "restore", "--json"]).ok().json()["tasks"][0]["id"],
        task.id
    );
    assert_snapshot!(env.orange(["doctor"]), @"
    tasks      ✗ shop:TASK-002: waits for TASK-001, which does not exist
                   by hand: `orange update TASK-002 --remove-blocker TASK-001`
    checked 1 task and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    assert_snapshot!(env.orange(["task", "restore", "TASK-001"]), @"TASK-001: restored, it is pending");
    assert_eq!(task.text(), text);
    assert_eq!(
        task.events(),
        ["task.created", "task.deleted", "task.restored"]
    );
    assert_snapshot!(env.orange(["task", "restore", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 is not deleted: it is pending; there is nothing to restore
    [exit status: 3]
    ");
    // A key is not used twice.
    env.orange(["task", "delete", "TASK-002"]).ok();
    assert_eq!(env.create(["The next one"]).key, "TASK-003");
}

#[test]
fn a_deleted_task_has_all_its_names() {
    let env = TestEnvironment::new();
    let task = env.create(["login"]);
    for name in ["1", "TASK-001", "task-1", "login", "shop/login", &task.id] {
        env.orange(["task", "delete", "1"]).ok();
        env.orange(["task", "restore", name])
            .ok()
            .says("TASK-001: restored");
    }
    env.create(["The second"]);
    env.orange(["task", "delete", "1", "2"]).ok();
    assert_snapshot!(env.orange(["task", "restore"]), @"
    shop:TASK-001  pending  (no summary yet)
    shop:TASK-002  pending  The second
    ");
    assert_snapshot!(env.orange(["task", "restore", "2", "1"]), @"
    TASK-002: restored, it is pending
    TASK-001: restored, it is pending
    ");
}

#[test]
fn several_at_once_each_with_a_line_and_the_code_of_the_worst() {
    let env = TestEnvironment::new();
    for summary in ["The first", "The second", "The third", "The fourth"] {
        env.create([summary]);
    }
    // A name that is none stops everything.
    env.orange(["task", "cancel", "1", "9"]).fails_with(4);
    assert_eq!(env.keys(["--status", "pending"]).len(), 4);
    assert_snapshot!(env.orange(["task", "cancel", "1", "TASK-001", "3"]), @"
    TASK-001: pending → cancelled
    TASK-003: pending → cancelled
    ");
    assert_snapshot!(env.orange(["task", "cancel", "1", "2"]), @"
    TASK-002: pending → cancelled
    ------- stderr -------
    error: TASK-001 is cancelled already
    hint: it stays so; a new task starts again from it: `orange create --from TASK-001`
    [exit status: 3]
    ");
    let run = env
        .orange(["task", "cancel", "4", "2", "--json"])
        .fails_with(3);
    let said = run.json();
    assert_eq!(said["tasks"][0]["task"]["key"], "TASK-004");
    assert_eq!(said["errors"][0]["code"], "illegal_transition");
    env.create(["The whole"]);
    env.create(["A part", "--parent", "5"]);
    assert_snapshot!(env.orange(["task", "cancel", "5", "6", "--with-children"]), @"TASK-005: pending → cancelled, TASK-006 too");
    let said = env
        .orange(["task", "delete", "1", "2", "--json"])
        .ok()
        .json();
    assert_eq!(said["tasks"].as_array().unwrap().len(), 2);
    let said = env.orange(["task", "delete", "3", "--json"]).ok().json();
    assert_eq!(said["task"]["key"], "TASK-003");
}

#[test]
fn what_runs_is_not_deleted() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "working");
    assert_snapshot!(env.orange(["task", "delete", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 is working and cannot be deleted
    hint: cancel it first: `orange cancel TASK-001`
    [exit status: 3]
    ");
    assert!(task.file().is_file());
    env.orange(["task", "cancel", "TASK-001"]).ok();
    env.orange(["task", "delete", "TASK-001", "--yes"]).ok();
    env.orange(["task", "restore", &task.id]).ok();
    assert_eq!(env.show(&task)["status"], "cancelled");
}

#[test]
fn a_restored_task_does_not_take_a_branch_away() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    env.orange(["task", "delete", "TASK-001"]).ok();
    env.create(["login", "Add it again"]);
    assert_snapshot!(env.orange(["task", "restore", "TASK-001"]), @"
    ------- stderr -------
    error: branch login belongs to TASK-002 (pending)
    hint: choose another branch, or end that task first: `orange cancel TASK-002`
    [exit status: 3]
    ");
    env.orange(["task", "cancel", "TASK-002"]).ok();
    env.orange(["task", "restore", "TASK-001"]).ok();
}

#[test]
fn deleted_tasks_of_one_name_are_told_apart() {
    let env = TestEnvironment::new();
    env.create(["login", "Of the shop"]);
    let books = env.init_repository("books");
    env.call(["task", "create", "login", "Of the books"])
        .at(&books)
        .run()
        .ok();
    env.orange(["task", "delete", "TASK-001"]).ok();
    env.call(["task", "delete", "TASK-001"])
        .at(&books)
        .run()
        .ok();
    assert_snapshot!(env.call(["task", "restore", "TASK-001"]).at(env.root()).run(), @r#"
    ------- stderr -------
    error: "TASK-001" names more than one deleted task
    hint: say which one:
      books:TASK-001 [ID]
      shop:TASK-001 [ID]
    [exit status: 4]
    "#);
    env.call(["task", "restore", "TASK-001"])
        .at(&books)
        .run()
        .ok();
    env.orange(["task", "restore", "shop:TASK-001"]).ok();
}

#[test]
fn a_person_at_a_terminal_is_asked_once() {
    let env = TestEnvironment::new();
    let parent = env.create(["The whole"]);
    let child = env.create(["A part", "--parent", "TASK-001"]);
    let line = format!("{} task cancel TASK-001", program().display());
    let said = with_answers(&env, 80, &line, "n\n");
    assert!(
        said.contains("cancel TASK-001 \"The whole\"? [y/N]"),
        "{said}"
    );
    // Who says no made no mistake.
    assert!(said.ends_with("? [y/N] nothing was changed\n"), "{said}");
    let log = env.orange(["log", "--component", "command"]).ok();
    log.says("info  command  nothing was changed");
    let said = with_answers(&env, 80, &line, "\u{4}");
    assert!(said.ends_with("? [y/N] \nnothing was changed\n"), "{said}");
    assert_eq!(env.show(&parent)["status"], "pending");
    let said = with_answers(&env, 80, &line, "y\nn\n");
    assert!(said.contains("cancel its open child too? [y/N]"), "{said}");
    assert_eq!(env.show(&parent)["status"], "cancelled");
    assert_eq!(env.show(&child)["status"], "pending");
    env.create(["alone"]);
    let line = format!("{} task delete 2 3", program().display());
    let said = with_answers(&env, 80, &line, "y\n");
    let asked =
        "move these 2 tasks:\n  TASK-002 \"A part\"\n  TASK-003\nall of them to the trash? [y/N]";
    assert!(said.replace("\r\n", "\n").contains(asked), "{said}");
    assert_eq!(env.keys(["--all"]), ["TASK-001"]);
    // What a worktree holds is on the mind of who gives it up.
    let begun = env.create(["Begun"]);
    env.bring_to(&begun, "planning");
    let line = format!("{} task cancel {}", program().display(), begun.key);
    let said = with_answers(&env, 120, &line, "n\n");
    assert!(
        said.contains(" (files that are not committed are saved)? [y/N]"),
        "{said}"
    );
}

#[test]
fn a_whole_family_can_be_named() {
    let env = TestEnvironment::new();
    let family = || {
        let parent = env.create(["The whole"]);
        let child = env.create(["A part", "--parent", &parent.key]);
        let grandchild = env.create(["A part of it", "--parent", &child.key]);
        [parent.key, child.key, grandchild.key]
    };
    let [a, b, c] = family();
    env.orange(["task", "cancel", &a, &b, &c, "--yes"]).ok();
    assert_eq!(env.keys(["--status", "pending"]), [""; 0]);
    let [a, b, c] = family();
    // Who was not named is still asked about.
    env.orange(["task", "cancel", &a, &b, "--yes"])
        .fails_with(3)
        .says("has open children");
    env.orange(["task", "delete", &a, &c, &b, "--yes"]).ok();
    assert_eq!(env.keys(["--status", "pending"]), [""; 0]);
    // Each once, by whatever name.
    let number = a.trim_start_matches("TASK-").to_owned();
    assert_snapshot!(env.orange(["task", "restore", &a, &number, &a]), @"TASK-004: restored, it is pending");
}

#[test]
fn a_long_wait_for_a_task_is_told() {
    let env = TestEnvironment::new();
    let task = env.create(["Held"]);
    let lock = std::fs::File::open(task.folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    let mut cancel = Running::start(env.call(["task", "cancel", &task.id, "--yes"]));
    cancel.until_printed("the task is locked by");
    lock.unlock().unwrap();
    assert!(cancel.wait().success(), "{}", cancel.printed());
    assert!(cancel.printed().contains("waits: shop/"));
}

#[test]
fn without_a_terminal_a_word_is_needed() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let ends = |verb: &str| env.call(["task", verb, &task.key]).without_yes().run();
    assert_snapshot!(ends("cancel"), @"
    ------- stderr -------
    error: cancel TASK-001 needs an answer, and this is no terminal
    hint: `orange cancel TASK-001 --yes` does it without asking
    [exit status: 3]
    ");
    assert_snapshot!(ends("delete"), @"
    ------- stderr -------
    error: delete TASK-001 needs an answer, and this is no terminal
    hint: `orange delete TASK-001 --yes` does it without asking
    [exit status: 3]
    ");
    assert_eq!(env.show(&task)["status"], "pending");
    env.call(["task", "cancel", &task.key, "--json"])
        .without_yes()
        .run()
        .refuses(3, "refused");
    env.orange(["task", "cancel", &task.key, "--yes"]).ok();
}

#[test]
fn what_cannot_be_done_is_not_asked_about() {
    let env = TestEnvironment::new();
    let (begun, slot) = env.started("login");
    let parent = env.create(["The whole"]);
    env.create(["A part", "--parent", &parent.key]);
    // Neither on a terminal nor elsewhere.
    let line = format!("{} task delete {}", program().display(), begun.key);
    let said = with_answers(&env, 80, &line, "y\n");
    assert!(said.contains("cannot be deleted"), "{said}");
    assert!(!said.contains("[y/N]"), "{said}");
    env.call(["task", "delete", &begun.key])
        .without_yes()
        .run()
        .fails_with(3)
        .says("cannot be deleted");
    env.call(["task", "cancel", &parent.key])
        .without_yes()
        .run()
        .fails_with(3)
        .says("has open children");
    // Inside a workspace its task is meant.
    env.call(["task", "cancel"])
        .at(&slot)
        .run()
        .fails_with(3)
        .says(&format!("cancel {} needs an answer", begun.key));
    env.call(["task", "cancel", "--yes"]).at(&slot).run().ok();
    assert_eq!(env.show(&begun)["status"], "cancelled");
}

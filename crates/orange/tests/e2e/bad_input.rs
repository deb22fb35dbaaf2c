//! Names that mean nothing, or too much; moves that the table does not have.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use std::fs;

#[test]
fn a_task_that_does_not_exist() {
    let env = TestEnvironment::new();
    env.create(["The only one"]);
    assert_snapshot!(env.orange(["task", "show", "TASK-009"]), @"
    ------- stderr -------
    error: there is no TASK-009 in project shop
    hint: `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["task", "show", "zzz"]), @r#"
    ------- stderr -------
    error: there is no task "zzz"
    hint: `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "show", "shop/no-such-branch"]), @r#"
    ------- stderr -------
    error: there is no task "shop/no-such-branch"
    hint: `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["task", "show", "books:TASK-001"]), @"
    ------- stderr -------
    error: there is no TASK-001 in project books
    hint: `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["task", "show", "TASK-009", "--json"]), @r#"
    {"error":{"code":"not_found","message":"there is no TASK-009 in project shop","hint":"`orange ls --all` shows every task; `orange restore` brings back a deleted one","actions":[{"action":"list_tasks"},{"action":"list_deleted"}]}}
    [exit status: 4]
    "#);
    for verb in [
        "show", "why", "deps", "path", "complete", "stuck", "cancel", "delete", "restore",
    ] {
        for name in [
            "TASK-009",
            "zzz",
            "shop/zzz",
            "",
            "TASK-0",
            "../../etc/passwd",
            "%",
            "\u{1b}[31m",
        ] {
            let error = env
                .orange(["task", verb, name, "--json"])
                .refuses(4, "not_found");
            assert!(error["hint"].is_string(), "{verb} {name:?}: {error}");
        }
    }
    // A name that is no name is not printed raw.
    env.orange(["task", "show", "\u{1b}[31mred"])
        .fails_with(4)
        .silent_about("\u{1b}");
}

#[test]
fn every_way_to_name_a_task() {
    let env = TestEnvironment::new();
    let task = env.create(["feature/login", "Add a login form"]);
    for name in [
        "TASK-001",
        "task-1",
        "TASK-1",
        &task.id,
        &task.id[..8],
        "shop:TASK-001",
        "shop:task-1",
        "shop/feature/login",
        "feature/login",
    ] {
        let shown = env.orange(["task", "show", name, "--json"]).ok();
        assert_eq!(shown.json()["task"]["id"], task.id, "{name}");
    }
}

#[test]
fn an_ambiguous_prefix_lists_the_candidates() {
    let env = TestEnvironment::new();
    // Ids of older homes have any shape, so these two can share a beginning.
    for (id, summary) in [("abc111", "The first"), ("abc222", "The second")] {
        let file = env.tasks().join("shop").join(id).join("TASK.md");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("---\nid: {id}\nstatus: pending\nbranch: b-{id}\nsummary: {summary}\ncreated_at: 2024-01-15T10:00:00Z\n---\n")).unwrap();
    }
    assert_snapshot!(env.orange(["task", "show", "abc"]), @r#"
    ------- stderr -------
    error: "abc" names more than one task
    hint: say which one:
      abc111  The first
      abc222  The second
    [exit status: 4]
    "#);
    env.orange(["task", "update", "abc", "--priority", "low", "--json"])
        .refuses(4, "ambiguous");
    // One that is the beginning of another is still itself.
    env.orange(["task", "show", "abc111"])
        .ok()
        .says("The first");
}

#[test]
fn a_number_is_never_taken_for_the_beginning_of_an_id() {
    let env = TestEnvironment::new();
    env.create(["login", "The first"]);
    let file = env.tasks().join("shop").join("7xyz").join("TASK.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "---\nid: 7xyz\nstatus: pending\nbranch: b\nsummary: Another\ncreated_at: 2024-01-15T10:00:00Z\n---\n").unwrap();
    for folder in [env.root(), env.shop()] {
        let show = |id: &str| env.call(["task", "show", id]).at(&folder).run();
        show("7").fails_with(4);
        show("1").ok().says("The first");
        show("shop:1").ok().says("The first");
        show("7xyz").ok().says("Another");
    }
}

#[test]
fn a_key_of_several_projects_lists_the_candidates() {
    let env = TestEnvironment::new();
    env.create(["login", "Of the shop"]);
    let books = env.init_repository("books");
    env.call(["task", "create", "login", "Of the books"])
        .at(&books)
        .run()
        .ok();
    assert_snapshot!(env.call(["task", "show", "TASK-001"]).at(env.root()).run(), @r#"
    ------- stderr -------
    error: "TASK-001" names more than one task
    hint: say which one:
      books:TASK-001  Of the books
      shop:TASK-001  Of the shop
    [exit status: 4]
    "#);
    let error = env
        .call(["task", "cancel", "TASK-001", "--json"])
        .at(env.root())
        .run()
        .refuses(4, "ambiguous");
    assert!(error["hint"].as_str().unwrap().contains("books:TASK-001"));
    // Inside a project its own is meant.
    env.call(["task", "show", "TASK-001"])
        .at(&books)
        .run()
        .ok()
        .says("Of the books");
    env.call(["task", "show", "shop:TASK-001"])
        .at(&books)
        .run()
        .ok()
        .says("Of the shop");
}

#[test]
fn moves_that_the_table_does_not_have() {
    let env = TestEnvironment::new();
    let task = env.create(["Not so fast"]);
    assert_snapshot!(env.move_to(&task, "reviewing"), @"
    ------- stderr -------
    error: cannot move TASK-001 from pending to reviewing: the interactive workflow has no such transition
    hint: from pending a human can go to: planning, clarification, cancelled
    [exit status: 3]
    ");
    assert_snapshot!(env.move_to(&task, "pending"), @"
    ------- stderr -------
    error: TASK-001 is pending already
    hint: from pending a human can go to: planning, clarification, cancelled
    [exit status: 3]
    ");
    assert_snapshot!(env.move_to(&task, "purple"), @r#"
    ------- stderr -------
    error: --status: "purple" is not a status; allowed: pending, planning, clarification, working, agent-review, reviewing, stuck, delegated, done, cancelled, created, classifying, planned, running, blocked, paused, completed, finalizing, failed, finished
    hint: for usage, run `orange task update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.call(["task", "update", "--status", "agent-review"]).agent(&task, "worker").run(), @"
    ------- stderr -------
    error: cannot move TASK-001 from pending to agent-review: the interactive workflow has no such transition
    hint: from pending there is no transition for an agent
    [exit status: 3]
    ");
    env.orange([
        "task",
        "update",
        &task.id,
        "--status",
        "reviewing",
        "--json",
    ])
    .refuses(3, "illegal_transition");
    env.orange(["task", "update", &task.id, "--status", "purple", "--json"])
        .refuses(2, "usage");
    env.orange(["task", "cancel", &task.id]).ok();
    // Cancelled is over.
    assert_snapshot!(env.move_to(&task, "planning"), @"
    ------- stderr -------
    error: cannot move TASK-001 from cancelled to planning: the interactive workflow has no such transition
    hint: it stays so; a new task starts again from it: `orange create --from TASK-001`
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["task", "cancel", &task.id]), @"
    ------- stderr -------
    error: TASK-001 is cancelled already
    hint: it stays so; a new task starts again from it: `orange create --from TASK-001`
    [exit status: 3]
    ");
}

#[test]
fn conditions_that_are_not_met() {
    let env = TestEnvironment::new();
    let blocker = env.create(["First this"]);
    let task = env.create(["Then that", "--blocked-by", "TASK-001"]);
    assert_snapshot!(env.move_to(&task, "planning"), @"
    ------- stderr -------
    error: cannot move TASK-002 to planning: it waits for TASK-001 (pending)
    hint: wait until that is over, or add --force
    [exit status: 3]
    ");
    env.orange(["task", "update", &task.id, "--status", "planning", "--json"])
        .refuses(3, "condition_unmet");
    assert_snapshot!(env.move_to(&blocker, "clarification"), @"
    ------- stderr -------
    error: cannot move TASK-001 to clarification: it has a summary
    hint: start it with --status planning
    [exit status: 3]
    ");
    let nameless = env.create(["nameless"]);
    assert_snapshot!(env.move_to(&nameless, "planning"), @"
    ------- stderr -------
    error: cannot move TASK-003 to planning: it has no summary
    hint: give it one: `orange update TASK-003 --summary TEXT`, or start it with --status clarification
    [exit status: 3]
    ");
    env.move_to(&nameless, "clarification").ok();
    // A person may overrule dependencies, and nothing else.
    env.update(&task, &["--status", "planning", "--force"]).ok();
    env.orange(["project", "update", "shop", "--pool-size", "0"])
        .ok();
    assert_snapshot!(env.update(&blocker, &["--status", "planning", "--force"]), @"
    ------- stderr -------
    error: cannot move TASK-001 to planning: the project has no slots (its pool size is 0)
    hint: end one of them, or raise the limit: `orange project update shop --pool-size N`
    [exit status: 3]
    ");
    assert_snapshot!(env.update(&blocker, &["--force"]), @"
    ------- stderr -------
    error: --status <STATUS> is missing
    hint: for usage, run `orange task update --help`
    [exit status: 2]
    ");
}

#[test]
fn options_and_words_that_do_not_exist() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--colour", "red"]), @"
    ------- stderr -------
    error: there is no option --colour
    hint: for usage, run `orange task update --help`; to pass `--colour` as a value, use `-- --colour`
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--priority", "urgent"]), @r#"
    ------- stderr -------
    error: --priority: "urgent" is not a priority; allowed: critical, high, normal, low
    hint: for usage, run `orange task update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "update", "TASK-001"]), @"
    ------- stderr -------
    error: nothing to change was given
    hint: say what, for instance --status planning or --priority high; see `orange update --help`
    [exit status: 2]
    ");
    let error = env
        .orange(["task", "update", "TASK-001", "--force", "--json"])
        .refuses(2, "usage");
    assert_eq!(error["message"], "--status <STATUS> is missing");
    for (option, value) in [
        ("--priority", "urgent"),
        ("--queue", "later"),
        ("--category", "fun"),
        ("--weight", "heavy"),
        ("--ui-testing", "perhaps"),
    ] {
        env.orange(["task", "update", "TASK-001", option, value, "--json"])
            .refuses(2, "usage");
    }
    assert_eq!(env.show(&task)["revision"], 1);
}

#[test]
fn settings_that_cannot_be_used() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    env.bring_to(&task, "planning");
    let config = env.home().join("config.yaml");
    fs::write(&config, "review:\n  max_rounds: many\n").unwrap();
    assert_snapshot!(env.orange(["new", "Another task"]), @"
    ------- stderr -------
    error: config.yaml, line 2: review.max_rounds must be a whole number above 0
    hint: correct [HOME]/config.yaml: `orange config edit` opens it
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["doctor"]), @"
    home       ✗ config.yaml: line 2: review.max_rounds must be a whole number above 0
                   by hand: `orange config edit` opens it
    checked 1 task and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    env.orange(["ls"]).ok();
    fs::write(&config, "review: [\n").unwrap();
    env.orange(["new", "Another task", "--json"])
        .refuses(2, "usage");
    fs::write(&config, "git:\n  branch_template: '{nme}'\n").unwrap();
    assert_snapshot!(env.orange(["new", "Another task"]), @r#"
    ------- stderr -------
    error: config.yaml, line 2: git.branch_template: unknown variable {nme} in the branch template "{nme}"; allowed are {key}, {slug}, {id}, {project}
    hint: correct [HOME]/config.yaml: `orange config edit` opens it
    [exit status: 2]
    "#);
    // A setting that a newer version may know is no error, but doctor names it.
    fs::write(&config, "review:\n  max_rounds: 3\n  colour: red\n").unwrap();
    env.orange(["new", "Another task"]).ok();
    assert_snapshot!(env.orange(["doctor"]), @r#"
    home       ✗ config.yaml: line 3: there is no setting "review.colour"
                   by hand: `orange config edit` opens it
    checked 2 tasks and 1 project
    ------- stderr -------
    note: config.yaml, line 3: there is no setting "review.colour"
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    "#);
}

#[test]
fn surroundings_that_cannot_be_used() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.call(["ls"]).var("ORANGE_LOG_LEVEL", "loud").run(), @r#"
    no open tasks in shop; `orange new "…"` creates one
    ------- stderr -------
    note: ORANGE_LOG_LEVEL: log.level must be one of: off, error, warn, info, debug, trace; the variable does not count
    "#);
    env.call(["ls"]).var("ORANGE_LOG_LEVEL", "debug").run().ok();
    // A home that is a file.
    let file = env.write("a-file", "no folder");
    let error = env
        .call(["new", "No home", "--json"])
        .var("ORANGE_HOME", file.to_str().unwrap())
        .run();
    assert_eq!(error.code, 1, "{error}");
    assert_eq!(error.error()["code"], "storage");
    env.call(["ls"]).var("ORANGE_HOME", "").run().ok();
    assert_snapshot!(env.call(["ls"]).var("ORANGE_HOME", "").var("HOME", "relative").run(), @"
    ------- stderr -------
    error: there is no home folder
    hint: set HOME or ORANGE_HOME
    [exit status: 2]
    ");
    // No git at all.
    assert_snapshot!(env.call(["new", "Without git"]).var("PATH", "/nonexistent").run(), @"
    ------- stderr -------
    error: cannot start git: it is not installed, or not on PATH
    hint: install git 2.39 or newer and make sure it is on PATH
    [exit status: 1]
    ");
}

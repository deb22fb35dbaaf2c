//! `orange task show`, `why` and `deps`: the same task from three sides.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use serde_json::json;

/// Four tasks: 2 and 3 wait for 1, 4 waits for both.
fn diamond() -> TestEnvironment {
    let env = TestEnvironment::new();
    env.create(["base", "The base"]);
    env.create(["left", "The left wing", "--blocked-by", "TASK-001"]);
    env.create(["right", "The right wing", "--blocked-by", "TASK-001"]);
    env.create([
        "roof",
        "The roof",
        "--blocked-by",
        "TASK-002,TASK-003",
        "--related-to",
        "TASK-001",
    ]);
    env
}

#[test]
fn show() {
    let env = TestEnvironment::new();
    env.create(["The whole"]);
    env.call([
        "task",
        "create",
        "fix-menu",
        "Fix the menu",
        "--priority",
        "high",
        "--queue",
        "backlog",
        "--category",
        "bug",
        "--weight",
        "small",
        "--tag",
        "ui",
        "--parent",
        "TASK-001",
        "--related-to",
        "TASK-001",
        "--harness",
        "pi",
        "--model",
        "openai/gpt-5",
        "--effort",
        "high",
        "--review-harness",
        "claude",
        "--review-model",
        "opus",
        "--target-branch",
        "release",
        "--context",
        "-",
    ])
    .input("See TASK-001.\n")
    .run()
    .ok();
    assert_snapshot!(env.orange(["task", "show", "TASK-002"]), @"
    TASK-002 Fix the menu
    status       · pending
    project      shop
    branch       fix-menu from main into release
    priority     high
    queue        backlog
    category     bug
    weight       small
    harness      pi
    model        openai/gpt-5
    effort       high
    reviewer     claude
    rev. model   opus
    parent       TASK-001
    tags         ui
    tests        unit, UI
    permissions  full, nobody has chosen
    related to   TASK-001 (pending)
    created      [TIME] ([AGE]) by tester
    updated      [AGE], revision 1
    id           [ID]
    file         [HOME]/tasks/shop/[ID]/TASK.md

    ## Context

    See TASK-001.

    history
      [AGE]  you  created the task
    ");
    assert_snapshot!(env.orange(["task", "show", "TASK-001"]), @"
    TASK-001 The whole
    status        · pending
    project       shop
    branch        orange/TASK-001-the-whole from main
    category      feature
    tests         unit
    mentioned by  TASK-002 (pending)
    children      TASK-002 (pending)
    created       [TIME] ([AGE]) by tester
    updated       [AGE], revision 1
    id            [ID]
    file          [HOME]/tasks/shop/[ID]/TASK.md

    history
      [AGE]  you  created the task
    ");
}

#[test]
fn show_in_json_has_the_frontmatters_names() {
    let env = diamond();
    let shown = env
        .orange(["task", "show", "TASK-004", "--json", "--history"])
        .ok()
        .json();
    let task = &shown["task"];
    assert_eq!(task["blocked_by"], json!(["TASK-002", "TASK-003"]));
    assert_eq!(
        task["waits_for"],
        json!([{"task": "TASK-002", "status": "pending"}, {"task": "TASK-003", "status": "pending"}])
    );
    assert_eq!(task["history"][0]["type"], "task.created");
    assert_eq!(task["created_by"], "tester");
    assert_eq!(shown.as_object().unwrap().len(), 1);
    let base = env
        .orange(["task", "show", "TASK-001", "--json"])
        .ok()
        .json();
    assert_eq!(
        base["task"]["blocks"],
        json!([{"task": "TASK-002", "status": "pending"}, {"task": "TASK-003", "status": "pending"}])
    );
}

#[test]
fn a_long_history_is_cut_unless_asked_for() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.bring_to(&task, "reviewing");
    for round in 0..20 {
        let weight = if round % 2 == 0 { "small" } else { "large" };
        env.orange(["task", "update", "TASK-001", "--weight", weight])
            .ok();
    }
    let short = env.orange(["task", "show", "TASK-001"]).ok();
    let long = env.orange(["task", "show", "TASK-001", "--history"]).ok();
    assert_eq!(short.stdout.matches("you  set weight to ").count(), 15);
    short
        .says("more: --history shows all")
        .silent_about("created the task");
    assert_eq!(long.stdout.matches("you     set weight to ").count(), 20);
    long.says("created the task")
        .says("took a slot: shop--1")
        .silent_about("shows all");
}

#[test]
fn deps() {
    let env = diamond();
    assert_snapshot!(env.orange(["task", "deps", "TASK-004"]), @"
    TASK-004 The roof
      blocked by     TASK-002 (pending), TASK-003 (pending)
      related to     TASK-001 (pending)
    ");
    assert_snapshot!(env.orange(["task", "deps", "TASK-001"]), @"
    TASK-001 The base
      blocks         TASK-002 (pending), TASK-003 (pending)
    ");
    assert_snapshot!(env.orange(["task", "deps", "TASK-004", "--tree"]), @"
    TASK-004 (pending) The roof
      └ TASK-002 (pending) The left wing
        └ TASK-001 (pending) The base
      └ TASK-003 (pending) The right wing
        └ TASK-001 (pending) The base (see above)
    ");
    assert_snapshot!(env.orange(["task", "deps", "TASK-002", "--graph"]), @r#"
    graph TD
        TASK_001["TASK-001"]
        TASK_002["TASK-002"]
        TASK_003["TASK-003"]
        TASK_004["TASK-004"]
        TASK_001 --> TASK_002
        TASK_001 --> TASK_003
        TASK_002 --> TASK_004
        TASK_003 --> TASK_004
    "#);
    assert_snapshot!(env.orange(["task", "deps", "TASK-002", "--json"]), @r#"{"deps":{"task":"TASK-002","blocked_by":[{"task":"TASK-001","status":"pending"}],"blocks":[{"task":"TASK-004","status":"pending"}],"related_to":[],"referenced_by":[],"children":[]}}"#);
    assert_snapshot!(env.orange(["task", "deps", "TASK-002", "--graph", "--json"]), @r#"{"graph":[{"task":"TASK-002","blocked_by":"TASK-001"},{"task":"TASK-003","blocked_by":"TASK-001"},{"task":"TASK-004","blocked_by":"TASK-002"},{"task":"TASK-004","blocked_by":"TASK-003"}]}"#);
    assert_snapshot!(env.orange(["task", "deps", "TASK-002", "--tree", "--json"]), @r#"{"tree":[{"depth":0,"task":"TASK-002","status":"pending","summary":"The left wing","repeated":false},{"depth":1,"task":"TASK-001","status":"pending","summary":"The base","repeated":false}]}"#);
    assert_snapshot!(env.orange(["task", "deps", "TASK-002", "--tree", "--graph"]), @"
    ------- stderr -------
    error: --tree cannot be used with --graph
    hint: for usage, run `orange task deps --help`
    [exit status: 2]
    ");
    env.create(["alone", "Stands alone"]);
    assert_snapshot!(env.orange(["task", "deps", "TASK-005"]), @"
    TASK-005 Stands alone
      waits for nothing, and nothing waits for it
    ");
}

#[test]
fn deps_on_a_deleted_task_say_so() {
    let env = diamond();
    assert_snapshot!(env.orange(["task", "delete", "TASK-001"]), @"
    TASK-001: moved to the trash; `orange restore TASK-001` brings it back within 30 days
    ------- stderr -------
    note: TASK-002 waits for TASK-001, which is deleted now
    note: TASK-003 waits for TASK-001, which is deleted now
    ");
    assert_snapshot!(env.orange(["task", "deps", "TASK-002"]), @"
    TASK-002 The left wing
      blocked by     TASK-001 (no such task)
      blocks         TASK-004 (pending)
    ");
    assert_snapshot!(env.orange(["task", "why", "TASK-002"]), @"
    TASK-002 is pending
    it waits for TASK-001, which does not exist (`orange restore` lists deleted tasks), so it would wait for ever
    next: orange update TASK-002 --remove-blocker TASK-001
    ");
    env.orange(["task", "restore", "TASK-001"]).ok();
    env.orange(["task", "why", "TASK-002"])
        .ok()
        .says("TASK-001 (pending)");
}

#[test]
fn a_blocker_that_is_done_blocks_no_more() {
    let env = diamond();
    let base = env.task_of(&env.list(["--search", "TASK-001"])[0]);
    env.finish(&base);
    assert_eq!(env.keys(["--ready"]), ["TASK-002", "TASK-003"]);
    assert_snapshot!(env.orange(["task", "why", "TASK-002"]), @"
    TASK-002 is pending
    it waits for you to start it (created with --no-spawn or `agents.spawn_on_create: false`)
    next: orange spawn TASK-002
    ");
}

#[test]
fn why_in_every_status() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let why = || env.orange(["task", "why", "TASK-001"]);
    assert_snapshot!(why(), @"
    TASK-001 is pending
    it waits for you to start it (created with --no-spawn or `agents.spawn_on_create: false`)
    next: orange spawn TASK-001
    ");
    env.bring_to(&task, "planning");
    assert_snapshot!(why(), @r###"
    TASK-001 is planning
    waits for the plan: no "## Plan" section in TASK.md
    then: orange update TASK-001 --status working
    "###);
    env.move_to(&task, "clarification").ok();
    assert_snapshot!(why(), @"
    TASK-001 needs clarification
    the agent waits for your answer to its questions in TASK.md
    next: orange answer TASK-001 TEXT
    ");
    env.move_to(&task, "planning").ok();
    task.append("## Plan\n\nAPPROACH: x\n");
    assert_snapshot!(why(), @"
    TASK-001 is planning
    the plan is written
    next: orange update TASK-001 --status working
    ");
    env.move_to(&task, "working").ok();
    assert_snapshot!(why(), @r###"
    TASK-001 is working
    waits for the handoff: no "## Handoff" section in TASK.md
    then: orange complete TASK-001
    "###);
    env.move_to(&task, "stuck").ok();
    assert_snapshot!(why(), @"
    TASK-001 is stuck
    its agent gave up and asks for help
    next: orange answer TASK-001 TEXT
    ");
    env.move_to(&task, "working").ok();
    task.append("## Handoff\n\nDONE: x\n");
    assert_snapshot!(why(), @"
    TASK-001 is working
    the handoff is written
    next: orange complete TASK-001
    ");
    env.orange(["task", "complete", "TASK-001"]).ok();
    assert_snapshot!(why(), @"
    TASK-001 is agent-review
    waits for the verdict of review round 1 of 2
    then: orange update TASK-001 --status reviewing
    ");
    task.append("## Review\n\nVerdict: FAIL\n");
    assert_snapshot!(why(), @"
    TASK-001 is agent-review
    the review failed
    next: orange update TASK-001 --status working
    ");
    task.append("## Review\n\nVerdict: PASS\n");
    assert_snapshot!(why(), @"
    TASK-001 is agent-review
    the review passed
    next: orange update TASK-001 --status reviewing
    ");
    env.move_to(&task, "reviewing").ok();
    assert_snapshot!(why(), @"
    TASK-001 is reviewing
    it has no commits of its own, so there is nothing to merge: resolve it, or ask for changes with `orange request-changes TASK-001 TEXT`
    next: orange resolve TASK-001 --message TEXT
    ");
    assert_snapshot!(env.orange(["task", "why", "TASK-001", "--json"]), @r#"{"why":{"task":"TASK-001","status":"reviewing","because":"it has no commits of its own, so there is nothing to merge: resolve it, or ask for changes with `orange request-changes TASK-001 TEXT`","next":"orange resolve TASK-001 --message TEXT","too_early":false,"needs_human":true}}"#);
}

#[test]
fn why_of_a_task_without_a_slot() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    env.orange(["project", "update", "shop", "--pool-size", "0"])
        .ok();
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @"
    TASK-001 is pending
    it waits for you to start it (created with --no-spawn or `agents.spawn_on_create: false`); no slot is free: the project has no slots (its pool size is 0)
    next: orange spawn TASK-001
    ");
}

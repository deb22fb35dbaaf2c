//! A task's whole way by hand, and the promise behind it: the frontmatter is the fold of the journal.

use crate::env::{TestEnvironment, TestTask};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

/// Folds the journal with nothing but its own words, and compares with what the program shows.
#[track_caller]
fn the_journal_tells_the_whole_state(env: &TestEnvironment, task: &TestTask) {
    let shown = env.show(task);
    let mut state: Map<String, Value> = Map::new();
    let mut revision = 0;
    for event in task.history() {
        let Some(number) = event["revision"].as_u64() else {
            assert!(
                event["fields"].is_null(),
                "fields without a revision: {event}"
            );
            continue;
        };
        revision += 1;
        assert_eq!(number, revision, "revisions count on: {event}");
        if let Some(fields) = event["fields"].as_object() {
            state.extend(fields.clone());
        }
        state.insert("revision".into(), json!(number));
        if event["fields"]["updated_at"].is_null() {
            state.insert("updated_at".into(), event["timestamp"].clone());
        }
    }
    for (name, value) in &state {
        assert_eq!(*value, shown[name], "{name}");
    }
    // And the file says so itself, read line by line.
    for name in ["id", "key", "status", "branch", "revision", "review_round"] {
        let line = task
            .text()
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned))
            .unwrap_or_else(|| panic!("no {name} in {}", task.text()));
        let plain = shown[name]
            .as_str()
            .map_or(shown[name].to_string(), str::to_owned);
        assert_eq!(line.trim_matches('"'), plain, "{name}");
    }
}

#[test]
fn from_pending_to_done_by_hand() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let check = || the_journal_tells_the_whole_state(&env, &task);
    check();

    assert_snapshot!(env.move_to(&task, "planning"), @"
    TASK-001: pending → planning
      branch   login starts from main@[HASH]
      slot     shop--1 [HOME]/workspaces/shop--1
    ");
    check();
    let shown = env.show(&task);
    assert_eq!(shown["hooks"]["from"], "pending");
    assert_eq!(
        shown["hooks"]["hooks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hook| (
                hook["hook"].as_str().unwrap(),
                hook["outcome"].as_str().unwrap()
            ))
            .collect::<Vec<_>>(),
        [
            ("acquire_workspace", "completed"),
            ("spawn_agent(worker)", "not carried out")
        ]
    );

    task.append("## Plan\n\nAPPROACH: a form and a session\n");
    assert_snapshot!(env.move_to(&task, "working"), @"TASK-001: planning → working");
    check();

    task.append("## Handoff\n\nDONE: the form\n");
    assert_snapshot!(env.orange(["task", "complete", &task.id]), @"TASK-001: working → agent-review");
    check();
    assert_eq!(env.show(&task)["review_round"], 1);

    task.append("## Review\n\nVerdict: FAIL\n\nNo session.\n");
    assert_snapshot!(env.move_to(&task, "working"), @"TASK-001: agent-review → working");
    check();
    // The handoff of round one is kept under another name; the review can still be read.
    assert!(
        task.text()
            .contains("\n## Handoff (round 1)\n\nDONE: the form\n"),
        "{}",
        task.text()
    );
    assert!(
        task.text()
            .contains("\n## Review\n\nVerdict: FAIL\n\nNo session.\n")
    );
    env.orange(["task", "complete", &task.id])
        .fails_with(3)
        .says("no \"## Handoff\" section");

    task.append("## Handoff\n\nDONE: the session too\n");
    env.orange(["task", "complete", &task.id]).ok();
    check();
    assert_eq!(env.show(&task)["review_round"], 2);
    // The verdict of round one cannot speak for round two.
    assert!(
        task.text()
            .contains("\n## Review (round 1)\n\nVerdict: FAIL\n")
    );
    env.move_to(&task, "reviewing")
        .fails_with(3)
        .says("no \"## Review\" section");

    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok();
    check();

    // A person asks for changes: a new count begins, names of sections go on.
    env.move_to(&task, "working").ok();
    check();
    assert_eq!(env.show(&task)["review_round"], 0);
    assert!(
        task.text()
            .contains("\n## Handoff (round 2)\n\nDONE: the session too\n"),
        "{}",
        task.text()
    );
    task.append("## Handoff\n\nDECISIONS: as you wished\n");
    env.orange(["task", "complete", &task.id]).ok();
    assert_eq!(env.show(&task)["review_round"], 1);
    // The same number everywhere: two sections bear the numbers before it.
    env.orange(["task", "show", &task.id])
        .ok()
        .says("agent-review, review round 3");
    env.orange(["task", "why", &task.id])
        .ok()
        .says("review round 3 (1 of 2 since changes were requested)");
    assert_eq!(env.show(&task)["evidence"]["rounds"], 3);
    assert_eq!(env.show(&task)["evidence"]["verdict"]["round"], 2);
    assert!(
        task.text()
            .contains("\n## Review (round 2)\n\nVerdict: PASS\n"),
        "{}",
        task.text()
    );
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok();
    check();

    // Done means merged, and git has the last word.
    let shop = env.shop();
    env.commit(&env.slot_of(&task), "login.html", "<form>");
    assert_snapshot!(env.move_to(&task, "done"), @"
    ------- stderr -------
    error: cannot move TASK-001 to done: login is not merged into main
    hint: merge it first; if it was squashed or rebased, say so: `orange resolve TASK-001 --message TEXT`
    [exit status: 3]
    ");
    env.git(&shop, &["merge", "-q", "--no-ff", "-m", "merge", "login"]);
    assert_snapshot!(env.move_to(&task, "done"), @"TASK-001: reviewing → done");
    check();
    assert_snapshot!(env.orange(["task", "show", &task.id]), @"
    TASK-001 Add a login form
    status    ✓ done, review round 3
    project   shop
    branch    login from main
    category  feature
    tests     unit, UI
    created   [TIME] ([AGE]) by tester
    updated   [AGE], revision 13
    id        [ID]
    file      [HOME]/tasks/shop/[ID]/TASK.md

    evidence
      handed off at [HASH]
      review passed at [HASH] (round 3)
      moved since review, to [HASH]

    hooks of reviewing → done
      end its agents                             completed
      give the slot back                         completed
      see to its branch, here and on the remote  completed
      look at the queue                          completed

    ## Plan

    APPROACH: a form and a session

    ## Handoff (round 1)

    DONE: the form

    ## Review (round 1)

    Verdict: FAIL

    No session.

    ## Handoff (round 2)

    DONE: the session too

    ## Review (round 2)

    Verdict: PASS

    ## Handoff

    DECISIONS: as you wished

    ## Review

    Verdict: PASS

    history
      26 more: --history shows all
      [AGE]  you  created the task
      [AGE]  you  moved pending → planning
      [AGE]  you  moved planning → working
      [AGE]  you  moved working → agent-review, handed off at [HASH]
      [AGE]  you  moved agent-review → working, review failed
      [AGE]  you  moved working → agent-review, handed off at [HASH]
      [AGE]  you  moved agent-review → reviewing, review passed
      [AGE]  you  moved reviewing → working
      [AGE]  you  moved working → agent-review, handed off at [HASH]
      [AGE]  you  moved agent-review → reviewing, review passed
      [AGE]  you  moved reviewing → done
    ");
    assert_snapshot!(env.orange(["task", "why", &task.id]), @"
    TASK-001 is done
    its work is merged
    ");
    assert_eq!(env.keys([""; 0]), ["TASK-001"]);
    assert_eq!(env.keys(["--all"]), ["TASK-001"]);
}

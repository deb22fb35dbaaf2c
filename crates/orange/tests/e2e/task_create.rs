//! `orange task create`: what becomes of a summary, a branch, a context; and what is refused.

use crate::env::{TestEnvironment, TestTask};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn every_option_ends_up_in_the_frontmatter() {
    let env = TestEnvironment::new();
    env.create(["First things"]);
    env.create(["Related things"]);
    env.write(
        "shop/notes.md",
        "Only on the start page.\n\n## Plan\n\nAPPROACH: not a plan\n",
    );
    assert_snapshot!(env.orange([
        "task", "create", "fix-menu", "Fix", "the", "menu",
        "--priority", "high", "--queue", "backlog", "--category", "bug", "--weight", "small",
        "--tag", "ui", "--tag", "menu", "--blocked-by", "TASK-001", "--related-to", "task-2",
        "--harness", "pi", "--review-harness", "claude", "--model", "openai/gpt-5", "--effort", "high",
        "--review-effort", "max", "--target-branch", "release", "--context", "notes.md",
    ]), @"
    created TASK-003 Fix the menu
      branch   fix-menu (not made yet) from main@[HASH]
      waits    for TASK-001
      testing  UI, by its words; else orange update TASK-003 --ui-testing false
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange why TASK-003
    ------- stderr -------
    note: context from notes.md (55 bytes)
    ");
    let listed = env.list(["--search", "fix-menu"]);
    let task = env.task_of(&listed[0]);
    // The id, the times and nothing else differ from run to run.
    assert_snapshot!(task.text(), @r#"
    ---
    id: [ID]
    key: TASK-003
    revision: 1
    project: shop
    workflow: interactive
    status: pending
    summary: Fix the menu
    branch: fix-menu
    base: main
    target_branch: release
    harness: pi
    model: openai/gpt-5
    effort: high
    review_harness: claude
    review_effort: max
    review_round: 0
    crash_count: 0
    queue: backlog
    priority: high
    category: bug
    weight: small
    tags: [ui, menu]
    blocked_by: [TASK-001]
    related_to: [TASK-002]
    requires_ui_testing: true
    testing_requirements:
      unit: true
      e2e: false
      visual: false
    created_at: "[TIME]"
    created_by: tester
    updated_at: "[TIME]"
    ---

    ## Context

    Only on the start page.

    ### Plan

    APPROACH: not a plan
    "#);
    assert_eq!(env.show(&task)["created_by"], "tester");
    // The heading in the context was demoted, so it is no plan.
    env.update(&task, &["--harness", "none", "--model", "", "--effort", ""])
        .ok();
    env.update(&task, &["--status", "planning", "--force"]).ok();
    env.move_to(&task, "working")
        .fails_with(3)
        .says("no \"## Plan\" section");
}

#[test]
fn a_sentence_alone_is_the_summary_and_a_word_alone_the_branch() {
    let env = TestEnvironment::new();
    let sentence = env.create(["Add a login form"]);
    assert_eq!(sentence.branch, "orange/TASK-001-add-a-login-form");
    let word = env.create(["add-login"]);
    assert_eq!(word.branch, "add-login");
    assert_eq!(env.show(&word)["summary"], "");
    let both = env.create(["feature/menu", "A menu for all"]);
    assert_eq!(both.branch, "feature/menu");
    assert_eq!(env.show(&both)["summary"], "A menu for all");
    let said = env.create(["--summary", "tidy"]);
    assert_eq!(env.show(&said)["summary"], "tidy");
    let with_branch = env.create(["spring", "--summary", "tidy"]);
    assert_eq!(with_branch.branch, "spring");
    assert_eq!(env.show(&with_branch)["summary"], "tidy");
    env.write("shop/notes.md", "Whatever is in the way.");
    let neither = env.create(["--context", "notes.md"]);
    assert_eq!(neither.branch, format!("orange-tasks/{}", neither.id));
}

#[test]
fn what_a_word_alone_was_taken_for_is_told() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["task", "create", "Tidy"]), @r#"
    created TASK-001 Tidy
      branch   orange/TASK-001-tidy (not made yet) from main@[HASH]
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: "Tidy" is taken as the summary; --branch Tidy makes it the branch
    "#);
    assert_snapshot!(env.orange(["task", "create", "tidy"]), @r#"
    created TASK-002 (no summary yet)
      branch   tidy (not made yet) from main@[HASH]
      asks     its agent will ask you what is to be done
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-002
    ------- stderr -------
    note: "tidy" is taken as the branch, and what is to be done is not said; if it is the summary: `orange cancel TASK-002`, then `orange new tidy`
    "#);
    // What is there already is meant.
    env.git(&env.shop(), &["branch", "Release"]);
    let release = env.orange(["task", "create", "Release", "--json"]).ok();
    assert_eq!(release.json()["task"]["branch"], "Release");
    release.silent_about("is taken as");
    env.orange(["task", "create", "Tidy", "--branch", "Tidy"])
        .ok()
        .silent_about("is taken as");
}

#[test]
fn with_nothing_said_its_agent_asks() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["task", "create"]), @"
    created TASK-001 (no summary yet)
      branch   orange-tasks/[ID] (not made yet) from main@[HASH]
      asks     its agent will ask you what is to be done
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-001
    ");
    let task = env.create([""; 0]);
    assert_eq!(task.branch, format!("orange-tasks/{}", task.id));
    assert_eq!(env.show(&task)["summary"], "");
    let json = env.orange(["create", "--json"]).ok().json();
    let message = json["message"].as_str().unwrap();
    assert!(message.contains("its agent will ask you"), "{message}");
    // An empty text is no text: a script has lost it.
    for words in [
        &[""][..],
        &["  ", ""],
        &["--summary", ""],
        &["--context", ""],
    ] {
        env.orange([&["task", "create", "--json"], words].concat())
            .refuses(2, "usage");
    }
    assert_snapshot!(env.orange(["task", "create", ""]), @r#"
    ------- stderr -------
    error: the text is empty
    hint: describe the task in one line: `orange create "Add a login form"`; without any text its agent asks you what is to be done
    [exit status: 2]
    "#);
}

#[test]
fn branches_named_by_orange_never_collide() {
    let env = TestEnvironment::new();
    env.git(&env.shop(), &["branch", "orange/TASK-001-same-words"]);
    let first = env.create(["Same words"]);
    assert_eq!(first.branch, "orange/TASK-001-same-words-2");
    std::fs::write(
        env.home().join("config.yaml"),
        "git:\n  branch_template: work/{slug}\n",
    )
    .unwrap();
    let second = env.create(["Same words"]);
    let third = env.create(["Same words"]);
    assert_eq!(second.branch, "work/same-words");
    assert_eq!(third.branch, "work/same-words-2");
}

#[test]
fn a_heading_in_the_context_is_none_of_the_file() {
    let env = TestEnvironment::new();
    let piped = env
        .call(["new", "With a pipe", "--context", "-", "--json"])
        .input("Only Chrome\n\n# A heading\n")
        .run()
        .ok();
    let task = env.task_of(&piped.json()["task"]);
    assert_snapshot!(env.show(&task)["body"].as_str().unwrap(), @"
    ## Context

    Only Chrome

    ### A heading
    ");
}

#[test]
fn work_that_is_there_already_can_start_in_review() {
    let env = TestEnvironment::new();
    env.git(&env.shop(), &["branch", "theirs"]);
    assert_snapshot!(env.orange(["task", "create", "theirs", "Look at this", "--status", "agent-review"]), @"
    created TASK-001 Look at this
      branch   theirs on the existing branch theirs@[HASH]
      slot     shop--1 [HOME]/workspaces/shop--1
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange why TASK-001
    ");
    assert_snapshot!(env.orange(["task", "show", "TASK-001"]), @"
    TASK-001 Look at this
    status    ◎ agent-review, review round 1
    project   shop
    branch    theirs
    category  feature
    tests     unit
    created   [TIME] ([AGE]) by tester
    updated   [AGE], revision 2
    id        [ID]
    file      [HOME]/tasks/shop/[ID]/TASK.md

    workspace shop--1
      folder   [HOME]/workspaces/shop--1
      branch   theirs
      commits  none that main has not
      changes  none uncommitted

    evidence
      handed off at [HASH]

    hooks of creation → agent-review
      take a slot            completed
      start the worker       not carried out
      start the reviewer     not carried out
      have the work checked  completed
      (harness none: no agent is started, the work is yours)

    history
      5 more: --history shows all
      [AGE]  you  created the task
    ");
    env.git(&env.shop(), &["branch", "also-theirs"]);
    let task = env.create(["also-theirs", "Merge this", "--status", "reviewing"]);
    let shown = env.show(&task);
    assert_eq!(shown["status"], "reviewing");
    assert_eq!(shown["hooks"], json!(null));
    assert_eq!(shown["review_round"], 0);
    assert_snapshot!(env.orange(["task", "create", "no-such-branch", "Look", "--status", "agent-review"]), @"
    ------- stderr -------
    error: there is no branch no-such-branch in [TMP]/shop
    hint: --status agent-review is for work that is there already; fetch the branch first
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["task", "create", "Look at nothing", "--status", "reviewing"]), @"
    ------- stderr -------
    error: a task that begins as reviewing needs the branch whose work it is about
    hint: name it with --branch
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["task", "create", "x", "Too far", "--status", "done"]), @"
    ------- stderr -------
    error: a task cannot be created as done
    hint: allowed: pending, agent-review, reviewing
    [exit status: 3]
    ");
}

#[test]
fn ui_tests_are_asked_for_by_the_words_unless_told_otherwise() {
    let env = TestEnvironment::new();
    let detected = env.create(["Fix the button on the page"]);
    assert_eq!(env.show(&detected)["requires_ui_testing"], true);
    let told = env.create(["Fix the button on the page", "--ui-testing", "false"]);
    assert_eq!(env.show(&told)["requires_ui_testing"], false);
    let plain = env.create(["Speed up the parser"]);
    assert_eq!(env.show(&plain)["requires_ui_testing"], false);
    let visual = |task: &TestTask| env.show(task)["testing_requirements"]["visual"].clone();
    let design = env.create(["Design the checkout"]);
    assert_eq!(env.show(&design)["requires_ui_testing"], false);
    assert_eq!(visual(&design), true);
    let database = env.create(["Design the tables", "--ui-testing", "false"]);
    for other in [&detected, &told, &plain, &database] {
        assert_eq!(visual(other), false, "{}", other.key);
    }
    // Once more, it is the same kind of task.
    env.orange(["task", "cancel", &design.id, "--yes"]).ok();
    let again = env.create(["--from", &design.id]);
    assert_eq!(visual(&again), true);
}

#[test]
fn children_inherit_the_priority_and_need_a_living_parent() {
    let env = TestEnvironment::new();
    let parent = env.create(["The whole", "--priority", "critical"]);
    let child = env.create(["A part", "--parent", "TASK-001"]);
    let shown = env.show(&child);
    assert_eq!(shown["priority"], "critical");
    assert_eq!(shown["parent"], "TASK-001");
    let own_mind = env.create(["A lesser part", "--parent", "TASK-001", "--priority", "low"]);
    assert_eq!(env.show(&own_mind)["priority"], "low");
    env.orange(["task", "cancel", &parent.id, "--keep-children"])
        .ok();
    assert_snapshot!(env.orange(["new", "Too late", "--parent", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 is cancelled and cannot get children
    hint: create a task of its own instead
    [exit status: 3]
    ");
}

#[test]
fn strange_summaries_are_kept_and_never_break_a_line() {
    let env = TestEnvironment::new();
    let lines = env.create(["Two\nlines  and\ttabs"]);
    assert_eq!(env.show(&lines)["summary"], "Two lines and tabs");
    let error = env
        .orange(["new", &"word ".repeat(500), "--json"])
        .refuses(2, "usage");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("2499 characters"),
        "{error}"
    );
    let long = "word ".repeat(390);
    let task = env.create([long.as_str()]);
    assert_eq!(env.show(&task)["summary"], long.trim());
    for odd in [
        "no such thing: \"quoted\" # not a comment",
        "'- [x] {y} & *z",
        "日本語 の タスク",
        "yes and no: 1.10",
    ] {
        let task = env.create([odd]);
        assert_eq!(env.show(&task)["summary"], odd, "{}", task.text());
        assert_eq!(env.show(&task)["damaged"], json!(null));
    }
}

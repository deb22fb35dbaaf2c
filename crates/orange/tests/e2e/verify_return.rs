//! A check that newly fails sends its task back to the worker, as a failed review does; after the last round the task
//! is stuck. The check's word goes before the reviewer's.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::verify::{checked, committed, handed_over, only_warn, runs, worked_on};
use serde_json::Value;
use std::fs;

/// Hands over a file that fails the check, hears of it, and repairs it.
const REPAIRS: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: x.bad
    text: x
  - commit: work
  - handoff: 'DONE: first try'
  - complete
  - end turn
  - delete: x.bad
  - write: good.txt
    text: x
  - commit: repaired
  - handoff: 'DONE: repaired'
  - complete
  - end turn
reviewer round 1:
  - wait for: {file: never}
reviewer round 2:
  - review: PASS
  - status: reviewing
";

fn moves(task: &TestTask) -> Vec<Value> {
    let history = task.history().into_iter();
    history
        .filter(|event| event["type"] == "status.changed" && event["from"] == "agent-review")
        .collect()
}

#[test]
fn the_worker_hears_what_failed_and_the_next_round_passes() {
    let env = checked();
    let task = env.start("Break it", REPAIRS);
    env.until_status(&task, "reviewing");
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
    assert_eq!(
        env.hooks(&task, "agent-review", "working"),
        ["kill_reviewer completed", "notify_worker completed"]
    );
    let told = env.until_told(&task, "The check of task");
    let log = task
        .history()
        .iter()
        .find_map(|event| Some(event["result"]["log"].as_str()?.to_owned()))
        .unwrap();
    for words in [
        "failed in review round 1 of 2",
        "`sh check.sh` failed: exit code 3",
        "it passes on main@",
        "FAILED x.bad",
        &format!("The whole output: {log}"),
    ] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    let back = &moves(&task)[0];
    assert_eq!(
        (&back["to"], &back["by"]),
        (&"working".into(), &"engine".into())
    );
    assert_eq!(back["verdict"], Value::Null);
    let text = task.text();
    assert_eq!(text.matches("## Handoff (round 1)").count(), 1, "{text}");
    assert_eq!(env.field(&task, "review_round"), "2");
    let verdict = env.show(&task)["evidence"]["verdict"].take();
    assert_eq!(
        (&verdict["passed"], &verdict["round"]),
        (&true.into(), &2.into())
    );
    env.say(&["ls"]).ok().silent_about("✗ checks");
}

#[test]
fn a_review_that_passed_does_not_outweigh_the_check() {
    for waits in [true, false] {
        let env = checked();
        env.allow("hold");
        let task = handed_over(&env, "login", "x.bad");
        env.until("the check runs", || runs(&env) == 1);
        task.append("## Review\n\nVerdict: PASS\n");
        if waits {
            env.move_to(&task, "reviewing").ok().says("is noted");
        }
        fs::remove_file(env.root().join("hold")).unwrap();
        env.until_status(&task, "working");
        env.look();
        let moved = moves(&task);
        assert_eq!(moved.len(), 1, "{moved:?}");
        assert_eq!(moved[0]["by"], "engine");
        let why = moved[0]["reason"].as_str().unwrap();
        assert!(
            why.contains("its check newly failed: `sh check.sh` failed at "),
            "{why}"
        );
        let evidence = env.show(&task)["evidence"].take();
        assert_eq!(evidence["review"], Value::Null);
        assert_eq!(evidence["verdict"], Value::Null);
        assert_eq!(evidence["verify"]["newly_failed"], true);
        env.say(&["ls"]).ok().says("✗ checks · Some work");
        let listed = env.say(&["ls", "--json"]).ok().json();
        assert_eq!(listed["tasks"][0]["checks_failed"], true);
        env.say(&["task", "why", &task.id])
            .ok()
            .says("its last check failed: `sh check.sh` failed at ");
        env.move_to(&task, "reviewing").fails_with(3);
    }
}

#[test]
fn after_the_last_round_the_task_is_stuck_and_its_worker_knows_why() {
    let env = checked();
    env.say(&["config", "set", "review.max_rounds", "1"]).ok();
    let (first_try, _) = REPAIRS.split_once("  - delete: x.bad").unwrap();
    let script = format!("{first_try}reviewer:\n  - wait for: {{file: never}}\n");
    let task = env.start("Break it", &script);
    env.until_status(&task, "stuck");
    assert_eq!(
        env.hooks(&task, "agent-review", "stuck"),
        ["kill_reviewer completed", "ensure_fixer completed"]
    );
    let told = env.until_told(&task, "is stuck now (review round 1 of 1)");
    assert!(told.contains("FAILED x.bad"), "{told}");
    env.say(&["task", "why", &task.id])
        .ok()
        .says("its check newly failed: `sh check.sh` failed at ");
    env.say(&["ls"]).ok().says("✗ checks");
}

#[test]
fn failures_that_the_base_has_too_send_nothing_back() {
    let env = checked();
    env.commit(&env.shop(), "old.bad", "broken before");
    let task = handed_over(&env, "login", "new.bad");
    env.until_event(&task, "task.verified");
    env.look();
    assert_eq!(env.status(&task), "agent-review");
    env.say(&["ls"]).ok().silent_about("✗ checks");
    env.bring_on(&task, "reviewing");
}

#[test]
fn a_repository_cannot_keep_a_failed_check_from_returning_its_task() {
    let env = Agents::new();
    env.say(&["project", "update", "shop", "--pool-size", "3"])
        .ok();
    let check = "test ! -e x.bad\n";
    let rules = "verify:\n  command: sh check.sh\n  on_failure: warn\n";
    committed(&env, check, rules);
    env.say(&["project", "trust", "shop", "--yes"]).ok();
    let task = handed_over(&env, "login", "x.bad");
    env.until_status(&task, "working");
    // The person's own word counts, unless the repository is stricter.
    only_warn(&env);
    let warned = handed_over(&env, "other", "x.bad");
    env.until_event(&warned, "task.verified");
    env.look();
    assert_eq!(env.status(&warned), "agent-review");
    let rules = rules.replace("warn", "return");
    env.commit(&env.shop(), ".orange/config.yaml", &rules);
    let strict = handed_over(&env, "third", "x.bad");
    env.until_status(&strict, "working");
}

#[test]
fn a_process_that_is_killed_on_the_way_back_is_made_up_for() {
    for point in [
        "verify.journalled",
        "commit.journalled",
        "commit.written",
        "verify.returned",
        "hook.before",
        "hook.after",
    ] {
        let env = checked();
        let task = worked_on(&env, "login", "x.bad");
        task.append("## Handoff\n\nDONE: x\n");
        env.allow("hold");
        env.say(&["task", "complete", &task.id]).ok();
        env.until("the check runs", || runs(&env) == 1);
        let errand = env
            .processes()
            .into_iter()
            .find(|(_, line)| line.contains(" errand verify "));
        let errand = errand.unwrap().0;
        env.kill(errand, "-9");
        env.until("the errand is gone, and its locks with it", || {
            !env.processes().iter().any(|(pid, _)| *pid == errand)
        });
        fs::remove_file(env.root().join("hold")).unwrap();
        let next = env.call(["task", "list"]).var("ORANGE_CRASH_AT", point);
        next.run();
        env.until("the check's end is journalled", || {
            env.count(&task, "task.verified") == 1
        });
        env.until("the errand died, or is done", || {
            let all = env.processes();
            !all.iter().any(|(_, line)| line.contains(" errand "))
        });
        env.look();
        env.until_status(&task, "working");
        assert_eq!(moves(&task).len(), 1, "{point}: {}", env.dump());
        assert_eq!(
            task.text().matches("## Handoff (round 1)").count(),
            1,
            "{point}"
        );
        assert_eq!(env.count(&task, "task.verified"), 1, "{point}");
    }
}

#[test]
fn a_person_who_did_not_wait_keeps_the_task_and_the_merge_asks() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "x.bad");
    env.until("the check runs", || runs(&env) == 1);
    task.append("## Review\n\nVerdict: PASS\n");
    env.update(&task, &["--status", "reviewing", "--force"])
        .ok();
    fs::remove_file(env.root().join("hold")).unwrap();
    env.until_event(&task, "task.verified");
    env.look();
    assert_eq!(env.status(&task), "reviewing");
    env.say(&["task", "merge", &task.id])
        .fails_with(3)
        .says("`sh check.sh` failed at ");
}

//! The advice of `task why`, followed in every state that a test can make: the command works, and the task moves on or
//! the question is answered.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::shell::typed_well;
use crate::verify::{checked, handed_over, only_warn, runs, worked_on};
use serde_json::Value;
use std::fs;

fn why(env: &Agents, task: &TestTask) -> Value {
    let told = env.say(&["task", "why", &task.id, "--json"]).ok().json();
    told["why"].clone()
}

/// Types what `why` says comes next, as it stands there; gives it. `TEXT` stands for words of the person's own, and an
/// attached terminal would not come back.
#[track_caller]
fn follow(env: &Agents, task: &TestTask) -> String {
    let told = why(env, task);
    assert_eq!(told["too_early"], false, "{told}");
    let next = told["next"].as_str().unwrap_or_else(|| panic!("{told}"));
    let line = next.replace("TEXT", "'go on'");
    let line = if line.contains(" attach ") {
        format!("{line} --json")
    } else {
        line
    };
    typed_well(env, &line);
    next.to_owned()
}

/// The same; the task must be there afterwards.
#[track_caller]
fn moves_to(env: &Agents, task: &TestTask, status: &str) -> String {
    let before = env.status(task);
    let next = follow(env, task);
    env.until(&format!("{before}: `{next}` leads to {status}"), || {
        env.status(task) == status
    });
    next
}

/// A task that a person works on.
fn by_hand(env: &Agents, branch: &str) -> TestTask {
    let nobody = ["--harness", "none", "--review-harness", "none"];
    let more = ["--no-spawn"];
    env.create([&[branch, "Some work"], &nobody[..], &more[..]].concat())
}

#[test]
fn from_the_start_to_the_merge_without_agents() {
    let env = Agents::new();
    let task = by_hand(&env, "login");
    moves_to(&env, &task, "planning");
    assert_eq!(why(&env, &task)["too_early"], true);
    task.append("## Plan\n\nAPPROACH: x\n");
    moves_to(&env, &task, "working");
    env.move_to(&task, "clarification").ok();
    moves_to(&env, &task, "planning");
    env.move_to(&task, "working").ok();
    assert_eq!(why(&env, &task)["too_early"], true);
    env.commit(&env.slot_of(&task), "a.txt", "work");
    for verdict in ["FAIL", "FAIL", "PASS"] {
        task.append("## Handoff\n\nDONE: x\n");
        moves_to(&env, &task, "agent-review");
        assert_eq!(why(&env, &task)["too_early"], true);
        task.append(&format!("## Review\n\nVerdict: {verdict}\n"));
        if verdict == "FAIL" && env.field(&task, "review_round") == "2" {
            moves_to(&env, &task, "stuck");
            moves_to(&env, &task, "working");
            env.move_to(&task, "stuck").ok();
            env.move_to(&task, "reviewing").ok();
            env.say(&["task", "request-changes", &task.id, "once more"])
                .ok();
        } else if verdict == "FAIL" {
            moves_to(&env, &task, "working");
        }
    }
    moves_to(&env, &task, "reviewing");
    moves_to(&env, &task, "done");
    assert_eq!(why(&env, &task)["next"], Value::Null);
    let empty = by_hand(&env, "empty");
    env.say(&["task", "spawn", &empty.id]).ok();
    env.bring_on(&empty, "reviewing");
    moves_to(&env, &empty, "done");
    let over = by_hand(&env, "over");
    env.say(&["task", "cancel", &over.id, "--yes"]).ok();
    assert_eq!(why(&env, &over)["next"], Value::Null);
}

#[test]
fn what_keeps_a_task_from_starting() {
    let env = Agents::configured("  limit: 1\n");
    env.say(&["project", "update", "shop", "--pool-size", "1"])
        .ok();
    let holder = by_hand(&env, "holder");
    moves_to(&env, &holder, "planning");
    let task = by_hand(&env, "login");
    let blocker = by_hand(&env, "blocker");
    env.update(&task, &["--add-blocker", &blocker.key]).ok();
    // It was made to be started by a person: then it waits for its turn.
    let spawn = format!("orange spawn {}", task.key);
    assert_eq!(why(&env, &task)["next"], spawn.as_str());
    env.say(&["task", "cancel", &blocker.id, "--yes"]).ok();
    let removed = follow(&env, &task);
    assert!(removed.contains("--remove-blocker"), "{removed}");
    let told = why(&env, &task);
    assert_eq!(told["next"], spawn.as_str(), "{told}");
    env.say(&["project", "update", "shop", "--pool-size", "2"])
        .ok();
    let rules = "workspace:\n  setup: 'true'\n";
    fs::create_dir_all(env.shop().join(".orange")).unwrap();
    env.commit(&env.shop(), ".orange/config.yaml", rules);
    let told = why(&env, &task);
    let trust = told["next"].as_str().unwrap();
    assert_eq!(trust, "orange project trust shop", "{told}");
    // A person at a terminal is asked.
    typed_well(&env, &format!("{trust} --yes"));
    moves_to(&env, &task, "planning");
    // Workers up to the limit.
    env.say(&["project", "update", "shop", "--pool-size", "4"])
        .ok();
    let busy = env.start("Busy", "worker:\n  - wait for: {file: never}\n");
    env.until_event(&busy, "agent.spawned");
    let script = env.script("later", "worker:\n  - wait for: {file: never}\n");
    let later = env.create(["later", "Later", "--harness", &script, "--no-spawn"]);
    let queued = follow(&env, &later);
    assert_eq!(queued, format!("orange spawn {}", later.key));
    let forced = moves_to(&env, &later, "planning");
    assert!(forced.ends_with(" --force"), "{forced}");
}

#[test]
fn agents_that_are_alive_and_agents_that_are_gone() {
    let env = Agents::new();
    let crashes = "worker:\n  - exit: 1\nworker attempt 2:\n  - plan: 'APPROACH: x'\n  - status: working\n  - exit: 1\nworker attempt 3:\n  - wait for: {file: never}\n";
    let task = env.start("Crash it", crashes);
    for (crashed, status) in [(1, "planning"), (2, "working")] {
        env.until_count(&task, "agent.crashed", crashed);
        assert_eq!(env.status(&task), status);
        let again = follow(&env, &task);
        assert!(again.contains(" respawn "), "{again}");
    }
    env.until("the third one runs", || env.prompts(&task).len() == 3);
    let attach = follow(&env, &task);
    assert!(attach.contains(" attach "), "{attach}");
    env.say(&["project", "update", "shop", "--pool-size", "3"])
        .ok();
    let asks = "worker:\n  - questions: which one?\n  - status: clarification\n  - end turn\n  - say: thanks\n";
    let asked = env.start("Ask it", asks);
    env.until_status(&asked, "clarification");
    env.until_idle(&asked, "worker");
    let send = follow(&env, &asked);
    assert!(send.starts_with("orange answer "), "{send}");
    env.until_told(&asked, "go on");
    env.until_status(&asked, "planning");
    // The same question of an agent that is dead: the answer starts it again.
    let asked = env.start("Ask it too", asks);
    env.until_status(&asked, "clarification");
    env.until_idle(&asked, "worker");
    env.kill(env.run_agent(&asked, "worker"), "-9");
    env.until("it is gone", || {
        why(&env, &asked)["because"]
            .as_str()
            .is_some_and(|because| because.contains("then its worker"))
    });
    let told = why(&env, &asked);
    let because = told["because"].as_str().unwrap();
    assert!(!because.contains("waits for your answer"), "{because}");
    let again = moves_to(&env, &asked, "planning");
    assert!(again.starts_with("orange answer "), "{again}");
    env.until("it goes on", || env.prompts(&asked).len() == 2);
}

#[test]
fn a_reviewer_that_was_killed_is_back_before_anybody_is_told_to_start_it() {
    let env = Agents::new();
    let task = env.start("Review it", "reviewer:\n  - wait for: {file: never}\n");
    env.until_status(&task, "agent-review");
    env.until("the reviewer runs", || {
        env.prompts(&task) == ["worker", "reviewer"]
    });
    let run = env.run_agent(&task, "reviewer");
    env.kill(run, "-9");
    // A process that is being killed holds its lock until it is gone.
    env.until("its run-agent is gone", || {
        !fs::exists(format!("/proc/{run}")).unwrap()
    });
    let next = follow(&env, &task);
    assert!(next.starts_with("orange attach "), "{next}");
    assert_eq!(env.prompts(&task), ["worker", "reviewer", "reviewer"]);
}

#[test]
fn a_second_failed_review_found_at_the_reviewers_exit_is_the_reason() {
    let env = Agents::new();
    let task = env.start("Never good", "reviewer:\n  - review: FAIL\n  - exit\n");
    env.until_status(&task, "stuck");
    let told = why(&env, &task);
    assert_eq!(
        told["because"],
        "the review failed in round 2, the last one"
    );
    moves_to(&env, &task, "working");
}

#[test]
fn a_merge_with_a_concern_is_never_what_comes_next() {
    let env = checked();
    only_warn(&env);
    env.say(&["project", "update", "shop", "--pool-size", "5"])
        .ok();
    // A failed check; a commit that nobody reviewed; files that are not committed; a conflict.
    let failed = handed_over(&env, "failed", "x.bad");
    env.until_event(&failed, "task.verified");
    env.bring_on(&failed, "reviewing");
    let later = handed_over(&env, "later", "a.txt");
    env.until_event(&later, "task.verified");
    env.bring_on(&later, "reviewing");
    env.commit(&env.slot_of(&later), "b.txt", "more");
    let dirty = handed_over(&env, "dirty", "c.txt");
    env.until_event(&dirty, "task.verified");
    env.bring_on(&dirty, "reviewing");
    fs::write(env.slot_of(&dirty).join("open.txt"), "open").unwrap();
    let torn = handed_over(&env, "torn", "d.txt");
    env.until_event(&torn, "task.verified");
    env.bring_on(&torn, "reviewing");
    env.commit(&env.shop(), "d.txt", "other work");
    env.say(&["task", "merge", &torn.id]).fails_with(3);
    for task in [&failed, &later, &dirty, &torn] {
        let told = why(&env, task);
        let next = moves_to(&env, task, "working");
        assert!(next.starts_with("orange request-changes "), "{told}");
    }
    // A person's own word is no review, and the check has not seen the newest commit.
    let unseen = worked_on(&env, "unseen", "e.txt");
    env.bring_on(&unseen, "agent-review");
    env.until_event(&unseen, "task.verified");
    unseen.append("## Review\n\nVerdict: FAIL\n");
    env.move_to(&unseen, "working").ok();
    env.commit(&env.slot_of(&unseen), "f.txt", "more");
    env.move_to(&unseen, "stuck").ok();
    env.move_to(&unseen, "reviewing").ok();
    let next = moves_to(&env, &unseen, "working");
    assert!(next.contains("its check has not seen"), "{next}");
    assert!(next.contains("no review of it has passed"), "{next}");
}

/// All that speaks against a merge is that nobody knows what the check came to.
#[test]
fn a_check_without_a_result_is_to_be_run_again() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    env.until("the check runs", || runs(&env) == 1);
    for entry in fs::read_dir(env.home().join("verify")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "json") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let checkers = || {
        let all = env.processes().into_iter();
        all.filter(|(_, line)| line.contains(" errand verify "))
    };
    checkers().for_each(|(pid, _)| env.kill(pid, "-9"));
    env.until("nobody is at the check", || checkers().count() == 0);
    fs::remove_file(env.root().join("hold")).unwrap();
    env.bring_on(&task, "reviewing");
    let told = why(&env, &task);
    let because = told["because"].as_str().unwrap();
    assert!(because.contains("has no result"), "{told}");
    assert_eq!(follow(&env, &task), "orange verify TASK-001");
    assert_eq!(task.last("task.verified")["result"]["outcome"], "passed");
    assert_eq!(moves_to(&env, &task, "done"), "orange merge TASK-001");
}

#[test]
fn children_damage_and_hooks_that_failed() {
    let env = Agents::new();
    env.say(&["project", "update", "shop", "--pool-size", "4"])
        .ok();
    let parent = by_hand(&env, "parent");
    env.say(&["task", "spawn", &parent.id]).ok();
    env.bring_on(&parent, "working");
    let child = env.create(["child", "Part", "--parent", &parent.key, "--no-spawn"]);
    env.move_to(&parent, "delegated").ok();
    assert_eq!(follow(&env, &parent), format!("orange why {}", child.key));
    env.say(&["task", "cancel", &child.id, "--yes"]).ok();
    moves_to(&env, &parent, "working");
    let damaged = by_hand(&env, "damaged");
    damaged.edit("---\n", "--\n");
    env.say(&["task", "wait", &damaged.id, "--for", "done"])
        .fails_with(1)
        .says("TASK.md");
    follow(&env, &damaged);
    env.say(&["task", "show", &damaged.id]).ok();
    env.say(&["config", "set", "workspace.setup", "test -e mended"])
        .ok();
    let unready = by_hand(&env, "unready");
    env.say(&["task", "spawn", &unready.id]).fails_with(1);
    env.say(&["config", "set", "workspace.setup", "true"]).ok();
    let retry = follow(&env, &unready);
    assert!(retry.starts_with("orange retry-hooks "), "{retry}");
    assert_eq!(env.attention(&unready), "");
}

#[test]
fn doctor_names_the_agents_that_went_with_tmux() {
    let env = Agents::new();
    let task = env.start(
        "Busy",
        "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - wait for: {file: never}\n",
    );
    env.until_status(&task, "working");
    env.say(&["doctor"]).ok();
    env.tmux(&["kill-server"]);
    env.until_event(&task, "agent.crashed");
    env.say(&["doctor"])
        .fails_with(1)
        .says("shop:TASK-001")
        .says("its worker crashed")
        .says("orange why TASK-001");
    let next = follow(&env, &task);
    assert!(next.contains(" respawn "), "{next}");
    env.say(&["doctor"]).ok();
}

//! Handed-over commits checked by the repository's own command: what a person sees of it, and what waits for it.

use crate::agents::Agents;
use crate::env::{TestTask, names_in};
use serde_json::Value;
use std::fs;

/// Says that it ran, waits while it is held, and fails for each file that is bad.
const CHECK: &str = "\
env > ROOT/env.new
mv ROOT/env.new ROOT/env
echo run >> ROOT/runs
echo litter > litter.txt
while test -e ROOT/hold; do sleep 0.02; done
for file in *.bad; do test -e \"$file\" && echo \"FAILED $file in 0.$$ s\"; done
ls *.bad > /dev/null 2>&1 && exit 3
exit 0
";

/// A machine whose repository has a check; the person has agreed to it.
pub(crate) fn with_check(check: &str) -> Agents {
    let env = Agents::new();
    committed(&env, check, "verify:\n  command: sh check.sh\n");
    env.say(&["project", "trust", "shop", "--yes"])
        .ok()
        .says("verify    sh check.sh");
    env
}

/// A failed check moves no task.
pub(crate) fn only_warn(env: &Agents) {
    env.say(&["config", "set", "verify.on_failure", "warn"])
        .ok();
}

pub(crate) fn committed(env: &Agents, check: &str, rules: &str) {
    let shop = env.shop();
    fs::create_dir_all(shop.join(".orange")).unwrap();
    let check = check.replace("ROOT", env.root().to_str().unwrap());
    env.commit(&shop, "check.sh", &check);
    env.commit(&shop, ".orange/config.yaml", rules);
}

pub(crate) fn checked() -> Agents {
    with_check(CHECK)
}

/// A task that a person works on, with a commit of its own.
pub(crate) fn worked_on(env: &Agents, branch: &str, file: &str) -> TestTask {
    let nobody = ["--harness", "none", "--review-harness", "none"];
    let task = env.create([&[branch, "Some work"], &nobody[..]].concat());
    env.bring_on(&task, "working");
    env.commit(&env.slot_of(&task), file, "work");
    task
}

pub(crate) fn handed_over(env: &Agents, branch: &str, file: &str) -> TestTask {
    let task = worked_on(env, branch, file);
    env.bring_on(&task, "agent-review");
    task
}

pub(crate) fn head(env: &Agents, task: &TestTask) -> String {
    env.git(&env.shop(), &["rev-parse", &task.branch])
}

pub(crate) fn runs(env: &Agents) -> usize {
    let text = fs::read_to_string(env.root().join("runs")).unwrap_or_default();
    text.lines().count()
}

pub(crate) fn result(env: &Agents, task: &TestTask) -> Value {
    env.until_event(task, "task.verified")["result"].clone()
}

#[test]
fn a_verdict_waits_for_the_check_and_the_task_moves_by_itself() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    env.until("the check runs", || runs(&env) == 1);
    env.say(&["task", "show", &task.id])
        .ok()
        .says("handed off at ")
        .says("`sh check.sh` is still running");
    task.append("## Review\n\nVerdict: PASS\n");
    for _ in 0..2 {
        env.move_to(&task, "reviewing")
            .ok()
            .says("the review is noted")
            .says("`sh check.sh` is still running")
            .says("moves to reviewing by itself");
    }
    assert_eq!(env.status(&task), "agent-review");
    env.say(&["task", "merge", &task.id])
        .fails_with(3)
        .says("its review passed, but its check is not over")
        .silent_about("no review of it has passed");
    env.say(&["task", "why", &task.id])
        .ok()
        .says("the review passed; `sh check.sh` is still running");
    env.look();
    fs::remove_file(env.root().join("hold")).unwrap();
    env.until_status(&task, "reviewing");
    env.look();
    assert_eq!(env.count(&task, "status.deferred"), 1);
    assert_eq!(env.count(&task, "task.verified"), 1);
    let moves = task.history();
    let passed: Vec<&Value> = moves.iter().filter(|e| e["to"] == "reviewing").collect();
    assert_eq!(passed.len(), 1);
    assert_eq!(passed[0]["by"], "human");
    let commit = head(&env, &task);
    let evidence = env.show(&task)["evidence"].take();
    for said in ["handoff", "verdict", "review", "verify"] {
        assert_eq!(
            evidence[said]["head"],
            commit.as_str(),
            "{said}: {evidence}"
        );
    }
    assert_eq!(evidence["head"], commit.as_str());
    assert_eq!(evidence["moved_since_review"], false);
    assert_eq!(evidence["verdict"]["passed"], true);
    assert_eq!(evidence["verify"]["outcome"], "passed");
    assert_eq!((runs(&env), evidence["verifying"].is_null()), (1, true));
    // It ran as nobody's agent, and left its worktree clean.
    let seen = fs::read_to_string(env.root().join("env")).unwrap();
    assert!(seen.contains("ORANGE_WORKSPACE=shop--verify"), "{seen}");
    assert!(!seen.contains("ORANGE_TASK_ID"), "{seen}");
    env.until("it is parked", || {
        !env.home()
            .join("workspaces/shop--verify/litter.txt")
            .exists()
    });
    assert!(!env.slot_of(&task).join("litter.txt").exists());
    // A commit after the review shows.
    env.commit(&env.slot_of(&task), "b.txt", "more");
    env.say(&["task", "show", &task.id])
        .ok()
        .says("review passed at ")
        .says("moved since review, to ");
    assert_eq!(env.show(&task)["evidence"]["moved_since_review"], true);
}

#[test]
fn a_result_that_comes_first_leaves_the_verdict_as_it_is() {
    let env = checked();
    let task = handed_over(&env, "login", "a.txt");
    assert_eq!(result(&env, &task)["outcome"], "passed");
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing")
        .ok()
        .says("agent-review → reviewing");
    assert_eq!(env.count(&task, "status.deferred"), 0);
}

#[test]
fn a_failure_that_only_warns_moves_nothing_and_says_that_the_base_passes() {
    let env = checked();
    only_warn(&env);
    let task = handed_over(&env, "login", "x.bad");
    let told = result(&env, &task);
    assert_eq!(told["outcome"], "failed");
    assert_eq!(told["reason"], "exit code 3");
    assert_eq!(told["base"]["outcome"], "passed");
    assert_eq!(runs(&env), 2);
    env.bring_on(&task, "reviewing");
    env.say(&["task", "show", &task.id])
        .ok()
        .says("`sh check.sh` failed at ")
        .says("exit code 3")
        .says("it passes on main@");
    let log = told["log"].as_str().unwrap();
    assert!(fs::read_to_string(log).unwrap().contains("FAILED x.bad"));
    env.say(&["ls"]).ok().says("✗ checks · Some work");
    // A merge that has a concern is not what comes next.
    let why = env.say(&["task", "why", &task.id, "--json"]).ok().json()["why"].take();
    let next = why["next"].as_str().unwrap();
    assert!(next.starts_with("orange request-changes "), "{why}");
}

#[test]
fn failures_that_the_base_has_too_are_named_and_the_base_is_checked_once() {
    let env = checked();
    env.commit(&env.shop(), "old.bad", "broken before");
    let task = handed_over(&env, "login", "new.bad");
    let told = result(&env, &task);
    let base = &told["base"];
    assert_eq!(base["outcome"], "failed", "{told}");
    assert_eq!(base["branch"], "main");
    let known = base["known"][0].as_str().unwrap();
    assert!(known.starts_with("FAILED old.bad"), "{told}");
    let new = base["new"].as_array().unwrap();
    assert_eq!(new.len(), 1, "{told}");
    assert!(new[0].as_str().unwrap().starts_with("FAILED new.bad"));
    env.say(&["task", "show", &task.id])
        .ok()
        .says("too, 1 of 2 failures the same, 1 new")
        .says("new: FAILED new.bad")
        .says("on main too: FAILED old.bad");
    assert_eq!(runs(&env), 2);
    // Of the base everything is known by now.
    let other = handed_over(&env, "other", "a.txt");
    let told = result(&env, &other);
    assert_eq!(told["base"]["new"], Value::Null, "{told}");
    assert_eq!(runs(&env), 3);
}

#[test]
fn a_check_that_hangs_is_ended_with_everything_it_started() {
    let env = Agents::new();
    let hangs = "setsid sleep 98765 &\n(setsid sh -c 'sleep 98764 & wait' &)\nsleep 98763\n";
    let check = format!("echo run >> ROOT/runs\ntest -e a.txt || exit 0\n{hangs}");
    committed(
        &env,
        &check,
        "verify:\n  command: sh check.sh\n  timeout: 1s\n",
    );
    only_warn(&env);
    env.say(&["project", "trust", "shop", "--yes"]).ok();
    let task = handed_over(&env, "login", "a.txt");
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok().says("is noted");
    env.until_status(&task, "reviewing");
    let told = result(&env, &task);
    assert_eq!(told["outcome"], "timed-out", "{told}");
    assert_eq!(told["reason"], "stopped after 1 s");
    assert_eq!(told["base"]["outcome"], "passed");
    for number in ["98765", "98764", "98763"] {
        assert!(!env.is_running(&format!("sleep {number}")), "{number}");
    }
}

#[test]
fn without_consent_nothing_runs_and_the_task_goes_on() {
    let env = Agents::new();
    committed(&env, CHECK, "verify:\n  command: sh check.sh\n");
    let task = handed_over(&env, "login", "a.txt");
    let told = result(&env, &task);
    assert_eq!(told["outcome"], "not-run");
    let why = told["reason"].as_str().unwrap();
    assert!(why.contains("`sh check.sh`"), "{why}");
    assert!(why.contains("orange project trust shop"), "{why}");
    env.bring_on(&task, "reviewing");
    env.say(&["task", "show", &task.id])
        .ok()
        .says("not verified: ");
    env.say(&["task", "verify", &task.id])
        .fails_with(3)
        .says("not agreed to");
    assert_eq!(runs(&env), 0);
    // An agent's own rules are nobody's.
    env.say(&["project", "trust", "shop", "--yes"]).ok();
    env.commit(&env.slot_of(&task), "check.sh", "exit 0\n");
    let rules = env.slot_of(&task).join(".orange/config.yaml");
    fs::write(&rules, "verify:\n  command: echo mine\n").unwrap();
    env.git(&env.slot_of(&task), &["commit", "-qam", "my own rules"]);
    env.say(&["task", "verify", &task.id])
        .ok()
        .says("`sh check.sh` passed at ");
}

#[test]
fn a_person_need_not_wait_and_the_result_comes_all_the_same() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    env.until("the check runs", || runs(&env) == 1);
    task.append("## Review\n\nVerdict: PASS\n");
    env.update(&task, &["--status", "reviewing", "--force"])
        .ok()
        .says("agent-review → reviewing");
    env.say(&["task", "show", &task.id])
        .ok()
        .says("`sh check.sh` is still running");
    fs::remove_file(env.root().join("hold")).unwrap();
    assert_eq!(result(&env, &task)["outcome"], "passed");
    assert_eq!(env.count(&task, "status.deferred"), 0);
    assert_eq!(env.status(&task), "reviewing");
}

#[test]
fn a_task_that_goes_back_has_its_check_ended() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    env.until("the check runs", || runs(&env) == 1);
    task.append("## Review\n\nVerdict: FAIL\n\nno\n");
    env.move_to(&task, "working").ok();
    env.until("nobody wants it any more", || {
        names_in(&env.home().join("verify")) == ["results"] && env.processes().is_empty()
    });
    assert_eq!(env.count(&task, "task.verified"), 0);
    // The next round is checked like the first.
    fs::remove_file(env.root().join("hold")).unwrap();
    task.append("## Handoff\n\nDONE: again\n");
    env.move_to(&task, "agent-review").ok();
    assert_eq!(result(&env, &task)["outcome"], "passed");
}

#[test]
fn a_reviewer_that_passes_and_ends_while_the_check_runs_has_not_crashed() {
    for asks in ["", "  - status: reviewing\n"] {
        let env = checked();
        env.allow("hold");
        let script = format!(
            "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - write: a.txt\n    text: x\n  \
             - commit: work\n  - handoff: 'DONE: x'\n  - complete\n  - wait for: {{file: never}}\n\
             reviewer:\n  - review: PASS\n    text: good\n{asks}  - exit\n"
        );
        let task = env.start("Check it", &script);
        env.until_event(&task, "agent.exited");
        env.until_event(&task, "status.deferred");
        env.look();
        assert_eq!(env.status(&task), "agent-review");
        assert_eq!(env.attention(&task), "");
        fs::remove_file(env.root().join("hold")).unwrap();
        env.until_status(&task, "reviewing");
        env.look();
        assert_eq!(env.count(&task, "agent.crashed"), 0);
        assert_eq!(env.count(&task, "status.deferred"), 1);
        assert_eq!(env.prompts(&task), ["worker", "reviewer"]);
        let moves = task.history();
        assert_eq!(moves.iter().filter(|e| e["to"] == "reviewing").count(), 1);
        let verdict = env.show(&task)["evidence"]["verdict"].take();
        assert_eq!(verdict["head"], head(&env, &task).as_str());
    }
}

#[test]
fn a_verdict_that_was_changed_meanwhile_moves_nothing() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok().says("is noted");
    task.edit("Verdict: PASS", "Verdict: FAIL");
    fs::remove_file(env.root().join("hold")).unwrap();
    env.until_attention(&task, "its Review section does not say so any more");
    env.look();
    assert_eq!(env.status(&task), "agent-review");
    assert_eq!(env.count(&task, "attention.raised"), 1);
    env.move_to(&task, "working").ok();
    assert_eq!(env.attention(&task), "");
}

#[test]
fn a_verdict_speaks_of_the_commit_that_was_seen_and_not_of_later_ones() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    let seen = head(&env, &task);
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok().says("is noted");
    env.commit(&env.slot_of(&task), "late.bad", "late");
    fs::remove_file(env.root().join("hold")).unwrap();
    env.until_status(&task, "reviewing");
    let evidence = env.show(&task)["evidence"].take();
    for said in ["handoff", "review", "verify"] {
        assert_eq!(evidence[said]["head"], seen.as_str(), "{said}: {evidence}");
    }
    assert_eq!(evidence["verify"]["outcome"], "passed");
    assert_eq!(evidence["moved_since_review"], true);
}

#[test]
fn a_task_that_is_cancelled_has_its_check_ended() {
    let env = checked();
    env.allow("hold");
    let task = handed_over(&env, "login", "a.txt");
    env.until("the check runs", || runs(&env) == 1);
    env.say(&["task", "cancel", &task.id]).ok();
    env.until("nothing is left of it", || env.processes().is_empty());
    assert_eq!(env.count(&task, "task.verified"), 0);
}

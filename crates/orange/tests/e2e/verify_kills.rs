//! `kill -9` while a commit is checked: whoever comes next takes it up, and its result is told once.

use crate::agents::Agents;
use crate::env::{TestTask, names_in};
use crate::verify::{checked, handed_over, runs, with_check, worked_on};
use std::fs;
use std::path::PathBuf;

/// The errand that carries out a check.
fn checker(env: &Agents) -> Option<u32> {
    let all = env.processes().into_iter();
    let mut all = all.filter(|(_, line)| line.contains(" errand verify "));
    all.next().map(|(pid, _)| pid)
}

#[track_caller]
fn reviewed_once(env: &Agents, task: &TestTask) {
    env.until_status(task, "reviewing");
    env.look();
    env.until("nobody is at it any more", || checker(env).is_none());
    assert_eq!(env.count(task, "task.verified"), 1, "{}", env.dump());
    let moves = task.history();
    assert_eq!(moves.iter().filter(|e| e["to"] == "reviewing").count(), 1);
    let requests = fs::read_dir(env.home().join("verify")).unwrap().flatten();
    let is_request = |path: PathBuf| path.extension().is_some_and(|end| end == "json");
    let left: Vec<_> = requests.filter(|entry| is_request(entry.path())).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_hook_is_killed_when_it_has_asked() {
    let env = checked();
    let task = worked_on(&env, "login", "a.txt");
    task.append("## Handoff\n\nDONE: x\n");
    let call = env.call(["task", "complete", &task.id]);
    call.var("ORANGE_CRASH_AT", "verify.requested")
        .run()
        .fails_with(-1)
        .says("killed at verify.requested");
    env.say(&["task", "list"]).ok();
    env.until_event(&task, "task.verified");
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok();
    reviewed_once(&env, &task);
    assert_eq!(env.count(&task, "verify.started"), 1);
}

#[test]
fn the_check_is_killed_at_each_of_its_steps() {
    for point in [
        "verify.prepared",
        "verify.ran",
        "verify.journalled",
        "commit.journalled",
        "hook.before",
    ] {
        let env = checked();
        let task = worked_on(&env, "login", "a.txt");
        task.append("## Handoff\n\nDONE: x\n");
        env.allow("hold");
        env.say(&["task", "complete", &task.id]).ok();
        env.until("the check runs", || runs(&env) == 1);
        // The one that comes next dies where it should.
        let pid = checker(&env).unwrap();
        env.kill(pid, "-9");
        fs::remove_file(env.root().join("hold")).unwrap();
        fs::remove_file(env.root().join("runs")).unwrap();
        task.append("## Review\n\nVerdict: PASS\n");
        let wish = env.call(["task", "update", &task.id, "--status", "reviewing"]);
        wish.var("ORANGE_CRASH_AT", point).run();
        // On a busy machine it may not have begun yet when the first look finds nobody at work.
        env.until("whoever looks next takes it up", || {
            env.look();
            env.status(&task) == "reviewing"
        });
        reviewed_once(&env, &task);
        assert_eq!(runs(&env), 1, "{point}: {}", env.dump());
    }
}

#[test]
fn what_a_killed_check_left_running_is_ended_by_the_next() {
    let env = checked();
    let task = worked_on(&env, "login", "a.txt");
    env.allow("hold");
    env.bring_on(&task, "agent-review");
    env.until("the check runs", || runs(&env) == 1);
    env.kill(checker(&env).unwrap(), "-9");
    let alive = |env: &Agents| {
        let mut all = env.processes().into_iter();
        all.any(|(_, line)| line.starts_with("sh check.sh"))
    };
    assert!(alive(&env), "it goes on by itself");
    let left = env.processes();
    env.look();
    env.until("another one runs", || runs(&env) == 2);
    let now = env.processes();
    for (pid, line) in left {
        assert!(!now.iter().any(|(other, _)| *other == pid), "{line}");
    }
    fs::remove_file(env.root().join("hold")).unwrap();
    env.until_event(&task, "task.verified");
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing").ok();
    reviewed_once(&env, &task);
}

#[test]
fn two_tasks_wait_for_each_other() {
    let env = checked();
    env.allow("hold");
    let one = worked_on(&env, "one", "a.txt");
    env.bring_on(&one, "agent-review");
    env.until("the check runs", || runs(&env) == 1);
    let two = worked_on(&env, "two", "b.txt");
    env.bring_on(&two, "agent-review");
    env.until("the other waits", || {
        let all = env.processes().into_iter();
        all.filter(|(_, line)| line.contains(" errand verify "))
            .count()
            == 2
    });
    assert_eq!(runs(&env), 1);
    fs::remove_file(env.root().join("hold")).unwrap();
    for task in [&one, &two] {
        env.until_event(task, "task.verified");
    }
    assert_eq!(runs(&env), 2);
}

#[test]
fn a_request_that_was_lost_traps_nobody() {
    let env = checked();
    env.allow("hold");
    let task = worked_on(&env, "login", "a.txt");
    env.bring_on(&task, "agent-review");
    env.until("the check runs", || runs(&env) == 1);
    env.kill(checker(&env).unwrap(), "-9");
    fs::remove_dir_all(env.home().join("verify")).unwrap();
    task.append("## Review\n\nVerdict: PASS\n");
    env.move_to(&task, "reviewing")
        .ok()
        .says("agent-review → reviewing");
    assert!(env.show(&task)["evidence"]["verify"].is_null());
    // Nobody is left to end it.
    fs::remove_file(env.root().join("hold")).unwrap();
}

#[test]
fn a_check_without_an_environment_is_ended_when_nobody_wants_it_any_more() {
    let env = with_check("echo $$ > ROOT/pid\nexec env -i sleep 1000\n");
    let task = handed_over(&env, "login", "a.txt");
    let file = env.root().join("pid");
    let pid = || fs::read_to_string(&file).unwrap_or_default();
    env.until("the check runs", || pid().ends_with('\n'));
    env.say(&["task", "cancel", &task.id]).ok();
    env.until("nobody is at it any more", || {
        names_in(&env.home().join("verify")) == ["results"]
    });
    let process = std::path::Path::new("/proc").join(pid().trim());
    assert!(!process.exists());
    assert_eq!(env.count(&task, "task.verified"), 0);
}

#[test]
fn a_check_without_an_environment_is_ended_by_who_takes_it_up() {
    let env =
        with_check("test -e ROOT/pid && exit 0\necho $$ > ROOT/pid\nexec env -i sleep 1000\n");
    let task = handed_over(&env, "login", "a.txt");
    let file = env.root().join("pid");
    let pid = || fs::read_to_string(&file).unwrap_or_default();
    env.until("the check runs", || pid().ends_with('\n'));
    let folder = std::path::Path::new("/proc").join(pid().trim());
    let name = || fs::read_to_string(folder.join("comm")).unwrap_or_default();
    env.until("it has given up its environment", || name() == "sleep\n");
    env.kill(checker(&env).unwrap(), "-9");
    env.say(&["task", "verify", &task.id])
        .ok()
        .says("`sh check.sh` passed at ");
    assert!(!folder.exists());
}

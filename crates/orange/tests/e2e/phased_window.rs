//! The window of an executor: what it shows while it works, and what is shown of it afterwards.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::phased;
use crate::run::Run;

const SPEAKS: &str = "\
executor:
  - say: \"\\e]0;evil\\a It begins.\"
  - wait for: {file: ROOT/go}
    timeout: 60s
  - write: done.txt
    text: done
  - answer: complete
    summary: done
";

/// Looks until the window shows this.
#[track_caller]
fn until_shown(env: &Agents, task: &TestTask, words: &str) -> Run {
    let peek = || env.orange(["peek", &task.key, "--lines", "100"]);
    env.until(&format!("its window shows {words:?}"), || {
        peek().stdout.contains(words)
    });
    peek()
}

#[test]
fn the_window_shows_what_is_said_and_what_is_checked_and_peek_the_last_of_it() {
    let check = "verify:\n  command: until test -e ROOT/checked; do sleep 0.05; done\n";
    let env = Agents::configured(check);
    let task = phased(&env, "trivial", SPEAKS, &[]);
    env.orange(["peek", &task.key])
        .fails_with(4)
        .says("it has no executor");
    env.orange(["run", &task.key]).ok();
    let shown = until_shown(&env, &task, "It begins.");
    assert!(!shown.stdout.contains('\u{1b}'), "{shown}");
    shown.says("== implement, iteration 1 (sim:");
    let title = env.tmux(&["list-panes", "-a", "-F", "#{pane_title}"]);
    let title = String::from_utf8_lossy(&title.stdout).into_owned();
    assert!(!title.contains("evil"), "{title}");
    env.allow("go");
    until_shown(&env, &task, "-- checking all_tests_pass");
    env.allow("checked");
    env.until_status(&task, "completed");
    let peek = || env.orange(["peek", &task.key]).ok();
    peek()
        .says("the executor of TASK-001 is gone; this is the last it showed")
        .says("It begins.")
        .says("-- all_tests_pass: passed")
        .says("-- phase complete: yes")
        .says("-- the executor ends: ")
        .silent_about("worker");
    // Without a screen the transcript tells.
    std::fs::remove_dir_all(task.folder.join("screens")).unwrap();
    peek()
        .says("this is the end of its last transcript")
        .says("- Phase complete: yes")
        .silent_about("worker");
    env.orange(["attach", &task.key])
        .fails_with(4)
        .says("it has a window only while it is executed");
}

#[test]
fn the_window_says_how_long_the_service_is_waited_for_and_a_cancelled_task_is_nobodys() {
    let env = Agents::new();
    let script = "\
executor:
  - fail: You have hit your limit
    error: rate_limit
    limit: 1h
";
    let task = phased(&env, "trivial", script, &[]);
    env.orange(["run", &task.key]).ok();
    until_shown(&env, &task, "-- the service failed, waiting until");
    assert!(env.show(&task)["execution"]["executor_pid"].is_u64());
    env.orange(["cancel", &task.key, "--yes"]).ok();
    env.until_status(&task, "cancelled");
    let execution = &env.show(&task)["execution"];
    assert!(execution["executor_pid"].is_null(), "{execution}");
    assert_eq!(execution["phases"]["implement"]["status"], "paused");
    env.orange(["show", &task.key])
        .ok()
        .silent_about("executed by process");
    env.orange(["doctor"]).says("nothing was left behind");
}

#[test]
fn a_killed_executor_is_told_of_by_its_transcript() {
    let env = Agents::new();
    let task = phased(&env, "trivial", SPEAKS, &[]);
    env.orange(["run", &task.key]).ok();
    until_shown(&env, &task, "It begins.");
    env.kill(env.run_agent(&task, "executor"), "-9");
    env.look();
    assert_eq!(env.status(&task), "paused");
    env.orange(["peek", &task.key])
        .ok()
        .says("the executor of TASK-001 is gone")
        .says("It begins.");
}

//! What counts of the checks of a phase: what its commands printed, at the commit of its turn, and only in the task's own worktree.

use crate::agents::Agents;
use crate::phased_kills::{executed_until, turns};
use crate::phased_runs::{WORKS, phased};

/// What is said of the newest iteration of a phase.
fn transcript(env: &Agents, task: &str, phase: &str) -> String {
    env.orange(["transcript", task, "--phase", phase])
        .ok()
        .stdout
}

#[test]
fn a_coverage_without_a_percentage_completes_no_phase() {
    let env = Agents::configured("verify:\n  coverage: 'true'\nphases:\n  retries: 0\n");
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "failed");
    let told = transcript(&env, &task.key, "test");
    assert!(told.contains("printed no percentage"), "{told}");
}

#[test]
fn a_coverage_is_what_its_command_printed_and_not_what_was_appended_to_its_log() {
    let env = Agents::configured("verify:\n  coverage: echo 50%\nphases:\n  retries: 0\n");
    let script = "\
executor:
  - run: for log in \"$ORANGE_HOME\"/verify/results/*.log; do echo 99% >>\"$log\"; done
  - answer: complete
    summary: done
";
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "failed");
    let told = transcript(&env, &task.key, "test");
    assert!(told.contains("coverage is 50 %"), "{told}");
    let logs = std::fs::read_dir(env.home().join("verify/results")).unwrap();
    let logs = logs.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    assert!(
        logs.into_iter().any(|log| log.contains("99%")),
        "nothing was forged"
    );
}

#[test]
fn a_turn_is_checked_at_its_own_commit_whatever_was_committed_since() {
    let env = Agents::configured("verify:\n  command: 'true'\n  lint: test ! -e bad.txt\n");
    // The first check has run, the second has not.
    let task = executed_until(&env, "verify.ran");
    env.look();
    assert_eq!(env.status(&task), "paused");
    let desk = env.root().join("desk");
    let desk_name = desk.to_str().unwrap();
    env.git(&env.shop(), &["worktree", "add", desk_name, &task.branch]);
    env.commit(&desk, "bad.txt", "by a person");
    env.git(&env.shop(), &["worktree", "remove", desk_name]);
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(turns(&env), "implement\ntest\n", "{}", env.dump());
}

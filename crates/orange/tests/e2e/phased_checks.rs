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

/// Puts a repository of the agent's own in the place of the worktree, with a filter that says that it ran.
const TAKES_OVER: &str = "\
executor:
  - answer: complete
    summary: done
executor implement:
  - run: |
      branch=$(git symbolic-ref --short HEAD)
      rm .git
      git init -q -b \"$branch\" .
      git config filter.spy.clean 'touch ROOT/filtered; cat'
      echo '*.txt filter=spy' >.gitattributes
      echo own >own.txt
  - say: It is taken over.
WAITS  - answer: complete
    summary: done
";

#[test]
fn nothing_is_committed_in_a_repository_that_an_agent_put_into_its_slot() {
    let env = Agents::new();
    let script = TAKES_OVER.replace("WAITS", "");
    let task = phased(&env, "small", &script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "paused");
    env.orange(["why", &task.key])
        .ok()
        .says("it is no worktree of shop any more");
    let branch = env.git(&env.shop(), &["rev-parse", "main", &task.branch]);
    let commits: Vec<&str> = branch.lines().collect();
    assert_eq!(commits[0], commits[1], "{branch}");
    assert!(!env.root().join("filtered").exists(), "its filter ran");
    let turn = task.last("iteration.ended");
    assert!(turn["head"].is_null(), "{turn}");
}

#[test]
fn a_pause_commits_nothing_in_a_repository_that_an_agent_put_into_its_slot() {
    let env = Agents::new();
    let waits = "  - wait for:\n      file: ROOT/go\n    timeout: 60s\n";
    let script = TAKES_OVER.replace("WAITS", waits);
    let task = phased(&env, "small", &script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until("its worktree is taken over", || {
        env.orange(["transcript", &task.key])
            .stdout
            .contains("It is taken over.")
    });
    env.orange(["pause", &task.key]).ok();
    assert_eq!(env.status(&task), "paused");
    assert!(!env.root().join("filtered").exists(), "its filter ran");
    // Whatever is in the slot is there, or saved, and no other task gets it as it is.
    let list = env.orange(["workspace", "list", "--json"]).ok().json();
    let slots = list["workspaces"].as_array().unwrap();
    assert!(
        slots.iter().all(|slot| slot["status"] != "available")
            || !env
                .orange(["rescue", "list", &task.key])
                .ok()
                .stdout
                .is_empty(),
        "{list}"
    );
}

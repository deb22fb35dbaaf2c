//! What goes wrong while a plan is executed: agents that answer nonsense, hang, die or take their worktree apart, a setup and a check
//! that cannot run, a disk that is full. Each is told of, nothing is lost, and the task goes on.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WORKS, phased};
use std::fs;

/// What became of the turns of a phase, from the first to the last.
fn outcomes(env: &Agents, task: &TestTask, phase: &str) -> Vec<String> {
    let listed = ["transcript", &task.key, "--list", "--json"];
    let listed = env.orange(listed).ok().json();
    let all = listed["transcripts"].as_array().unwrap().iter();
    let of_phase = all.filter(|turn| turn["phase"] == phase);
    of_phase
        .map(|turn| turn["outcome"].as_str().unwrap_or("none").to_owned())
        .collect()
}

fn executed(env: &Agents, weight: &str, script: &str) -> TestTask {
    let task = phased(env, weight, script, &[]);
    env.orange(["run", &task.key]).ok();
    task
}

#[track_caller]
fn no_slot_is_held(env: &Agents) {
    let list = env.orange(["workspace", "list", "--json"]).ok().json();
    let mut slots = list["workspaces"].as_array().unwrap().iter();
    assert!(slots.all(|slot| slot["task"].is_null()), "{list}");
}

/// A task of a repository whose setup fails until ROOT/ready is there.
fn with_setup(env: &Agents) -> TestTask {
    let line = format!("test -e {}", env.root().join("ready").display());
    let config = format!("workspace:\n  setup:\n    - {line}\n");
    fs::create_dir_all(env.shop().join(".orange")).unwrap();
    fs::write(env.shop().join(".orange/config.yaml"), config).unwrap();
    env.git(&env.shop(), &["add", "."]);
    env.git(&env.shop(), &["commit", "-q", "-m", "a setup"]);
    env.orange(["project", "trust", "shop", "--yes"]).ok();
    phased(env, "small", WORKS, &[])
}

#[test]
fn a_setup_that_fails_pauses_the_task_and_gives_the_slot_back() {
    let env = Agents::new();
    let task = with_setup(&env);
    env.orange(["run", &task.key])
        .fails_with(1)
        .says("is paused now, because Orange could not take a slot")
        .says("exit code 1")
        .says(&format!("orange resume {}", task.key));
    assert_eq!(env.status(&task), "paused");
    no_slot_is_held(&env);
    env.orange(["why", &task.key])
        .ok()
        .says("it is paused in implement: `test -e")
        .says(&format!("next: orange resume {}", task.key));
    let refused = env.orange(["resume", &task.key, "--json"]);
    let error = refused.refuses(1, "failed");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("orange resume"), "{error}");
    no_slot_is_held(&env);
    env.write("ready", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(outcomes(&env, &task, "implement"), ["completed"]);
}

#[test]
fn a_start_that_failed_is_taken_back_by_whoever_comes_after_a_kill() {
    let env = Agents::new();
    let task = with_setup(&env);
    let run = env.call(["run", &task.key]);
    run.var("ORANGE_CRASH_AT", "start.failed")
        .run()
        .fails_with(-1)
        .says("killed at start.failed");
    env.orange(["ls"]).ok();
    assert_eq!(env.status(&task), "paused");
    no_slot_is_held(&env);
    env.write("ready", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
}

#[test]
fn an_agent_that_takes_its_worktree_apart_loses_nothing() {
    for (breaks, kept) in [
        ("rm .git", "lost.txt"),
        ("rm .git && git init -q && git add lost.txt", "lost.txt"),
        ("find . -mindepth 1 -delete", ""),
    ] {
        println!("{breaks}");
        let env = Agents::new();
        let script = format!(
            "\
executor:
  - write: own.txt
    text: own
  - answer: complete
    summary: done
executor implement iteration 1:
  - write: lost.txt
    text: precious
  - run: {breaks}
  - answer: complete
"
        );
        let task = executed(&env, "small", &script);
        env.until_status(&task, "paused");
        env.orange(["why", &task.key])
            .ok()
            .says("its agent left the branch")
            .says(&format!("next: orange resume {}", task.key));
        no_slot_is_held(&env);
        if !kept.is_empty() {
            let list = ["rescue", "list", &task.key, "--json"];
            let list = env.orange(list).ok().json();
            let rescue = list["rescues"][0]["name"].as_str().unwrap().to_owned();
            env.orange(["rescue", "show", &task.key, &rescue])
                .ok()
                .says(kept);
        }
        env.orange(["doctor"]).says("nothing was left behind");
        env.orange(["resume", &task.key]).ok();
        env.until_status(&task, "completed");
        let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
        assert!(files.contains("own.txt"), "{files}");
    }
}

#[test]
fn the_branch_of_an_executed_task_is_not_its_agents_to_change() {
    let env = Agents::new();
    env.git(&env.shop(), &["branch", "elsewhere"]);
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 1:
  - run: git switch -q elsewhere
  - run: orange task update --branch 2>ROOT/said
    expect: 3
  - run: orange task update --branch other 2>>ROOT/said
    expect: 3
  - run: git switch -q -
  - run: git branch -m renamed
  - write: own.txt
    text: own
  - answer: complete
";
    let task = executed(&env, "small", script);
    env.until_status(&task, "completed");
    let said = fs::read_to_string(env.root().join("said")).unwrap();
    let refusal = "an executor agent may not change the branch";
    assert_eq!(said.matches(refusal).count(), 2, "{said}");
    // A branch that has another name is followed.
    assert_eq!(env.field(&task, "branch"), "renamed");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", "renamed"]);
    assert!(files.contains("own.txt"), "{files}");
}

#[test]
fn a_branch_that_a_person_has_checked_out_is_waited_for() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &["--gate", "implement=human"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    env.git(&env.shop(), &["switch", "-q", &task.branch]);
    fs::write(env.shop().join("mine.txt"), "mine").unwrap();
    env.git(&env.shop(), &["add", "."]);
    env.git(&env.shop(), &["commit", "-q", "-m", "mine"]);
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "planned");
    let shop = env.shop();
    let why = env.orange(["why", &task.key]).ok();
    let next = format!("next: git -C {} switch --detach", shop.display());
    why.says("is checked out at").says(&next);
    env.git(&shop, &["switch", "-q", "--detach"]);
    env.look();
    env.until_status(&task, "completed");
    let files = env.git(&shop, &["ls-tree", "--name-only", &task.branch]);
    assert!(
        files.contains("mine.txt") && files.contains("test.txt"),
        "{files}"
    );
}

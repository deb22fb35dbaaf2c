//! What goes wrong while a plan is executed: agents that answer nonsense, hang, die or take their worktree apart, a setup and a check
//! that cannot run, a disk that is full. Each is told of, nothing is lost, and the task goes on.

use crate::agent_processes::on_a_small_disk;
use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WORKS, phased};
use serde_json::{Value, json};
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

#[test]
fn an_answer_that_cannot_be_read_is_another_iteration() {
    let env = Agents::new();
    let task = executed(
        &env,
        "small",
        "\
executor implement iteration 1:
  - say: I have done everything, and it is complete.
executor implement iteration 2:
  - answer: complete
    as: broken
executor implement iteration 3:
  - end turn
executor implement iteration 4:
  - flood: 20MB
    line: none
  - answer: continue
    reason: there is more
executor implement iteration 5:
  - answer: complete
    size: 20MB
executor test iteration 1:
  - flood: 1MB
    kind: bytes
  - answer: continue
    as: twice
executor test iteration 2:
  - answer: complete
    as: bytes
",
    );
    env.until_status(&task, "completed");
    let goes_on = ["continue"; 4];
    assert_eq!(
        outcomes(&env, &task, "implement"),
        [&goes_on[..], &["completed"]].concat()
    );
    // Of two objects the last counts.
    assert_eq!(outcomes(&env, &task, "test"), ["continue", "completed"]);
    let events = task.history();
    let longest = events.iter().map(|event| event.to_string().len()).max();
    assert!(longest < Some(100_000), "{longest:?}");
}

#[test]
fn a_turn_that_fails_is_an_iteration_whose_cost_counts() {
    let env = Agents::configured("phases:\n  idle_timeout: 1s\n");
    let script = "\
executor implement iteration 1:
  - use: {input: 500, output: 20, cost: 0.05}
  - exit: 1
executor implement iteration 2:
  - use: {input: 30, output: 1, cost: 0.003}
  - write: half.txt
    text: half
  - crash: KILL
executor implement iteration 3:
  - use: {input: 2, output: 1, cost: 0.0002}
  - hang:
    ignore: [TERM, HUP]
executor implement iteration 4:
  - daemon: exec sleep 98761
    clear_env: true
  - answer: complete
    summary: done
executor test:
  - answer: complete
    summary: tested
";
    let task = executed(&env, "small", script);
    env.until_status(&task, "completed");
    assert_eq!(
        outcomes(&env, &task, "implement"),
        ["failed", "failed", "timed out", "completed"]
    );
    let execution = &env.show(&task)["execution"];
    assert_eq!(execution["tokens"]["input_tokens"], 532, "{execution}");
    let cost = execution["cost"]["total_cost_usd"].as_f64().unwrap();
    assert!((cost - 0.0532).abs() < 1e-9, "{execution}");
    // What the turn that was killed had written is on the branch.
    env.git(
        &env.shop(),
        &["cat-file", "-e", &format!("{}:half.txt", task.branch)],
    );
    env.until("what an agent had left behind is gone", || {
        !env.is_running("sleep 98761")
    });
    env.orange(["doctor"]).says("nothing was left behind");
}

#[test]
fn a_usage_limit_is_waited_for_and_is_no_iteration() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 1:
  - use: {input: 7, output: 1}
  - fail: You have hit your limit
    error: rate_limit
    limit: 4s
";
    let task = executed(&env, "trivial", script);
    env.until("the limit is told", || {
        let why = env.orange(["why", &task.key]).ok().stdout;
        why.contains("You have hit your limit; it is tried again at")
    });
    assert_eq!(env.status(&task), "running");
    env.until_status(&task, "completed");
    let shown = env.show(&task);
    let phase = &shown["execution"]["phases"]["implement"];
    assert_eq!(outcomes(&env, &task, "implement"), ["service", "completed"]);
    assert_eq!(phase["tokens"]["input_tokens"], 7, "{phase}");
    let plan = env.orange(["plan", "show", &task.key]).ok();
    plan.says("1/3");
}

#[test]
fn a_tmux_server_that_is_killed_pauses_the_task() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 1:
  - write: begun.txt
    text: begun
  - say: It begins.
  - wait for: {file: ROOT/go}
    timeout: 60s
  - answer: complete
";
    let task = executed(&env, "small", script);
    env.until("its turn has begun", || {
        let said = env.orange(["transcript", &task.key]).stdout;
        said.contains("It begins.")
    });
    assert!(env.tmux(&["kill-server"]).status.success());
    env.until("the task is paused", || {
        env.look();
        env.status(&task) == "paused"
    });
    env.until("its agent is gone", || env.processes().is_empty());
    no_slot_is_held(&env);
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("begun.txt"), "{files}");
    env.write("go", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
}

#[test]
fn a_check_that_hangs_is_ended_and_told_to_the_agent() {
    let env =
        Agents::configured("verify:\n  command: test -e mended || sleep 98762\n  timeout: 1s\n");
    let script = "\
executor implement iteration 1:
  - answer: complete
executor:
  - write: mended
    text: yes
  - answer: complete
    summary: mended
";
    let task = executed(&env, "trivial", script);
    env.until_status(&task, "completed");
    let second = ["transcript", &task.key, "--iteration", "2"];
    env.orange(second)
        .ok()
        .says("all_tests_pass did not pass")
        .says("stopped after 1 s");
    assert!(!env.is_running("sleep 98762"));
}

#[test]
fn a_check_whose_program_is_missing_pauses_the_task() {
    let env = Agents::configured("verify:\n  command: no-such-program-at-all\n");
    let task = executed(&env, "trivial", WORKS);
    env.until_status(&task, "paused");
    env.orange(["why", &task.key])
        .ok()
        .says("verify.command cannot run")
        .says("no-such-program-at-all")
        .says(&format!("next: orange resume {}", task.key));
    no_slot_is_held(&env);
    // The turn is not taken again: its check is made once there is a program.
    env.orange(["config", "set", "verify.command", "true"]).ok();
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(outcomes(&env, &task, "implement"), ["completed"]);
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
fn an_agent_that_deletes_its_branch_gets_no_other_one_for_it() {
    let env = Agents::new();
    env.git(&env.shop(), &["branch", "elsewhere"]);
    let before = env.git(&env.shop(), &["rev-parse", "elsewhere"]);
    let script = "\
executor:
  - write: own.txt
    text: own
  - answer: complete
    summary: done
executor implement iteration 1:
  - write: astray.txt
    text: astray
  - run: own=$(git branch --show-current) && git switch -q elsewhere && git branch -q -D \"$own\"
  - answer: complete
";
    let task = executed(&env, "small", script);
    env.until_status(&task, "paused");
    env.orange(["why", &task.key])
        .ok()
        .says("it is on elsewhere");
    assert_eq!(env.field(&task, "branch"), task.branch);
    let after = env.git(&env.shop(), &["rev-parse", "elsewhere"]);
    assert_eq!(after, before);
    env.orange(["rescue", "list", &task.key])
        .ok()
        .says("1 file");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(files.contains("own.txt"), "{files}");
}

#[test]
fn a_branch_that_an_agent_deletes_goes_on_at_its_last_commit() {
    let env = Agents::new();
    let script = "\
executor:
  - write: own.txt
    text: own
  - answer: complete
    summary: done
executor implement iteration 1:
  - write: one.txt
    text: one
  - answer: continue
    reason: there is more
executor implement iteration 2:
  - run: own=$(git branch --show-current) && git switch -q --detach && git branch -q -D \"$own\"
  - answer: complete
";
    let task = executed(&env, "small", script);
    env.until_status(&task, "paused");
    env.orange(["resume", &task.key])
        .ok()
        .says("was gone; it goes on at")
        .says("the last commit of its phases");
    env.until_status(&task, "completed");
    env.orange(["merge", &task.key]).ok();
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", "main"]);
    assert!(
        files.contains("one.txt") && files.contains("own.txt"),
        "{files}"
    );
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

#[test]
fn of_several_runs_at_once_one_executes_the_task() {
    let env = Agents::new();
    let script = "\
executor:
  - run: echo $SIM_PHASE >>ROOT/turns
  - answer: complete
    summary: done
";
    let task = phased(&env, "small", script, &[]);
    let runs: Vec<_> = (0..6)
        .map(|_| env.call(["run", &task.key]).spawn())
        .collect();
    for mut run in runs {
        run.wait().unwrap();
    }
    env.until_status(&task, "completed");
    assert_eq!(env.count(&task, "agent.spawned"), 1);
    let turns = fs::read_to_string(env.root().join("turns")).unwrap();
    assert_eq!(turns, "implement\ntest\n");
}

#[test]
fn a_disk_that_is_full_stops_the_execution_until_there_is_room() {
    if !on_a_small_disk(
        "phased_faults::a_disk_that_is_full_stops_the_execution_until_there_is_room",
    ) {
        return;
    }
    let env = Agents::new();
    let script = "\
executor:
  - use: {input: 10, output: 1, cost: 0.001}
  - answer: complete
    summary: done
executor implement iteration 1:
  - use: {input: 10, output: 1, cost: 0.001}
  - write: kept.txt
    text: kept
  - flood: 60MB
  - answer: complete
    summary: all is said
";
    let task = executed(&env, "trivial", script);
    let disk = env.home();
    env.until("the disk is full", || {
        rustix::fs::statvfs(&disk).unwrap().f_bfree < 64
    });
    env.until("there is room again", || {
        let transcripts = fs::read_dir(task.folder.join("transcripts"));
        for file in transcripts.unwrap().flatten() {
            let _ = fs::remove_file(file.path());
        }
        rustix::fs::statvfs(&disk).unwrap().f_bfree > 1024
    });
    // It goes on, or its executor could not write what it had to, and is gone.
    env.until("it is told what became of it", || {
        env.look();
        ["paused", "completed"].contains(&env.status(&task).as_str())
    });
    if env.status(&task) == "paused" {
        env.orange(["why", &task.key]).ok().says("orange resume");
        env.orange(["resume", &task.key]).ok();
    }
    env.until_status(&task, "completed");
    let execution: Value = env.show(&task)["execution"].clone();
    let tokens = execution["tokens"]["input_tokens"].as_u64().unwrap();
    assert!((10..=20).contains(&tokens), "{execution}");
    assert_ne!(execution["phases"]["implement"]["status"], json!("failed"));
}

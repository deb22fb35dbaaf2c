//! What an agent of a phased task cannot get round: checks count by what their commands printed at the commit of its turn, commits are made in
//! the task's own worktree alone, and settings, keys and secrets are the person's.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_kills::{executed_until, turns};
use crate::phased_runs::{WORKS, phased};
use std::fs;
use std::os::unix::fs::PermissionsExt;

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
    let logs = fs::read_dir(env.home().join("verify/results")).unwrap();
    let logs = logs.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
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

#[test]
fn an_agent_that_finds_out_a_weight_is_no_person() {
    let env = Agents::new();
    let script = "\
executor classify:
  - run: |
      env -i PATH=\"$PATH\" ORANGE_HOME=\"$ORANGE_HOME\" orange cancel TASK-001 --yes >>ROOT/said 2>&1; echo $? >ROOT/code
  - use: {input: 100000}
  - say: '{{\"weight\": \"small\", \"reason\": \"one file\"}}'
executor:
  - answer: complete
    summary: done
";
    let harness = env.script("phased", script);
    env.orange(["config", "set", "prices.sim", "{input: 10}"])
        .ok();
    let options = ["--workflow", "phased", "--harness", &harness];
    let task = env.create([&["Rename the button"], &options[..]].concat());
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let told = |name: &str| fs::read_to_string(env.root().join(name)).unwrap();
    assert_eq!(told("code"), "3\n", "{}", told("said"));
    assert!(
        told("said").contains("classification of a task"),
        "{}",
        told("said")
    );
    // What it used has a price too.
    assert_eq!(cost(&task, "classify"), 1.0);
}

/// The dollars that the last turn of a phase cost.
fn cost(task: &TestTask, phase: &str) -> f64 {
    let history = task.history();
    let mut turns = history.iter().rev();
    let turn = turns.find(|event| event["type"] == "iteration.ended" && event["phase"] == phase);
    let turn = turn.unwrap_or_else(|| panic!("no turn of {phase}"));
    turn["usage"]["cost"].as_f64().unwrap_or_default()
}

#[test]
fn a_turn_that_is_killed_has_its_price() {
    let env = Agents::configured("prices:\n  sim: {input: 10}\n");
    let script = "\
executor:
  - use: {input: 100000}
  - say: It begins.
  - wait for:
      file: ROOT/go
    timeout: 60s
";
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until("the turn has begun", || {
        env.orange(["transcript", &task.key])
            .stdout
            .contains("It begins.")
    });
    env.kill(env.run_agent(&task, "executor"), "-KILL");
    env.until("its executor is taken for dead", || {
        env.look();
        env.status(&task) == "paused"
    });
    assert_eq!(cost(&task, "implement"), 1.0);
}

#[test]
fn a_gate_is_not_decided_while_nobody_can_read_what_the_repository_demands() {
    let env = Agents::new();
    fs::create_dir_all(env.shop().join(".orange")).unwrap();
    env.commit(
        &env.shop(),
        ".orange/config.yaml",
        "gates:\n  implement: human\n",
    );
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    let blob = env.git(&env.shop(), &["rev-parse", "main:.orange/config.yaml"]);
    let (folder, rest) = blob.trim().split_at(2);
    let object = env.shop().join(".git/objects").join(folder).join(rest);
    let aside = env.root().join("object");
    fs::rename(&object, &aside).unwrap();
    let refused = env.orange(["approve", &task.key]);
    assert_ne!(refused.code, 0, "{refused}");
    assert_eq!(env.status(&task), "blocked");
    assert_eq!(env.count(&task, "gate.decided"), 0);
    fs::rename(&aside, &object).unwrap();
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
}

#[test]
fn servers_that_no_agent_gets_are_said_in_the_plan_and_in_the_transcript() {
    let env = Agents::configured(
        "weights:\n  plans:\n    small:\n      - name: implement\n        mcp_servers: {odd: {command: npx}}\n",
    );
    let task = phased(&env, "small", WORKS, &[]);
    let plan = env.orange(["plan", "show", &task.key]).ok();
    plan.says("MCP servers that no agent gets as things are:\n  odd in implement: agents of the harness sim");
    let json = env
        .orange(["plan", "show", &task.key, "--json"])
        .ok()
        .json();
    let left_out = &json["plan"]["phases"][0]["left_out_mcp_servers"];
    assert_eq!(left_out[0]["server"], "odd", "{json}");
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let told = transcript(&env, &task.key, "implement");
    assert!(
        told.contains("> MCP server odd is left out: agents of the harness sim"),
        "{told}"
    );
}

#[test]
fn a_turn_of_claude_shows_no_secrets_and_gets_no_key_that_is_not_meant() {
    let mut env = Agents::configured(
        "weights:\n  plans:\n    small:\n      - name: implement\n        completion_criteria: [agent_confirms]\n        \
         mcp_servers: {odd: {command: npx, env: {TOKEN: s3cret}}}\n",
    );
    fs::create_dir(env.root().join("bin")).unwrap();
    let script = "#!/bin/sh\ncase $1 in --version) echo '2.1.325 (Claude Code)'; exit;; auth) exit;; esac\n\
        cat >/dev/null\nprintf '%s\\n' \"$@\" >ROOT/words\nprintenv ANTHROPIC_API_KEY >ROOT/key\n\
        for word; do case $word in --mcp-config=*) cat \"${word#*=}\" >>ROOT/servers;; esac; done\n\
        echo '{\"type\":\"result\",\"is_error\":false,\"session_id\":\"s1\",\"result\":\"{\\\"status\\\":\\\"complete\\\"}\"}'\n";
    let script = script.replace("ROOT", env.root().to_str().unwrap());
    let claude = env.write("bin/claude", script);
    fs::set_permissions(&claude, PermissionsExt::from_mode(0o755)).unwrap();
    let folder = env.root().join("bin");
    env.put_first_in_path(&folder);
    env.write("claude/.claude.json", r#"{"oauthAccount": {"x": 1}}"#);
    let config = env.root().join("claude");
    env.set("CLAUDE_CONFIG_DIR", config);
    env.set("ANTHROPIC_API_KEY", "sk-ant-01234567890123456789");
    let options = [
        "--workflow",
        "phased",
        "--weight",
        "small",
        "--harness",
        "claude",
    ];
    let task = env.create([&["Rename the button"], &options[..]].concat());
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let told = |name: &str| fs::read_to_string(env.root().join(name)).unwrap();
    assert!(!told("words").contains("s3cret"), "{}", told("words"));
    assert!(told("servers").contains("s3cret"), "{}", told("servers"));
    assert_eq!(told("key"), "");
}

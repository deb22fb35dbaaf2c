//! Settings of phased tasks: an older program's file as it is, and what counts of a repository's.

use crate::config::with_settings;
use crate::env::TestEnvironment;
use serde_json::{Value, json};
use std::fs;

/// The example of an older program's documents, without its comments.
const OLDER: &str = "\
version: 1
claude: {path: claude, model: claude-opus-4-5-20251101, timeout: 600, max_tokens: 100000}
gates:
  spec: ai
  design: ai
  review: ai
  merge: human
  weight_overrides:
    large: {spec: human, design: human}
    greenfield: {spec: human, design: human, review: human}
weights:
  default: medium
  allow_override: true
git:
  branch_prefix: orc/
  checkpoint_prefix: \"[orc]\"
  merge_strategy: squash
  worktrees: true
  cleanup_on_complete: true
prompts:
  directory: .orc/prompts
";

fn commit_settings(env: &TestEnvironment, text: &str) {
    fs::create_dir_all(env.shop().join(".orange")).unwrap();
    env.commit(&env.shop(), ".orange/config.yaml", text);
}

/// Value and source of a setting of the shop.
fn counted(env: &TestEnvironment, key: &str) -> (Value, String) {
    let show = env.orange(["config", "show", "--project", "shop", "--json"]);
    let json = show.ok().json();
    let settings = json["settings"].as_array().unwrap();
    let found = settings.iter().find(|one| one["key"] == key);
    let found = found.unwrap_or_else(|| panic!("no {key}"));
    let source = found["source"].as_str().unwrap();
    let source = source.split(['@', ':']).next().unwrap();
    (found["value"].clone(), source.to_owned())
}

#[test]
fn an_older_file_works_as_it_is() {
    let env = with_settings(OLDER);
    let show = env.orange(["config", "show"]).ok();
    for told in [
        "version is as it is anyway",
        "claude.timeout is read as phases.turn_timeout: 600s",
        "claude.path is as it is anyway",
        "claude.model is read as harness.claude.model",
        "claude.max_tokens is read as phases.max_tokens: 100000",
        "git.merge_strategy is read as merge.strategy: squash",
        "git.worktrees is as it is anyway",
        "git.branch_prefix is read as git.branch_template: orc/{key}",
        "git.cleanup_on_complete is read as merge.delete_branch: true",
    ] {
        assert!(show.stderr.contains(told), "{told}: {show}");
    }
    let get = |key: &str| env.orange(["config", "get", key]).ok().stdout;
    assert_eq!(get("git.checkpoint_prefix"), "[orc]\n");
    assert_eq!(get("gates.weight_overrides.large.design"), "human\n");
    assert_eq!(get("gates.weight_overrides.greenfield.review"), "human\n");
    assert_eq!(get("harness.claude.model"), "claude-opus-4-5-20251101\n");
    assert_eq!(get("merge.strategy"), "squash\n");
    assert_eq!(get("merge.delete_branch"), "true\n");
    assert_eq!(get("weights.default"), "medium\n");
    assert_eq!(get("prompts.directory"), ".orc/prompts\n");
    // The same file as the repository's: lines that it may not say are notes.
    let env = with_settings("");
    env.create(["Add a login form"]);
    commit_settings(&env, OLDER);
    let show = env.orange(["config", "show", "--project", "shop"]).ok();
    for told in [
        ".orange/config.yaml, line 2: claude.model does not count here: it decides what agents spend",
        ".orange/config.yaml, line 2: claude.timeout is read as phases.turn_timeout: 600s",
    ] {
        assert!(show.stderr.contains(told), "{told}: {show}");
    }
}

#[test]
fn a_repository_only_makes_gates_stricter() {
    let env = with_settings("gates:\n  implement: human\n");
    env.create(["Add a login form"]);
    commit_settings(
        &env,
        "gates:\n  implement: ai\n  docs: human\n  spec: skip\n  weight_overrides: {large: {spec: ai}}\n\
         weights:\n  plans:\n    large: [{name: implement}]\n    small: [{name: implement, model: opus}]\n",
    );
    let of = |key: &str| counted(&env, key);
    let (file, own) = (".orange/config.yaml".to_owned(), "human");
    assert_eq!(of("gates.implement").0, own);
    assert_eq!(of("gates.docs"), (json!(own), file.clone()));
    assert_eq!(of("gates.spec"), (json!("ai"), "default".into()));
    let override_key = "gates.weight_overrides.large.spec";
    assert_eq!(of(override_key), (json!(own), "default".into()));
    assert_eq!(of("weights.plans.small").1, file);
    let show = env.orange(["config", "show", "--project", "shop"]).ok();
    for told in [
        "line 2: gates.implement does not count here: it is human, which is stricter",
        "line 4: gates.spec counts here only where it is stricter",
        "line 5: gates.weight_overrides.large.spec does not count here: it is human",
        "weights.plans.large does not count here: it leaves out spec, after which a person decides",
        "weights.plans.small: the choice of model for implement does not count here",
    ] {
        assert!(show.stderr.contains(told), "{told}: {show}");
    }
    // A person's word on the command line is above both.
    let show = env.orange(["config", "get", "gates.docs", "--config", "gates.docs=auto"]);
    assert_eq!(show.ok().stdout, "auto\n");
    // What is written nevertheless is pointed out.
    env.orange(["config", "set", "gates.docs", "auto"])
        .ok()
        .says("project shop: its repository asks for the gate human for docs");
    env.orange(["config", "set", "gates.docs", "human"])
        .ok()
        .silent_about("asks for the gate");
}

#[test]
fn what_a_repository_runs_for_phases_is_listed_for_consent() {
    let env = with_settings("");
    env.create(["Add a login form"]);
    commit_settings(
        &env,
        "verify:\n  lint: make lint\n  coverage: [make cover]\nweights:\n  plans:\n    small:\n      - name: implement\n        \
         completion_criteria: [{command: make hack}]\n",
    );
    let trust = env.orange(["project", "trust", "shop", "--yes"]).ok();
    for told in [
        "lint      make lint",
        "coverage  make cover",
        "plan      make hack",
    ] {
        assert!(trust.stdout.contains(told), "{trust}");
    }
    let get = env.orange(["config", "get", "verify.lint", "--project", "shop"]);
    assert_eq!(get.ok().stdout, "make lint\n");
}

#[test]
fn prompts_come_from_the_folder_that_is_said_before_oranges_own() {
    let env = with_settings("");
    env.create(["Add a login form"]);
    commit_settings(&env, "prompts:\n  directory: tools/prompts/\n");
    fs::create_dir_all(env.shop().join("tools/prompts")).unwrap();
    fs::create_dir_all(env.shop().join(".orange/prompts")).unwrap();
    env.commit(&env.shop(), "tools/prompts/worker.md", "Mine: {summary}\n");
    env.commit(&env.shop(), ".orange/prompts/worker.md", "Not this\n");
    env.commit(
        &env.shop(),
        ".orange/prompts/reviewer.md",
        "Look at {summary}\n",
    );
    env.commit(&env.shop(), "tools/prompts/spec.md", "Specify {summary}\n");
    let list = env.orange(["prompt", "list", "--json"]).ok().json();
    let prompts = list["prompts"].as_array().unwrap();
    let path = |name: &str| {
        let found = prompts.iter().find(|one| one["name"] == name).unwrap();
        found["path"].clone()
    };
    assert_eq!(path("worker"), "tools/prompts/worker.md");
    assert_eq!(path("reviewer"), ".orange/prompts/reviewer.md");
    assert_eq!(path("phase-spec"), "tools/prompts/spec.md");
    assert_eq!(path("phase-test"), Value::Null);
    assert_eq!(list["unknown_files"], json!([]));
    for bad in ["/etc", "../x", "a/../b", ".git/x", ""] {
        let set = env.orange(["config", "set", "prompts.directory", bad]);
        set.fails_with(2);
    }
}

#[test]
fn a_gate_for_a_phase_that_no_plan_has_is_pointed_out() {
    let env = TestEnvironment::new();
    env.orange(["config", "set", "gates.reveiw", "human"])
        .ok()
        .says("no plan in your settings has a phase \"reveiw\"")
        .says("review");
    env.orange(["config", "set", "gates.docs", "human"])
        .ok()
        .silent_about("no plan");
    // An example is one that would do.
    env.orange(["config", "set", "gates.weight_overrides.huge.spec", "human"])
        .fails_with(2)
        .says("gates.weight_overrides.medium.review");
    env.orange(["config", "set", "prices.my-model.input", "3"])
        .fails_with(2)
        .says("all prices of a model stand together in prices.my-model");
    env.orange(["config", "set", "prices.my-model.input", "{input: 3}"])
        .fails_with(2);
}

//! Harnesses of the user's own, and those that are not there.

use crate::agents::Agents;
use std::fs;

fn read(env: &Agents, name: &str) -> String {
    fs::read_to_string(env.root().join(name)).unwrap_or_default()
}

#[test]
fn a_prompt_arrives_as_one_argument_byte_for_byte_and_as_a_file() {
    let env = Agents::configured(
        "harness:\n  mine: [/bin/sh, ROOT/mine.sh, '{prompt}', '--file={prompt_file}', last]\n",
    );
    let script = "printf '%s' \"$#\" > ROOT/count\nprintf '%s' \"$1\" > ROOT/argument\n\
        printf '%s' \"$2\" > ROOT/file\nprintf '%s' \"$3\" > ROOT/last\nexec cat\n";
    env.write(
        "mine.sh",
        script.replace("ROOT", env.root().to_str().unwrap()),
    );
    let summary = "Say \"it's\" $HOME `x` \\n {prompt_file} %s 🎉";
    let task = env.create(["odd-words", summary, "--harness", "mine"]);
    env.until("all arguments are there", || read(&env, "last") == "last");
    assert_eq!(read(&env, "count"), "3");
    let file = read(&env, "file")
        .strip_prefix("--file=")
        .unwrap()
        .to_owned();
    let prompt = fs::read_to_string(&file).unwrap();
    assert_eq!(read(&env, "argument"), prompt);
    assert!(prompt.contains(summary), "{prompt}");
    assert!(prompt.lines().count() > 10, "{prompt}");
    assert_eq!(task.last("agent.spawned")["harness"], "mine");
}

#[test]
fn an_agent_without_signals_is_told_by_its_screen() {
    let env = Agents::configured("harness:\n  mine: [/bin/sh, ROOT/mine.sh]\n");
    let script = "while IFS= read -r line; do printf '%s\\n' \"$line\" >> ROOT/heard; done\n";
    env.write(
        "mine.sh",
        script.replace("ROOT", env.root().to_str().unwrap()),
    );
    let task = env.create(["some-words", "Some words", "--harness", "mine"]);
    env.say(&["task", "send", &task.id, "can you hear me"]);
    env.until("it hears", || read(&env, "heard") == "can you hear me\n");
    env.until_count(&task, "message.delivered", 1);
    assert_eq!(env.count(&task, "agent.nudged"), 0);
}

const ONE_SHOT: &str = "\
printf '%s\\n=====\\n' \"$1\" >> ROOT/prompts
if ! grep -q '^## Plan' TASK.md; then
  printf '\\n## Plan\\n\\nAPPROACH: x\\n' >> TASK.md
  orange task update --status working
fi
printf '\\n## Handoff\\n\\nDONE: x\\n' >> TASK.md
";

#[test]
fn a_one_shot_worker_is_started_again_with_the_failed_review() {
    let env = Agents::configured(
        "harness:\n  once:\n    command: [/bin/sh, ROOT/once.sh, '{prompt}']\n    one_shot: true\n",
    );
    env.write(
        "once.sh",
        ONE_SHOT.replace("ROOT", env.root().to_str().unwrap()),
    );
    let reviewer = env.script(
        "reviewer",
        "reviewer round 1:\n  - review: FAIL\n  - status: working\n",
    );
    let task = env.create([
        "work-once",
        "Work once",
        "--harness",
        "once",
        "--review-harness",
        &reviewer,
    ]);
    env.until_status(&task, "reviewing");
    assert_eq!(
        env.prompts(&task),
        ["worker", "reviewer", "respawn-working", "reviewer"]
    );
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    assert_eq!(
        env.hooks(&task, "agent-review", "working"),
        ["kill_reviewer completed", "notify_worker completed"]
    );
    let prompts = read(&env, "prompts");
    assert_eq!(prompts.matches("=====").count(), 2);
    assert!(prompts.contains("failed in round 1 of 2"), "{prompts}");
}

#[test]
fn a_one_shot_worker_that_lingers_is_ended_and_started_again_rather_than_typed_at() {
    let env = Agents::configured(
        "harness:\n  once:\n    command: [/bin/sh, ROOT/once.sh, '{prompt}']\n    one_shot: true\n",
    );
    let script = format!(
        "{ONE_SHOT}orange task complete\ntest $(grep -c ===== ROOT/prompts) = 2 || exec cat > ROOT/typed\n"
    );
    env.write(
        "once.sh",
        script.replace("ROOT", env.root().to_str().unwrap()),
    );
    let reviewer = env.script(
        "reviewer",
        "reviewer round 1:\n  - review: FAIL\n  - status: working\n",
    );
    let task = env.create([
        "work-once",
        "Work once",
        "--harness",
        "once",
        "--review-harness",
        &reviewer,
    ]);
    env.until_status(&task, "reviewing");
    assert_eq!(
        env.prompts(&task),
        ["worker", "reviewer", "respawn-working", "reviewer"]
    );
    assert_eq!(read(&env, "typed"), "");
    let error = env.say(&["task", "send", &task.id, "hello", "--json"]);
    assert_eq!(error.code, 3, "{error}");
}

#[test]
fn without_a_harness_the_work_is_the_persons() {
    let env = Agents::new();
    let task = env.create([
        "by-hand",
        "By hand",
        "--harness",
        "none",
        "--review-harness",
        "none",
    ]);
    assert_eq!(env.status(&task), "planning");
    assert_eq!(
        env.hooks(&task, "pending", "planning"),
        ["acquire_workspace completed", "spawn_agent(worker) skipped"]
    );
    env.bring_on(&task, "reviewing");
    env.look();
    assert!(env.windows().is_empty());
    assert_eq!(env.attention(&task), "");
    env.say(&["task", "respawn", &task.id, "--json"])
        .refuses(3, "condition_unmet");
    env.say(&["task", "request-changes", &task.id, "once more"])
        .ok();
    assert_eq!(env.count(&task, "agent.spawned"), 0);
}

#[test]
fn an_unknown_harness_is_refused_before_anything_happens() {
    let env = Agents::new();
    let run = env.say(&[
        "task",
        "create",
        "Who does it",
        "--harness",
        "cluade",
        "--json",
    ]);
    let error = run.refuses(2, "usage");
    assert!(
        error["hint"].as_str().unwrap().contains("claude, codex"),
        "{error}"
    );
    assert!(env.list(["--all"]).is_empty());
}

#[test]
fn a_missing_program_is_named_before_there_is_a_task() {
    let env = Agents::configured("harness:\n  mine: no-such-program\n");
    let run = env.say(&["task", "create", "Who does it", "--harness", "mine"]);
    run.fails_with(1)
        .says("no-such-program")
        .says("nothing was created")
        .says("--no-spawn");
    let json = env.say(&["new", "One value", "--harness", "mine", "--json"]);
    assert_eq!(json.fails_with(1).stdout.lines().count(), 1);
    assert!(env.list(["--all"]).is_empty());
    // One that has to wait is made, and what it will meet is told at once.
    let first = env.create(["The first", "--no-spawn"]);
    assert_eq!(first.key, "TASK-001");
    let waits = ["new", "Later", "--harness", "mine", "--blocked-by", "1"];
    env.say(&waits)
        .ok()
        .says("queued")
        .says("when its turn comes it cannot start")
        .says("no-such-program");
    let task = env.create(["Who does it", "--harness", "mine", "--no-spawn"]);
    env.say(&["task", "spawn", &task.id])
        .fails_with(1)
        .says("no-such-program");
    assert_eq!(env.status(&task), "pending");
    assert!(env.windows().is_empty());
    env.say(&["new", "Reviewed by nobody", "--review-harness", "mine"])
        .ok()
        .says("its reviewer cannot start")
        .says("no-such-program");
    env.update(&task, &["--harness", "sim"]).ok();
    env.say(&["task", "spawn", &task.id]).ok();
    env.until_status(&task, "reviewing");
}

#[test]
fn an_agent_within_an_agent_does_not_speak_for_it() {
    let env = Agents::new();
    let inner = env.script("inner", "worker:\n  - say: inner\n  - end turn\n");
    let inner = inner.strip_prefix("sim:").unwrap();
    let script = format!(
        "\
worker:
  - run: orange sim --script {inner} -- hello </dev/null >ROOT/inner 2>&1; touch ROOT/after
  - wait for:
      file: ROOT/go
"
    );
    let task = env.start("Ask another", &script);
    env.until("the inner one has ended", || {
        env.root().join("after").exists()
    });
    assert!(
        read(&env, "inner").contains("inner"),
        "{}",
        read(&env, "inner")
    );
    let told = env.signals(&task, "worker");
    let told: Vec<&str> = told.iter().map(|(signal, _)| signal.as_str()).collect();
    assert_eq!(told, ["prompt-taken"]);
}

//! What surrounds real agents: the environment that they get, agents inside agents, long prompts, CLIs that do not work.

use crate::env::TestTask;
use crate::model::{say, shell};
use crate::world::{World, commit, handoff, other, plan, review};
use std::fs;
use std::process::Command;

/// A server of tmux that knows nothing of models, as one does that was started days ago.
fn start_old_server(env: &World) {
    let started = Command::new("tmux")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .arg("-S")
        .arg(env.socket())
        .args(["new-session", "-d", "-s", "mine"])
        .status();
    assert!(started.unwrap().success());
}

/// The environment of the newest worker's own process.
fn environment(env: &World, task: &TestTask) -> String {
    let pid = env.agent(task, "worker");
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap();
    String::from_utf8_lossy(&bytes).replace('\0', "\n")
}

/// Orange is called from within another agent; the reviewer is started by an errand, when the worker has ended.
fn agents_know_their_model_and_nothing_of_an_agent_around_them(harness: &str) {
    let mut env = World::new();
    start_old_server(&env);
    let around = [
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "PI_SESSION_ID",
    ];
    for name in around {
        env.set(name, "around");
    }
    let seen = env.root().join("seen");
    let look = format!(
        "env > {} && printf '\\n## Handoff\\n\\nDONE: it\\n' >> TASK.md",
        seen.display()
    );
    let never = say("Never.").after(env.gate("never"));
    env.model.when(
        "You are the worker of task",
        [plan(), commit("hello"), shell(&look), never],
    );
    env.model
        .when("You are the reviewer of task", review("PASS"));
    let task = env.task(harness, other(harness), "Greet the user");
    env.until("the worker has looked around", || {
        task.text().contains("DONE: it")
    });
    for of in [environment(&env, &task), fs::read_to_string(seen).unwrap()] {
        assert!(!of.contains("=around"), "{of}");
        assert!(of.contains("ANTHROPIC_AUTH_TOKEN=fake"), "{of}");
    }
    let secrets = env.run_folder(&task, "worker").join("environment.json");
    assert!(!secrets.exists());
    env.kill(env.agent(&task, "worker"), "-TERM");
    env.until_status(&task, "reviewing");
    let token =
        |request: &crate::model::Request| request.header("authorization").map(str::to_owned);
    for request in env.model.requests() {
        let key = request.header("x-api-key");
        let known = token(&request).is_some_and(|token| token == "Bearer fake");
        assert!(known || key == Some("fake"), "{:?}", request.headers);
    }
    assert_eq!(env.attention(&task), "");
}

#[test]
fn claude_gets_its_environment_and_so_does_the_reviewer() {
    agents_know_their_model_and_nothing_of_an_agent_around_them("claude");
}

#[test]
fn pi_gets_its_environment_and_so_does_the_reviewer() {
    agents_know_their_model_and_nothing_of_an_agent_around_them("pi");
}

/// An agent that a worker starts by itself never speaks for the worker.
fn a_nested_agent_changes_nothing(harness: &str) {
    let env = World::new();
    let answer = env.root().join("answer");
    let nested = format!("{harness} -p 'a nested question' > {}", answer.display());
    let hold = commit("hello").after(env.gate("go"));
    env.model.when(
        "You are the worker of task",
        [plan(), shell(&nested), hold, handoff(), say("Handed over.")],
    );
    env.model
        .when("a nested question", [say("a nested answer")]);
    let task = env.task(harness, "none", "Ask another");
    env.until("the nested one has answered", || {
        fs::read_to_string(&answer).is_ok_and(|text| text.contains("a nested answer"))
    });
    let prompt = env.prompt(&task, "worker");
    env.model.until("the worker goes on", |requests| {
        let of_worker = requests
            .iter()
            .filter(|request| request.texts() == [&prompt]);
        of_worker.count() >= 3
    });
    let ended = |(signal, _): &(String, String)| signal == "turn-done";
    assert!(!env.signals(&task, "worker").iter().any(ended));
    env.allow("go");
    env.until_status(&task, "agent-review");
    env.until_idle(&task, "worker");
    let ends = env.signals(&task, "worker");
    assert_eq!(ends.iter().filter(|signal| ended(signal)).count(), 1);
    assert_eq!(env.count(&task, "agent.nudged"), 0);
    assert_eq!(env.attention(&task), "");
}

#[test]
fn claude_inside_claude_says_nothing_for_it() {
    a_nested_agent_changes_nothing("claude");
}

#[test]
fn pi_inside_pi_says_nothing_for_it() {
    a_nested_agent_changes_nothing("pi");
}

/// A prompt that fits into an argument comes as one message; a longer one is read from its file.
fn long_prompts_arrive(harness: &str) {
    let env = World::new();
    let lines = |count: usize| -> String {
        (0..count)
            .map(|line| format!("{line}: «ünï» 漢字 🎉 `$(x)`\n"))
            .collect()
    };
    let short = env.task_with_prompt(harness, &lines(3000));
    let prompt = env.prompt(&short, "worker");
    assert!(
        (100_000..120_000).contains(&prompt.len()),
        "{}",
        prompt.len()
    );
    env.until_heard(&prompt);
    assert_eq!(env.model.heard(&prompt), 1);

    let read = shell("cat \"$ORANGE_HOME/runs/$ORANGE_RUN_ID/prompt.md\" > read.txt");
    env.model
        .when("Your instructions are in the file", [read, say("Read.")]);
    let long = env.task_with_prompt(harness, &lines(7300));
    let prompt = env.prompt(&long, "worker");
    assert!(prompt.len() > 245_000, "{}", prompt.len());
    let copy = env.slot_of(&long).join("read.txt");
    env.until("it has read its prompt", || {
        fs::read_to_string(&copy).is_ok_and(|text| text == prompt)
    });
}

#[test]
fn claude_gets_long_prompts() {
    long_prompts_arrive("claude");
}

#[test]
fn pi_gets_long_prompts() {
    long_prompts_arrive("pi");
}

#[test]
fn a_cli_that_is_not_there_or_fails_at_its_start_is_named() {
    let mut env = World::new();
    let refused = env.say(&[
        "task",
        "create",
        "x",
        "It",
        "--harness",
        "opencode",
        "--json",
    ]);
    let error = refused.refuses(1, "failed");
    let text = error["message"].as_str().unwrap();
    assert!(text.contains("harness opencode is not installed"), "{text}");

    let program = env.write(
        "bin/claude",
        "#!/bin/sh\necho 'no licence here' >&2\nexit 3\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let folder = env.root().join("bin");
    env.put_first_in_path(&folder);
    let task = env.task("claude", "none", "Fail");
    let crashed = env.until_event(&task, "agent.crashed");
    let reason = crashed["reason"].as_str().unwrap();
    assert!(reason.contains("exit code 3"), "{reason}");
    env.say(&["task", "peek", &task.id])
        .ok()
        .says("no licence here");
}

#[test]
fn a_claude_that_is_logged_out_says_so() {
    // A program around it is not asked before it is started.
    let mine = "harness:\n  mine:\n    command: [env, claude]\n    like: claude\n";
    let mut env = World::configured(mine);
    env.unset("ANTHROPIC_AUTH_TOKEN");
    let task = env.task("mine", "none", "Try it");
    env.until_attention(&task, "Not logged in");
    assert_eq!(env.model.requests().len(), 0);
}

#[test]
fn claude_without_an_account_is_not_started() {
    let mut env = World::new();
    env.unset("ANTHROPIC_");
    let new = ["new", "Greet the user", "--harness", "claude"];
    let refused = env.say(&new).fails_with(3);
    refused
        .says("harness claude has no account to work with")
        .says("/login");
    assert!(env.list(["--all"]).is_empty());
    // A key is an account; it is asked again, because the variables are others.
    let url = env.model.url();
    env.set("ANTHROPIC_BASE_URL", url);
    env.set("ANTHROPIC_AUTH_TOKEN", "fake");
    env.model
        .when("You are the worker of task", [say("Hello.")]);
    let task = env.task("claude", "none", "Greet the user");
    env.until_heard(&env.prompt(&task, "worker"));
}

#[test]
fn pi_without_an_account_is_not_started() {
    let env = World::new();
    let other = r#"{"defaultProvider": "openai"}"#;
    env.write("home/.pi/agent/settings.json", other);
    let new = ["new", "Greet the user", "--harness", "pi"];
    let refused = env.say(&new).fails_with(3);
    refused
        .says("harness pi has no account to work with")
        .says("/login");
    // Another model may have another account.
    env.model
        .when("You are the worker of task", [say("Hello.")]);
    let model = ["--harness", "pi", "--model", crate::cli::PI_ANTHROPIC];
    let task = env.create([&["it", "Greet the user"], &model[..]].concat());
    env.until_heard(&env.prompt(&task, "worker"));
}
